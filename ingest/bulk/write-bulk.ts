// Brings the bulk files up to date: writes those whose series have changed, replaces the manifest, and removes old files. Files have only
// public data, because they are read as readers see the data. A process that is killed meanwhile leaves no inconsistent state.
import path from 'node:path';
import { endOf } from '../../domain/as-of/end-of-day.ts';
import { instantOf, storedName, type StoredFile, type Manifest } from '../../domain/bulk/manifest.ts';
import { openBulkStore } from '../../domain/bulk/open-store.ts';
import type { BulkStore } from '../../domain/bulk/store.ts';
import { readNewestWithdrawal } from '../../domain/bulk/withdrawals.sql.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database, Transaction } from '../../kernel/database.ts';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import {
  readNewestLoad,
  readOneMoment,
  readPinnedDays,
  readScopes,
  tryLockBulk,
  type Moment,
  type Scope,
} from './bulk.sql.ts';
import { writeFiles } from './dataset-files.ts';

export interface BulkSettings {
  place: BulkPlace;
  /** The number of days for which a replaced file is kept. */
  keepDays: number;
  /** The most days of pinned keys that have files of their own. */
  daysMax: number;
  /** The publisher's time zone, an IANA name: vintages are days in it. */
  seriesTimeZone: string;
}

/** Files of earlier formats are rewritten. */
const form = 1;
const msOfDay = 86_400_000;
/** Per scope and kind: a source that is loaded every minute must not fill the disk. */
const retiredMax = 10;

/**
 * @returns how many files were written; null if another process is writing.
 * @throws BulkStoreFault; an error of the database. The previous files are served then.
 */
export async function writeBulk(
  database: Pick<Database, 'transaction'>,
  settings: BulkSettings,
  clock: Clock,
): Promise<number | null> {
  const store = await openBulkStore(settings.place);
  return database.transaction(async (on) => {
    await readOneMoment(on);
    if (!(await tryLockBulk(on))) return null;
    const workshop = await store.openWorkshop();
    // After the lock: the manifest and the snapshot, which begins with the lock, include the work of other processes.
    const before = await store.readManifest();
    const load = await readNewestLoad(on);
    if (before !== undefined && before.load > load) return 0; // its snapshot is newer than this one
    const now = clock.now();
    const { unchanged, replaced, toWrite } = await planOf(on, before, { settings, load, now });
    const withdrawn = await readNewestWithdrawal(on);
    const retired = retire(before, replaced, { now, keepDays: settings.keepDays, withdrawn });
    const replaceBy = (files: readonly StoredFile[]) =>
      replace(on, store, {
        ...{ load, created_at: instantOf(now), days_max: settings.daysMax },
        ...{ files: files.toSorted(byScope), retired },
      });
    // Retracted data is removed at once, before the new files are written.
    if (withdrawn > (before?.load ?? 0) && replaced.length > 0) await replaceBy(unchanged);
    const files = [...unchanged];
    let written = 0;
    // The current files come first and never wait for those of a past day.
    for (const edition of toWrite) {
      const added = await writeAll({ store, workshop, before }, edition);
      files.push(...added);
      written += added.length;
      await replaceBy(files);
    }
    return written;
  });
}

function byScope(a: StoredFile, b: StoredFile): number {
  if (a.as_of !== b.as_of) return (a.as_of ?? '') < (b.as_of ?? '') ? -1 : 1;
  if (a.source !== b.source) return (a.source ?? '') < (b.source ?? '') ? -1 : 1;
  return a.kind < b.kind ? -1 : 1;
}

/** Files to write as of one moment. */
interface Edition {
  moment: Moment;
  /** The newest load as of the moment. */
  load: number;
  createdAt: Date;
  scopes: readonly Scope[];
}

interface Plan {
  /** Files that remain current. */
  unchanged: StoredFile[];
  /** Files whose series have changed, or that no longer have a series or a key. */
  replaced: StoredFile[];
  /** The current edition is the first, even if it has nothing to write. */
  toWrite: Edition[];
}

