// The rows of a table in any file format: CSV, plain or gzipped, or a sheet of a workbook. Includes every line, also titles and notes.
import { statSync } from 'node:fs';
import { dialectBytes, firstBytes, readCsv, readPieces, type CsvOptions } from './csv.ts';
import { detectDialect } from './csv-dialect.ts';
import {
  declaredEncoding,
  decoderOf,
  detectEncoding,
  type EncodingCandidate,
  type EncodingFound,
} from './encodings.ts';
import { CrosstabRows, type Crosstab } from './crosstab.ts';
import type { CsvBatch } from './csv-batch.ts';
import { IngestFailure } from '../failure.ts';
import { isNumberText } from '../cells/cell-forms.ts';
import { fileKind } from './file-kind.ts';
import { htmlTable } from './html-table.ts';
import { columnsMax, readWorkbook, type Sheet, type SheetDoubts, type SheetNumbers } from './workbook.ts';

export interface TableFile {
  /** The path. */
  file: string;
  /** The sheet of a workbook; default: the first. */
  sheet?: string | undefined;
  encoding?: string | undefined;
  delimiter?: string | undefined;
  quote?: "'" | undefined;
  /** The first cell of each row contains several, separated by this character. */
  split?: ',' | undefined;
  /** The rows are those of a crosstab. */
  crosstab?: Crosstab | undefined;
  /** Bytes read so far, and the total. */
  onBytes?: (bytesRead: number, bytesTotal: number | undefined) => void;
}

/** The sample for detection: the rows, or the first, some in between and the last of them. */
export interface Sample {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
  isWhole: boolean;
  /** Lines that continue a cell merged over several lines. */
  continued: ReadonlySet<number>;
  /** Only for a CSV file. */
  delimiter?: string;
  /** Only for a CSV file whose encoding has to be named. */
  encoding?: string;
  /** Another possible encoding. */
  encodingDoubt?: string;
  /** The possible encodings, if there are several. */
  encodings?: readonly EncodingCandidate[];
  /** Only for a CSV file whose cells are not quoted by ". */
  quote?: "'";
  /** The first cell of each row contains several. */
  split?: ',';
  /** The rows are made from those of a crosstab. */
  crosstab?: Crosstab;
  /** Why the values of the rows are unknown. */
  fault?: string;
  /** For a sheet: why its cells may differ in meaning from what they show. */
  doubts?: SheetDoubts;
  numbers?: SheetNumbers;
}

const rowsOfBatch = 1_000;
/** A gzip file may be a thousand times as large unpacked. */
const unpackedBytesMax = 4 * 1024 * 1024 * 1024;
/** Enough for a hundred years of a hundred monthly series; of a file of more, the rows of its middle and end are few. */
const sampleRowsMax = 50_000;
/** The maximum memory of a sample, in characters: of a table with many columns fewer rows are read. */
const sampleCharactersMax = 24 * 1024 * 1024;
/** The overhead of a cell besides its text. */
const charactersOfCell = 16;
const pageBytesMax = 64 * 1024 * 1024;

/** All rows in batches. @throws IngestFailure as readCsv and readWorkbook do, and if the sheet does not exist or has no such crosstab. */
export async function* tableRows(table: TableFile): AsyncGenerator<CsvBatch> {
  const crosstab = table.crosstab === undefined ? null : new CrosstabRows(table.crosstab);
  for await (const batch of fileRows(table)) yield crosstab === null ? batch : crosstab.of(batch);
}

async function* fileRows(table: TableFile): AsyncGenerator<CsvBatch> {
  const kind = tableKind(table.file);
  if (kind === 'workbook') {
    const { name, rows, fault } = sheetNamed(table);
    if (fault !== undefined) throw new IngestFailure('invalid_file', `Sheet ${name}: ${fault}.`);
    yield* batchesOf(rows);
  } else if (kind === 'web page') yield* batchesOf(await pageRows(table.file, table.encoding));
  else
    for await (const batch of readText(table.file, textOptions(table)))
      yield table.split === undefined ? batch : { ...batch, rows: batch.rows.map(splitFirst) };
}

/** @throws IngestFailure if the file is not a table made by a person: its kind determines its rows. */
function tableKind(file: string): 'text' | 'web page' | 'workbook' {
  const kind = fileKind(file);
  if (kind === 'calendar')
    throw new IngestFailure(
      'invalid_file',
      'The file is a release calendar (iCalendar): load it with "almanac ingest calendar".',
    );
  if (kind === 'data package')
    throw new IngestFailure(
      'invalid_file',
      'The file is JSON: save its table as CSV. A data package is loaded with "almanac ingest".',
    );
  return kind;
}

