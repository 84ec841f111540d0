// The credential cache in Redis: accounts-api writes its entries, gateways read them. Hides their keys and the two scripts.
// An entry is valid only under the replication id of the Redis server that it was written to: after a failover, or a restart from
// an old snapshot, entries may lack the last changes, and are ignored.
import { luaFile, script, type RedisLink } from '../redis.ts';

/** The value of an entry whose credential is invalid. */
export const negativeEntry = '';
/** The value of an entry whose credential has changed: ask accounts-api. read.lua knows it. */
export const dirtyMarker = '?';

/** The value, in JSON, of an entry whose credential is valid. */
export interface CachedCredential {
  account_id: string;
  key_id: string;
  /** A plan id from config/plans.yml. */
  plan: string;
  active: boolean;
  /** In ms since 1970; null: never. */
  expires_at: number | null;
}

/**
 * How long a gateway may use a generation, counted from when it requested the lease. In Redis it covers a restart of accounts-api: a
 * change waits for it only if Redis cannot be written and a gateway does not answer. For entries in a process every change does.
 */
export const credentialLeaseMs = { redis: 15_000, process: 300 } as const;
/** How long an entry is used before PostgreSQL is asked again: the bound if everything else fails. */
export const freshMs = 60_000;
/** How long it is used beyond that if PostgreSQL cannot be asked. */
export const keptInOutageMs = 15_000;
/** How long an entry is kept for comparing revisions: longer than any write takes. */
const keepSeconds = 3_600;
/** The revision of a permanently deleted credential: no revision is newer. */
export const finalRevision = Number.MAX_SAFE_INTEGER;

export function credentialCacheKey(generation: number, keyHash: string): string {
  return `almanac:credential:${generation}:${keyHash}`;
}

/** What scripts run before that need the replication id of the server or its clock: once, however many keys they are for. */
export const serverLua = luaFile(new URL('server.lua', import.meta.url));
export const readCachedCredentialLua = luaFile(new URL('read.lua', import.meta.url));

export const readCachedCredential = script(readCachedCredentialLua, serverLua);

export interface CredentialEntry {
  revision: number;
  value: string;
  /** Of the server that holds the cache; null: accept any server. */
  replicationId: string | null;
  /** For how long PostgreSQL is not asked again. */
  validMs?: number;
}

const writeScript = script(luaFile(new URL('write.lua', import.meta.url)), serverLua);

/**
 * Writes an entry, unless a newer one exists.
 * @returns null, or the server's replication id if it differs; then nothing has changed. @throws RedisUnavailable.
 */
export async function writeCachedCredential(
  redis: RedisLink,
  key: string,
  { revision, value, replicationId, validMs = freshMs }: CredentialEntry,
): Promise<string | null> {
  const words = [String(revision), value, replicationId ?? '', String(validMs), String(keepSeconds)];
  const answer = await redis.run(writeScript, key, words);
  return typeof answer === 'string' ? answer : null;
}
