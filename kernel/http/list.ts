// The common part of every list: its parameters, its envelope, its rows as CSV.
// Hides the quoting of CSV. Numbers keep their published digits: none is parsed here.
import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { isDigits } from '../digits.ts';
import { integerParam, oneOfParam, someOfParam } from './params.ts';

export const limitDefault = 100;
export const limitMax = 1_000;

interface ListParams<Name extends string> {
  /** What a row can show, in order; all of it unless asked for less. */
  fields: readonly Name[];
  /** What it can be ordered by; each also as `-field`. */
  sorts: readonly string[];
  /** The order unless asked for another. */
  sort: string;
}

/** The parameters that every list takes. */
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

/** The list envelope. */
export function listJson(rows: readonly unknown[], nextCursor: string | null, extra: object = {}): string {
  const count = rows.length;
  return JSON.stringify({
    success: true,
    data: rows,
    count,
    pagination: { next_cursor: nextCursor, count },
    ...extra,
  });
}

interface Rendering {
  /** The columns of CSV, and what is left of each row in JSON. */
  fields: readonly string[];
  format: 'json' | 'csv';
  nextCursor: string | null;
  /** What stands beside the rows in JSON. */
  extra?: object;
}

/** A page of rows as it was asked for. */
export function renderList(
  rows: readonly Row[],
  { fields, format, nextCursor, extra = {} }: Rendering,
): string {
  if (format === 'csv') return listCsv(rows, fields);
  const shown = rows.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]])));
  return listJson(shown, nextCursor, extra);
}

/** The list envelope, as a schema. @param extra what stands in it beside the rows. */
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
  })
  .meta({ id: 'Pagination' });

/** A row as a list shows it: `fields` may leave any of them out. */
export function rowOf<Shape extends z.ZodRawShape>(row: z.ZodObject<Shape>) {
  const mayLack = Object.keys(row.shape).filter((name) => row.shape[name] instanceof z.ZodOptional);
  const without = mayLack.length === 0 ? {} : { 'x-may-lack': mayLack }; // also where `fields` is not given
  return row.partial().meta({ 'x-narrowed-by': 'fields', ...without });
}

/** The envelope of one thing, as a schema. */
export const oneOf = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data });

/** A list as CSV (RFC 4180); nested values as JSON. */
export function listCsv(rows: readonly Row[], columns: readonly string[]): string {
  return csvLine(columns) + listCsvLines(rows, columns);
}

/** The lines of a list below its header. */
function listCsvLines(rows: readonly Row[], columns: readonly string[]): string {
  return rows.map((row) => csvLine(columns.map((column) => csvText(row[column])))).join('');
}

/** A page as it was read. */
export interface Page<Place> {
  rows: readonly Row[];
  /** Where its last row stands in the list; null where none follows. */
  last: Place | null;
}

/** A list as CSV, read page by page. @param first where the page before it ended; null: at the beginning. */
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

/** A line. Readers take a lone LF or CR for the end of a line too: what follows one in a cell would begin a line of its own. */
export function csvLine(cells: readonly string[]): string {
  return stringify([[...cells]], { record_delimiter: 'windows', quote_record_delimiter: true });
}

/** Cells of a line that goes on. */
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

/** A text that a spreadsheet would run as a formula gets a quote before it, which a spreadsheet hides. */
export function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
