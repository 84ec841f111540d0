// Writes the bulk files of two million observations with vintages in the publisher's own child process, and measures its time, CPU and
// maximum resident memory. `--points N` sets the number of current points (2000000), `--rounds N` the rounds (3). The values of
// all series are alike, so the files are smaller than real ones.
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createChildRunner } from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import {
  manifestName,
  readManifestText,
  type BulkKind,
  type StoredFile,
} from '../../domain/bulk/manifest.ts';
import { createLog } from '../../kernel/log/log.ts';
import { cpuSeconds, textOf } from '../gateway/processes.ts';
import { figuresOf, print, printRow, shown } from '../instruments/figures.ts';
import { startBenchPostgres } from '../instruments/postgres.ts';
import { pointLines, seriesIds } from '../scale/files.ts';
import { loadPoints, pointsPerSeries, withGround, type Ground } from '../scale/ground.ts';
import { makeWords, seeded } from '../series/words.ts';

const goal = { seconds: 30, mib: 256 };
const sampleEveryMs = 20;
/** The newest points of each series that a second load revises, after the one that fills the database. */
const revisedPoints = 10;

/** CPU and memory are Linux only, otherwise NaN. */
interface Cost {
  seconds: number;
  cpuSeconds: number;
  /** The maximum resident memory of the process, in MiB. */
  peakMib: number;
}

/** Fills, writes, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { points: { type: 'string', default: '2000000' }, rounds: { type: 'string', default: '3' } },
  });
  const [points, rounds] = [Number(values.points), Number(values.rounds)];
  if (!(points > 0 && Number.isInteger(points / pointsPerSeries) && rounds > 0))
    throw new Error(`--points is a multiple of ${pointsPerSeries}, --rounds at least 1.`);
  const postgres = await startBenchPostgres();
  try {
    await withGround(postgres, { rows: points }, makeWords(3_000, seeded(20_261_128)), async (ground) => {
      const revised = { first: pointsPerSeries - revisedPoints + 1, last: pointsPerSeries, edition: 2 };
      await loadPoints(ground, pointLines(seriesIds(ground.series), revised));
      await ground.client.query('vacuum analyze');
      const costs = [];
      for (let round = 0; round < rounds; round += 1) costs.push(await writeOnce(ground));
      report(costs);
    });
  } finally {
    await postgres.stop();
  }
}

/** Writes all files into a new folder, and removes it. */
async function writeOnce({ url, directory }: Ground): Promise<Cost & { files: readonly StoredFile[] }> {
  const folder = path.join(directory, 'bulk');
  const log = createLog('bench', 'error');
  const children = createChildRunner<Tasks>({ databaseUrl: url, applicationName: 'almanac bench', log });
  try {
    const cost = await measured(() =>
      children.run(
        'write-bulk',
        { place: { directory: folder }, keepDays: 7, daysMax: 10, seriesTimeZone: 'UTC' },
        {},
      ),
    );
    const { files } = readManifestText(readFileSync(path.join(folder, manifestName), 'utf8'));
    return { ...cost, files };
  } finally {
    await children.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The cost of the one child process that the work starts. */
async function measured(work: () => Promise<unknown>): Promise<Cost> {
  const others = new Set(childrenOfThis());
  const cost: Cost = { seconds: Number.NaN, cpuSeconds: Number.NaN, peakMib: Number.NaN };
  const sample = (): void => {
    const child = childrenOfThis().find((pid) => !others.has(pid));
    const peakKib = child === undefined ? undefined : peakKibOf(child);
    if (child === undefined || peakKib === undefined) return; // not yet started, or ended
    cost.peakMib = peakKib / 1024;
    cost.cpuSeconds = cpuSeconds([child]);
  };
  const sampling = setInterval(sample, sampleEveryMs);
  try {
    const started = performance.now();
    await work();
    cost.seconds = (performance.now() - started) / 1000;
  } finally {
    clearInterval(sampling);
  }
  return cost;
}

const childrenOfThis = (): number[] =>
  (textOf(`/proc/self/task/${process.pid}/children`).match(/\d+/g) ?? []).map(Number);

function peakKibOf(pid: number): number | undefined {
  const kib = /VmHWM:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1];
  return kib === undefined ? undefined : Number(kib);
}

function report(costs: readonly (Cost & { files: readonly StoredFile[] })[]): void {
  const files = costs[0]?.files ?? [];
  const sum = (of: readonly StoredFile[], amount: 'rows' | 'bytes') =>
    of.reduce((all, file) => all + file[amount], 0);
  const rowsOf = (kind: BulkKind) =>
    sum(
      files.filter((file) => file.source === null && file.kind === kind),
      'rows',
    );
  print(
    `\n${rowsOf('current')} points, ${rowsOf('vintages')} with their vintages, each row in the file of all series and in that of its source: ` +
      `${files.length} files of ${(sum(files, 'bytes') / 1e6).toFixed(0)} MB and ${sum(files, 'rows')} rows`,
  );
  printRow('', [`seconds (goal: < ${goal.seconds})`, 'CPU seconds', `MiB (goal: < ${goal.mib})`]);
  const column = (of: keyof Cost) => shown(figuresOf(costs.map((cost) => cost[of])));
  printRow(`${costs.length} rounds`, [column('seconds'), column('cpuSeconds'), column('peakMib')]);
}
