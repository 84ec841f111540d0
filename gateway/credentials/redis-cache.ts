// Reads credentials from the cache in Redis. Entries are valid only while the gateway holds a lease on this generation of the
// cache; otherwise, and if there is no entry, accounts-api is asked. Hides that calls share lookups, and what serves while
// accounts-api is away.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { Failure } from '../../kernel/errors.ts';
import {
  credentialCacheKey,
  keptInOutageMs,
  readCachedCredential,
  negativeEntry,
  type CachedCredential,
} from '../../kernel/credentials/cache.ts';
import { RedisUnavailable, type RedisLink } from '../../kernel/redis.ts';
import type { Credential, KeyCredential } from '../accounts.ts';
import { batchedBy } from '../batched.ts';
import type { Lease } from '../lease.ts';

export interface RedisCache {
  /** Finds the owner of a key, null if the key is invalid. @throws Failure unavailable. */
  find(keyHash: string): Promise<Credential | null>;
  /** The same, if there is no valid entry. */
  lookUp(keyHash: string): Promise<Credential | null>;
  /** The Redis key of the entry, for other scripts; undefined without a lease. */
  placeOf(keyHash: string): string | undefined;
  /** Parses an entry: the owner, or null if the key is invalid. Undefined: there is no valid entry. */
  read(found: unknown): Credential | null | undefined;
}

export interface RedisCacheOptions {
  redis: RedisLink;
  lease: Lease<number>;
  /** Asks accounts-api for the owner of a key. */
  ask(keyHash: string): Promise<KeyCredential | null>;
  clock: Clock;
}

const parsedMax = 10_000;
const batchMax = 500;

export function createRedisCache({ redis, lease, ask, clock }: RedisCacheOptions): RedisCache {
  type Entry = Pick<KeyCredential, 'credential' | 'expiresAt'>;
  const parsed = new LRUCache<string, Entry>({ max: parsedMax });

  /** Caches the result, as the same JSON is parsed again and again. */
  function parse(json: string): Entry {
    const known = parsed.get(json);
    if (known !== undefined) return known;
    const {
      account_id: accountId,
      key_id: keyId,
      plan,
      active,
      expires_at,
    } = JSON.parse(json) as CachedCredential;
    const entry = {
      credential: { accountId, keyId, sessionId: null, plan, active, operator: 'no' as const },
      expiresAt: expires_at ?? Infinity,
    };
    parsed.set(json, entry);
    return entry;
  }

  function placeOf(keyHash: string): string | undefined {
    const term = lease.current();
    return term && credentialCacheKey(term.generation, keyHash);
  }

  function read(found: unknown): Credential | null | undefined {
    if (typeof found !== 'string') return undefined;
    if (found === negativeEntry) return null;
    const { credential, expiresAt } = parse(found);
    // accounts-api decides whether a key has expired, by PostgreSQL's clock: ours may be wrong.
    return expiresAt <= clock.now().getTime() ? undefined : credential;
  }

  /** @param beyondMs for how long an entry is valid that is due for another lookup. */
  async function readEntry(keyHash: string, beyondMs = 0): Promise<Credential | null | undefined> {
    const place = placeOf(keyHash);
    if (place === undefined) return undefined;
    try {
      return read(await redis.run(readCachedCredential, place, [String(beyondMs)]));
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  // Calls with one key share a lookup; it begins after all of them have arrived, so none gets an earlier state.
  const readShared = batchedBy(
    batchMax,
    (keyHash: string) => keyHash,
    async (same) => {
      const found = await readEntry(same[0] as string);
      return same.map(() => found);
    },
  );

  /** A restart of accounts-api must not fail the calls whose entry is due for another lookup just then: under a lease it is right. */
  async function lookUp(keyHash: string): Promise<Credential | null> {
    try {
      return (await ask(keyHash))?.credential ?? null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const kept = await readEntry(keyHash, keptInOutageMs);
      if (kept === undefined) throw error;
      return kept;
    }
  }

  return {
    async find(keyHash) {
      const cached = await readShared(keyHash);
      return cached === undefined ? lookUp(keyHash) : cached;
    },
    lookUp,
    placeOf,
    read,
  };
}
