// A table as a file: in one of the formats in which offices publish, in an encoding of its language.
import { gzipSync } from 'node:zlib';
import { utils, write, type CellObject, type WorkSheet } from '@e965/xlsx';
import type { Table } from '../office-file.ts';
import type { Random } from '../random.ts';
import { encoded, legacyEncodings, unicode } from './encodings.ts';
import { delimited, openDocument, spreadsheetMl, webPage, type TextStyle } from './text-files.ts';
import { zipOf } from './zip.ts';

export interface Written {
  ending: string;
  content: Buffer;
  /** How it was written, for the table of results. */
  format: string;
  encoding: string;
}

export interface Format {
  name: string;
  weight: number;
  /** Cells have types there. */
  isWorkbook: boolean;
}

export const formats: readonly Format[] = [
  { name: 'csv', weight: 34, isWorkbook: false },
  { name: 'csv, semicolon', weight: 14, isWorkbook: false },
  { name: 'tsv', weight: 8, isWorkbook: false },
  { name: 'csv, pipe', weight: 3, isWorkbook: false },
  { name: 'csv named xls', weight: 3, isWorkbook: false },
  { name: 'tsv named xls', weight: 3, isWorkbook: false },
  { name: 'html named xls', weight: 4, isWorkbook: false },
  { name: 'SpreadsheetML named xls', weight: 3, isWorkbook: true },
  { name: 'xlsx', weight: 16, isWorkbook: true },
  { name: 'xlsx, 1904', weight: 2, isWorkbook: true },
  { name: 'xlsx, a cover sheet', weight: 3, isWorkbook: true },
  { name: 'xlsx, an index sheet', weight: 3, isWorkbook: true },
  { name: 'xls', weight: 5, isWorkbook: true },
  { name: 'ods', weight: 4, isWorkbook: true },
  { name: 'csv.gz', weight: 3, isWorkbook: false },
  { name: 'csv in a zip', weight: 2, isWorkbook: false },
];

const isSemicolon = (format: string) => format === 'csv, semicolon' || format === 'csv named xls';

export function textStyle(random: Random, format: string, isCommaDecimal: boolean): TextStyle {
  const isTab = format.startsWith('tsv');
  const delimiter = isTab ? '\t' : format === 'csv, pipe' ? '|' : isSemicolon(format) ? ';' : ',';
  return {
    delimiter,
    newline: random.pick(['\n', '\n', '\n', '\r\n', '\r\n', '\r\n', '\r']),
    quotes: random.pick(['where needed', 'where needed', 'where needed', 'texts', 'all']),
    sepLine: !isTab && isCommaDecimal && random.chance(0.05),
    blank: delimiter === ',' && random.chance(0.04),
  };
}

/** An encoding that has all signs of the text. */
function someEncoding(random: Random, language: string, text: string): string {
  const legacy = legacyEncodings[language];
  const wanted = legacy !== undefined && random.chance(0.35) ? random.pick(legacy) : random.pick(unicode);
  return encoded(text, wanted) === null ? 'utf-8' : wanted;
}

const delimitedFile = (text: string, encoding: string): Buffer =>
  encoded(text, encoding) ?? Buffer.from(text);

export interface Writing {
  random: Random;
  language: string;
  style: TextStyle;
  /** Of the series, for an index of them. */
  names: readonly string[];
}

export function fileOf(table: Table, format: string, { random, language, style, names }: Writing): Written {
  const named = (ending: string, content: Buffer, encoding = 'of the format'): Written => ({
    ending,
    content,
    format,
    encoding,
  });
  if (format === 'ods') return named('.ods', openDocument(table));
  if (format === 'SpreadsheetML named xls') return named('.xls', Buffer.from(spreadsheetMl(table)));
  if (format === 'html named xls') {
    const wanted = someEncoding(random, language, webPage(table, ''));
    const encoding = wanted.startsWith('utf') || wanted.startsWith('cp') ? 'utf-8' : wanted;
    return named('.xls', delimitedFile(webPage(table, encoding), encoding), `of the format, ${encoding}`);
  }
  if (format.startsWith('xls'))
    return named(format === 'xls' ? '.xls' : '.xlsx', workbook(table, format, names));
  const text = delimited(table, style);
  const encoding = someEncoding(random, language, text);
  const content = delimitedFile(text, encoding);
  if (format === 'csv.gz') return named('.csv.gz', gzipSync(content), encoding);
  if (format === 'csv in a zip') return named('.zip', zipOf({ 'data.csv': content }), encoding);
  const ending = format.endsWith('named xls')
    ? '.xls'
    : format.startsWith('tsv')
      ? '.tsv'
      : random.pick(['.csv', '.csv', '.csv', '.txt']);
  return named(ending, content, encoding);
}

const cover = [
  ['Selected statistics'],
  ['This workbook was published by the office.'],
  ['Contents'],
  ['Data: the table'],
  ['Contact: info@example.org'],
];

/** The list of the series with the number of their observations: no data. */
function indexOf(names: readonly string[]): (string | number)[][] {
  return [
    ['Inquiries: client.services@example.org'],
    [],
    ['Data Item Description', 'Series ID', 'Series Start', 'Series End', 'No. Obs.', 'Unit', 'Data Type'],
    ...names.map((name, at) => [name, `A${at + 2_325_846}C`, 'Jan-2020', 'Dec-2023', 48, 'Number', 'STOCK']),
    [],
    ['© Statistics Office 2026'],
  ];
}

export function workbook(table: Table, format: string, names: readonly string[] = []): Buffer {
  const is1904 = format === 'xlsx, 1904';
  const book = utils.book_new();
  const before = { 'xlsx, a cover sheet': cover, 'xlsx, an index sheet': indexOf(names) }[format];
  if (before !== undefined) utils.book_append_sheet(book, utils.aoa_to_sheet(before), 'Contents');
  utils.book_append_sheet(book, sheetOf(table, is1904), 'Data');
  if (is1904) book.Workbook = { WBProps: { date1904: true } };
  return write(book, { type: 'buffer', bookType: format === 'xls' ? 'biff8' : 'xlsx' }) as Buffer;
}

function sheetOf({ rows, merges }: Table, is1904: boolean): WorkSheet {
  const sheet: WorkSheet = {};
  for (const [r, row] of rows.entries())
    for (const [c, { text, number, format }] of row.entries()) {
      if (text === '' && number === undefined) continue;
      const isDay = format !== undefined && format !== 'General' && /[dy]/.test(format);
      const cell: CellObject =
        number === undefined
          ? { t: 's', v: text }
          : {
              t: 'n',
              v: isDay && is1904 ? number - 1462 : number,
              ...(format !== undefined && { z: format }),
            };
      sheet[utils.encode_cell({ r, c })] = cell;
    }
  const width = Math.max(1, ...rows.map((row) => row.length));
  sheet['!ref'] = utils.encode_range({
    s: { r: 0, c: 0 },
    e: { r: Math.max(0, rows.length - 1), c: width - 1 },
  });
  if (merges.length > 0)
    sheet['!merges'] = merges.map(([r, c, lastR, lastC]) => ({ s: { r, c }, e: { r: lastR, c: lastC } }));
  return sheet;
}
