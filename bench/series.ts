// Measures the cost of a series: loading compared with \copy, as in bench/ingest.ts; calls compared with bare node:http, at an old vintage, and among
// a million series; a long stream; and many series as one table, which `--wide` measures alone. Pairs run in turn in one run; CPU time is the most
// reliable figure. `--observations N` sets the size of the large database (10,000,000).
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { parseArgs } from 'node:util';
import zlib from 'node:zlib';
import { anonymous, identityHeader } from '../kernel/identity.ts';
import { compareWithCopy } from './ingest.ts';
import { leaveMeasuredCore } from './instruments/cores.ts';
import { figuresOf, inTurn, print, printRow, ratios, shown } from './instruments/figures.ts';
import { startBenchPostgres, withClient, type BenchPostgres } from './instruments/postgres.ts';
import { startMeasured } from './instruments/server.ts';
import {
  columns,
  costOf,
  costOfStream,
  cpuUs,
  distinctWindows,
  printCosts,
  printRatio,
  seal,
  withService,
  type Service,
} from './series/costs.ts';
import { fillPlaces, fillSeries, fillVintages } from './series/fill.sql.ts';
import { measureWide } from './series/wide.ts';

const rounds = 5;
const points = 300;
const vintages = 2_001;
const streamedRows = 1_000_000;
/** Rows of the series whose transforms are streamed: 48 combinations of 10,000 days. */
const transformedRows = 480_000;
const ingestedRows = 1_000_000;

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      observations: { type: 'string', default: '10000000' },
      wide: { type: 'boolean', default: false },
    },
  });
  if (!values.wide) await compareWithCopy(ingestedRows); // on all cores
  leaveMeasuredCore();
  const postgres = await startBenchPostgres();
  try {
    await measureWide(postgres);
    if (values.wide) return;
    await measureOne(postgres);
    await measureMany(postgres, Number(values.observations));
  } finally {
    await postgres.stop();
  }
}

/** One database with a few series: bare node:http, vintages, the stream. */
async function measureOne(postgres: BenchPostgres): Promise<void> {
  const databaseUrl = await postgres.createDatabase('bench_one');
  await withClient(databaseUrl, async (client) => {
    await fillVintages(client, { id: 'PLAIN', points, vintages: 1, revised: 0 });
    await fillVintages(client, { id: 'NEWEST24', points, vintages, revised: 24 });
    await fillVintages(client, { id: 'ALL', points, vintages, revised: points });
    await fillPlaces(client, 'PLACES', 100, streamedRows / 100);
    await fillPlaces(client, 'DAILY', 48, transformedRows / 48);
    await client.query('vacuum analyze');
  });
  await withService(databaseUrl, async (service) => {
    await measureBare(postgres, service);
    for (const id of ['NEWEST24', 'ALL']) await measureVintages(service, id);
  });
  await withService(databaseUrl, measureTriangle);
  await withService(databaseUrl, measureTransforms);
  for (const encoding of ['identity', 'gzip']) {
    // A data-api of its own, so that cached state of earlier calls does not count.
    await withService(databaseUrl, (service) => measureStream(service, encoding));
  }
  await postgres.dropDatabase('bench_one');
}

async function measureBare(postgres: BenchPostgres, service: Service): Promise<void> {
  const target = '/v1/series/PLAIN';
  const answer = await fetch(service.server.url + target, {
    headers: { [identityHeader]: seal(anonymous, 'GET', target), 'accept-encoding': 'identity' },
  });
  const own = ['connection', 'keep-alive', 'date']; // Node adds these itself
  const headers = [...answer.headers].filter(([name]) => !own.includes(name));
  const body = await answer.text();
  const file = path.join(postgres.directory, 'answer.json');
  writeFileSync(file, JSON.stringify({ headers: Object.fromEntries(headers), body }));
  const bare = await startMeasured(path.join(import.meta.dirname, 'series/bare.ts'), [file]);
  try {
    const asking = { nextPath: () => target, connections: 32, secondsMax: 1 };
    const measurements = {
      bare: () => costOf({ server: bare }, asking),
      dataApi: () => costOf(service, asking),
    };
    await inTurn(1, measurements); // warm-up
    const costs = await inTurn(rounds, measurements);
    print(`\nA hot series of ${points} points, ${body.length} bytes, 32 connections`);
    printRow('', columns);
    printCosts('bare node:http', costs.bare);
    printCosts('data-api', costs.dataApi);
    const speed = ratios(
      costs.dataApi.map((cost) => cost.perSecond),
      costs.bare.map((cost) => cost.perSecond),
    );
    const cpu = ratios(
      costs.bare.map((cost) => cost.serverUs),
      costs.dataApi.map((cost) => cost.serverUs),
    );
    print(`  data-api: ${shown(speed, 2)}× the calls/s, ${shown(cpu, 2)}× by CPU (goal: ≥ 0.5×)`);
  } finally {
    await bare.stop();
  }
}

