// The key lookup of a gateway: the real modules, put together as `policies/credential.ts` does.
import { createAccounts } from '../../gateway/accounts.ts';
import { createAdmissions } from '../../gateway/quota/admission.ts';
import { createCredentialCache } from '../../gateway/credential-cache.ts';
import { createMonth } from '../../gateway/quota/month.ts';
import { createAllotments } from '../../gateway/quota/allotments.ts';
import { createUpstreams } from '../../gateway/upstream/upstreams.ts';
import { Failure } from '../../kernel/errors.ts';
import { openRedis } from '../../kernel/redis.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';

export interface Door {
  /** Whether a call with the key is let in. */
  opensFor(keyHash: string): Promise<boolean>;
  /** Whether Redis alone says so; undefined where there is no valid cache entry. */
  cacheSays(keyHash: string): Promise<boolean | undefined>;
  /** How often it has asked for a lease on the cache, and how often it was given one. */
  readonly leases: { readonly asked: number; readonly given: number };
  close(): void;
}

export async function startDoor(
  service: Pick<AccountsService, 'url' | 'clock'>,
  redisUrl: string,
): Promise<Door> {
  const redis = openRedis(redisUrl, silentLog);
  await redis.opened();
  const upstreams = createUpstreams('accounts-api', [service.url]);
  const accounts = createAccounts({ upstreams, identitySecret: testIdentitySecret });
  const leases = { asked: 0, given: 0 };
  async function lease(): Promise<number> {
    leases.asked += 1;
    const generation = await accounts.leaseCredentialCache();
    leases.given += 1;
    return generation;
  }
  const credentialCache = createCredentialCache({ redis, lease, clock: service.clock, log: silentLog });
  const { clock } = service;
  const journal = { drawn() {}, refund() {}, charge() {} }; // what is counted, other tests look at
  const allotments = createAllotments({ redis, accounts, journal, clock });
  const month = createMonth({ accounts, allotments, journal, outage: 'closed', clock });
  const admissions = createAdmissions({ redis, credentialCache, allotments, month, plans: projectPlans() });
  return {
    leases,
    async opensFor(keyHash) {
      const { credential: found } = await admissions.ask(keyHash, 1);
      if (found !== undefined) return found !== null;
      try {
        return (await accounts.credential(keyHash)) !== null;
      } catch (error) {
        if (error instanceof Failure && error.code === 'unavailable') return false; // answered 503
        throw error;
      }
    },
    async cacheSays(keyHash) {
      const found = await credentialCache.find(keyHash);
      return found === undefined ? undefined : found !== null;
    },
    close() {
      credentialCache.close();
      redis.close();
      accounts.close();
    },
  };
}
