// Makes the same calls to a small and a large database in turn, each behind a data-api of its own. The cost of a call is its time, and the CPU time
// of data-api and PostgreSQL together.
import path from 'node:path';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { load } from '../../ingest/load/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import { createLog } from '../../kernel/log/log.ts';
import { ask } from './client.ts';
import { figuresOf, print } from './figures.ts';
import { backendCpuUs, startBenchPostgres, withClient } from './postgres.ts';
import { startMeasured, type MeasuredServer } from './server.ts';

const identitySecret = 'a secret of the bench, long enough';
const turns = 15;
const callsATurn = 4;

/** A call by its path; or calls by a name and the next path in a database of the given size. */
export type Call = string | { name: string; path: (size: number) => string };

export interface Comparison {
  /** The small size, then the large one. */
  sizes: readonly [small: number, large: number];
  /** The unit of the sizes, such as `funds`. */
  unit: string;
  /** Fills a migrated database. */
  fill: (database: Database, size: number) => Promise<void>;
  /** Paths; the answers have the same number of rows at either size. */
  calls: readonly string[];
}

/** Builds both databases, measures, prints; removes everything it made. */
export async function compareSizes({ sizes, unit, fill, calls }: Comparison): Promise<void> {
  const postgres = await startBenchPostgres();
  const sides: Side[] = [];
  try {
    for (const size of sizes) {
      const url = await postgres.createDatabase(`bench_${size}`);
      const started = performance.now();
      await withBenchDatabase(url, (database) => fill(database, size));
      await withClient(url, (client) => client.query('vacuum analyze'));
      print(`${size} ${unit}: filled in ${((performance.now() - started) / 1000).toFixed(0)} s`);
      sides.push(await startSide(url, size));
    }
    await compareCalls({ sides, unit, calls, ratioMax: 1.5 });
  } finally {
    for (const side of sides) await side.stop();
    await postgres.stop();
  }
}

/** Opens a database like a load: without a time limit. */
export async function withBenchDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const log = createLog('bench', 'error');
  const database = openDatabase(url, log, { applicationName: 'almanac bench', statementTimeoutMs: 0 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** A data-api and its database. */
export interface Side {
  size: number;
  server: MeasuredServer;
  /** A client of its database. */
  client: pg.Client;
  stop(): Promise<void>;
}

export async function startSide(databaseUrl: string, size: number): Promise<Side> {
  const program = path.join(import.meta.dirname, '../series/data-api.ts');
  const server = await startMeasured(program, [databaseUrl, identitySecret]);
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  return new Promise((resolve, reject) => {
    const asking = withClient(databaseUrl, (client) => {
      resolve({ size, server, client, stop });
      return left;
    });
    asking.catch(reject);
    const stop = async (): Promise<void> => {
      leave();
      await asking;
      await server.stop();
    };
  });
}

/** Prints the cost of each call on both sides, in turn, and the ratio. */
export async function compareCalls({
  sides,
  unit,
  calls,
  ratioMax,
}: {
  sides: readonly Side[];
  unit: string;
  calls: readonly Call[];
  ratioMax: number;
}): Promise<void> {
  const columns = sides.map(({ size }) => `${size} ${unit}`.padStart(16)).join('');
  print(
    `${'call, p50 and CPU in ms'.padEnd(62)}${columns}  ratio${columns}  ratio of CPU (goal: ${ratioMax})`,
  );
  for (const call of calls) await compare(call, sides);
}

interface Cost {
  latenciesMs: number[];
  cpuMs: number[];
}

async function compare(call: Call, sides: readonly Side[]): Promise<void> {
  const costs = sides.map((): Cost => ({ latenciesMs: [], cpuMs: [] }));
  for (let turn = -1; turn < turns; turn += 1) {
    for (const [at, side] of sides.entries()) {
      const cost = await costOf(side, call);
      if (turn < 0) continue; // the first calls plan, and fill caches
      costs[at]?.latenciesMs.push(...cost.latenciesMs);
      costs[at]?.cpuMs.push(...cost.cpuMs);
    }
  }
  const columnsOf = (values: readonly (readonly number[])[]): string => {
    const [small = NaN, large = NaN] = values.map((each) => figuresOf(each).median);
    const shown = [small, large].map((value) => value.toFixed(2).padStart(16)).join('');
    return `${shown}${(large / small).toFixed(2).padStart(7)}`;
  };
  const times = columnsOf(costs.map((cost) => cost.latenciesMs));
  const name = typeof call === 'string' ? call : call.name;
  print(`${name.padEnd(62)}${times}${columnsOf(costs.map((cost) => cost.cpuMs))}`);
}

const seal = createSealer(identitySecret, 'data-api');
const identity: Identity = { ...anonymous, features: ['vintages'] };

async function costOf({ size, server, client }: Side, call: Call): Promise<Cost> {
  const cpuUs = async () => (await server.state()).cpuUs + (await backendCpuUs(client));
  const before = await cpuUs();
  const { requests, latenciesMs } = await ask({
    url: server.url,
    headers: (target) => ({ [identityHeader]: seal(identity, 'GET', target) }),
    nextPath: () => (typeof call === 'string' ? call : call.path(size)),
    connections: 1,
    requestsMax: callsATurn,
    secondsMax: 60,
  });
  return { latenciesMs, cpuMs: [((await cpuUs()) - before) / requests / 1000] };
}

/** Loads lines of CSV like an operator's file, and prints the rate. */
export async function loadLines(database: Database, dataset: string, lines: Iterable<string>): Promise<void> {
  const { rowsRead, seconds, rowsPerSecond } = await load(database, {
    dataset,
    input: Readable.from(pieces(lines)),
    noGateway: true,
    seriesTimeZone: 'UTC',
    clock: systemClock,
  });
  print(`  ${dataset}: ${rowsRead} rows loaded in ${seconds.toFixed(1)} s, ${rowsPerSecond} a second`);
}

/** Lines in chunks of at least 64 KiB, as when a file is read. */
export function* pieces(lines: Iterable<string>): Iterable<string> {
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
