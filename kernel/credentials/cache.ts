// The credential cache in Redis: accounts-api writes its entries, gateways read them. Hides their keys and the two scripts.
// An entry counts only if it was written to the Redis server of this very replication id: after a failover or a restart from
// an old snapshot, what is there may lack the last changes, and counts as not there.
import { script } from '../redis.ts';

/** The value of an entry whose credential does not work. */
export const negativeEntry = '';
/** The value of an entry whose credential has changed: accounts-api is to be asked. */
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

/** How long a gateway may use a generation, from when it began to ask for the lease. */
export const credentialLeaseMs = 1_000;
/** How long an entry is used before PostgreSQL is asked again: the bound where everything else has failed. */
export const freshMs = 60_000;
/** How long it is kept to be compared with: longer than any write can be under way. */
const keepSeconds = 3_600;
/** Of a credential that is gone for good: nothing is newer. */
export const finalRevision = Number.MAX_SAFE_INTEGER;

export function credentialCacheKey(generation: number, keyHash: string): string {
  return `almanac:credential:${generation}:${keyHash}`;
}

/** Lua: the replication id of the server; it changes with every start and every failover. Empty on a replica. */
export const replicationIdLua = `(string.match(redis.call('info', 'replication'), 'role:master.-master_replid:(%x+)') or '')`;

/** Lua. KEYS: the entry; `replid`: the replication id of the server. → its value, or null where there is no valid one. */
export const readCachedCredentialLua = `
local entry = redis.call('hmget', KEYS[1], 'replid', 'until', 'value')
if not entry[1] or entry[3] == '${dirtyMarker}' then return nil end
local now = redis.call('time')
if now[1] * 1000 + now[2] / 1000 > tonumber(entry[2]) then return nil end
if entry[1] ~= replid then return nil end
return entry[3]`;

export const readCachedCredential = script(`local replid = ${replicationIdLua}${readCachedCredentialLua}`);

/** In the place of a replication id: whichever the server has. */
export const anyReplicationId = '';

/**
 * KEYS: the entry. ARGV: its revision, its value, the replication id that the cache is written under, or `anyReplicationId`. Changes nothing
 * where a newer one is there. → 1 where it stands now, else 0; where the server has another replication id: that one, and nothing is changed.
 */
export const writeCachedCredential = script(`
local replid = ${replicationIdLua}
if ARGV[3] ~= '${anyReplicationId}' and ARGV[3] ~= replid then return replid end
local before = redis.call('hget', KEYS[1], 'revision')
if before and tonumber(before) > tonumber(ARGV[1]) then return 0 end
local now = redis.call('time')
redis.call('hset', KEYS[1], 'revision', ARGV[1], 'value', ARGV[2], 'replid', replid,
  'until', string.format('%.0f', now[1] * 1000 + now[2] / 1000 + ${freshMs}))
redis.call('expire', KEYS[1], ${keepSeconds})
return 1`);
