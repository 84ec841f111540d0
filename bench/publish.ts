// Publishes a folder of a thousand CSV files of 2,000 daily points as an operator would, into an empty database. Measures the time, the CPU of the
// command and of PostgreSQL, and the maximum memory of the command with the process that reads its files, at first and when nothing has changed.
// `--files N` and `--points N` set the size (1000, 2000), `--rounds N` the rounds (3); `--against DIR` also publishes with another checkout, in turn.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../kernel/project.ts';
import { cpuSeconds, memoryOf } from './gateway/processes.ts';
import { figuresOf, inTurn, print, printRow, ratios, shown } from './instruments/figures.ts';
import { startBenchPostgres, withClient, type BenchPostgres } from './instruments/postgres.ts';

interface Size {
  files: number;
  points: number;
}

/** The cost of a run of the command. CPU and memory are Linux only, otherwise NaN. */
interface Cost {
  seconds: number;
  commandCpu: number;
  postgresCpu: number;
  memoryMib: number;
}

/** The costs of a round: the first run, and the same again. */
interface Costs {
  first: Cost;
  again: Cost;
}

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      files: { type: 'string', default: '1000' },
      points: { type: 'string', default: '2000' },
      rounds: { type: 'string', default: '3' },
      against: { type: 'string' },
    },
  });
  const size = { files: Number(values.files), points: Number(values.points) };
  const { against } = values;
  const postgres = await startBenchPostgres();
  try {
    const by = (checkout: string) => () => publishTwice(postgres, checkout, size);
    const measured: Record<string, () => Promise<Costs>> = { here: by(projectRoot) };
    if (against !== undefined) measured['other'] = by(path.resolve(against));
    const costs = await inTurn(Number(values.rounds), measured);
    report(size, costs);
  } finally {
    await postgres.stop();
  }
}

/** @param checkout the working copy with the almanac.js to run. */
async function publishTwice(postgres: BenchPostgres, checkout: string, size: Size): Promise<Costs> {
  const folder = path.join(postgres.directory, 'many');
  writeFolder(folder, size);
  const url = await postgres.createDatabase('bench_publish');
  try {
    const first = await publish(url, checkout, folder);
    const [stored] = await withClient(url, async (client) => {
      const { rows } = await client.query<{ points: string }>(
        'select count(*) as points from data.observations',
      );
      return rows;
    });
    if (Number(stored?.points) !== size.files * size.points)
      throw new Error(`${stored?.points} points were stored, not ${size.files * size.points}.`);
    return { first, again: await publish(url, checkout, folder) };
  } finally {
    await postgres.dropDatabase('bench_publish');
    rmSync(folder, { recursive: true });
  }
}

/** Writes files of one form with numbered names. */
function writeFolder(folder: string, { files, points }: Size): void {
  mkdirSync(folder);
  const dates = Array.from({ length: points }, (_, n) =>
    new Date(Date.UTC(2015, 0, 1 + n)).toISOString().slice(0, 10),
  );
  for (let file = 0; file < files; file += 1) {
    const rows = dates.map((date, n) => `${date},${(100 + ((file * 7 + n * 13) % 9973) / 100).toFixed(2)}\n`);
    writeFileSync(
      path.join(folder, `rate_${String(file).padStart(5, '0')}.csv`),
      `Date,Value\n${rows.join('')}`,
    );
  }
}

const sampleEveryMs = 100;

/** Runs the command itself, including its start. */
async function publish(databaseUrl: string, checkout: string, folder: string): Promise<Cost> {
  const postmaster = await postmasterOf(databaseUrl);
  const before = cpuSeconds([postmaster]);
  const started = performance.now();
  const words = ['publish', folder, '--yes', '--set', 'unit=Index', '--set', 'source=Bench', '--json'];
  const child = spawn(process.execPath, [path.join(checkout, 'almanac.js'), ...words], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const cost: Cost = {
    seconds: Number.NaN,
    commandCpu: Number.NaN,
    postgresCpu: Number.NaN,
    memoryMib: Number.NaN,
  };
  const sample = (): void => {
    const memoryMib = memoryOf(child.pid ?? 0);
    if (memoryMib === 0) return; // it has ended
    cost.memoryMib = Math.max(cost.memoryMib || 0, memoryMib);
    cost.commandCpu = cpuSeconds([child.pid ?? 0]);
  };
  const sampling = setInterval(sample, sampleEveryMs);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`almanac publish ended with ${code}`);
  } finally {
    clearInterval(sampling);
  }
  cost.seconds = (performance.now() - started) / 1000;
  cost.postgresCpu = cpuSeconds([postmaster]) - before;
  return cost;
}

async function postmasterOf(databaseUrl: string): Promise<number> {
  const [row] = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows;
  });
  return Number(readFileSync(path.join(row?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function report({ files, points }: Size, costs: Readonly<Record<string, Costs[]>>): void {
  const { here = [], other } = costs;
  print(`\n${files} files of ${points} points, ${here.length} rounds in turn: median (least–greatest)`);
  printRow('', ['seconds', 'CPU of the command, s', 'of PostgreSQL, s', 'memory at most, MiB']);
  const row = (name: string, of: readonly Cost[]) =>
    printRow(
      name,
      [
        of.map(({ seconds }) => seconds),
        of.map(({ commandCpu }) => commandCpu),
        of.map(({ postgresCpu }) => postgresCpu),
        of.map(({ memoryMib }) => memoryMib),
      ].map((values) => shown(figuresOf(values))),
    );
  for (const [name, of] of [
    ['here', here],
    ['other', other ?? []],
  ] as const) {
    if (of.length === 0) continue;
    row(
      `${name}: first`,
      of.map(({ first }) => first),
    );
    row(
      `${name}: nothing has changed`,
      of.map(({ again }) => again),
    );
  }
  if (other === undefined) return;
  const cpuOf = (of: readonly Costs[]) => of.map(({ first }) => first.commandCpu + first.postgresCpu);
  const timeOf = (of: readonly Costs[]) => of.map(({ first }) => first.seconds);
  print(
    `the other against this: ${shown(ratios(cpuOf(other), cpuOf(here)), 2)}× the CPU, ` +
      `${shown(ratios(timeOf(other), timeOf(here)), 2)}× the time`,
  );
}
