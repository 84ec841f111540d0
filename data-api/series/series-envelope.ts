// Writes points as text: the JSON envelope of the contract, or CSV, from the same columns.
// Values keep their published digits: no number is ever parsed here.
import { entryAt, entryOf } from '../../kernel/entries.ts';
import { csvCells, csvLine, csvText, harmless } from '../../kernel/http/list.ts';
import type { Points } from './points.ts';
import type { Combination } from './series.sql.ts';

/** The fields of a point; the first three are the default, as the contract requires. */
export const pointFields = ['date', 'value', 'dims', 'status', 'published_on'] as const;
export type PointField = (typeof pointFields)[number];
export const defaultPointFields: readonly PointField[] = ['date', 'value', 'dims'];

/** Formats the point at a position. */
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

interface SeriesCsv {
  header: string;
  /** The lines of the given points. */
  lines(points: Points): string;
}

/** A series as CSV (RFC 4180): date, value, one column per dimension; a missing value is an empty cell. */
export function seriesCsv(
  series: { dimensions: readonly string[]; combinations: readonly Combination[] },
  fields: readonly PointField[],
): SeriesCsv {
  const writers = fields.map((field) => csvCellWriter(series, field));
  const names = fields.flatMap((field) => (field === 'dims' ? series.dimensions.map(harmless) : [field]));
  // A series without dimensions has no columns for them.
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
  // The cells of a combination are the same on every line, so they are formatted once.
  const cells = new Map(
    series.combinations.map(({ dimsNo, dims }) => [
      dimsNo,
      csvCells(series.dimensions.map((name) => csvText(dims[name]))),
    ]),
  );
  return (points, i) => entryOf(cells, entryAt(points.dimsNos, i));
}
