// The credential cache: the owners of keys, cached under the lease. Concurrent calls share a lookup, and an answer older than a change is requested
// again.
import { addressCheck } from '../../kernel/credentials/key-access.ts';
import { fail } from '../../kernel/errors.ts';
import type { Credential } from '../accounts-client.ts';
import { batched } from '../event-loop/batched.ts';
import type { Blocks } from './blocks.ts';
import type { Heartbeat } from './heartbeat.ts';
import { createAccountsCache } from './accounts-cache.ts';
import { itemsMax, type HeartbeatAnswer } from '../../kernel/heartbeat/message.ts';

interface Entry {
  readonly credential: Credential;
  /** By the clock of the leases. After that, accounts-api decides by PostgreSQL's clock whether the key has expired. */
  readonly expiresAtMs: number;
}

/** One change normally invalidates a lookup once. During many changes the lookup fails rather than return an outdated answer. */
const lookupsMax = 10;

/** @param blocks receives the first grant of an account, which accounts-api sends with the key. @param nowMs the clock of the leases. */
export function createCredentials(
  heartbeat: Pick<Heartbeat, 'beat' | 'awaitedByCall' | 'isLeased' | 'register'>,
  blocks: Pick<Blocks, 'onGrant'>,
  nowMs: () => number,
) {
  const entries = createAccountsCache<Entry>();
  heartbeat.register({
    onChanged(accountIds) {
      if (accountIds === null) return entries.clear();
      const changed = new Set(accountIds);
      for (const [hash, { credential }] of entries)
        if (changed.has(credential.accountId)) entries.delete(hash);
    },
    onNewLife: () => entries.clear(),
  });

  /** Asks once. @returns undefined if the answer is older than a change. */
  function ask(keys: readonly string[]): Promise<(Credential | null)[] | undefined> {
    const askedAtMs = nowMs();
    return heartbeat.beat({ keys }, ({ credentials }, place) => {
      if (!place.isCurrent) return undefined;
      return keys.map((hash, i) => {
        const found = credentials[i];
        if (found === undefined) throw new Error('A heartbeat was answered with too few credentials.');
        if (found === null) return null;
        const credential = credentialOf(hash, found);
        // However late the answer arrives, the entry expires at the instant stated by accounts-api.
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
    /** The owner of a key; null if the key is invalid. At once if it is cached. @throws Failure unavailable. */
    find(keyHash: string): Credential | null | Promise<Credential | null> {
      const known = entries.get(keyHash);
      return known !== undefined && heartbeat.isLeased() && known.expiresAtMs > nowMs()
        ? known.credential
        : heartbeat.awaitedByCall(lookUp(keyHash));
    },
  };
}

function credentialOf(
  keyHash: string,
  found: NonNullable<HeartbeatAnswer['credentials'][number]>,
): Credential {
  return {
    accountId: found.account_id,
    keyId: found.key_id,
    keyHash,
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
