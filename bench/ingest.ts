// Loads a million rows as an operator would, compared with PostgreSQL's own \copy of the same file into a bare table with the same key: new series,
// the same file again, and a revision of 5 %. Then loads a file of 700 vintages, each with the whole history of a series, and loads it again. `--rows
// N` sets the size of the first file (1,000,000).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { from as copyFrom } from 'pg-copy-streams';
import { projectRoot } from '../kernel/project.ts';
import { figuresOf, print, printRow, ratios, shown } from './instruments/figures.ts';
import { startBenchPostgres, withClient, type BenchPostgres } from './instruments/postgres.ts';

const rounds = 3;
export const pointsPerSeries = 500;

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { rows: { type: 'string', default: '1000000' } },
  });
  await compareWithCopy(Number(values.rows));
  await compareVintagesWithCopy();
}

/** @param rowsLeast the minimum size of the file. */
export async function compareWithCopy(rowsLeast: number): Promise<void> {
  const series = Math.ceil(rowsLeast / pointsPerSeries);
  const rows = series * pointsPerSeries;
  const postgres = await startBenchPostgres();
  try {
    const file = path.join(postgres.directory, 'rows.csv');
    const revised = path.join(postgres.directory, 'revised.csv');
    await pipeline(Readable.from(lines(series, 0)), createWriteStream(file));
    await pipeline(Readable.from(lines(series, 20)), createWriteStream(revised));
    const seconds = await measure(postgres, { file, revised });
    report(rows, `${series} series`, seconds, {
      copy: '\\copy into a bare table',
      fresh: 'almanac, new series (goal: ≥ 0.4×)',
      again: 'almanac, the same file again',
      revision: 'almanac, 5 % revised',
    });
  } finally {
    await postgres.stop();
  }
}

/** One file of many vintages, as in published archives of revisions. */
async function compareVintagesWithCopy(): Promise<void> {
  const postgres = await startBenchPostgres();
  try {
    const file = path.join(postgres.directory, 'vintages.csv');
    await pipeline(Readable.from(vintageLines()), createWriteStream(file));
    const key = 'series text, vintage date, date date, value numeric, primary key (series, vintage, date)';
    const seconds: Record<'copy' | 'fresh' | 'again', number[]> = { copy: [], fresh: [], again: [] };
    for (let round = 0; round < rounds; round += 1) {
      seconds.copy.push(await timeOfCopy(postgres, file, key));
      const url = await postgres.createDatabase('bench_load');
      seconds.fresh.push(await timed(() => ingest(url, [file, '--create', '--set', monthly])));
      seconds.again.push(await timed(() => ingest(url, [file])));
      await postgres.dropDatabase('bench_load');
    }
    report(vintages * ((pointsBefore * 2 + vintages - 1) / 2), `one series, ${vintages} vintages`, seconds, {
      copy: '\\copy into a bare table',
      fresh: 'almanac, new series (goal: ≥ 0.2×)',
      again: 'almanac, the same file again',
    });
  } finally {
    await postgres.stop();
  }
}

const vintages = 700;
const pointsBefore = 250;
const monthly = 'frequency=monthly,unit=Index,source=Bench';

/** Every vintage adds a month and revises the last three months, and once a year the last five years. */
function* vintageLines(): Generator<string> {
  const monthOf = (n: number) => new Date(Date.UTC(1945, n, 1)).toISOString().slice(0, 10);
  yield 'series_id,vintage,date,value\n';
  for (let vintage = 0; vintage < vintages; vintage += 1) {
    const points = pointsBefore + vintage;
    let text = '';
    for (let n = 0; n < points; n += 1) {
      const yearly = Math.floor(vintage / 12) - Math.floor((n - pointsBefore + 1) / 12);
      const revisions = Math.min(points - n, 3) + Math.min(yearly, 5);
      const value = 100 + n / 10 + revisions / 100;
      text += `BENCH,${monthOf(pointsBefore + vintage + 3)},${monthOf(n)},${value.toFixed(2)}\n`;
    }
    yield text;
  }
}

