// Caches credentials in the gateway's own process, if there is no Redis. Entries are valid only while it holds a lease: accounts-api
// begins a new generation with every change, and answers the change when all leases on earlier ones have ended.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { Credential, KeyCredential } from '../accounts.ts';
import type { Lease, Term } from '../lease.ts';

export interface ProcessCacheOptions {
  lease: Lease<number>;
  /** Asks accounts-api for the owner of a key. */
  ask(keyHash: string): Promise<KeyCredential | null>;
  clock: Clock;
}

const keysMax = 10_000;
/** How long an entry is used before accounts-api is asked again: the bound if everything else fails. */
const freshMs = 60_000;

/** @returns finds the owner of a key, null if the key is invalid. @throws Failure unavailable. */
export function createProcessCache({ lease, ask, clock }: ProcessCacheOptions) {
  const entries = new LRUCache<string, KeyCredential>({ max: keysMax, ttl: freshMs });
  let madeUnder: Term<number> | undefined;

  return async function find(keyHash: string): Promise<Credential | null> {
    const term = lease.current();
    if (term !== madeUnder) entries.clear();
    madeUnder = term;
    const known = entries.get(keyHash);
    // accounts-api decides whether a key has expired, by PostgreSQL's clock: ours may be wrong.
    if (known !== undefined && known.expiresAt > clock.now().getTime()) return known.credential;
    const found = await ask(keyHash);
    // Cached only if this lease was held throughout: a later change begins a new generation, and waits until the lease has ended.
    if (found !== null && term !== undefined && lease.current() === term)
      entries.set(keyHash, found, { ttl: Math.max(1, Math.min(freshMs, found.expiresInMs)) }); // 0 would be for ever
    return found?.credential ?? null;
  };
}