/** The day of the k-th vintage, as in bench/series/fill.sql.ts. */
function vintageDay(k: number): string {
  return new Date(Date.UTC(2009, 11, 31 + k)).toISOString().slice(0, 10);
}

async function measureVintages(service: Service, id: string): Promise<void> {
  const fromDay = distinctWindows();
  const cold = (vintage: string) => () =>
    costOf(service, {
      nextPath: () => `/v1/series/${id}?from=${fromDay()}${vintage}`,
      connections: 1,
      requestsMax: 200,
      secondsMax: 0.7,
    });
  const hot = (vintage: string) => () =>
    costOf(service, {
      nextPath: () => `/v1/series/${id}?to=2026${vintage}`,
      connections: 1,
      requestsMax: 500,
      secondsMax: 0.7,
    });
  for (const [name, asked] of Object.entries({ cold, hot })) {
    const measurements = {
      latest: asked(''),
      v2000: asked(`&vintage=${vintageDay(2_000)}`),
      v1: asked(`&vintage=${vintageDay(1)}`),
    };
    await inTurn(1, measurements);
    const costs = await inTurn(rounds, measurements);
    print(`\n${id}: ${points} points, ${vintages} vintages, one connection, ${name}`);
    printRow('', columns);
    for (const [vintage, each] of Object.entries(costs)) printCosts(vintage, each);
    printRatio('vintage 2000 against latest (goal: ≤ 1.5×)', costs.v2000, costs.latest);
    printRatio('vintage 1 against latest', costs.v1, costs.latest);
  }
}

/** Streams of transformed points, compared with the stream of the untransformed points. */
async function measureTransforms(service: Service): Promise<void> {
  const streamed = (query: string) => () => costOfStream(service, `/v1/series/DAILY?format=csv${query}`);
  const measurements = {
    plain: streamed(''),
    'yoy, ascending': streamed('&transform=yoy'),
    'yoy, descending': streamed('&transform=yoy&sort=desc'),
    pct_change: streamed('&transform=pct_change'),
    '3ma': streamed('&transform=3ma'),
    index: streamed('&transform=index'),
  };
  await inTurn(1, measurements); // warm-up
  const costs = await inTurn(rounds, measurements);
  print(`\n${transformedRows} points as CSV, plain and transformed`);
  printRow('', ['Node CPU s', 'database CPU s', '× the CPU of plain']);
  for (const [name, each] of Object.entries(costs)) {
    const cpu = ratios(each.map(cpuUs), costs.plain.map(cpuUs));
    printRow(name, [
      shown(figuresOf(each.map(({ serverUs }) => serverUs / 1e6)), 2),
      shown(figuresOf(each.map(({ databaseUs }) => databaseUs / 1e6)), 2),
      `${shown(cpu, 2)} (goal: ≤ 2)`,
    ]);
  }
}

/** All vintages in one answer, compared with a call for each; the newest ones in both cases. */
async function measureTriangle(service: Service): Promise<void> {
  const shownVintages = 200;
  for (const id of ['NEWEST24', 'ALL']) {
    const days = Array.from({ length: shownVintages }, (_, i) => vintageDay(vintages - i));
    const each = days.map((day) => `/v1/series/${id}?vintage=${day}&format=csv`);
    const measurements = {
      triangle: () => costOfStream(service, `/v1/series/${id}/triangle?format=csv&last=${shownVintages}`),
      'a call for each': () => costOfStream(service, ...each),
    };
    await inTurn(1, measurements);
    const costs = await inTurn(rounds, measurements);
    print(`\n${id}: the newest ${shownVintages} of ${vintages} vintages of ${points} points as CSV`);
    printRow('', ['Node CPU ms', 'database CPU ms']);
    for (const [name, measured] of Object.entries(costs)) {
      printRow(name, [
        shown(figuresOf(measured.map(({ serverUs }) => serverUs / 1e3)), 0),
        shown(figuresOf(measured.map(({ databaseUs }) => databaseUs / 1e3)), 0),
      ]);
    }
    const cpu = ratios(costs.triangle.map(cpuUs), costs['a call for each'].map(cpuUs));
    print(`  the triangle against a call for each: ${shown(cpu, 3)}× the CPU`);
  }
}

