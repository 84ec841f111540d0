// Reads credentials from the cache in Redis. An entry is valid only while the gateway holds a lease from accounts-api on this
// generation of the cache, for at most a second; otherwise, or if there is no entry, the caller must ask accounts-api.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.ts';
import {
  credentialLeaseMs,
  credentialCacheKey,
  readCachedCredential,
  negativeEntry,
  type CachedCredential,
} from '../kernel/credentials/cache.ts';
import type { Log } from '../kernel/log.ts';
import { RedisUnavailable, type RedisLink } from '../kernel/redis.ts';
import type { Credential } from './accounts.ts';
import { batchedBy } from './batched.ts';
import { entryAt } from '../kernel/entries.ts';

export interface CredentialCache {
  /** What the cache says of a key: whose it is, or null where it does not work. Undefined: there is no valid entry. */
  find(keyHash: string): Promise<Credential | null | undefined>;
  /** Where it stands, for those who ask Redis themselves; undefined while there is no lease. */
  placeOf(keyHash: string): string | undefined;
  /** What Redis gave for it says. */
  read(found: unknown): Credential | null | undefined;
  close(): void;
}

export interface CredentialCacheOptions {
  redis: RedisLink;
  /** Asks accounts-api for a lease of a second; gives the generation. */
  lease(): Promise<number>;
  clock: Clock;
  log: Log;
}

const renewEveryMs = 300;
const parsedMax = 10_000;
const batchMax = 500;

interface Parsed {
  credential: Credential;
  /** In ms since 1970. */
  expiresAt: number;
}

export function createCredentialCache({ redis, lease, clock, log }: CredentialCacheOptions): CredentialCache {
  let generation = 0;
  let leasedUntilMs = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const parsed = new LRUCache<string, Parsed>({ max: parsedMax });

  async function renew(): Promise<void> {
    const askedAtMs = performance.now(); // accounts-api counts from later on, so a lease never outlasts what it granted
    try {
      generation = await lease();
      leasedUntilMs = askedAtMs + credentialLeaseMs;
    } catch (error) {
      log.debug({ err: error }, 'the credential cache is not used: there is no lease on it');
    }
    if (!closed) timer = setTimeout(() => void renew(), renewEveryMs);
  }
  void renew();

  /** The same JSON again and again is parsed once. */
  function parse(json: string): Parsed {
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
      credential: { accountId, keyId, sessionId: null, plan, active },
      expiresAt: expires_at ?? Infinity,
    };
    parsed.set(json, entry);
    return entry;
  }

  function placeOf(keyHash: string): string | undefined {
    return performance.now() < leasedUntilMs ? credentialCacheKey(generation, keyHash) : undefined;
  }

  function read(found: unknown): Credential | null | undefined {
    if (typeof found !== 'string') return undefined;
    if (found === negativeEntry) return null;
    const { credential, expiresAt } = parse(found);
    return expiresAt <= clock.now().getTime() ? null : credential;
  }

  async function find(keyHash: string): Promise<Credential | null | undefined> {
    const place = placeOf(keyHash);
    if (place === undefined) return undefined;
    try {
      return read(await redis.run(readCachedCredential, place, []));
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  return {
    // Calls with one key share a question; it begins after each of them has come in, so none is answered from before that.
    find: batchedBy(
      batchMax,
      (keyHash: string) => keyHash,
      async (same) => {
        const found = await find(entryAt(same, 0));
        return same.map(() => found);
      },
    ),
    placeOf,
    read,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
