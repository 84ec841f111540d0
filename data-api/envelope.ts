// Points and lists as text: the JSON envelopes of the contract and CSV, decided last, from the same columns.
// Hides quoting. Values go through as the published digits: no number is ever parsed here.
import { stringify } from 'csv-stringify/sync';
import { entryAt, entryOf } from '../kernel/entries.ts';
import { isDigits } from '../kernel/digits.ts';
import type { Points } from './series/points.ts';
import type { Combination } from './series/series.sql.ts';

export const jsonType = 'application/json; charset=utf-8';
export const csvType = 'text/csv; charset=utf-8';

/** What a point can show; the first three are the contract's and the default. */
export const pointFields = ['date', 'value', 'dims', 'status', 'published_on'] as const;
export type PointField = (typeof pointFields)[number];
export const defaultPointFields: readonly PointField[] = ['date', 'value', 'dims'];

/** Turns the point at a position into text. */
type PointWriter = (points: Points, position: number) => string;

interface Page {
  points: Points;
  nextCursor: string | null;
}

/** The series envelope. */
export function seriesJson(
  series: { id: string; combinations: readonly Combination[] },
  meta: Readonly<Record<string, unknown>>,
  { points, nextCursor }: Page,
  fields: readonly PointField[],
): string {
  const write = jsonPointWriter(series.combinations, fields);
  let data = '';
  for (let i = 0; i < points.dates.length; i += 1) data += (i === 0 ? '' : ',') + write(points, i);
  const pagination = JSON.stringify({ next_cursor: nextCursor, count: points.dates.length });
  return `{"success":true,"series":${JSON.stringify(series.id)},"meta":${JSON.stringify(meta)},"data":[${data}],"pagination":${pagination}}`;
}

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

interface SeriesCsv {
  header: string;
  /** The lines of some points. */
  lines(points: Points): string;
}

/** A series as CSV (RFC 4180): date, value, one column a dimension; an empty cell where a value is missing. */
export function seriesCsv(
  series: { dimensions: readonly string[]; combinations: readonly Combination[] },
  fields: readonly PointField[],
): SeriesCsv {
  const writers = fields.map((field) => csvCellWriter(series, field));
  const names = fields.flatMap((field) => (field === 'dims' ? series.dimensions.map(harmless) : [field]));
  // A series without dimensions has no column for them.
  const shown = writers.filter((_, i) => fields[i] !== 'dims' || series.dimensions.length > 0);
  return {
    header: csvLine(names),
    lines(points) {
      let text = '';
      for (let i = 0; i < points.dates.length; i += 1) {
        text += `${shown.map((write) => write(points, i)).join(',')}\r\n`;
      }
      return text;
    },
  };
}

/** A list as CSV; nested values as JSON. */
export function listCsv(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
): string {
  return csvLine(columns) + listCsvLines(rows, columns);
}

/** The lines of a list below its header. */
export function listCsvLines(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
): string {
  return rows.map((row) => csvLine(columns.map((column) => csvText(row[column])))).join('');
}

function jsonPointWriter(combinations: readonly Combination[], fields: readonly PointField[]): PointWriter {
  const dimsJson = new Map(combinations.map(({ dimsNo, dims }) => [dimsNo, JSON.stringify(dims)]));
  const dimsAt: PointWriter = (points, i) => entryOf(dimsJson, entryAt(points.dimsNos, i));
  if (fields === defaultPointFields) {
    return (points, i) =>
      `{"date":"${entryAt(points.dates, i)}","value":${entryAt(points.values, i) || 'null'},"dims":${dimsAt(points, i)}}`;
  }
  const writers: Record<PointField, PointWriter> = {
    date: (points, i) => `"date":"${entryAt(points.dates, i)}"`,
    value: (points, i) => `"value":${entryAt(points.values, i) || 'null'}`,
    dims: (points, i) => `"dims":${dimsAt(points, i)}`,
    status: (points, i) => `"status":${JSON.stringify(entryAt(points.statuses, i))}`,
    published_on: (points, i) => `"published_on":"${entryAt(points.publishedOn, i)}"`,
  };
  const chosen = fields.map((field) => writers[field]);
  return (points, i) => `{${chosen.map((write) => write(points, i)).join(',')}}`;
}

function csvCellWriter(
  series: { dimensions: readonly string[]; combinations: readonly Combination[] },
  field: PointField,
): PointWriter {
  if (field === 'date') return (points, i) => entryAt(points.dates, i);
  if (field === 'value') return (points, i) => entryAt(points.values, i);
  if (field === 'published_on') return (points, i) => entryAt(points.publishedOn, i);
  if (field === 'status') return (points, i) => csvCells([csvText(entryAt(points.statuses, i))]);
  // The cells of a combination are the same on every line: written once.
  const cells = new Map(
    series.combinations.map(({ dimsNo, dims }) => [
      dimsNo,
      csvCells(series.dimensions.map((name) => csvText(dims[name]))),
    ]),
  );
  return (points, i) => entryOf(cells, entryAt(points.dimsNos, i));
}

/** Readers take a lone LF or CR for the end of a line too: what follows one in a cell would begin a line of its own. */
function csvLine(cells: readonly string[]): string {
  return stringify([[...cells]], { record_delimiter: 'windows', quote_record_delimiter: true });
}

function csvCells(cells: readonly string[]): string {
  return stringify([[...cells]], { eof: false });
}

function csvText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return harmless(value);
  if (isDigits(value)) return value.rawJSON;
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : harmless(JSON.stringify(value));
}

/** A text that a spreadsheet would run as a formula gets a quote before it, which a spreadsheet hides. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