/** A long file of daily points; every `revise`-th value differs from the file without revisions. */
export function* lines(series: number, revise: number, prefix = 'BENCH'): Generator<string> {
  yield 'series_id,date,value\n';
  for (let s = 1; s <= series; s += 1) {
    let text = '';
    for (let n = 0; n < pointsPerSeries; n += 1) {
      const date = new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10);
      const isRevised = revise > 0 && (s + n) % revise === 0;
      text += `${prefix}.${s},${date},${(100 + ((s * 7 + n * 13) % 9973) / 100 + (isRevised ? 0.5 : 0)).toFixed(2)}\n`;
    }
    yield text;
  }
}

type Seconds = Record<'copy' | 'fresh' | 'again' | 'revision', number[]>;

/** Each round has its own databases; within it the three loads follow each other as an operator's would. */
async function measure(
  postgres: BenchPostgres,
  { file, revised }: { file: string; revised: string },
): Promise<Seconds> {
  const seconds: Seconds = { copy: [], fresh: [], again: [], revision: [] };
  const facts = 'frequency=daily,unit=Index,source=Bench';
  for (let round = 0; round < rounds; round += 1) {
    seconds.copy.push(
      await timeOfCopy(postgres, file, 'series text, date date, value numeric, primary key (series, date)'),
    );

    const url = await postgres.createDatabase('bench_load');
    const fresh = [file, '--create', '--set', facts, '--vintage', '2022-01-01'];
    seconds.fresh.push(await timed(() => ingest(url, fresh)));
    seconds.again.push(await timed(() => ingest(url, [file, '--vintage', '2022-01-02'])));
    seconds.revision.push(await timed(() => ingest(url, [revised, '--vintage', '2022-01-03'])));
    await postgres.dropDatabase('bench_load');
  }
  return seconds;
}

/** @param columns of the bare table, with its key. */
async function timeOfCopy(postgres: BenchPostgres, file: string, columns: string): Promise<number> {
  const bare = await postgres.createDatabase('bench_copy');
  await withClient(bare, (client) => client.query(`create table bare (${columns})`));
  const seconds = await timed(() => copy(bare, file));
  await postgres.dropDatabase('bench_copy');
  return seconds;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Runs the command itself, including its start. */
export async function ingest(databaseUrl: string, words: readonly string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    [path.join(projectRoot, 'almanac.js'), 'ingest', 'observations', ...words, '--json'],
    { env: { ...process.env, DATABASE_URL: databaseUrl }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`almanac ingest ended with ${code}`);
}

/** psql's \copy, or the same statement from this process without psql. */
async function copy(databaseUrl: string, file: string): Promise<void> {
  const statement = 'copy bare from stdin with (format csv, header)';
  if (spawnSync('psql', ['--version']).status === 0) {
    const command = `\\copy bare from '${file}' with (format csv, header)`;
    const child = spawn('psql', [databaseUrl, '-qc', command], { stdio: ['ignore', 'ignore', 'inherit'] });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`psql ended with ${code}`);
    return;
  }
  await withClient(databaseUrl, (client) =>
    pipeline(createReadStream(file), client.query(copyFrom(statement))),
  );
}

function report<Name extends string>(
  rows: number,
  title: string,
  seconds: Readonly<Record<Name | 'copy', number[]>>,
  names: Readonly<Record<Name, string>>,
): void {
  print(`\n${rows} rows, ${title}, ${rounds} rounds in turn`);
  printRow('', ['seconds', 'rows/s', 'against \\copy']);
  for (const [name, text] of Object.entries(names) as [Name, string][]) {
    const figures = figuresOf(seconds[name]);
    const ratio = ratios(seconds.copy, seconds[name]);
    printRow(text, [shown(figures, 2), (rows / figures.median).toFixed(0), `${shown(ratio, 2)}×`]);
  }
}
