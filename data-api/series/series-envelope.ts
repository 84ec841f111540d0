// Writes points as text: the JSON envelope of the contract, CSV or NDJSON, from the same columns.
// Values keep their published digits: no number is ever parsed here.
import { dimensionColumns } from '../../domain/dims-text.ts';
import { entryAt, entryOf } from '../../kernel/entries.ts';
import { harmless } from '../../kernel/formula.ts';
import { csvCells, csvLine, csvText, emptyCsvLine } from '../../kernel/http/list.ts';
import type { Points } from './stored/point-columns.ts';
import type { Footnote, Series } from './stored/series.sql.ts';

/** The fields of a point; the first three are the default, as the contract requires. */
export const pointFields = ['date', 'value', 'dims', 'status', 'published_on'] as const;
/** `include=notes` adds the notes, which are not chosen by `fields`. */
export const includedFields = ['notes'] as const;
export type PointField = (typeof pointFields)[number] | (typeof includedFields)[number];
export const defaultPointFields: readonly (typeof pointFields)[number][] = ['date', 'value', 'dims'];

/** Formats the point at a position. */
type PointWriter = (points: Points, position: number) => string;

type Noted = Pick<Series, 'combinations' | 'pointNotes'>;

/** The series envelope. */
export function seriesJson(
  series: Noted & { id: string },
  meta: Readonly<Record<string, unknown>>,
  { points, nextCursor }: { points: Points; nextCursor: string | null },
  fields: readonly PointField[],
): string {
  const write = jsonPointWriter(series, fields);
  let data = '';
  for (let i = 0; i < points.dates.length; i += 1) data += (i === 0 ? '' : ',') + write(points, i);
  const pagination = JSON.stringify({ next_cursor: nextCursor, count: points.dates.length });
  return `{"success":true,"series":${JSON.stringify(series.id)},"meta":${JSON.stringify(meta)},"data":[${data}],"pagination":${pagination}}`;
}

export interface SeriesLines {
  /** Empty if the format has none. */
  header: string;
  /** The lines of the given points. */
  lines(points: Points): string;
}

/** A series as NDJSON: each point on a line, as in the JSON. @param id the first member of each line, if given. */
export function seriesNdjson(series: Noted, fields: readonly PointField[], id?: string): SeriesLines {
  const write = jsonPointWriter(series, fields);
  const begin = id === undefined ? '{' : `{"series":${JSON.stringify(id)},`;
  return {
    header: '',
    lines(points) {
      let text = '';
      for (let i = 0; i < points.dates.length; i += 1) text += `${begin}${write(points, i).slice(1)}\n`;
      return text;
    },
  };
}

/** A series as CSV (RFC 4180): date, value, one column per dimension; a missing value is an empty cell. @param id the first cell of each line, if given. */
export function seriesCsv(
  series: Noted & Pick<Series, 'dimensions'>,
  fields: readonly PointField[],
  id?: string,
): SeriesLines {
  const writers = fields.map((field) => csvCellWriter(series, field));
  const nameOf = (field: PointField) => (field === 'notes' ? 'note' : field);
  const before = id === undefined ? [] : ['series'];
  const others = [...before, ...fields.filter((field) => field !== 'dims').map(nameOf)];
  const ofDims = dimensionColumns(series.dimensions, others).map(harmless);
  const names = fields.flatMap((field) => (field === 'dims' ? ofDims : [nameOf(field)]));
  // A series without dimensions has no columns for them.
  const shown = writers.filter((_, i) => fields[i] !== 'dims' || series.dimensions.length > 0);
  const idCell = id === undefined ? '' : `${csvCells([harmless(id)])},`;
  return {
    header: csvLine([...before, ...names]),
    lines(points) {
      let text = '';
      for (let i = 0; i < points.dates.length; i += 1) {
        const line = `${idCell}${shown.map((write) => write(points, i)).join(',')}`;
        text += line === '' ? emptyCsvLine : `${line}\r\n`;
      }
      return text;
    },
  };
}

function jsonPointWriter(series: Noted, fields: readonly PointField[]): PointWriter {
  const { combinations } = series;
  const notesAt = noteReader(series);
  const dimsJson = new Map(combinations.map(({ lineNo, dims }) => [lineNo, JSON.stringify(dims)]));
  const dimsAt: PointWriter = (points, i) => entryOf(dimsJson, entryAt(points.lineNos, i));
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
    notes: (points, i) => `"notes":${JSON.stringify(notesAt(points, i))}`,
  };
  const chosen = fields.map((field) => writers[field]);
  return (points, i) => `{${chosen.map((write) => write(points, i)).join(',')}}`;
}

/** Gives the notes on the point at a position: those of its date that its dimension values include. */
function noteReader({ combinations, pointNotes }: Noted): (points: Points, position: number) => Footnote[] {
  const dimsOf = new Map(combinations.map(({ lineNo, dims }) => [lineNo, dims]));
  return (points, i) => {
    const ofDate = pointNotes?.get(entryAt(points.dates, i)) ?? [];
    if (ofDate.length === 0) return [];
    const dims = entryOf(dimsOf, entryAt(points.lineNos, i));
    return ofDate.filter((note) => Object.entries(note.dims).every(([name, value]) => dims[name] === value));
  };
}

function csvCellWriter(series: Noted & Pick<Series, 'dimensions'>, field: PointField): PointWriter {
  if (field === 'date') return (points, i) => entryAt(points.dates, i);
  if (field === 'value') return (points, i) => entryAt(points.values, i);
  if (field === 'published_on') return (points, i) => entryAt(points.publishedOn, i);
  if (field === 'status') return (points, i) => csvCells([csvText(entryAt(points.statuses, i))]);
  if (field === 'notes') {
    const notesAt = noteReader(series);
    return (points, i) => csvCells([csvText(notesAt(points, i).map(noteText).join('; '))]);
  }
  // The cells of a combination are the same on every line, so they are formatted once.
  const cells = new Map(
    series.combinations.map(({ lineNo, dims }) => [
      lineNo,
      csvCells(series.dimensions.map((name) => csvText(dims[name]))),
    ]),
  );
  return (points, i) => entryOf(cells, entryAt(points.lineNos, i));
}

function noteText({ mark, text }: Footnote): string {
  return mark === null ? text : `${mark}: ${text}`;
}
