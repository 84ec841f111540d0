// Writes the two files of a scope in one pass: the newest values, and every value that was ever visible.
import path from 'node:path';
import { instantOf, type BulkKind, type StoredFile } from '../../domain/bulk/manifest.ts';
import { dimensionColumns } from '../../domain/dims-text.ts';
import { nameId } from '../../domain/name-id.ts';
import { copyValues, readLines, type Line, type Moment, type Scope } from './bulk.sql.ts';
import { createParquetFile, type Cell, type Column, type ParquetFile } from './parquet-file.ts';

export interface FilesWish {
  /** The folder of the new files. */
  workshop: string;
  scope: Scope;
  moment: Moment;
  /** The newest load at that moment; its number is in the names of the files. */
  load: number;
  createdAt: Date;
  /** Whether a name is already used: names are never reused. */
  isUsed: (name: string) => boolean;
}

const linesAtOnce = 2_000;

/** @throws Error if the rows are not in key order; then no file remains. */
export async function writeFiles(wish: FilesWish): Promise<StoredFile[]> {
  const { moment, scope } = wish;
  const files = [newFile('current', wish), newFile('vintages', wish)] as const;
  const [current, vintages] = files;
  try {
    for await (const lines of readLines(moment, scope.source, linesAtOnce))
      await addLines(moment, lines, scope.dimensions, (row, isLive) => {
        if (isLive) current.add(row);
        vintages.add(row);
      });
    return files.map((file) => file.finish());
  } catch (error) {
    for (const file of files) file.abandon();
    throw error;
  }
}

const varchar = (name: string): Column => ({ name, type: 'VARCHAR', isRequired: false, isRepetitive: true });
const required = { isRequired: true };
const optional = { isRequired: false };
const ofPoint: readonly Column[] = [
  { name: 'date', type: 'DATE', ...required },
  { name: 'value', type: 'DOUBLE', ...optional },
  { name: 'value_text', type: 'VARCHAR', ...optional, isUnordered: true },
  varchar('status'),
  { name: 'published_on', type: 'DATE', ...required },
];
const ofVintage: readonly Column[] = [
  { name: 'superseded_on', type: 'DATE', ...optional },
  { name: 'load', type: 'BIGINT', ...required },
  { name: 'superseded_load', type: 'BIGINT', ...optional },
];

const fixedColumns = ['series', ...[...ofPoint, ...ofVintage].map(({ name }) => name)];

interface DatasetFile extends Pick<ParquetFile, 'add' | 'abandon'> {
  finish(): StoredFile;
}

function newFile(
  kind: BulkKind,
  { workshop, scope, moment, load, createdAt, isUsed }: FilesWish,
): DatasetFile {
  const name = freeName(
    `${scope.source === null ? 'observations' : nameId(scope.source)}.${kind}.${load}`,
    isUsed,
  );
  const columns: Column[] = [
    { ...varchar('series'), isRequired: true },
    ...dimensionColumns(scope.dimensions, fixedColumns).map(varchar),
    ...ofPoint,
    ...(kind === 'vintages' ? ofVintage : []),
  ];
  const { source, licences, state } = scope;
  const file = createParquetFile(path.join(workshop, name), columns, {
    'almanac.load': String(load),
    'almanac.licence': licences.join('; '),
    ...(source !== null && { 'almanac.source': source }),
  });
  const dateAt = columns.findIndex((column) => column.name === 'date');
  let [first, last] = [Infinity, -Infinity];
  return {
    add(row) {
      const date = row[dateAt] as number;
      first = Math.min(first, date);
      last = Math.max(last, date);
      file.add(row);
    },
    abandon: file.abandon,
    finish: () => ({
      ...{ name, dataset: 'observations', source, kind, load, created_at: instantOf(createdAt) },
      ...file.finish(),
      columns: columns.map((column) => ({ name: column.name, type: column.type })),
      first_date: first === Infinity ? null : dateOf(first),
      last_date: first === Infinity ? null : dateOf(last),
      ...{ licences, state, as_of: moment.asOf },
    }),
  };
}

function freeName(stem: string, isUsed: (name: string) => boolean): string {
  for (let again = 1; ; again += 1) {
    const name = `${stem}${again === 1 ? '' : `-${again}`}.parquet`;
    if (!isUsed(name)) return name;
  }
}

const msOfDay = 86_400_000;
const dateOf = (days: number) => new Date(days * msOfDay).toISOString().slice(0, 10);

/** Passes on the rows of some lines, each with whether its value is current. */
async function addLines(
  moment: Moment,
  lines: readonly Line[],
  dimensions: readonly string[],
  add: (row: readonly Cell[], isLive: boolean) => void,
): Promise<void> {
  const heads = lines.map(({ id, dims }): Cell[] => [
    id,
    ...dimensions.map((name) => (Object.hasOwn(dims, name) ? (dims[name] ?? null) : null)),
  ]);
  const bigints = rememberedBigints();
  let [placeBefore, dateBefore, publishedBefore] = [0, -Infinity, -Infinity];
  for await (const text of wholeLines(copyValues(moment, lines)))
    for (const row of text.split('\n')) {
      const cells = row.split('\t');
      const [place, date, published] = [Number(cells[0]), Number(cells[1]), Number(cells[4])];
      const isNext =
        place > placeBefore ||
        (place === placeBefore &&
          (date > dateBefore || (date === dateBefore && published >= publishedBefore)));
      const head = heads[place - 1];
      if (!isNext || head === undefined) throw new Error('The rows of bulk files came out of order.');
      [placeBefore, dateBefore, publishedBefore] = [place, date, published];
      const value = cells[2] ?? nothing;
      const [supersededOn, supersededLoad] = [cells[5] ?? nothing, cells[7] ?? nothing];
      const hasValue = value !== nothing;
      add(
        [
          ...head,
          date,
          hasValue ? Number(value) : null,
          hasValue ? value : null,
          textOf(cells[3] ?? nothing),
          published,
          supersededOn === nothing ? null : Number(supersededOn),
          bigints(cells[6] ?? ''),
          supersededLoad === nothing ? null : bigints(supersededLoad),
        ],
        supersededOn === nothing,
      );
    }
}

/** COPY's notation of null. */
const nothing = '\\N';

/** Text in COPY's format: control characters and `\` are escaped by two characters. */
function textOf(cell: string): string | null {
  if (cell === nothing) return null;
  if (!cell.includes('\\')) return cell;
  return cell.replaceAll(/\\(.)/gs, (_, sign: string) => escapes[sign] ?? sign);
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Interned load numbers: a file has few distinct loads. */
function rememberedBigints(): (text: string) => bigint {
  const known = new Map<string, bigint>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) known.set(text, (value = BigInt(text)));
    return value;
  };
}

/** The text split at line ends; without the last line end. */
async function* wholeLines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let partialLine = '';
  for await (const text of texts) {
    const end = text.lastIndexOf('\n');
    if (end < 0) partialLine += text;
    else {
      yield partialLine + text.slice(0, end);
      partialLine = text.slice(end + 1);
    }
  }
  if (partialLine !== '') throw new Error('The rows of bulk files end within a line.');
}
