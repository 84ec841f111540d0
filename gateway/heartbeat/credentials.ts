// The owners of keys, as held under the lease. Hides that calls share a lookup, and that an answer from before a change is asked for again.
import { LRUCache } from 'lru-cache';
import { addressCheck } from '../../kernel/credentials/key-access.ts';
import { fail } from '../../kernel/errors.ts';
import type { Credential } from '../accounts.ts';
import { batched } from '../batched.ts';
import type { Blocks } from './blocks.ts';
import type { Heartbeat } from './heartbeat.ts';
import { itemsMax, type HeartbeatAnswer } from '../../kernel/heartbeat/message.ts';

export interface Credentials {
  /** The owner of a key; null if the key is invalid. At once if it is held. @throws Failure unavailable. */
  find(keyHash: string): Credential | null | Promise<Credential | null>;
}

export interface CredentialsOptions {
  heartbeat: Pick<Heartbeat, 'beat' | 'isLeased' | 'hold'>;
  /** Take the first calls of an account, which come with its key. */
  blocks: Pick<Blocks, 'onGrant'>;
  /** The clock of the leases. */
  nowMs: () => number;
}

interface Entry {
  readonly credential: Credential;
  /** By the clock of the leases: then accounts-api decides whether the key has expired, by PostgreSQL's clock. */
  readonly expiresAtMs: number;
}

const keysMax = 100_000;
/** A lookup is overtaken by a change once; in a storm of changes it fails rather than be used. */
const lookupsMax = 10;

export function createCredentials({ heartbeat, blocks, nowMs }: CredentialsOptions): Credentials {
  const entries = new LRUCache<string, Entry>({ maxSize: keysMax, sizeCalculation: () => 1 });
  heartbeat.hold({
    onChanged(accountIds) {
      if (accountIds === null) return entries.clear();
      const changed = new Set(accountIds);
      for (const [hash, { credential }] of entries)
        if (changed.has(credential.accountId)) entries.delete(hash);
    },
    onNewLife: () => entries.clear(),
  });

  /** Asks once. @returns undefined if the answer is from before a change. */
  function ask(keys: readonly string[]): Promise<(Credential | null)[] | undefined> {
    const askedAtMs = nowMs();
    return heartbeat.beat({ keys }, ({ credentials }, place) => {
      if (!place.isCurrent) return undefined;
      return keys.map((hash, i) => {
        const found = credentials[i];
        if (found === undefined) throw new Error('A heartbeat was answered with too few credentials.');
        if (found === null) return null;
        const credential = credentialOf(found);
        // Not for longer than accounts-api says, however late the answer comes.
        entries.set(hash, { credential, expiresAtMs: askedAtMs + (found.expires_in_ms ?? Infinity) });
        if (found.block !== null) blocks.onGrant(credential.accountId, found.block, place);
        return credential;
      });
    });
  }

  const lookUp = batched(itemsMax, async (hashes: readonly string[]) => {
    const keys = [...new Set(hashes)];
    for (let i = 1; ; i += 1) {
      const found = await ask(keys);
      if (found !== undefined) {
        const byKey = new Map(keys.map((hash, at) => [hash, found[at] ?? null]));
        return hashes.map((hash) => byKey.get(hash) ?? null);
      }
      if (i === lookupsMax) fail('unavailable', 'The key cannot be checked at the moment. Try again.');
    }
  });

  return {
    find(keyHash) {
      const known = entries.get(keyHash);
      return known !== undefined && heartbeat.isLeased() && known.expiresAtMs > nowMs()
        ? known.credential
        : lookUp(keyHash);
    },
  };
}

function credentialOf(found: NonNullable<HeartbeatAnswer['credentials'][number]>): Credential {
  return {
    accountId: found.account_id,
    keyId: found.key_id,
    sessionId: null,
    plan: found.plan,
    active: found.active,
    operator: 'no',
    asOf: found.as_of,
    access: {
      scopes: found.scopes,
      isAllowedFrom: found.addresses === null ? null : addressCheck(found.addresses),
    },
  };
}
