// Reads an Excel workbook (.xlsx, .xlsm, .xlsb, .xls) as sheets of text rows. Hides number formats: a date is YYYY-MM-DD, a percentage keeps its
// sign, a number is the shortest decimal of its double. A workbook is held in memory as a whole, so its size is limited.
import { readFileSync, statSync } from 'node:fs';
import {
  read,
  SSF,
  utils,
  type CellObject,
  type ParsingOptions,
  type WorkBook,
  type WorkSheet,
} from '@e965/xlsx';
import { IngestFailure } from '../load/failure.ts';
import { unpackedSize } from '../files/unpacked-size.ts';

export interface Sheet {
  name: string;
  /** All rows from line 1 on; a row ends at its last cell with content. */
  rows: string[][];
  /** The lines that continue a cell merged over several lines. */
  continued: ReadonlySet<number>;
  /** Why its values are not known. */
  fault?: string;
}

const workbookBytesMax = 64 * 1024 * 1024;
/** A workbook is a zip archive: unpacked it may be a thousand times as large. */
const unpackedBytesMax = 512 * 1024 * 1024;
const cellsMergedMax = 100_000;

export function isWorkbook(file: string): boolean {
  return /\.(?:xlsx|xlsm|xlsb|xls)$/i.test(file);
}

/** The workbook that was read last: its sheets are loaded one after the other, and each would read all of it. */
let lastRead: { file: string; size: number; mtimeMs: number; sheets: Sheet[] } | undefined;

/**
 * The sheets that are not hidden. A cell merged over several lines is repeated in each; one merged over columns stands in the first.
 * @throws IngestFailure if the file is too large or no workbook.
 */
export function readWorkbook(file: string): Sheet[] {
  const { size, mtimeMs } = statSync(file);
  if (lastRead?.file === file && lastRead.size === size && lastRead.mtimeMs === mtimeMs)
    return lastRead.sheets;
  const workbook = opened(file, {
    ...{ dense: true, cellNF: true, cellText: false, cellHTML: false },
    sheetStubs: true, // else a formula without a result is an empty cell
  });
  const from1904 = workbook.Workbook?.WBProps?.date1904 === true;
  const sheets = workbook.SheetNames.flatMap((name, at) => {
    const sheet = workbook.Sheets[name];
    const isHidden = (workbook.Workbook?.Sheets?.[at]?.Hidden ?? 0) !== 0;
    return sheet === undefined || isHidden ? [] : [sheetOf(name, sheet, from1904)];
  });
  lastRead = { file, size, mtimeMs, sheets };
  return sheets;
}

/**
 * The names of all sheets, of hidden and of empty ones too: that takes about a tenth of the time of reading the cells.
 * @throws IngestFailure as readWorkbook does.
 */
export const sheetNames = (file: string): string[] => opened(file, { bookSheets: true }).SheetNames;

function opened(file: string, options: ParsingOptions): WorkBook {
  const { size } = statSync(file);
  if (size > workbookBytesMax)
    throw new IngestFailure(
      'invalid_file',
      `${file} has ${Math.ceil(size / 1024 / 1024)} MB; a workbook may have ${workbookBytesMax / 1024 / 1024}. Save its sheets as CSV.`,
    );
  const content = readFileSync(file);
  const unpacked = unpackedSize(content);
  if (unpacked === null)
    throw new IngestFailure(
      'invalid_file',
      `${file} cannot be read as an Excel workbook: its archive is damaged.`,
    );
  if (unpacked > unpackedBytesMax)
    throw new IngestFailure(
      'invalid_file',
      `${file} has ${Math.ceil(unpacked / 1024 / 1024)} MB unpacked; a workbook may have ${unpackedBytesMax / 1024 / 1024}. Save its sheets as CSV.`,
    );
  try {
    return read(content, options);
  } catch (error) {
    throw new IngestFailure('invalid_file', `${file} cannot be read as an Excel workbook.`, { cause: error });
  }
}

function sheetOf(name: string, sheet: WorkSheet, from1904: boolean): Sheet {
  const cells = (sheet['!data'] ?? []) as ((CellObject | undefined)[] | undefined)[];
  const rows = Array.from(cells, (row) =>
    withoutEnd(Array.from(row ?? [], (cell) => (cell === undefined ? '' : textOf(cell, from1904)))),
  );
  const fault = faultOf(cells);
  const continued = new Set<number>();
  let merged = 0;
  for (const { s: start, e: end } of sheet['!merges'] ?? []) {
    const text = rows[start.r]?.[start.c] ?? '';
    if (text === '') continue;
    for (let row = start.r + 1; row <= Math.min(end.r, rows.length - 1); row++) {
      const filled = (rows[row] ??= []);
      while (filled.length <= start.c) filled.push('');
      filled[start.c] = text;
      continued.add(row + 1);
      if (++merged > cellsMergedMax) return { name, rows, continued, ...fault };
    }
  }
  return { name, rows, continued, ...fault };
}

/** Programs that write a workbook without computing it leave the results of its formulas to Excel: to read them as empty would lose values. */
function faultOf(cells: readonly (readonly (CellObject | undefined)[] | undefined)[]): { fault?: string } {
  let first: string | undefined;
  let count = 0;
  for (const [row, columns] of cells.entries())
    for (const [column, cell] of (columns ?? []).entries()) {
      if (cell?.t !== 'z' || cell.f === undefined) continue;
      first ??= utils.encode_cell({ r: row, c: column });
      count++;
    }
  if (first === undefined) return {};
  const which =
    count === 1 ? `the formula in ${first} has` : `${count} formulas, the first in ${first}, have`;
  return { fault: `${which} no stored result: open the workbook in Excel or LibreOffice and save it` };
}

function withoutEnd(row: string[]): string[] {
  const last = row.findLastIndex((text) => text !== '');
  return row.slice(0, last + 1);
}

/** What Excel shows for a formula that has gone wrong. */
const errorTexts: ReadonlyMap<number, string> = new Map([
  [0x00, '#NULL!'],
  [0x07, '#DIV/0!'],
  [0x0f, '#VALUE!'],
  [0x17, '#REF!'],
  [0x1d, '#NAME?'],
  [0x24, '#NUM!'],
]);

function textOf(cell: CellObject, from1904: boolean): string {
  const { t: type, v: value, z: format } = cell;
  if (type === 'n' && typeof value === 'number') {
    if (typeof format === 'string' && SSF.is_date(format)) return dateOf(value, from1904) ?? String(value);
    // A percentage is what a reader of the sheet sees; 15 digits are what a double holds.
    if (typeof format === 'string' && format.includes('%'))
      return `${Number((value * 100).toPrecision(15))}%`;
    return String(value);
  }
  if (type === 'e') return errorTexts.get(Number(value)) ?? '#N/A';
  if (type === 'z') return '';
  if (type === 'b') return value === true ? 'TRUE' : 'FALSE';
  return typeof value === 'string' ? value.trim() : '';
}

function dateOf(serial: number, from1904: boolean): string | undefined {
  const parts = SSF.parse_date_code(serial, { date1904: from1904 }) as
    { y: number; m: number; d: number; H: number; M: number; S: number } | null | undefined;
  if (parts === null || parts === undefined || parts.y < 1900) return undefined;
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const day = `${String(parts.y).padStart(4, '0')}-${two(parts.m)}-${two(parts.d)}`;
  const isMidnight = parts.H === 0 && parts.M === 0 && Math.floor(parts.S) === 0;
  return isMidnight ? day : `${day}T${two(parts.H)}:${two(parts.M)}:${two(parts.S)}`;
}
