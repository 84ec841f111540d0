// Brings the bulk files up to date: writes those whose series have changed, replaces the manifest, and removes old files. Files have only
// public data, because they are read as readers see the data. A process that is killed meanwhile leaves no inconsistent state.
import path from 'node:path';
import { instantOf, type KeptFile, type Manifest } from '../../domain/bulk/manifest.ts';
import { openBulkStore } from '../../domain/bulk/open-store.ts';
import type { BulkStore } from '../../domain/bulk/store.ts';
import { readNewestWithdrawal } from '../../domain/bulk/withdrawals.sql.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import { readNewestLoad, readOneMoment, readScopes, tryLockBulk, type Scope } from './bulk.sql.ts';
import { writeFiles } from './dataset-files.ts';

export interface BulkSettings {
  place: BulkPlace;
  /** The number of days for which a replaced file is kept. */
  keepDays: number;
}

/** Files of earlier formats are rewritten. */
const form = 1;
const msOfDay = 86_400_000;
/** Per scope and kind: a source that is loaded every minute must not fill the disk. */
const retiredMax = 10;

/**
 * @returns how many files were written; undefined if another process is writing.
 * @throws BulkStoreFault; an error of the database. The previous files are served then.
 */
export async function writeBulk(
  database: Pick<Database, 'transaction'>,
  { place, keepDays }: BulkSettings,
  clock: Clock,
): Promise<number | undefined> {
  const store = await openBulkStore(place);
  return database.transaction(async (on) => {
    await readOneMoment(on);
    if (!(await tryLockBulk(on))) return undefined;
    const workshop = await store.openWorkshop();
    // After the lock: the manifest and the snapshot, which begins with the lock, include the work of other processes.
    const before = await store.readManifest();
    const load = await readNewestLoad(on);
    if (before !== undefined && before.load > load) return 0; // its snapshot is newer than this one
    const scopes = (await readScopes(on)).map((scope) => ({ ...scope, state: `${form}-${scope.state}` }));
    const now = clock.now();
    const plan = planOf(before, scopes);
    const withdrawn = await readNewestWithdrawal(on);
    const kept = retire(before, plan.replaced, { now, keepDays, withdrawn });
    if (withdrawn > (before?.load ?? 0) && plan.replaced.length > 0) {
      // At once: retracted data are removed before the new files are written.
      await replace(on, store, { load, created_at: instantOf(now), files: plan.unchanged, retired: kept });
    }
    const written = await writeAll(on, { store, workshop, load, now, before }, plan.toWrite);
    const files = [...plan.unchanged, ...written].sort(byScope);
    await replace(on, store, { load, created_at: instantOf(now), files, retired: kept });
    return written.length;
  });
}

function byScope(a: KeptFile, b: KeptFile): number {
  if (a.source !== b.source) return (a.source ?? '') < (b.source ?? '') ? -1 : 1;
  return a.kind < b.kind ? -1 : 1;
}

/** Which files stay, which are replaced or no longer have series, and which scopes are to be written. */
function planOf(before: Manifest | undefined, scopes: readonly Scope[]) {
  const files = before?.files ?? [];
  const states = new Map(scopes.map(({ source, state }) => [source, state]));
  const isUnchanged = ({ source, state }: KeptFile) => states.get(source) === state;
  const unchanged = files.filter(isUnchanged);
  const written = new Set(unchanged.map(({ source }) => source));
  return {
    unchanged,
    replaced: files.filter((file) => !isUnchanged(file)),
    toWrite: scopes.filter(({ source }) => !written.has(source)),
  };
}

/** The retired files that are still kept, including those replaced now. Files changed by a withdrawal are not kept. */
function retire(
  before: Manifest | undefined,
  replaced: readonly KeptFile[],
  { now, keepDays, withdrawn }: { now: Date; keepDays: number; withdrawn: number },
): Manifest['retired'] {
  const changedSources = new Set(replaced.map(({ source }) => source));
  const isWithdrawal = withdrawn > (before?.load ?? 0);
  const counts = new Map<string, number>();
  const retired = [
    ...(before?.retired ?? []),
    ...replaced.map((file) => ({ ...file, retired_at: instantOf(now) })),
  ];
  return retired
    .toSorted((a, b) => b.load - a.load)
    .filter((file) => {
      if (isWithdrawal && changedSources.has(file.source) && file.load < withdrawn) return false;
      const key = `${file.kind} ${file.source}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count <= retiredMax && now.getTime() - Date.parse(file.retired_at) < keepDays * msOfDay;
    });
}

interface Writing {
  store: BulkStore;
  workshop: string;
  load: number;
  now: Date;
  before: Manifest | undefined;
}

async function writeAll(
  on: Transaction,
  { store, workshop, load, now, before }: Writing,
  scopes: readonly Scope[],
): Promise<KeptFile[]> {
  const taken = new Set([...(before?.files ?? []), ...(before?.retired ?? [])].map(({ name }) => name));
  const written: KeptFile[] = [];
  for (const scope of scopes) {
    const wish = { workshop, scope, load, createdAt: now, isTaken: (name: string) => taken.has(name) };
    const files = await writeFiles(on, wish);
    for (const { name } of files) await store.put(name, path.join(workshop, name));
    written.push(...files);
  }
  return written;
}

/** Replaces the manifest, then removes the files that it does not name, including those of a killed process. */
async function replace(on: Transaction, store: BulkStore, manifest: Manifest): Promise<void> {
  await readNewestLoad(on); // if the connection and its lock are lost, another process writes
  await store.replaceManifest(manifest);
  const named = new Set([...manifest.files, ...manifest.retired].map(({ name }) => name));
  for (const name of await store.list()) if (!named.has(name)) await store.remove(name);
}
