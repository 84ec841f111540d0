// What the real-data checks ask of the API, typed: points as JSON, as CSV, and page by page.
import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';

/** A running installation, as the checks use it. */
export interface Instance {
  /** Runs `almanac …` beside it. @throws Error where it fails. */
  almanac(...words: string[]): Promise<string>;
  /** A keyed GET. */
  get(target: string): Promise<Response>;
}

export interface Point {
  date: string;
  value: number;
  dims: Record<string, string>;
}

interface SeriesAnswer {
  data: Point[];
  pagination: { next_cursor: string | null; count: number };
}

/** The answer's points; asserts 200. */
export async function points(instance: Instance, target: string): Promise<Point[]> {
  return (await series(instance, target)).data;
}

export async function series(instance: Instance, target: string): Promise<SeriesAnswer> {
  const response = await instance.get(target);
  const body = await response.text();
  assert.equal(response.status, 200, `${target}: ${body.slice(0, 300)}`);
  return JSON.parse(body) as SeriesAnswer;
}

/** All points by cursor, `limit` at a time. */
export async function pages(instance: Instance, target: string, limit: number): Promise<Point[]> {
  const all: Point[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: SeriesAnswer = await series(
      instance,
      `${target}${target.includes('?') ? '&' : '?'}limit=${limit}${next}`,
    );
    all.push(...page.data);
    cursor = page.pagination.next_cursor;
  } while (cursor !== null);
  return all;
}

/** The CSV answer's rows as points. */
export async function csvPoints(instance: Instance, target: string): Promise<Point[]> {
  const response = await instance.get(`${target}${target.includes('?') ? '&' : '?'}format=csv`);
  assert.equal(response.status, 200, target);
  const rows = parse<Record<string, string>>(await response.text(), { columns: true });
  return rows.map(({ date = '', value = '', ...dims }) => ({ date, value: Number(value), dims }));
}
