// Measures the cost of each service before its first call and under load: the time and CPU of its start, the modules that it loads, and its resident
// memory, idle and at most. Each service is a process of its own, as on a cluster; `start` is all of them with the embedded PostgreSQL. `--only
// <service>` measures one; words after `--` are Node flags for the measured process.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { projectRoot } from '../kernel/project.ts';
import { layGround, Run, type Ground } from './gateway/ground.ts';
import { cpuSeconds, startOn, targetCore, type Program } from './gateway/processes.ts';
import { figuresOf, print, printRow, shown } from './instruments/figures.ts';
import { withClient } from './instruments/postgres.ts';
import {
  askDemo,
  loadAccountsApi,
  loadDataApi,
  loadEverything,
  loadGateway,
  loadWorker,
  streamedSeries,
  type Tally,
} from './memory/loads.ts';
import { fillPlaces } from './series/fill.sql.ts';

const starts = 3;
const idleAfterMs = 5_000;
const places = 30;
const days = 10_000;

/** A measured service. */
interface Subject {
  name: string;
  words: readonly string[];
  /** The environment of a start. */
  env(): Record<string, string>;
  ready: RegExp;
  /** Waits for the first answer. Without it, the start ends with the expected output. */
  answer?(started: Program): Promise<unknown>;
  /** Puts load on it. */
  load(started: Program, ground: Ground): Promise<Tally>;
}

/** Starts everything, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    options: { only: { type: 'string' } },
    allowPositionals: true,
  });
  const bench = new Run();
  try {
    const ground = await layGround(bench);
    await withClient(ground.databaseUrl, (client) => fillPlaces(client, streamedSeries, places, days));
    print(`${starts} starts each, median (least–greatest); the memory of the last one`);
    printRow('', ['start, s', 'its CPU, s', 'modules', 'idle, MiB', 'at most, MiB']);
    for (const subject of subjects(bench, ground)) {
      if (values.only === undefined || subject.name.includes(values.only))
        await measure(bench, ground, subject, positionals);
    }
  } finally {
    await bench.stop();
  }
}

function subjects(bench: Run, ground: Ground): Subject[] {
  const service = (name: string) => ({
    name,
    words: [name],
    ready: /is running: (http:\S+)/,
    answer: askReady,
  });
  const stores = { ...ground.env, DATABASE_URL: ground.databaseUrl };
  const behind = {
    DATA_API_URL: ground.dataApi.readyOutput,
    ACCOUNTS_API_URL: ground.accountsApi.readyOutput,
    PORT: '0',
  };
  const ofGateway = { ...ground.env, ...behind };
  const gateway = { ...service('gateway'), load: loadGateway };
  const ofWorker = path.join(bench.directory, 'worker');
  let installations = 0;
  return [
    { ...service('data-api'), env: () => ({ ...stores, DATA_API_PORT: '0' }), load: loadDataApi },
    { ...service('accounts-api'), env: () => ({ ...stores, ACCOUNTS_API_PORT: '0' }), load: loadAccountsApi },
    {
      ...{ name: 'worker', words: ['worker'], ready: /(worker is running)/ },
      env: () => ({ ...stores, DATA_DIR: ofWorker }),
      load: () => loadWorker(ground.databaseUrl, path.join(ofWorker, 'outbox')),
    },
    { ...gateway, env: () => ofGateway },
    { ...gateway, name: 'gateway, with Redis', env: () => ({ ...ofGateway, REDIS_URL: ground.redisUrl }) },
    {
      ...{ name: 'all, first start with the demo', words: [], ready: /API: (http:\S+\s+API key: \S+)/ },
      env: () => ({ DATA_DIR: path.join(bench.directory, `all-${(installations += 1)}`), PORT: '0' }),
      ...{ answer: askDemo, load: loadEverything },
    },
  ];
}

async function askReady({ readyOutput }: Program): Promise<void> {
  const { status } = await fetch(`${readyOutput}/readyz`);
  if (status !== 200) throw new Error(`A service answered ${status} to /readyz.`);
}

async function measure(
  bench: Run,
  ground: Ground,
  subject: Subject,
  flags: readonly string[],
): Promise<void> {
  const outputFile = path.join(bench.directory, 'measured');
  const start = async (more: readonly string[], env: Record<string, string> = {}) => {
    const almanac = [path.join(projectRoot, 'almanac.js'), 'start', ...subject.words];
    const command = [process.execPath, ...flags, ...more, ...almanac];
    const own = { HOST: '127.0.0.1', DASHBOARD: 'off', JOURNAL_DIR: path.join(bench.directory, 'journal') };
    return startOn(
      { core: targetCore, outputFile, env: { ...own, ...subject.env(), ...env } },
      command,
      subject.ready,
    );
  };
  const countFile = path.join(bench.directory, 'modules');
  const counter = ['--import', path.join(import.meta.dirname, 'memory/count-modules.ts')];
  await (await start(counter, { BENCH_MODULES_FILE: countFile })).stop();
  const times: number[] = [];
  const cpu: number[] = [];
  for (let i = 1; ; i += 1) {
    const startedAtMs = performance.now();
    const started = await start([]);
    try {
      await subject.answer?.(started);
      times.push((performance.now() - startedAtMs) / 1000);
      cpu.push(cpuSeconds([started.pid]));
      if (i < starts) continue;
      await pause(idleAfterMs);
      const idle = memoryOf(started.pid, 'VmRSS');
      const tally = await subject.load(started, ground);
      const most = memoryOf(started.pid, 'VmHWM');
      const ofStart = [times, cpu].map((values) => shown(figuresOf(values), 2));
      printRow(subject.name, [...ofStart, readFileSync(countFile, 'utf8'), idle, most]);
      print(`  answered: ${[...tally].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
      return;
    } finally {
      await started.stop();
    }
  }
}

/** In MiB, of the process alone: PostgreSQL, a child process of `start`, is not included. @param field now, or the maximum since its start. */
function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): string {
  const kib = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kib) / 1024).toFixed(0);
}