async function planOf(
  on: Transaction,
  before: Manifest | undefined,
  { settings: { daysMax, seriesTimeZone: timeZone }, load, now }: Wish,
): Promise<Plan> {
  const files = before?.files ?? [];
  const present = { on, asOf: null, timeZone };
  const scopes = (await readScopes(present)).map((scope) => ({ ...scope, state: `${form}-${scope.state}` }));
  const states = new Map(scopes.map(({ source, state }) => [source, state]));
  const unchanged = files.filter(
    ({ as_of: day, source, state }) => day === null && states.get(source) === state,
  );
  const known = new Set(unchanged.map(({ source }) => source));
  const toWrite: Edition[] = [
    { moment: present, load, createdAt: now, scopes: scopes.filter(({ source }) => !known.has(source)) },
  ];
  for (const { day, load: newest, state: stateThen } of await readPinnedDays(on, daysMax)) {
    const state = `${form}-${stateThen}`;
    const ofDay = files.filter((file) => file.as_of === day && file.state === state);
    unchanged.push(...ofDay);
    if (ofDay.length > 0) continue;
    const moment = { on, asOf: day, timeZone };
    const createdAt = new Date(Math.min(now.getTime(), endOf(day, timeZone).getTime()));
    toWrite.push({ moment, load: newest, createdAt, scopes: await readScopes(moment, state) });
  }
  return { unchanged, replaced: files.filter((file) => !unchanged.includes(file)), toWrite };
}

interface Wish {
  settings: BulkSettings;
  load: number;
  now: Date;
}

/** The retired files that are still kept, including those replaced now. Files changed by a withdrawal are not kept. */
function retire(
  before: Manifest | undefined,
  replaced: readonly StoredFile[],
  { now, keepDays, withdrawn }: { now: Date; keepDays: number; withdrawn: number },
): Manifest['retired'] {
  const scopeOf = ({ as_of: day, source }: StoredFile) => `${day} ${source}`;
  const changed = new Set(replaced.map(scopeOf));
  const isWithdrawal = withdrawn > (before?.load ?? 0);
  const counts = new Map<string, number>();
  const retired = [
    ...(before?.retired ?? []),
    ...replaced.map((file) => ({ ...file, retired_at: instantOf(now) })),
  ];
  return retired
    .toSorted((a, b) => b.load - a.load)
    .filter((file) => {
      if (isWithdrawal && changed.has(scopeOf(file)) && file.load < withdrawn) return false;
      const key = `${file.kind} ${scopeOf(file)}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count <= retiredMax && now.getTime() - Date.parse(file.retired_at) < keepDays * msOfDay;
    });
}

async function writeAll(
  { store, workshop, before }: { store: BulkStore; workshop: string; before: Manifest | undefined },
  { moment, load, createdAt, scopes }: Edition,
): Promise<StoredFile[]> {
  const usedNames = new Set(
    [...(before?.files ?? []), ...(before?.retired ?? [])]
      .filter((file) => file.as_of === moment.asOf)
      .map(({ name }) => name),
  );
  const written: StoredFile[] = [];
  for (const scope of scopes) {
    const wish = { workshop, scope, moment, load, createdAt, isUsed: (name: string) => usedNames.has(name) };
    const files = await writeFiles(wish);
    for (const file of files) await store.put(storedName(file), path.join(workshop, file.name));
    written.push(...files);
  }
  return written;
}

/** Replaces the manifest, then removes the files that it does not name, including those of a killed process. */
async function replace(on: Transaction, store: BulkStore, manifest: Manifest): Promise<void> {
  await readNewestLoad(on); // if the connection and its lock are lost, another process writes
  await store.replaceManifest(manifest);
  const named = new Set([...manifest.files, ...manifest.retired].map(storedName));
  for (const name of await store.list()) if (!named.has(name)) await store.remove(name);
}
