// One database of the scale bench, filled as loads would have left it, and the cost of a load or a retraction in it. Each load is dated to the day
// after the previous one.
import { createWriteStream, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { load } from '../../ingest/load/load.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { partitionObservations } from '../../migrations/partitions.ts';
import { print } from '../instruments/figures.ts';
import { backendCpuUs, withClient, type BenchPostgres } from '../instruments/postgres.ts';
import { pieces, withBenchDatabase } from '../instruments/sizes.ts';
import { fillSeries } from '../series/fill.sql.ts';
import { pointLines, seriesIds } from './files.ts';
import { readLastLoad, readLogBytes } from './growth.sql.ts';

/** The initial points of a series. The newest `revisedPoints` of them have two vintages. */
export const pointsPerSeries = 100;
const revisedPoints = 5;

export interface Ground {
  /** The initial number of rows. */
  rows: number;
  series: number;
  url: string;
  /** Loads use it. */
  database: Database;
  /** Its own work is not measured. */
  client: pg.Client;
  /** For files. */
  directory: string;
  /** The day of the last load, counted from the first. */
  day: number;
}

/** The cost of a load, a retraction or a vacuum. */
export interface LoadCost {
  seconds: number;
  /** CPU time of this process and of PostgreSQL together. */
  cpuSeconds: number;
  /** Bytes of write-ahead log. */
  logBytes: number;
}

/** Fills a database of this many rows, 5 % of them revised, and removes it after `work`. @param partitions of the observations; undefined: none. */
export async function withGround(
  postgres: BenchPostgres,
  { rows, partitions }: { rows: number; partitions?: number | undefined },
  words: readonly string[],
  work: (ground: Ground) => Promise<void>,
): Promise<void> {
  const url = await postgres.createDatabase(`bench_${rows}`);
  const series = rows / pointsPerSeries;
  await withClient(url, (client) =>
    withBenchDatabase(url, async (database) => {
      const started = performance.now();
      const ground = { rows, series, url, database, client, directory: postgres.directory, day: 0 };
      await fillSeries(client, series, pointsPerSeries, words);
      const revised = { first: pointsPerSeries - revisedPoints + 1, last: pointsPerSeries, edition: 1 };
      await loadPoints(ground, pointLines(seriesIds(series), revised));
      if (partitions !== undefined) await partitionObservations(url, partitions);
      await client.query('vacuum analyze');
      const seconds = (performance.now() - started) / 1000;
      print(`${rows} observations in ${series} series: filled in ${seconds.toFixed(0)} s`);
      await work(ground);
    }),
  );
}

/** Loads the lines as a file of observations, dated to the next day. @param create whether to create missing series. */
export async function loadPoints(ground: Ground, lines: Iterable<string>, create = false): Promise<LoadCost> {
  const input = path.join(ground.directory, `${ground.rows}.csv`);
  await pipeline(Readable.from(pieces(lines)), createWriteStream(input));
  const of = {
    dataset: 'observations',
    input,
    ...nextDay(ground),
    ...(create ? { create, set: { frequency: 'monthly', unit: 'Index', source: 'Bench' } } : {}),
  };
  const cost = await costOf(ground, () => load(ground.database, of));
  rmSync(input);
  return cost;
}

/** Retracts the last load, dated to the next day. */
export async function retractLast(ground: Ground): Promise<LoadCost> {
  const loadNo = await readLastLoad(ground.database);
  const of = { loadNo, ...nextDay(ground) };
  return costOf(ground, () => retract(ground.database, of));
}

/** The cost of work done through `ground.database`. */
export async function costOf(ground: Ground, work: () => Promise<unknown>): Promise<LoadCost> {
  const { client, database } = ground;
  await database.query('select'); // opens its connection
  const [backends, log, own] = [await backendCpuUs(client), await readLogBytes(client), process.cpuUsage()];
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(own);
  const cpuUs = user + system + (await backendCpuUs(client)) - backends;
  return { seconds, cpuSeconds: cpuUs / 1e6, logBytes: (await readLogBytes(client)) - log };
}

function nextDay(ground: Ground): { clock: Clock; seriesTimeZone: string; noGateway: true } {
  ground.day += 1;
  const noon = new Date(Date.UTC(2010, 0, 1 + ground.day, 12)); // the first load was on 2010-01-01
  return { clock: { now: () => noon }, seriesTimeZone: 'UTC', noGateway: true };
}
