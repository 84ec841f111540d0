// Copies of credentials in Redis: accounts-api writes them, gateways read them. Hides their keys and the two scripts.
// A copy is believed only where it was written to this very life of the Redis server: after a failover or a restart from
// an old snapshot, what is there may lack the last changes, and counts as not there.
import { script } from './redis.ts';

/** In the place of a copy: the credential does not work. */
export const refused = '';
/** In the place of a copy: it has changed, and PostgreSQL is to be asked. */
export const askAgain = '?';

/** What a copy says, as JSON. */
export interface CredentialCopy {
  account_id: string;
  key_id: string;
  /** An id of config/plans.yml. */
  plan: string;
  active: boolean;
  /** In ms since 1970; null: never. */
  expires_at: number | null;
}

/** How long a gateway may believe copies of a generation, from when it began to ask for that leave. */
export const copiesLeaseMs = 1_000;
/** How long a copy is believed before PostgreSQL is asked again: the bound where everything else has failed. */
export const freshMs = 60_000;
/** How long it is kept to be compared with: longer than any write can be under way. */
export const keepSeconds = 3_600;
/** Of a credential that is gone for good: nothing is newer. */
export const finalRevision = Number.MAX_SAFE_INTEGER;

export function copyKey(generation: number, keyHash: string): string {
  return `almanac:credential:${generation}:${keyHash}`;
}

/** Lua: which life of which server this is; it changes with every start and every failover. Empty on a replica. */
export const serverLife = `(string.match(redis.call('info', 'replication'), 'role:master.-master_replid:(%x+)') or '')`;

/** Lua. KEYS: the copy; `life`: that of the server. → its JSON, `refused`, or null where there is no copy to be believed. */
export const readCopyLua = `
local copy = redis.call('hmget', KEYS[1], 'life', 'until', 'value')
if not copy[1] or copy[3] == '${askAgain}' then return nil end
local now = redis.call('time')
if now[1] * 1000 + now[2] / 1000 > tonumber(copy[2]) then return nil end
if copy[1] ~= life then return nil end
return copy[3]`;

export const readCopy = script(`local life = ${serverLife}${readCopyLua}`);

/** In the place of the life that a copy is to be written in: whichever it is. */
export const anyLife = '';

/**
 * KEYS: the copy. ARGV: its revision, its value, the life of the server that copies are made in, or `anyLife`. Changes nothing
 * where a newer one is there. → 1 where it stands now, else 0; where this is another life: that one, and nothing is changed.
 */
export const writeCopy = script(`
local life = ${serverLife}
if ARGV[3] ~= '${anyLife}' and ARGV[3] ~= life then return life end
local before = redis.call('hget', KEYS[1], 'revision')
if before and tonumber(before) > tonumber(ARGV[1]) then return 0 end
local now = redis.call('time')
redis.call('hset', KEYS[1], 'revision', ARGV[1], 'value', ARGV[2], 'life', life,
  'until', string.format('%.0f', now[1] * 1000 + now[2] / 1000 + ${freshMs}))
redis.call('expire', KEYS[1], ${keepSeconds})
return 1`);
