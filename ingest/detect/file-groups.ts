// Files of one form share an entry: their names differ in a date or a number, and their tables are alike. Also finds the entry of a file.
import { fileNameOf, isUrl, matches } from '../read/file-path.ts';
import { splitEndings } from '../read/file-kind.ts';
import { dateInText } from '../cells/dates/date-in-line.ts';
import type { TableDescription } from '../entry/entry-schema.ts';
import type { NewEntry } from '../entry/entry-file.ts';
import { namesIn, vintageOf, wordsOf } from '../entry/file-name.ts';
import type { Proposal } from './proposal/proposal.ts';
import type { Inspected } from '../entry/table-preview.ts';
import { valuesAt, type Choice } from '../entry/resolve-guesses.ts';
import { idPart } from '../entry/templates.ts';
import { counted, nounOf } from '../../kernel/text/counted.ts';

/** A table that was found in a file without an entry. */
export interface FoundTable {
  /** Below the folder, with slashes; or a URL. */
  path: string;
  sheet: string | undefined;
  proposal: Proposal;
}

/** Further input for grouping tables. */
interface Others {
  /** The files that have entries already. */
  described: readonly string[];
  /** YYYY-MM-DD. */
  today: string;
}

/** The entries for the tables, each for one file or for files of one form. */
export function groupTables(tables: readonly FoundTable[], others: Others): NewEntry[] {
  const groups = Map.groupBy(tables, (table) =>
    isUrl(table.path) ? table.path : `${shapeOf(table.path)}\n${signatureOf(table)}`,
  );
  return [...groups.values()].map((group) =>
    group.length === 1 ? single(group) : shared(group, tables, others),
  );
}

function single(group: readonly FoundTable[]): NewEntry {
  const [{ path, sheet, proposal } = nothing] = group;
  return {
    entry: { file: path, ...(sheet !== undefined && { sheet }), ...proposal.entry },
    evidence: proposal.evidence,
    columns: proposal.columns,
    inspected: proposal.inspected,
    title: proposal.entry.skip === undefined ? rowsRead(proposal.rows) : 'not loaded',
  };
}

const rowsRead = (rows: number): string =>
  `${counted(rows, 'row')} of data ${nounOf(rows, 'was', 'were')} read`;

const nothing: FoundTable = { path: '', sheet: undefined, proposal: { entry: {}, evidence: {}, rows: 0 } };

function shared(
  alike: readonly FoundTable[],
  all: readonly FoundTable[],
  { described, today }: Others,
): NewEntry {
  const isOneTitle = new Set(alike.map(({ proposal }) => proposal.title)).size === 1;
  const group = isOneTitle ? alike : alike.map(withoutTitle);
  const [first = nothing] = group;
  const { path, sheet } = first;
  const pattern = shapeOf(path);
  const members = new Set(group.map((table) => table.path));
  // A workbook with entries may lack the sheet that others have.
  const otherFiles = sheet === undefined ? [] : described;
  const isExact = [...all.map((table) => table.path), ...otherFiles].every(
    (each) => members.has(each) || !matches(pattern, each),
  );
  const sum = group.reduce((rows, table) => rows + table.proposal.rows, 0);
  const isDated = dateInText(fileNameOf(path)) !== null;
  const entry = {
    file: isExact ? pattern : [...members],
    ...(sheet !== undefined && { sheet }),
    ...datedByName(merged(group.map((table) => (isDated ? table.proposal.entry : withoutStem(table)))), path),
  };
  return {
    entry,
    inspected: sharedInspection(entry, group, today),
    evidence: {
      // The first that has a key, as `merged` adds keys that the first file does not need.
      vintage: 'the names of the files have dates, and their rows have dates of their own',
      ...Object.assign({}, ...group.map((table) => table.proposal.evidence).toReversed()),
      file: `${counted(members.size, 'file')} whose names differ only in ${isDated ? 'a date' : 'a number'}, and whose tables are alike`,
    },
    title: `${rowsRead(sum)} in ${counted(members.size, 'file')}`,
  };
}

/** The rows of the first file, and the choices of any: options that would remove something a file needs are left out. */
function sharedInspection(
  entry: TableDescription,
  group: readonly FoundTable[],
  today: string,
): Inspected | undefined {
  const all = group.flatMap(({ proposal }) => proposal.inspected ?? []);
  const [first] = all;
  if (first === undefined) return undefined;
  const choices = new Map(all.flatMap((each) => each.choices).map((choice) => [choice.key, choice]));
  const own = [...choices.values()].filter(
    ({ options: [now] }) =>
      now === undefined || JSON.stringify(valuesAt(entry, [now.set])) === JSON.stringify(now.set),
  );
  if (entry.guessed?.includes('vintage') === true && !choices.has('vintage')) own.push(vintageOfNames);
  const ofName = typeof entry.vintage === 'object' && 'in' in entry.vintage;
  const vintage = ofName ? vintageOf(entry, fileNameOf(group[0]?.path ?? ''), today) : undefined;
  const points = first.preview.points.map((point) => ({ ...point, vintage: vintage ?? point.vintage }));
  return { preview: { ...first.preview, points }, choices: own };
}

