// Points as columns, and the operations on all columns: select, reverse, append.
import { entryAt } from '../../../kernel/entries.ts';

/** Points as columns of equal length, in order of date, then lineNo. */
export interface Points {
  dates: string[];
  /** The published digits; '' if the value is missing. */
  values: string[];
  lineNos: number[];
  /** '' if the selection has no details. */
  publishedOn: string[];
  /** Null if the point or the selection has none. */
  statuses: (string | null)[];
}

/** The points at the positions for which `keep` is true. */
export function filterPoints(points: Points, keep: (position: number) => boolean): Points {
  const filtered = noPoints();
  for (let i = 0; i < points.dates.length; i += 1) if (keep(i)) appendPoint(filtered, points, i);
  return filtered;
}

/** The first `count` points. */
export function firstPoints(points: Points, count: number): Points {
  return eachColumn(points, (column) => column.slice(0, count));
}

/** The same points in reverse order. */
export function reversePoints(points: Points): Points {
  return eachColumn(points, (column) => column.toReversed());
}

/** Appends the points of `more` to those of `points`. */
export function appendPoints(points: Points, more: Points): void {
  for (let i = 0; i < more.dates.length; i += 1) appendPoint(points, more, i);
}

export function noPoints(): Points {
  return { dates: [], values: [], lineNos: [], publishedOn: [], statuses: [] };
}

function eachColumn(points: Points, change: <Value>(column: Value[]) => Value[]): Points {
  return {
    dates: change(points.dates),
    values: change(points.values),
    lineNos: change(points.lineNos),
    publishedOn: change(points.publishedOn),
    statuses: change(points.statuses),
  };
}

function appendPoint(points: Points, from: Points, position: number): void {
  points.dates.push(entryAt(from.dates, position));
  points.values.push(entryAt(from.values, position));
  points.lineNos.push(entryAt(from.lineNos, position));
  points.publishedOn.push(entryAt(from.publishedOn, position));
  points.statuses.push(entryAt(from.statuses, position));
}