const textOptions = ({ encoding, delimiter, quote, onBytes }: TableFile) => ({
  ...(delimiter !== undefined && { delimiter }),
  ...(quote !== undefined && { quote }),
  ...(encoding !== undefined && { encoding }),
  ...(onBytes !== undefined && { onBytes }),
});

function* batchesOf(rows: string[][]): Generator<CsvBatch> {
  for (let at = 0; at < rows.length; at += rowsOfBatch) {
    const batch = rows.slice(at, at + rowsOfBatch);
    yield { rows: batch, lines: batch.map((_, i) => at + i + 1) };
  }
}

/** Eurostat packs the dimensions of a row into its first cell, followed by a backslash and the name of the dimension across. */
const packedTitle = /^[\w -]+(?:,[\w -]+)+\\\w+$/;

const splitFirst = ([first = '', ...others]: string[]): string[] => [
  ...first.replace(/\\\w+$/, '').split(','),
  ...others,
];

/** The rows of a web page. All of it is in memory, as for a workbook. */
async function pageRows(file: string, encoding: string | undefined): Promise<string[][]> {
  if (statSync(file).size > pageBytesMax)
    throw new IngestFailure(
      'invalid_file',
      `${file} is a web page of more than ${pageBytesMax / 1024 / 1024} MB: save its table as CSV.`,
    );
  const pieces: Buffer[] = [];
  for await (const piece of readPieces(file, encoding === undefined ? {} : { encoding })) pieces.push(piece);
  const rows = htmlTable(Buffer.concat(pieces).toString());
  if (rows === null)
    throw new IngestFailure(
      'invalid_file',
      `${file} is a web page without a table: save the table as CSV or .xlsx.`,
    );
  return rows;
}

/** The rows of a text file, within what a table may have. */
async function* readText(file: string, options: CsvOptions): AsyncGenerator<CsvBatch> {
  for await (const batch of readCsv(file, { ...options, unpackedBytesMax })) {
    const wide = batch.rows.findIndex((row) => row.length > columnsMax);
    if (wide >= 0)
      throw new IngestFailure(
        'invalid_file',
        `Line ${batch.lines[wide] ?? 0} has ${batch.rows[wide]?.length ?? 0} columns; the limit is ${columnsMax}. Write one row for each value.`,
      );
    yield batch;
  }
}

function sheetNamed({ file, sheet }: TableFile): Sheet {
  const sheets = readWorkbook(file);
  const found = sheet === undefined ? sheets[0] : sheets.find(({ name }) => name === sheet);
  if (found !== undefined) return found;
  throw new IngestFailure(
    'usage',
    `${file} has no sheet ${sheet ?? ''}; it has ${sheets.map(({ name }) => name).join(', ')}.`,
  );
}

/** The samples of a file: one of a text or a web page, one a sheet of a workbook. */
export async function samplesOf(file: string): Promise<{ sheet: string | undefined; sample: Sample }[]> {
  const kind = tableKind(file);
  if (kind === 'text') return [{ sheet: undefined, sample: await sampleOfText(file) }];
  if (kind === 'web page') return [{ sheet: undefined, sample: await sampleOfPage(file) }];
  return readWorkbook(file).map(({ name, rows, continued, fault, doubts, numbers }) => ({
    sheet: name,
    sample: {
      ...{ ...wholeSample(rows), continued, numbers },
      ...(fault !== undefined && { fault }),
      ...(doubts !== undefined && { doubts }),
    },
  }));
}

const wholeSample = (rows: string[][]): Sample => ({
  ...{ rows, lines: rows.map((_, at) => at + 1), isWhole: true, continued: new Set<number>() },
});

async function sampleOfPage(file: string): Promise<Sample> {
  const { encoding } = await beginningOf(file, true);
  return { ...wholeSample(await pageRows(file, encoding.name)), ...encodingOf(encoding) };
}

/** The encoding for the entry: undefined for Unicode, which is recognised. */
const encodingOf = ({
  name,
  isSure,
  evidence,
  candidates,
}: EncodingFound): Pick<Sample, 'encoding' | 'encodingDoubt' | 'encodings'> => ({
  ...(!['utf-8', 'utf-16le', 'utf-16be'].includes(name) && { encoding: name }),
  ...(!isSure && { encodingDoubt: evidence, encodings: candidates }),
});

/**
 * The sample of a table as its entry reads it, instead of as detection would.
 * @throws IngestFailure as `tableRows` does.
 */