async function measureStream(service: Service, encoding: string): Promise<void> {
  const before = await service.server.state();
  const started = performance.now();
  const target = '/v1/series/PLACES?format=csv';
  const request = http.get(service.server.url + target, {
    headers: { [identityHeader]: seal(anonymous, 'GET', target), 'accept-encoding': encoding },
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = encoding === 'gzip' ? response.pipe(zlib.createGunzip()) : response;
  const memoryMb: number[] = [];
  const watch = setInterval(() => {
    void service.server.state().then(({ memoryBytes }) => memoryMb.push(memoryBytes / 2 ** 20));
  }, 100);
  let lines = 0;
  let bytes = 0;
  for await (const chunk of text as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  clearInterval(watch);
  if (lines !== streamedRows + 1) throw new Error(`the stream had ${lines} lines`);
  const seconds = (performance.now() - started) / 1000;
  const after = await service.server.state();
  const half = memoryMb.slice(memoryMb.length / 2);
  print(
    `\n${streamedRows} rows of CSV (${encoding}), ${(bytes / 2 ** 20).toFixed(0)} MB in ${seconds.toFixed(1)} s: ` +
      `${((after.cpuUs - before.cpuUs) / streamedRows).toFixed(2)} µs Node CPU a row; memory ` +
      `${(before.memoryBytes / 2 ** 20).toFixed(0)} MB before, at most ${Math.max(...memoryMb).toFixed(0)} MB, ` +
      `in the second half ${shown(figuresOf(half), 0)} MB (goal: < 256 MB, flat)`,
  );
}

/** The same call among a thousand series and among as many as the observations make, with ten or a hundred points per series. */
async function measureMany(postgres: BenchPostgres, observations: number): Promise<void> {
  const seriesLarge = 1_000_000;
  const each = Math.max(1, Math.round(observations / seriesLarge));
  const small = await postgres.createDatabase('bench_small');
  const large = await postgres.createDatabase('bench_large');
  const started = performance.now();
  await withClient(small, (client) => fillSeries(client, 1_000, each));
  await withClient(large, (client) => fillSeries(client, seriesLarge, each));
  print(
    `\n${seriesLarge * each} observations written in ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
  await withService(small, (ofSmall) =>
    withService(large, async (ofLarge) => {
      const firstCalls = (service: Service, count: number) => {
        const number = shuffled(count);
        return () =>
          costOf(service, {
            nextPath: () => `/v1/series/S${number()}`,
            connections: 1,
            requestsMax: 150,
            secondsMax: 0.7,
          });
      };
      const windows = (service: Service) => {
        const fromDay = distinctWindows();
        return () =>
          costOf(service, {
            nextPath: () => `/v1/series/S1?from=${fromDay()}`,
            connections: 1,
            requestsMax: 500,
            secondsMax: 0.7,
          });
      };
      const hot = (service: Service) => () =>
        costOf(service, {
          nextPath: () => '/v1/series/S1',
          connections: 1,
          requestsMax: 2_000,
          secondsMax: 0.7,
        });
      const pairs = {
        'a series never asked before': [firstCalls(ofSmall, 1_000), firstCalls(ofLarge, seriesLarge)],
        'a known series, another window': [windows(ofSmall), windows(ofLarge)],
        'the same call again (hot)': [hot(ofSmall), hot(ofLarge)],
      } as const;
      await inTurn(1, { small: windows(ofSmall), large: windows(ofLarge) });
      for (const [name, [inSmall, inLarge]] of Object.entries(pairs)) {
        await inTurn(1, { small: inSmall, large: inLarge });
        const costs = await inTurn(rounds, { small: inSmall, large: inLarge });
        print(`\n${name}: ${each} points, one connection`);
        printRow('', columns);
        printCosts('among 1,000 series', costs.small);
        printCosts('among 1,000,000 series', costs.large);
        printRatio('a million against a thousand (goal: ≤ 1.2×)', costs.large, costs.small);
      }
    }),
  );
  await postgres.dropDatabase('bench_small');
  await postgres.dropDatabase('bench_large');
}

/** Numbers from 1 to `count`, each once, each far from the previous one. */
function shuffled(count: number): () => number {
  let number = 0;
  return () => (number = (number + 617_283) % count) + 1; // 617,283 has no factor in common with powers of ten
}
