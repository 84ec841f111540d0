// Measures whether a large load slows calls down: the latency of 200 calls a second, alone and while `almanac ingest` loads ten million rows into the
// same PostgreSQL. Everything shares two cores, through a gateway without Redis, as `npm start` runs it. Calls begin at fixed times, whether or not
// earlier calls have ended.
// Options: `--rows N` (10000000), `--calls N` per second (200), `--rounds N` (2).
import { createWriteStream, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ingest, lines, pointsPerSeries } from './ingest.ts';
import { percentile, print, printLatencies, printRow, ratios, shown } from './instruments/figures.ts';
import { withGateway } from './instruments/gateway.ts';
import { startBenchPostgres, withClient } from './instruments/postgres.ts';
import { distinctWindows } from './series/costs.ts';
import { fillVintages } from './series/fill.sql.ts';

const aloneSeconds = 20;
const seriesCalled = 50;

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      rows: { type: 'string', default: '10000000' },
      calls: { type: 'string', default: '200' },
      rounds: { type: 'string', default: '2' },
    },
  });
  const [rows, perSecond, rounds] = [Number(values.rows), Number(values.calls), Number(values.rounds)];
  const postgres = await startBenchPostgres();
  try {
    const { directory } = postgres;
    const databaseUrl = await postgres.createDatabase('beside_load');
    await withClient(databaseUrl, async (client) => {
      for (let n = 0; n < seriesCalled; n += 1)
        await fillVintages(client, { id: `CALLED.${n}`, points: 300, vintages: 3, revised: 24 });
      await client.query('vacuum analyze');
    });
    print(`\n${perSecond} calls a second, and loads of ${rows} rows`);
    printRow('', ['calls', 'p50 ms', 'p99 ms']);
    const p99: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
    await withGateway({ directory, databaseUrl, accounts: 40 }, async (url, keys) => {
      await callDuring(pause(5_000), { url, keys, perSecond }); // warm-up
      for (let round = 1; round <= rounds; round += 1) {
        const file = path.join(directory, 'rows.csv');
        const written = lines(Math.ceil(rows / pointsPerSeries), 0, `ROUND${round}`);
        await pipeline(Readable.from(written), createWriteStream(file));
        const alone = await callDuring(pause(aloneSeconds * 1000), { url, keys, perSecond });
        const startedAtMs = performance.now();
        const words = [file, '--create', '--set', 'frequency=daily,unit=Index,source=Bench'];
        const duringLoad = await callDuring(ingest(databaseUrl, words), { url, keys, perSecond });
        printLatencies('alone', alone);
        printLatencies(
          `beside a load of ${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`,
          duringLoad,
        );
        p99.alone.push(percentile(alone, 0.99));
        p99.beside.push(percentile(duringLoad, 0.99));
        rmSync(file);
      }
    });
    print(`p99 beside a load against alone: ${shown(ratios(p99.beside, p99.alone), 2)}× (goal: ≤ 2×)`);
  } finally {
    await postgres.stop();
  }
}

interface Calls {
  url: string;
  /** Used in turn. */
  keys: readonly string[];
  perSecond: number;
}

/** Calls at a constant rate until the work ends. @returns the latency of each call in ms, from when it was due. @throws Error if one fails. */
async function callDuring(work: Promise<unknown>, { url, keys, perSecond }: Calls): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const latenciesMs: number[] = [];
  const calls: Promise<void>[] = [];
  const started = performance.now();
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // awaited in the race below
  try {
    while (!over.signal.aborted) {
      const due = started + (calls.length * 1000) / perSecond;
      const early = due - performance.now();
      if (early > 0) await Promise.race([pause(early), failed.promise]);
      const number = calls.length;
      const call = answered(`${url}${pathOf(number)}`, keys[number % keys.length] ?? '', agent);
      calls.push(call.then(() => void latenciesMs.push(performance.now() - due)));
      calls.at(-1)?.catch(failed.reject);
    }
    await Promise.all([ended, ...calls]);
    return latenciesMs;
  } finally {
    agent.destroy();
  }
}

/** Counts over all phases: a gateway may have the answer of an earlier phase. */
const newDay = distinctWindows();

/** Half of the calls are repeated, half are new. */
function pathOf(number: number): string {
  const series = `/v1/series/CALLED.${number % seriesCalled}`;
  return number % 2 === 0 ? series : `${series}?from=${newDay()}`;
}

function answered(url: string, key: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { 'x-api-key': key } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} was answered ${response.statusCode}`));
      response.resume().once('end', resolve).once('error', reject);
    }).once('error', reject);
  });
}
