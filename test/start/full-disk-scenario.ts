// An installation whose disk becomes full and gets space again. It runs as a separate process with TMPDIR on a small file system that
// no other process sees, and prints its results as one line of JSON.
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { untilThere } from '../run/until.ts';
import { createInstallation } from '../services/instance.ts';

export interface Found {
  dataDir: string;
  /** `/readyz` with space left, without, and with space again. */
  ready: { status: number; message: string }[];
  /** An uncharged read while the disk is full: the status, and how many series it lists. */
  read: { status: number; series: number };
  /** A load while the disk is full, a check, and the load again with space. */
  load: { code: number | null; output: string };
  check: { code: number | null; output: string };
  loadAgain: { code: number | null; output: string };
}

const installation = await createInstallation();
try {
  process.stdout.write(`${JSON.stringify(await findOut())}\n`);
} finally {
  await installation.remove();
}

async function findOut(): Promise<Found> {
  const { dataDir, url } = installation;
  await installation.start();
  const directory = path.dirname(dataDir);
  const csv = path.join(directory, 'big.csv');
  const dayOf = (i: number) => new Date(86_400_000 * i).toISOString().slice(0, 10);
  const lines = Array.from({ length: 40_000 }, (_, i) => `${dayOf(i)},${i}.5`);
  writeFileSync(csv, `date,value\n${lines.join('\n')}\n`);
  const words = ['ingest', 'observations', csv, '--create', '--report', path.join(directory, 'rejects.csv')];
  const load = () =>
    installation.run(...words, '--set', 'series_id=BIG,name=Big,unit=One,frequency=daily,source=Tests');

  const before = await readiness(url);
  const ballast = path.join(directory, 'ballast');
  fill(ballast);
  const full = await readinessOf(url, 503);
  const read = await catalogue(url);
  const failed = await load();
  const check = await installation.run('check');
  rmSync(ballast);
  const after = await readinessOf(url, 200);
  return { dataDir, ready: [before, full, after], read, load: failed, check, loadAgain: await load() };
}

async function readiness(url: string): Promise<Found['ready'][number]> {
  const response = await fetch(`${url}/readyz`);
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: error?.message ?? '' };
}

/** A gateway caches its result for a second. */
function readinessOf(url: string, status: number): Promise<Found['ready'][number]> {
  return untilThere(`readiness is ${status}`, async () => {
    const found = await readiness(url);
    return found.status === status ? found : undefined;
  });
}

async function catalogue(url: string): Promise<Found['read']> {
  const response = await fetch(`${url}/v1/catalog`);
  const { data = [] } = (await response.json()) as { data?: unknown[] };
  return { status: response.status, series: data.length };
}

/** Writes a file until there is no space left on its disk. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(4096);
  const { bavail, bsize } = statfsSync(path.dirname(file));
  try {
    for (let left = bavail * bsize + 2 ** 30; left > 0; left -= block.length) writeSync(descriptor, block);
    throw new Error(`${file} has no end: its disk has more than a gigabyte beyond what it says.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
