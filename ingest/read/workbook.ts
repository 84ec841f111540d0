// Reads a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods) as sheets of text rows: a date is YYYY-MM-DD, a percentage keeps its sign, a number
// has 15 significant digits, as in Excel. All of a workbook is in memory, so its size is limited, and so is the number of its cells: a few
// bytes can name a cell in a row far beyond the data.
import { readFileSync, statSync } from 'node:fs';
import {
  CFB,
  read,
  SSF,
  utils,
  type CellObject,
  type ParsingOptions,
  type Range,
  type WorkBook,
  type WorkSheet,
} from '@e965/xlsx';
import { IngestFailure } from '../failure.ts';
import { currencySigns } from '../cells/cell-forms.ts';
import { htmlText } from './html-table.ts';
import { archiveFault, hiddenIn } from './workbook-archive.ts';

export interface Sheet {
  name: string;
  /** All rows from line 1 on; a row ends at its last cell with content. */
  rows: string[][];
  /** The lines that continue a cell merged over several lines. */
  continued: ReadonlySet<number>;
  /** Why its values are unknown. */
  fault?: string;
  /** Why its cells may mean something else than they show. */
  doubts?: SheetDoubts;
  numbers: SheetNumbers;
}

/** `serial`: numbers of days, without the format of a date, count from 1904. */
export type SheetDoubts = Partial<Record<'date' | 'values' | 'serial', string>>;

/** By column: what its stored numbers show of the texts among them. */
export type SheetNumbers = ReadonlyMap<number, ColumnNumbers>;

export interface ColumnNumbers {
  /** The last row with a stored number, from 0 on. */
  last: number;
  /** The last one with decimals: its mark is a point, whatever the office writes in texts. */
  withDecimals?: { row: number; text: string };
  /** The last text whose digits are in groups of three, such as 1.201. */
  grouped?: { row: number; column: number; text: string };
}

const workbookBytesMax = 64 * 1024 * 1024;
/** The limits of a sheet, as in Excel. */
const rowsMax = 1_048_576;
export const columnsMax = 16_384;
/** The cells of a workbook, including empty ones before the last cell of a row. */
const cellsMax = 5_000_000;
const cellsMergedMax = 100_000;

/** The last workbook read: its sheets are loaded one after the other, and each would otherwise read all of it. */
let lastRead: { file: string; size: number; mtimeMs: number; sheets: Sheet[] } | undefined;

/**
 * The visible sheets. A cell merged over several lines is repeated in each; one merged over columns is in the first.
 * @throws IngestFailure if the file is too large or not a workbook.
 */
export function readWorkbook(file: string): Sheet[] {
  const { size, mtimeMs } = statSync(file);
  if (lastRead?.file === file && lastRead.size === size && lastRead.mtimeMs === mtimeMs)
    return lastRead.sheets;
  lastRead = undefined; // never two in memory
  const workbook = opened(file, {
    ...{ dense: true, cellNF: true, cellText: false, cellHTML: true },
    sheetStubs: true, // else a formula without a result is an empty cell
    cellStyles: true, // else it is not known which rows and columns are hidden
  });
  const from1904 = workbook.Workbook?.WBProps?.date1904 === true;
  const room: Room = { cells: cellsMax };
  const sheets = workbook.SheetNames.flatMap((name, at) => {
    const sheet = workbook.Sheets[name];
    const isHidden = (workbook.Workbook?.Sheets?.[at]?.Hidden ?? 0) !== 0;
    return sheet === undefined || isHidden ? [] : [sheetOf(name, sheet, from1904, room)];
  });
  lastRead = { file, size, mtimeMs, sheets };
  return sheets;
}

/**
 * The names of all sheets, including hidden and empty ones: that takes about a tenth of the time of reading the cells.
 * @throws IngestFailure as readWorkbook does.
 */
export const sheetNames = (file: string): string[] => opened(file, { bookSheets: true }).SheetNames;

function opened(file: string, options: ParsingOptions): WorkBook {
  const { size } = statSync(file);
  if (size > workbookBytesMax)
    throw new IngestFailure(
      'invalid_file',
      `${file} is ${Math.ceil(size / 1024 / 1024)} MB; the limit for a workbook is ${workbookBytesMax / 1024 / 1024} MB. Save its sheets as CSV.`,
    );
  const content = readFileSync(file);
  const fault = archiveFault(content);
  if (fault !== null)
    throw new IngestFailure('invalid_file', `${file} cannot be read as a workbook: ${fault}`);
  try {
    if (!isOpenDocument(content)) return read(content, options);
    // A percentage without a style is known by its text alone.
    const workbook = read(withStyles(content), { ...options, cellText: true });
    if (options.cellStyles === true) addHidden(workbook, content);
    return workbook;
  } catch (error) {
    throw new IngestFailure(
      'invalid_file',
      `${file} cannot be read as a workbook: open it in Excel or LibreOffice, and save it as .xlsx.`,
      { cause: error },
    );
  }
}