const vintageOfNames: Choice = {
  ...{ key: 'vintage', text: null, question: 'The values of each file were published on:' },
  options: [
    { label: 'the date in the name of the file', set: { vintage: { in: 'file name' } } },
    { label: 'the day of the load', set: { vintage: null } },
  ],
};

/** Files of one form whose rows have their own dates, and whose names have a month: each is a vintage, which a person must confirm. */
function datedByName(entry: Proposal['entry'], path: string): Proposal['entry'] {
  const { dateInName } = namesIn(fileNameOf(path));
  const isOfRows = entry.date !== undefined && ('column' in entry.date || 'across' in entry.date);
  if (dateInName === null || !isOfRows || entry.vintage !== undefined) return entry;
  const { guessed = [], ...rest } = entry;
  return { ...rest, vintage: { in: 'file name' }, guessed: ['vintage', ...guessed] };
}

/** The permitted differences between files of one form: an entry for all has what any of them needs. */
function merged(entries: readonly Proposal['entry'][]): Proposal['entry'] {
  const all = { ...entries[0] };
  const union = (lists: (readonly string[] | undefined)[]) => [
    ...new Set(lists.flatMap((list) => list ?? [])),
  ];
  const missing = union(entries.map((entry) => entry.missing));
  const guessed = union(entries.map((entry) => entry.guessed));
  const flags: Record<string, string | null> = Object.assign(
    {},
    ...entries.map((entry) => entry.flags ?? {}),
  );
  const leaveOut: Record<string, string[]> = {};
  for (const entry of entries)
    for (const [title, texts] of Object.entries(entry.leave_out ?? {}))
      leaveOut[title] = union([leaveOut[title], texts]);
  if (missing.length > 0) all.missing = missing;
  if (Object.keys(flags).length > 0) all.flags = flags;
  if (Object.keys(leaveOut).length > 0) all.leave_out = leaveOut;
  if (entries.some((entry) => entry.repeated === 'first')) all.repeated = 'first';
  if (guessed.length > 0) {
    delete all.guessed;
    all.guessed = guessed;
  }
  return all;
}

/** Files whose names differ in a number are series of their own: the name is part of the id. */
function withoutStem({ path, proposal: { entry } }: FoundTable): Proposal['entry'] {
  const { stem } = namesIn(fileNameOf(path));
  if (entry.series === undefined) return entry;
  const { id, name } = entry.series;
  const own = idPart(stem);
  const isOwn = own !== '' && (id === own || id.startsWith(`${own}.`));
  const words = wordsOf(stem);
  const isNamedByFile = name === words || name?.startsWith(`${words}, `) === true;
  return {
    ...entry,
    series: {
      ...entry.series,
      id: isOwn ? `{file}${id.slice(own.length)}` : id,
      ...(isNamedByFile && { name: `{file}${name.slice(words.length)}` }),
    },
  };
}

/** With the name made of the file in the place of a title above the data: the titles of files of one form differ. */
function withoutTitle({ path, proposal, ...table }: FoundTable): FoundTable {
  const { title, entry } = proposal;
  const name = entry.series?.name;
  if (title === undefined || entry.series === undefined || name?.startsWith(title) !== true)
    return { path, proposal, ...table };
  const own = `${wordsOf(namesIn(fileNameOf(path)).stem)}${name.slice(title.length)}`;
  return {
    ...table,
    path,
    proposal: { ...proposal, entry: { ...entry, series: { ...entry.series, name: own } } },
  };
}

function signatureOf(table: FoundTable): string {
  const isDated = dateInText(fileNameOf(table.path)) !== null;
  const {
    missing: _,
    flags: __,
    leave_out: ___,
    guessed: ____,
    repeated: _____,
    ...rest
  } = isDated ? withoutTitle(table).proposal.entry : withoutStem(withoutTitle(table));
  return JSON.stringify([table.sheet, rest]);
}

/** The name with `*` for the parts that differ between siblings: a date, numbers, a hash; and for the endings that one form may have. */
export function shapeOf(path: string): string {
  const name = fileNameOf(path);
  const folder = path.slice(0, path.length - name.length);
  const { stem: bare, endings } = splitEndings(name);
  const date = dateInText(bare)?.text;
  const shape = (date === undefined ? bare : bare.replace(date, '*'))
    .replaceAll(/(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![0-9a-z])/g, '*')
    .replaceAll(/\d+/g, date === undefined ? '*' : '$&');
  return `${folder}${shape}${endings
    .replace(/\.gz$/i, '*')
    .replace(/(\.csv|\.tsv|\.txt)$/i, '$1*')
    .replace(/\.xls[xmb]?$/i, '.xls*')}`;
}
