// Typed access to the command line and the API for the real-data checks: loads, and points as JSON, as CSV, page by page.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { Agent, fetch, type Response } from 'undici';
import type { Installation } from '../services/instance.ts';

/** A running installation, as the checks use it. */
export interface Instance {
  /** Runs `almanac …` for the instance. @throws Error if it fails. */
  almanac(...words: string[]): Promise<string>;
  /** A keyed GET. */
  get(target: string): Promise<Response>;
}

/**
 * Each call has its own connection. While a check computes, it does not see that the gateway closes an idle connection after its
 * 65 s, and the next call would fail on it.
 */
const dispatcher = new Agent({ pipelining: 0 });
const refusalsMax = 100;

/** An installation that serves, called with a key. */
export function instanceOf({ almanac, url }: Installation, apiKey: string): Instance {
  return { almanac, get: (target) => getWhenAllowed(url + target, apiKey) };
}

/** Calls as a well-behaved client: after a 429, again after Retry-After. */
async function getWhenAllowed(url: string, apiKey: string): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url, { headers: { 'x-api-key': apiKey }, dispatcher });
    if (response.status !== 429 || tries === refusalsMax) return response;
    await response.body?.cancel();
    await setTimeout(Number(response.headers.get('retry-after')) * 1000);
  }
}

/** The flags of `almanac ingest`: true is the bare flag, a list repeats it, names and values are one flag each. */
export type Flags = Record<string, string | true | readonly string[] | Readonly<Record<string, string>>>;

/** The result of a load, as `--json` prints it. */
export interface Loaded {
  rows_read: number;
  points_new: number;
  points_revised: number;
  points_unchanged: number;
  points_deleted: number;
  rows_rejected: number;
}

/** Loads a file by the command line. */
export async function ingest(
  instance: Instance,
  dataset: string,
  file: string,
  flags: Flags,
): Promise<Loaded> {
  const words = Object.entries(flags).flatMap(([name, value]) => {
    if (value === true) return [`--${name}`];
    const values =
      typeof value === 'string'
        ? [value]
        : Array.isArray(value)
          ? value
          : Object.entries(value).map((pair) => pair.join('='));
    return values.flatMap((each) => [`--${name}`, each]);
  });
  return JSON.parse(await instance.almanac('ingest', dataset, file, ...words, '--json')) as Loaded;
}

export interface Point {
  date: string;
  value: number;
  dims: Record<string, string>;
}

interface SeriesAnswer {
  series: string;
  meta: Record<string, unknown>;
  data: Point[];
  pagination: { next_cursor: string | null; count: number };
}

/** The answer's points; asserts 200. */
export async function points(instance: Instance, target: string): Promise<Point[]> {
  return (await series(instance, target)).data;
}

export async function series(instance: Instance, target: string): Promise<SeriesAnswer> {
  return (await json(instance, target)) as SeriesAnswer;
}

/** The envelopes of a call for many series. */
export async function manySeries(instance: Instance, target: string): Promise<SeriesAnswer[]> {
  return ((await json(instance, target)) as { data: SeriesAnswer[] }).data;
}

/** The body of a call that succeeds; asserts 200. */
export async function json(instance: Instance, target: string): Promise<unknown> {
  const response = await instance.get(target);
  const body = await response.text();
  assert.equal(response.status, 200, `${target}: ${body.slice(0, 300)}`);
  return JSON.parse(body);
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
