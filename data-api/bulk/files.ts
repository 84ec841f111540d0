// The bulk files that may be served now. Range requests share one read of the manifest. After a retraction begins, no file is served until
// the publisher has removed those that may contain the retracted data.
import type { StoredFile, Manifest } from '../../domain/bulk/manifest.ts';
import { BulkStoreFault, type BulkStore } from '../../domain/bulk/store.ts';
import { readNewestWithdrawal } from '../../domain/bulk/withdrawals.sql.ts';
import { readPlaceOfDay } from './pinned-days.sql.ts';
import type { Queryable } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { rememberedFor } from '../../kernel/time/remembered.ts';

export interface BulkFiles {
  store: BulkStore;
  /** Cached for a few seconds at most. */
  recent: () => Promise<Manifest | undefined>;
}

/** A scan reads up to 200 ranges, and a manifest may have thousands of files. */
const recentMs = 2_000;

export function createBulkFiles(store: BulkStore): BulkFiles {
  return { store, recent: rememberedFor(recentMs, () => store.readManifest()) };
}

interface Asking {
  bulk: BulkFiles | undefined;
  database: Queryable;
  /** The day that the key is pinned to. */
  asOf: string | null;
  present: { database: Queryable } | null;
}

/**
 * The current files, as of the day of the key if it is pinned to one; none before the publisher has written the first ones.
 * @throws Failure `plan_required`; `not_found` if this installation has no bulk files; `not_available_as_of` if it has none of the day;
 * `unavailable` while a retraction is in progress, while the files of the day are being written for the first time, or the store is failing.
 */
export async function readCurrentFiles(asking: Asking, call: ServiceCall): Promise<StoredFile[]> {
  const { store } = requireBulk(asking, call);
  return orUnavailable(async () => (await filesOf(asking, await store.readManifest())).files);
}

/**
 * The file with the name, current or replaced, and its store. @throws Failure as readCurrentFiles; also `not_found` if the file does not
 * exist.
 */
export async function requireFile(
  asking: Asking,
  call: ServiceCall,
  name: string,
): Promise<{ file: StoredFile; store: BulkStore }> {
  const { store, recent } = requireBulk(asking, call);
  return orUnavailable(async () => {
    const find = ({ files, retired }: Served) => [...files, ...retired].find((each) => each.name === name);
    const known = await recent();
    let file = (await isCurrent(asking, known)) ? find(served(asking, known)) : undefined;
    file ??= find(await filesOf(asking, await store.readManifest()));
    if (file === undefined)
      return fail('not_found', 'There is no bulk file with this name, or it was deleted. See GET /v1/bulk.');
    return { file, store };
  });
}

interface Served {
  files: StoredFile[];
  retired: StoredFile[];
}

/** The files of the manifest for the key: those of the day that it is pinned to, or the current ones. */
function served({ asOf }: Asking, manifest: Manifest | undefined): Served {
  const isOfKey = (file: StoredFile) => file.as_of === asOf;
  return {
    files: manifest?.files.filter(isOfKey) ?? [],
    retired: manifest?.retired.filter(isOfKey) ?? [],
  };
}

/** Whether no data in the files of the manifest has been retracted since. */
async function isCurrent(asking: Asking, manifest: Manifest | undefined): Promise<boolean> {
  return manifest === undefined || (await readNewestWithdrawal(currentDatabase(asking))) <= manifest.load;
}

/** The current database, also for a key that is pinned to a day. */
const currentDatabase = ({ present, database }: Asking): Queryable => present?.database ?? database;

async function filesOf(asking: Asking, manifest: Manifest | undefined): Promise<Served> {
  if (!(await isCurrent(asking, manifest))) failWithdrawn();
  const found = served(asking, manifest);
  // A day that has files has a file of all series, even if there were no series.
  if (asking.asOf !== null && found.files.length === 0)
    await failWithoutFiles(currentDatabase(asking), asking.asOf, manifest);
  return found;
}

/** @throws Failure: `not_available_as_of` if too many days have files, otherwise `unavailable`. */
async function failWithoutFiles(
  database: Queryable,
  day: string,
  manifest: Manifest | undefined,
): Promise<never> {
  const place = await readPlaceOfDay(database, day);
  const most = manifest?.days_max;
  if (place !== undefined && most !== undefined && place > most)
    return fail(
      'not_available_as_of',
      `This installation has bulk files for ${most === 0 ? 'no day' : most === 1 ? '1 day' : `${most} days`} that keys are pinned to, and ${day} is not among them. Read the points with GET /v1/series, or ask the operator to raise BULK_PINNED_DAYS.`,
    );
  return fail('unavailable', `The bulk files of ${day} are being written. Try again in a minute.`, {
    headers: { 'retry-after': '60' },
  });
}

function requireBulk({ bulk }: Asking, call: ServiceCall): BulkFiles {
  // Checked here again, without trusting the gateway's check.
  if (!call.identity.features.includes('bulk'))
    fail('plan_required', 'Bulk files require a higher plan. See GET /v1/plans.');
  return bulk ?? fail('not_found', 'This installation has no bulk files.');
}

function failWithdrawn(): never {
  fail(
    'unavailable',
    'Data were retracted, and the bulk files are being rewritten. Try again in a few seconds.',
    {
      headers: { 'retry-after': '5' },
    },
  );
}

/** @throws Failure `unavailable` if the store fails, with the reason for the log; otherwise what the work throws. */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BulkStoreFault)) throw error;
    return failStoreUnavailable(error);
  }
}

export function failStoreUnavailable(detail: unknown): never {
  return fail('unavailable', 'The store of the bulk files does not answer at the moment. Try again.', {
    detail,
    headers: { 'retry-after': '5' },
  });
}