/** The archive holds its type uncompressed: as the first file, or elsewhere if another program packed it. */
const isOpenDocument = (content: Buffer): boolean =>
  content.includes('mimetypeapplication/vnd.oasis.opendocument.spreadsheet');

/** The library needs the styles of an .ods file, which some programs leave out as it has none. */
function withStyles(content: Buffer): Buffer {
  const archive = CFB.read(content, { type: 'buffer' });
  if (CFB.find(archive, '/styles.xml') !== null) return content;
  CFB.utils.cfb_add(archive, '/styles.xml', Buffer.from(noStyles));
  return CFB.write(archive, { type: 'buffer', fileType: 'zip' }) as Buffer;
}

/** In all other kinds of workbooks, the library finds the hidden parts. */
function addHidden(workbook: WorkBook, content: Buffer): void {
  const found = hiddenIn(content);
  workbook.Workbook = {
    ...workbook.Workbook,
    Sheets: found.map(({ isSheet }) => ({ Hidden: isSheet ? 1 : 0 })),
  };
  for (const [at, { rows, columns }] of found.entries()) {
    const sheet = workbook.Sheets[workbook.SheetNames[at] ?? ''];
    if (sheet === undefined) continue;
    sheet['!rows'] = hiddenWithin(rows, rowsMax);
    sheet['!cols'] = hiddenWithin(columns, columnsMax);
  }
}

function hiddenWithin(runs: readonly [number, number][], max: number): { hidden: true }[] {
  const hidden: { hidden: true }[] = [];
  for (const [from, end] of runs) for (let at = from; at < Math.min(end, max); at++) hidden[at] = hiddenLine;
  return hidden;
}

const hiddenLine = { hidden: true } as const;

const noStyles =
  '<?xml version="1.0"?><office:document-styles xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2"/>';

/** How many more cells the workbook may have. */
interface Room {
  cells: number;
}

function sheetOf(name: string, sheet: WorkSheet, from1904: boolean, room: Room): Sheet {
  const refuse = (what: string): never => {
    throw new IngestFailure('invalid_file', `Sheet ${name} has ${what}. Save it as CSV.`);
  };
  const take = (cells: number) => {
    room.cells -= cells;
    if (room.cells < 0) refuse(`too many cells; the limit for a workbook is ${cellsMax}`);
  };
  // The lists are sparse: they may have a billion holes.
  const data = (sheet['!data'] ?? []) as (CellObject[] | undefined)[];
  const numbers = Object.keys(data).map(Number);
  const last = numbers.at(-1) ?? -1;
  if (last >= rowsMax) refuse(`a cell in row ${last + 1}; the limit for a sheet is ${rowsMax} rows`);
  const rows = Array.from({ length: last + 1 }, (): string[] => []);
  const faults = new Formulas();
  const doubts: SheetDoubts = {};
  const ofColumns = new Map<number, ColumnNumbers>();
  for (const at of numbers) {
    const row = data[at] ?? [];
    const columns = Object.keys(row).map(Number);
    const width = (columns.at(-1) ?? -1) + 1;
    if (width > columnsMax)
      refuse(`a cell in column ${width}; the limit for a sheet is ${columnsMax} columns`);
    take(width);
    const texts = Array.from({ length: width }, () => '');
    for (const column of columns) {
      const cell = row[column];
      if (cell === undefined) continue;
      const text = textOf(cell, from1904);
      texts[column] = text;
      noteNumber(ofColumns, cell, { row: at, column, text });
      faults.note(cell, at, column);
      noteFormat(doubts, cell, cellPlace(at, column));
    }
    rows[at] = withoutEnd(texts);
  }
  const merges = sheet['!merges'] ?? [];
  const shared = merges.find(({ s: { r, c } }) => data[r]?.[c]?.t === 'n' && isValue(rows[r]?.[c] ?? ''));
  if (shared !== undefined)
    doubts.values = `${utils.encode_range(shared)} are merged, and have one number: it may be that of all their periods together`;
  const continued = repeatMerged(rows, merges, take);
  noteHidden(doubts, sheet, rows);
  if (from1904) doubts.serial = 'the workbook counts days from 1904: give the dates the format of a date';
  return {
    ...{ name, rows, continued, numbers: ofColumns, ...faults.found() },
    ...(Object.keys(doubts).length > 0 && { doubts }),
  };
}

