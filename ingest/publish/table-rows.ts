// The rows of a table, whatever file it is in: CSV, plain or gzipped, or a sheet of a workbook. Every line is there, titles and notes too.
// Hides which sign divides the cells.
import { readCsv, readPieces, type CsvOptions } from '../files/csv.ts';
import type { CsvBatch } from '../files/csv-batch.ts';
import { isWorkbook } from '../files/workbook-content.ts';
import { IngestFailure } from '../load/failure.ts';
import { looksNumeric } from './detect/number-forms.ts';
import { columnsMax, readWorkbook, type Sheet } from './workbook.ts';

export interface TableFile {
  /** The path. */
  file: string;
  /** Of a workbook; default: the first. */
  sheet?: string | undefined;
  encoding?: string | undefined;
  delimiter?: string | undefined;
  /** Bytes read so far, of how many. */
  onBytes?: (bytesRead: number, bytesTotal: number | undefined) => void;
}

/** What detection is given: the first rows, and whether they are all. */
export interface Sample {
  rows: string[][];
  /** The line on which each row begins. */
  lines: number[];
  isWhole: boolean;
  /** Lines that continue a cell merged over several lines. */
  continued: ReadonlySet<number>;
  /** Of a CSV file. */
  delimiter?: string;
  /** Why the values of the rows are not known. */
  fault?: string;
}

const rowsOfBatch = 1_000;
/** A gzip file may be a thousand times as large unpacked. */
const unpackedBytesMax = 4 * 1024 * 1024 * 1024;
/** Enough for a hundred years of a hundred monthly series; a file of more is known by its beginning. */
const sampleRowsMax = 50_000;
/** What a sample may hold in memory, in characters: of a table of many columns fewer rows are read. */
const sampleCharactersMax = 24 * 1024 * 1024;
/** What a cell takes beside its text. */
const charactersOfCell = 16;
const sampleBytesMax = 64 * 1024;

/** All rows in batches. @throws IngestFailure as readCsv and readWorkbook do, and if there is no such sheet. */
export async function* tableRows(table: TableFile): AsyncGenerator<CsvBatch> {
  if (!isWorkbook(table.file)) {
    const delimiter = table.delimiter ?? (await delimiterOf(table.file, table.encoding));
    yield* readTable(table.file, {
      delimiter,
      ...(table.encoding !== undefined && { encoding: table.encoding }),
      ...(table.onBytes !== undefined && { onBytes: table.onBytes }),
    });
    return;
  }
  const { name, rows, fault } = sheetNamed(table);
  if (fault !== undefined) throw new IngestFailure('invalid_file', `Sheet ${name}: ${fault}.`);
  for (let at = 0; at < rows.length; at += rowsOfBatch) {
    const batch = rows.slice(at, at + rowsOfBatch);
    yield { rows: batch, lines: batch.map((_, i) => at + i + 1) };
  }
}

/** The rows of a text file, within what a table may have. */
async function* readTable(file: string, options: CsvOptions): AsyncGenerator<CsvBatch> {
  for await (const batch of readCsv(file, { ...options, unpackedBytesMax })) {
    const wide = batch.rows.findIndex((row) => row.length > columnsMax);
    if (wide >= 0)
      throw new IngestFailure(
        'invalid_file',
        `Line ${batch.lines[wide] ?? 0} has ${batch.rows[wide]?.length ?? 0} columns; a table may have ${columnsMax}. Write one row for each value.`,
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

/** The samples of a file: one of a CSV file, one a sheet of a workbook. */
export async function samplesOf(file: string): Promise<{ sheet: string | undefined; sample: Sample }[]> {
  if (!isWorkbook(file)) return [{ sheet: undefined, sample: await sampleOfCsv(file) }];
  return readWorkbook(file).map(({ name, rows, continued, fault }) => ({
    sheet: name,
    sample: {
      ...{ rows, lines: rows.map((_, at) => at + 1), isWhole: true, continued },
      ...(fault !== undefined && { fault }),
    },
  }));
}

async function sampleOfCsv(file: string): Promise<Sample> {
  const delimiter = await delimiterOf(file, undefined);
  const sample: Sample = { rows: [], lines: [], isWhole: true, continued: new Set(), delimiter };
  const batches = readTable(file, { delimiter });
  let characters = 0;
  for await (const { rows, lines } of batches) {
    const room = sampleRowsMax - sample.rows.length;
    if (characters > sampleCharactersMax && rows.length > 0) {
      sample.isWhole = false;
      break;
    }
    sample.rows.push(...rows.slice(0, room));
    sample.lines.push(...lines.slice(0, room));
    for (const row of rows) for (const cell of row) characters += cell.length + charactersOfCell;
    if (rows.length <= room) continue;
    sample.isWhole = false;
    break;
  }
  return sample;
}

const textShareLeast = 0.9;

/** What the cells are: those of contents, notes and cover pages are text nearly all. */
export function contentOf({ rows, fault }: Sample): 'nothing' | 'text' | 'numbers' {
  if (fault !== undefined) return 'numbers';
  const cells = rows.flatMap((row) => row.filter((cell) => cell.trim() !== ''));
  if (cells.length === 0) return 'nothing';
  const texts = cells.filter((cell) => !looksNumeric(cell.trim())).length;
  return texts >= cells.length * textShareLeast ? 'text' : 'numbers';
}

/** A comma and a point also stand within numbers and texts, so the others go first where several divide the lines alike. */
const delimiters = ['\t', ';', '|', ','];

/** The sign that divides the most lines of the beginning of the file into as many cells; titles and notes may be divided otherwise. */
async function delimiterOf(file: string, encoding: string | undefined): Promise<string> {
  const pieces = readPieces(file, encoding === undefined ? {} : { encoding });
  let text = '';
  try {
    const first = await pieces.next();
    if (first.done !== true) text = first.value.subarray(0, sampleBytesMax).toString();
  } finally {
    await pieces.return(undefined);
  }
  return likelyDelimiter(text);
}

export function likelyDelimiter(text: string): string {
  const lines = text
    .replaceAll(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== '');
  const scored = delimiters.map((delimiter) => {
    const counts = Map.groupBy(lines, (line) => line.split(delimiter).length);
    counts.delete(1);
    const most = Math.max(0, ...[...counts.values()].map((group) => group.length));
    return { delimiter, lines: most };
  });
  const best = scored.reduce((found, each) => (each.lines > found.lines ? each : found));
  return best.lines === 0 ? ',' : best.delimiter;
}
