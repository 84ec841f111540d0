// A gateway as far as it looks keys up: the real modules, put together as `policies/admission.ts` and `policies/credential.ts` do.
import { createAccounts } from '../../gateway/accounts.ts';
import { createLease } from '../../gateway/lease.ts';
import { createProcessCache } from '../../gateway/credentials/process-cache.ts';
import { createRedisCache } from '../../gateway/credentials/redis-cache.ts';
import { createAdmissions } from '../../gateway/quota/admission.ts';
import { createAllotments } from '../../gateway/quota/allotments.ts';
import { createMonth } from '../../gateway/quota/month.ts';
import { createProcessAllotments } from '../../gateway/quota/process-allotments.ts';
import { createRedisAllotments } from '../../gateway/quota/redis-allotments.ts';
import { createUpstreams } from '../../gateway/upstream/upstreams.ts';
import { Failure } from '../../kernel/errors.ts';
import { credentialLeaseMs, readCachedCredential } from '../../kernel/credentials/cache.ts';
import { openRedis, type RedisLink } from '../../kernel/redis.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';

export interface Door {
  /** Whether a call with the key is let in. */
  opensFor(keyHash: string): Promise<boolean>;
  /** Whether Redis alone says so; undefined where there is no valid cache entry. */
  cacheSays(keyHash: string): Promise<boolean | undefined>;
  /** How often it has asked accounts-api whose key it is. */
  readonly questions: () => number;
  /** How often it has asked for a lease on the cache, and how often it was given one. */
  readonly leases: { readonly asked: number; readonly given: number };
  close(): Promise<void>;
}

/** A gateway that caches credentials in Redis, or without one in its process. */
export async function startDoor(
  service: Pick<AccountsService, 'url' | 'clock'>,
  redisUrl: string | undefined,
  redisOptions?: Parameters<typeof openRedis>[2],
): Promise<Door> {
  const redis = redisUrl === undefined ? undefined : openRedis(redisUrl, silentLog, redisOptions);
  await redis?.opened();
  const upstreams = createUpstreams('accounts-api', [service.url]);
  const accounts = createAccounts({ upstreams, identitySecret: testIdentitySecret });
  const { clock } = service;
  let questions = 0;
  const ask = (keyHash: string) => {
    questions += 1;
    return accounts.key(keyHash);
  };
  const leases = { asked: 0, given: 0 };
  const cacheIn = redis === undefined ? 'process' : 'redis';
  const lease = createLease<number>({
    on: 'the credential cache',
    async ask(using) {
      leases.asked += 1;
      const generation = await accounts.leaseCredentialCache(cacheIn, using);
      leases.given += 1;
      return generation;
    },
    end: () => accounts.endCredentialLease(),
    ...{ leaseMs: credentialLeaseMs[cacheIn], renewEveryMs: redis === undefined ? 100 : 300 },
    ...{ idleAfterMs: Infinity, log: silentLog },
  });
  const { find, cacheSays } =
    redis === undefined
      ? { find: createProcessCache({ lease, ask, clock }), cacheSays: undefined }
      : throughRedis({ redis, lease, ask, accounts, clock });
  return {
    leases,
    questions: () => questions,
    async opensFor(keyHash) {
      try {
        return (await find(keyHash)) !== null;
      } catch (error) {
        if (error instanceof Failure && error.code === 'unavailable') return false; // answered 503
        throw error;
      }
    },
    async cacheSays(keyHash) {
      if (cacheSays === undefined) throw new Error('This gateway has no Redis.');
      return cacheSays(keyHash);
    },
    async close() {
      await lease.close();
      redis?.close();
      accounts.close();
    },
  };
}

type Parts = Parameters<typeof createRedisCache>[0] & {
  redis: RedisLink;
  accounts: ReturnType<typeof createAccounts>;
};

function throughRedis({ redis, lease, ask, accounts, clock }: Parts) {
  const credentials = createRedisCache({ redis, lease, ask, clock });
  const journal = { spent() {}, charge() {}, flush: () => Promise.resolve() }; // what is counted, other tests look at
  const inRedis = createRedisAllotments({ redis, journal, clock });
  const inProcess = createProcessAllotments({ journal, accounts, log: silentLog });
  const topUps = { accounts, clock, log: silentLog };
  const month = createMonth({
    inRedis: createAllotments(inRedis, topUps),
    inProcess: createAllotments(inProcess, topUps),
    ...{ journal, outage: 'closed', clock },
  });
  const plans = projectPlans();
  const admissions = createAdmissions({ redis, credentials, allotments: inRedis, month, plans });
  return {
    find: async (keyHash: string) => (await admissions.ask(keyHash, 1))?.credential ?? null,
    async cacheSays(keyHash: string): Promise<boolean | undefined> {
      const place = credentials.placeOf(keyHash);
      const found = place && credentials.read(await redis.run(readCachedCredential, place, []));
      return found === undefined ? undefined : found !== null;
    },
  };
}
