// The bulk files that may be served now. Range requests share one read of the manifest. After a retraction begins, no file is served until
// the publisher has removed those that may contain the retracted data.
import type { KeptFile, Manifest } from '../../domain/bulk/manifest.ts';
import { BulkStoreFault, type BulkStore } from '../../domain/bulk/store.ts';
import { readNewestWithdrawal } from '../../domain/bulk/withdrawals.sql.ts';
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
}

/**
 * The current files; none before the publisher has written the first ones.
 * @throws Failure `plan_required`; `not_found` if this installation has no bulk files; `unavailable` while a retraction is in progress, or
 * the store is failing.
 */
export async function readCurrentFiles({ bulk, database }: Asking, call: ServiceCall): Promise<KeptFile[]> {
  const { store } = requireBulk(bulk, call);
  return orUnavailable(async () => {
    const manifest = await store.readManifest();
    if (manifest !== undefined && (await readNewestWithdrawal(database)) > manifest.load) failWithdrawn();
    return manifest?.files ?? [];
  });
}

/**
 * The file with the name, current or replaced, and its store. @throws Failure as readCurrentFiles; also `not_found` if the file does not
 * exist.
 */
export async function requireFile(
  { bulk, database }: Asking,
  call: ServiceCall,
  name: string,
): Promise<{ file: KeptFile; store: BulkStore }> {
  const { store, recent } = requireBulk(bulk, call);
  return orUnavailable(async () => {
    const withdrawn = await readNewestWithdrawal(database);
    const find = (manifest: Manifest | undefined) =>
      manifest === undefined || withdrawn > manifest.load
        ? undefined
        : [...manifest.files, ...manifest.retired].find((each) => each.name === name);
    let file = find(await recent());
    if (file === undefined) {
      const newest = await store.readManifest();
      if (newest !== undefined && withdrawn > newest.load) failWithdrawn();
      file = find(newest);
    }
    if (file === undefined)
      return fail('not_found', 'There is no bulk file with this name, or it was deleted. See GET /v1/bulk.');
    return { file, store };
  });
}

function requireBulk(bulk: BulkFiles | undefined, call: ServiceCall): BulkFiles {
  // Checked here again, without trusting the gateway's check.
  if (!call.identity.features.includes('bulk'))
    fail('plan_required', 'Bulk files require a higher plan. See GET /v1/plans.');
  return bulk ?? fail('not_found', 'This installation has no bulk files.');
}

function failWithdrawn(): never {
  fail('unavailable', 'Data were retracted, and the bulk files are being rewritten. Try again in a minute.', {
    headers: { 'retry-after': '60' },
  });
}

/** @throws Failure `unavailable` if the store fails, with the reason for the log; otherwise what the work throws. */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BulkStoreFault)) throw error;
    return failAway(error);
  }
}

export function failAway(detail: unknown): never {
  return fail('unavailable', 'The store of the bulk files does not answer at the moment. Try again.', {
    detail,
    headers: { 'retry-after': '5' },
  });
}