const groupedText = /^[-(]?[1-9]\d{0,2}[.,]\d{3}(?![.,]?\d)/;

function noteNumber(
  columns: Map<number, ColumnNumbers>,
  { t: type }: CellObject,
  { row, column, text }: { row: number; column: number; text: string },
): void {
  const isNumber = type === 'n';
  if (!isNumber && (type !== 's' || !groupedText.test(text))) return;
  const known = columns.get(column) ?? { last: -1 };
  columns.set(column, known);
  if (!isNumber) known.grouped = { row, column, text };
  else {
    known.last = row;
    if (/^-?\d+\.\d+%?$/.test(text)) known.withDecimals = { row, text };
  }
}

/** Whether a number is hardly a year, a month, a week or the number of an item. */
const isValue = (text: string): boolean =>
  /^-?\d+(?:\.\d+)?%?$/.test(text) && !/^(?:[0-4]?\d|5[0-3]|(?:1[5-9]|2[0-2])\d{2})$/.test(text);

/** @param take is called with the cells that are added. @returns the lines that continue a cell. */
function repeatMerged(
  rows: string[][],
  merges: readonly Range[],
  take: (cells: number) => void,
): Set<number> {
  const continued = new Set<number>();
  let merged = 0;
  for (const { s: start, e: end } of merges) {
    const text = rows[start.r]?.[start.c] ?? '';
    if (text === '') continue;
    for (let row = start.r + 1; row <= Math.min(end.r, rows.length - 1); row++) {
      const filled = (rows[row] ??= []);
      take(Math.max(0, start.c + 1 - filled.length));
      while (filled.length <= start.c) filled.push('');
      filled[start.c] = text;
      continued.add(row + 1);
      if (++merged > cellsMergedMax) return continued;
    }
  }
  return continued;
}

/**
 * Programs that write a workbook without computing it leave the results of its formulas to Excel: reading them as empty would lose values.
 */
class Formulas {
  #first: string | undefined;
  #count = 0;

  note(cell: CellObject, row: number, column: number): void {
    if (cell.t !== 'z' || cell.f === undefined) return;
    this.#first ??= cellPlace(row, column);
    this.#count += 1;
  }

  /** The fault of a sheet in which formulas have no stored result. */
  found(): { fault?: string } {
    if (this.#first === undefined) return {};
    const which =
      this.#count === 1
        ? `the formula in ${this.#first} has`
        : `${this.#count} formulas, the first in ${this.#first}, have`;
    return { fault: `${which} no stored result: open the workbook in Excel or LibreOffice and save it` };
  }
}

/** The name of a cell, such as B3. */
export const cellPlace = (row: number, column: number): string => utils.encode_cell({ r: row, c: column });

/** Records the first hidden row or column with content: it is read although a person who opens the sheet does not see it. */
function noteHidden(doubts: SheetDoubts, sheet: WorkSheet, rows: readonly string[][]): void {
  // The lists are sparse, and a style may hide all columns behind the last.
  const hidden = (lines: readonly ({ hidden?: boolean } | undefined)[] = [], end: number) =>
    Object.keys(lines.slice(0, end))
      .map(Number)
      .filter((at) => lines[at]?.hidden === true);
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const [row] = hidden(sheet['!rows'], rows.length).filter((at) => (rows[at] ?? []).length > 0);
  const [column] = hidden(sheet['!cols'], width).filter((at) =>
    rows.some((cells) => (cells[at] ?? '') !== ''),
  );
  const named = [
    ...(row === undefined ? [] : [`row ${row + 1}`]),
    ...(column === undefined ? [] : [`column ${utils.encode_col(column)}`]),
  ];
  if (named.length === 0) return;
  const why = `${named.join(' and ')} of the sheet ${named.length > 1 ? 'are hidden and were' : 'is hidden and was'} read: delete what readers are not meant to see`;
  doubts.values = doubts.values === undefined ? why : `${doubts.values}; ${why}`;
}

const quoted = /"[^"]*"|\\.|_./g;
/** Commas after the last digit of a format, without a word: 1234000 is shown as 1,234. */
const scaling = /[0#?](,+)(?![\d#?,.])/;

/** Without colours and conditions. Escaped signs are shown as they are. */
const bareOfSigns = (format: string): string =>
  format
    .replaceAll(/_./g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll('\\', '')
    .replaceAll('"', '');

/** Records formats that show another number, or less of a date, than the cell contains. */
function noteFormat(doubts: SheetDoubts, { t: type, v: value, z: format }: CellObject, place: string): void {
  if (type !== 'n' || typeof value !== 'number' || typeof format !== 'string') return;
  const bare = format.replaceAll(quoted, '').replaceAll(/\[[^\]]*\]/g, '');
  if (SSF.is_date(format)) {
    if (/d/i.test(bare) && /m/i.test(bare) && !/[ygbehs]/i.test(bare))
      doubts.date ??= `the format of ${place} shows no year: a program that takes Jan-24 for a day stores 24 January of the present year`;
    return;
  }
  if (value > 0 && /^\s*(?:\(|-)[#0?]/.test(sectionFor(bareOfSigns(format), value)))
    doubts.values ??= `the format of ${place} shows the number ${value} as one below zero: the stored number is read`;
  const commas = scaling.exec(bare)?.[1]?.length ?? 0;
  if (commas === 0 || /"[^"]*\p{L}[^"]*"|\\\p{L}/u.test(format)) return;
  const factor = `0.${'0'.repeat(commas * 3 - 1)}1`;
  doubts.values ??= `the format of ${place} divides what the sheet shows by ${1000 ** commas}: the stored number ${value} is read; if the unit is that of the shown numbers, set multiply: ${factor}`;
}

/** The section of a format for a number: those for numbers above zero, below it, and zero. */
function sectionFor(format: string, value: number): string {
  const sections = format.split(';');
  return (value < 0 ? sections[1] : value === 0 ? sections[2] : undefined) ?? sections[0] ?? '';
}

const behindDigits = /(?:[0#?]|General)(?:"([^"]+)"|\\(.))[_\s)]*$/u;
/** Flags of single values, such as "p" or " (r)", and signs that multiply. Units and currencies are the same for all values. */
const flagOrMultiple = /^(?:[([]?[a-z]{1,2}[)\]]?|[*†‡]{1,2}|mln|thousand|million|billion)$/iu;

/** The mark that a format shows behind a number; empty for none. */
function shownBehind(format: string, value: number): string {
  const [, text, letter] = behindDigits.exec(sectionFor(format, value)) ?? [];
  const mark = (text ?? letter ?? '').trim();
  return flagOrMultiple.test(mark) && !currencySigns.includes(mark) ? ` ${mark}` : '';
}

/** The text that a format shows instead of a number, such as "c" for a confidential one. */
function textInPlace(format: string, value: number): string | undefined {
  const section = sectionFor(format, value);
  if (/[0#?@]|general/i.test(section.replaceAll(quoted, ''))) return undefined;
  return /"([^"]*\p{L}[^"]*)"/u.exec(section)?.[1]?.trim();
}

function withoutEnd(row: string[]): string[] {
  const last = row.findLastIndex((text) => text !== '');
  return row.slice(0, last + 1);
}

/** The texts that Excel shows for formula errors. */
const errorTexts: ReadonlyMap<number, string> = new Map([
  [0x00, '#NULL!'],
  [0x07, '#DIV/0!'],
  [0x0f, '#VALUE!'],
  [0x17, '#REF!'],
  [0x1d, '#NAME?'],
  [0x24, '#NUM!'],
]);

function textOf(cell: CellObject, from1904: boolean): string {
  const { t: type, v: value, z: format, w: shown, h: html } = cell;
  if (type === 'n' && typeof value === 'number') {
    if (typeof format === 'string' && SSF.is_date(format)) return dateOf(value, from1904) ?? String(value);
    const inPlace = typeof format === 'string' ? textInPlace(format, value) : undefined;
    if (inPlace !== undefined) return inPlace;
    // A percentage is stored as the sheet shows it; a double has 15 significant digits. A quoted % in a format does not multiply.
    if (
      typeof format === 'string' ? format.replaceAll(quoted, '').includes('%') : shown?.endsWith('%') === true
    )
      return `${Number((value * 100).toPrecision(15))}%`;
    // Excel keeps and shows 15 significant digits; those beyond are noise of its arithmetic, as in 0.30000000000000004.
    return `${Number(value.toPrecision(15))}${typeof format === 'string' ? shownBehind(format, value) : ''}`;
  }
  if (type === 'e') return errorTexts.get(Number(value)) ?? '#N/A';
  if (type === 'z') return '';
  if (type === 'b') return value === true ? 'TRUE' : 'FALSE';
  if (html?.includes('<sup>') === true) return htmlText(html).trim();
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