export async function sampleBy(table: TableFile): Promise<Sample> {
  const sample: Sample = { rows: [], lines: [], isWhole: true, continued: new Set() };
  await fillSample(sample, tableRows(table));
  return fileKind(table.file) === 'workbook'
    ? sample
    : { ...sample, ...encodingOf((await beginningOf(table.file)).encoding) };
}

async function sampleOfText(file: string): Promise<Sample> {
  const start = await beginningOf(file);
  const { delimiter, quote } = detectDialect(start.text);
  const sample: Sample = {
    ...{ rows: [], lines: [], isWhole: true, continued: new Set(), delimiter },
    ...(quote === "'" && { quote }),
    ...encodingOf(start.encoding),
  };
  await fillSample(sample, readText(file, { delimiter, quote, encoding: start.encoding.name }));
  if (!packedTitle.test((sample.rows[0]?.[0] ?? '').trim())) return sample;
  return { ...sample, split: ',', rows: sample.rows.map(splitFirst) };
}

/** Samples the first rows, some in between, and the last of a larger file. */
async function fillSample(sample: Sample, batches: AsyncGenerator<CsvBatch>): Promise<void> {
  let characters = 0;
  let sampledBatches: CsvBatch[] = [];
  let last: CsvBatch = { rows: [], lines: [] };
  let [number, step] = [0, 1];
  for await (const batch of batches) {
    const room = characters > sampleCharactersMax ? 0 : Math.max(0, sampleRowsMax - sample.rows.length);
    if (sample.isWhole && room >= batch.rows.length) {
      append(sample, batch);
      for (const row of batch.rows) for (const cell of row) characters += cell.length + charactersOfCell;
      continue;
    }
    if (sample.isWhole)
      append(sample, { rows: batch.rows.slice(0, room), lines: batch.lines.slice(0, room) });
    sample.isWhole = false;
    last = lastRows(last, batch);
    // Of so many batches as the file has, every one, every second, every fourth … is kept.
    if (number++ % step === 0) sampledBatches.push(firstRows(batch));
    if (sampledBatches.length > batchesBetween) {
      sampledBatches = sampledBatches.filter((_, at) => at % 2 === 0);
      step *= 2;
    }
  }
  if (sample.isWhole) return;
  const end = last.lines[0] ?? 0;
  for (const batch of sampledBatches) append(sample, linesBetween(batch, sample.lines.at(-1) ?? 0, end));
  append(sample, linesBetween(last, sample.lines.at(-1) ?? 0, Infinity));
}

/** The rows of lines after the first and before the second. */
function linesBetween({ rows, lines }: CsvBatch, after: number, before: number): CsvBatch {
  const places = lines.flatMap((line, at) => (line > after && line < before ? [at] : []));
  return { rows: places.map((at) => rows[at] ?? []), lines: places.map((at) => lines[at] ?? 0) };
}

const [batchesBetween, rowsOfEach, rowsAtEnd] = [16, 250, 2_000];

function append(sample: Sample, { rows, lines }: CsvBatch): void {
  for (const [at, row] of rows.entries()) {
    sample.rows.push(row);
    sample.lines.push(lines[at] ?? 0);
  }
}

const firstRows = ({ rows, lines }: CsvBatch): CsvBatch => ({
  rows: rows.slice(0, rowsOfEach),
  lines: lines.slice(0, rowsOfEach),
});
const lastRows = (before: CsvBatch, { rows, lines }: CsvBatch): CsvBatch => ({
  rows: [...before.rows, ...rows].slice(-rowsAtEnd),
  lines: [...before.lines, ...lines].slice(-rowsAtEnd),
});

/** The encoding of a text by its first bytes, and the text in it. */
async function beginningOf(file: string, isPage = false): Promise<{ encoding: EncodingFound; text: string }> {
  const bytes = await firstBytes(file, dialectBytes);
  if (bytes.length === 0) throw new IngestFailure('invalid_file', 'The file is empty.');
  const encoding = (isPage ? declaredEncoding(bytes) : null) ?? detectEncoding(bytes);
  return {
    encoding,
    text: decoderOf(encoding.name)
      .write(bytes)
      .replace(/^\ufeff+/, ''),
  };
}

const textShareLeast = 0.9;

/** The kind of content of a sample: contents, notes and cover pages are nearly all text. */
export function contentOf({ rows, fault }: Sample): 'nothing' | 'text' | 'numbers' {
  if (fault !== undefined) return 'numbers';
  const cells = rows.flatMap((row) => row.filter((cell) => cell.trim() !== ''));
  if (cells.length === 0) return 'nothing';
  const texts = cells.filter((cell) => !isNumberText(cell)).length;
  return texts >= cells.length * textShareLeast ? 'text' : 'numbers';
}
