// The credential cache in Redis: accounts-api writes its entries, gateways read them. Hides their keys and the two scripts.
// An entry is valid only under the replication id of the Redis server that it was written to: after a failover, or a restart from
// an old snapshot, entries may lack the last changes, and are ignored.
import { luaFile, script, type RedisLink } from '../redis.ts';

/** The value of an entry whose credential does not work. */
export const negativeEntry = '';
/** The value of an entry whose credential has changed: accounts-api is to be asked. read.lua knows it. */
export const dirtyMarker = '?';

/** The value of an entry whose credential works, as JSON. */
export interface CachedCredential {
  account_id: string;
  key_id: string;
  /** An id of config/plans.yml. */
  plan: string;
  active: boolean;
  /** In ms since 1970; null: never. */
  expires_at: number | null;
}

/**
 * How long a gateway may use a generation, from when it began to ask for the lease. Where it keeps the entries in its process, every
 * change of a credential waits for that.
 */
export const credentialLeaseMs = { redis: 1_000, process: 300 } as const;
/** How long an entry is used before PostgreSQL is asked again: the bound where everything else has failed. */
const freshMs = 60_000;
/** How long it is kept to be compared with: longer than any write can be under way. */
const keepSeconds = 3_600;
/** Of a credential that is gone for good: nothing is newer. */
export const finalRevision = Number.MAX_SAFE_INTEGER;

export function credentialCacheKey(generation: number, keyHash: string): string {
  return `almanac:credential:${generation}:${keyHash}`;
}

/** Goes before the scripts that need the replication id of the server. */
export const replicationIdLua = luaFile(new URL('replication-id.lua', import.meta.url));
export const readCachedCredentialLua = luaFile(new URL('read.lua', import.meta.url));

export const readCachedCredential = script(replicationIdLua + readCachedCredentialLua);

const writeScript = script(replicationIdLua + luaFile(new URL('write.lua', import.meta.url)));

/**
 * Writes an entry, unless a newer one is there. @param replicationId of the server that the cache is on; null:
 * whichever this one has.
 * @returns null; the replication id of the server where that is another one: nothing has changed then. @throws RedisUnavailable.
 */
export async function writeCachedCredential(
  redis: RedisLink,
  key: string,
  { revision, value, replicationId }: { revision: number; value: string; replicationId: string | null },
): Promise<string | null> {
  const words = [String(revision), value, replicationId ?? '', String(freshMs), String(keepSeconds)];
  const answer = await redis.run(writeScript, key, words);
  return typeof answer === 'string' ? answer : null;
}
