// The common parts of all lists: parameters, envelope, and rows as CSV. Numbers keep their published digits and are never parsed here.
import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { isDigits } from '../digits.ts';
import { harmless } from '../formula.ts';
import { integerParam, oneOfParam, someOfParam } from './params.ts';

export const limitDefault = 100;
export const limitMax = 1_000;

interface ListParams<Name extends string> {
  /** The available fields, in order; by default all are shown. */
  fields: readonly Name[];
  /** The fields to sort by, each also as `-field`. */
  sorts: readonly string[];
  /** The default order. */
  sort: string;
}

/** The parameters of every list. */
export function listParams<const Name extends string>({ fields, sorts, sort }: ListParams<Name>) {
  const others = sorts.flatMap((name) => [name, `-${name}`]).filter((order) => order !== sort);
  return {
    sort: oneOfParam([sort, ...others])
      .default(sort)
      .describe('The order: a field, or `-field` for descending.'),
    limit: integerParam(1, limitMax)
      .optional()
      .describe(`Rows per page; default ${limitDefault}. CSV without a limit is the whole list.`),
    cursor: cursorParam,
    fields: someOfParam(fields)
      .default([...fields])
      .describe('The fields of a row; default all.'),
    format: formatParam,
  };
}

export const cursorParam = z.string().optional().describe('`pagination.next_cursor` of the previous page.');
export const formatParam = oneOfParam(['json', 'csv'])
  .default('json')
  .describe('The format of the answer. The header `Accept: text/csv` selects CSV too.');

export type Row = Readonly<Record<string, unknown>>;

/** The list envelope. @param total the number of rows of all pages, if it is known. */
export function listJson(
  rows: readonly unknown[],
  nextCursor: string | null,
  extra: object = {},
  total?: number,
): string {
  const count = rows.length;
  return JSON.stringify({
    success: true,
    data: rows,
    count,
    pagination: { next_cursor: nextCursor, count, total },
    ...extra,
  });
}

/** The list envelope with only the number of all rows. @param extra further members. */
export function countJson(count: number, extra: object = {}): string {
  const pagination = { next_cursor: null, count: 0 };
  return JSON.stringify({ success: true, data: [], count, pagination, ...extra });
}

interface Rendering {
  /** The columns of CSV, and the fields of each row in JSON. */
  fields: readonly string[];
  format: 'json' | 'csv';
  nextCursor: string | null;
  /** The number of rows of all pages, if it is known. */
  total?: number | undefined;
  /** Members sent beside the rows in JSON. */
  extra?: object;
}

/** Renders a page of rows in the requested format. */
export function renderList(
  rows: readonly Row[],
  { fields, format, nextCursor, extra = {}, total }: Rendering,
): string {
  if (format === 'csv') return listCsv(rows, fields);
  const shown = rows.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]])));
  return listJson(shown, nextCursor, extra, total);
}

/** The schema of the list envelope. @param extra further members beside the rows. */
export const listOf = <Item extends z.ZodType>(row: Item, extra: z.ZodRawShape = {}) =>
  z.object({
    success: z.literal(true),
    data: z.array(row),
    count: z.int().describe('Rows of this page.'),
    pagination: paginationSchema,
    ...extra,
  });

export const paginationSchema = z
  .object({
    next_cursor: z
      .string()
      .nullable()
      .describe('Send it as `cursor` for the next page; null on the last one.'),
    count: z.int().describe('Rows of this page.'),
    total: z.int().optional().describe('The number of rows of all pages, if known without counting.'),
  })
  .meta({ id: 'Pagination' });

/** The schema of a row in a list: `fields` may omit any of its fields. */
export function rowOf<Shape extends z.ZodRawShape>(row: z.ZodObject<Shape>) {
  const mayLack = Object.keys(row.shape).filter((name) => row.shape[name] instanceof z.ZodOptional);
  const without = mayLack.length === 0 ? {} : { 'x-may-lack': mayLack }; // applies even without `fields`
  return row.partial().meta({ 'x-narrowed-by': 'fields', ...without });
}

/** The schema of the envelope of a single record. */
export const oneOf = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data });

/** A list as CSV (RFC 4180); nested values are written as JSON. */
export function listCsv(rows: readonly Row[], columns: readonly string[]): string {
  return csvLine(columns) + listCsvLines(rows, columns);
}

/** The lines of a list, without the header. */
function listCsvLines(rows: readonly Row[], columns: readonly string[]): string {
  return rows.map((row) => csvLine(columns.map((column) => csvText(row[column])))).join('');
}

/** A page of rows read from the database. */
export interface Page<Place> {
  rows: readonly Row[];
  /** The position of its last row; null on the last page. */
  last: Place | null;
}

/** A list as CSV, read page by page. @param first the position to begin after; null: the beginning. */
export async function* csvParts<Place>(
  read: (after: Place | null) => Promise<Page<Place>>,
  first: Place | null,
  columns: readonly string[],
): AsyncGenerator<string> {
  let page = await read(first);
  yield listCsv(page.rows, columns);
  while (page.last !== null) {
    page = await read(page.last);
    yield listCsvLines(page.rows, columns);
  }
}

/** A line with one empty cell; readers skip a blank line. */
export const emptyCsvLine = '""\r\n';

/** A CSV line. Readers also treat a lone LF or CR as a line end, so the rest of such a cell would begin a new line. */
export function csvLine(cells: readonly string[]): string {
  if (cells.length === 1 && cells[0] === '') return emptyCsvLine;
  return stringify([[...cells]], { record_delimiter: 'windows', quote_record_delimiter: true });
}

/** Cells of a line, without its end. */
export function csvCells(cells: readonly string[]): string {
  return stringify([[...cells]], { eof: false });
}

/** A value as the text of a cell. */
export function csvText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return harmless(value);
  if (isDigits(value)) return value.rawJSON;
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : harmless(JSON.stringify(value));
}
