// A steady load on a set-up as in production: memory, sockets and event-loop lag of every service must stay flat, and each below 256 MB.
// Prints them, and the CPU of each tier per call. Usage: npm run steady [-- --minutes N] [--lane 'hot reads'] [--redis one] [--node-options TEXT];
// ten minutes by default, of all lanes of test/production/lanes.ts. Exits with 1 if something grows or a call fails.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { endAll, setUp, type Scene } from '../chaos/cluster.ts';
import type { Unit } from '../chaos/units.ts';
import { runGuarded } from '../run/guard.ts';
import { startBalancer } from './balancer.ts';
import type { PostgresUnit } from '../services/postgres.ts';
import { median, notFlat, sampleOf, type Sample, type Watched } from './figures.ts';
import { quantileMs, startLanes } from './lanes.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    lane: { type: 'string' },
    redis: { type: 'string', default: 'cluster' },
    // Without, a service limits its heap itself (own-node.js).
    'node-options': { type: 'string', default: '' },
  },
});
const seconds = Number(values.minutes) * 60;
/** Before it, caches fill and V8 compiles. */
const warmUpSeconds = Math.min(60, seconds / 4);
const sampleEveryMs = 2_000;
const probeEveryMs = 1_000; // as in k8s/

await runGuarded(async ({ directory }) => {
  const units: Unit[] = [];
  const over = new AbortController();
  const lagDirectory = path.join(directory, 'lag');
  mkdirSync(lagDirectory);
  try {
    const scene = await setUp(
      {
        ...{
          directory,
          gateways: 2,
          dataApis: 3,
          redis: values.redis === 'one' ? 'one' : 'cluster',
          hasReplica: true,
          seconds: 1,
          drainDelayMs: 300,
        },
        ...{ logDirectory: null, over: over.signal },
        env: {
          LAG_DIRECTORY: lagDirectory,
          NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'report-lag.ts')} ${values['node-options']}`,
        },
      },
      units,
    );
    const wrong = await watch(scene, lagDirectory);
    for (const line of wrong.slice(0, 20)) printLine(`WRONG: ${line}`);
    printLine(wrong.length === 0 ? 'steady: all is flat' : `steady: ${wrong.length} things are wrong`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    over.abort();
    await endAll(units);
  }
});

/** @returns the faults, as sentences. */
async function watch({ cluster, customer: who }: Scene, lagDirectory: string): Promise<string[]> {
  const { gateways, dataApis, accountsApis, workers } = cluster;
  const balancer = await startBalancer(probeEveryMs);
  for (const { url } of gateways) balancer.add(url);
  const services = [...gateways, ...dataApis, ...accountsApis, ...workers].map(({ name, pid = 0 }) => ({
    name,
    pid,
  }));
  const stores = storesOf(cluster.postgres, cluster.replica);
  const samples = new Map<Watched, Sample[]>([...services, ...stores].map((each) => [each, []]));
  const lanes = startLanes(balancer.url, who, { only: values.lane });
  await pause(warmUpSeconds * 1000);
  const from = lanes.calls.length;
  for (
    const endMs = performance.now() + seconds * 1000;
    performance.now() < endMs;
    await pause(sampleEveryMs)
  )
    for (const [each, of] of samples) of.push(sampleOf(each, lagDirectory));
  const calls = lanes.calls.slice(from);
  await lanes.stop();
  await balancer.close();
  printLine(
    'process        | MB: early | late | most | sockets: early | late | most | lag p99 ms: early | late | CPU ms/s',
  );
  for (const [{ name }, of] of samples) printLine(rowOf(name, of));
  const billed = calls.filter(({ isBilled }) => isBilled).length;
  printLine(
    `${calls.length} calls, ${(calls.length / seconds).toFixed(0)} a second, ${billed} of them of data; p50 ${quantileMs(calls, 0.5).toFixed(1)} ms, p99 ${quantileMs(calls, 0.99).toFixed(1)} ms`,
  );
  for (const line of costs(samples, calls.length)) printLine(line);
  const failed = calls.flatMap(({ fault }) => fault ?? []);
  return [...failed, ...services.flatMap((each) => notFlat(each, samples.get(each) ?? []))];
}

function storesOf(...servers: (Unit | undefined)[]): Watched[] {
  return servers.flatMap((unit) => {
    if (unit === undefined) return [];
    const pidFile = path.join((unit as PostgresUnit).cluster, 'postmaster.pid');
    return { name: unit.name, pid: Number(readFileSync(pidFile, 'utf8').split('\n')[0]) };
  });
}

function rowOf(name: string, samples: readonly Sample[]): string {
  const quarter = Math.floor(samples.length / 4);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)];
  const of = (among: readonly Sample[], key: keyof Sample) =>
    median(among.map((each) => each[key])).toFixed(0);
  const most = (key: keyof Sample) => Math.max(...samples.map((each) => each[key])).toFixed(0);
  const cells = [
    ...[of(early, 'memoryMb').padStart(9), of(late, 'memoryMb').padStart(4), most('memoryMb').padStart(4)],
    ...[of(early, 'sockets').padStart(14), of(late, 'sockets').padStart(4), most('sockets').padStart(4)],
    ...[of(early, 'lagMs').padStart(17), of(late, 'lagMs').padStart(4)],
    cpuMsPerSecond(samples).toFixed(0).padStart(8),
  ];
  return [name.padEnd(14), ...cells].join(' | ');
}

function cpuMsPerSecond(samples: readonly Sample[]): number {
  const used = (samples.at(-1)?.cpuSeconds ?? 0) - (samples[0]?.cpuSeconds ?? 0);
  return (used * 1e6) / ((samples.length - 1) * sampleEveryMs);
}

/** The CPU of each tier for a call. */
function costs(samples: ReadonlyMap<Watched, readonly Sample[]>, calls: number): string[] {
  const tiers = new Map<string, number>();
  for (const [{ name }, of] of samples) {
    const tier = name.replace(/ \d+$/, '');
    tiers.set(tier, (tiers.get(tier) ?? 0) + cpuMsPerSecond(of));
  }
  return [...tiers].map(
    ([tier, ms]) => `${tier}: ${((ms * 1000 * seconds) / calls).toFixed(0)} µs of CPU a call`,
  );
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
