// Calls of many keys that are admitted by one request, in a real Redis: each is decided by its own key and account, as if alone.
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { credentialCacheKey, writeCachedCredential } from '../../kernel/credentials/cache.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Plans } from '../../kernel/plans.ts';
import { openRedis, type RedisLink } from '../../kernel/redis.ts';
import { silentLog, testRedisUrl } from '../../test/services/harness.ts';
import { projectPlans } from '../../test/services/services.ts';
import { createRedisCache } from '../credentials/redis-cache.ts';
import { createAdmissions, type Admission } from './admission.ts';
import { createMonth } from './month.ts';
import { createRedisAllotments } from './redis-allotments.ts';

const redis = openRedis(testRedisUrl(), silentLog, { deadlineMs: 30_000 });
test.before(() => redis.opened());
test.after.always(() => redis.close());

const generation = Math.floor(Math.random() * 1e9);
const perSecond = 6;
const plans: Plans = (() => {
  const { all, ...rest } = projectPlans();
  const slow = { ...(all[0] as (typeof all)[number]), id: 'slow', calls_second: perSecond };
  return { ...rest, all: [...all, slow], get: (id) => (id === 'slow' ? slow : rest.get(id)) };
})();

interface Account {
  accountId: string;
  keyHash: string;
}

function startAdmissions(t: ExecutionContext, link: RedisLink = redis) {
  const asked: string[] = [];
  const journal = { spent() {}, charge() {} };
  const never = {
    take: () => Promise.reject(new Error('Nothing is taken here.')),
    allToppedUp: () => Promise.resolve(),
  };
  const allotments = createRedisAllotments({ redis: link, journal, clock: systemClock });
  t.teardown(() => allotments.close());
  const lease = { open: async () => {}, current: () => ({ generation }), close: async () => {} };
  const credentials = createRedisCache({
    ...{ redis: link, lease, clock: systemClock },
    async ask(keyHash) {
      asked.push(keyHash);
      return null;
    },
  });
  const month = createMonth({ inRedis: undefined, inProcess: never, journal, outage: 'closed', clock: systemClock }); // prettier-ignore
  return { asked, allotments, ...createAdmissions({ redis: link, credentials, allotments, month, plans }) };
}

async function newAccount(
  { allotments, ask }: ReturnType<typeof startAdmissions>,
  granted: number,
): Promise<Account> {
  const account = { accountId: randomUUID(), keyHash: randomUUID() };
  const month = { accountId: account.accountId, month: `${new Date().toISOString().slice(0, 7)}-01` };
  const { allotment } = await allotments.draw(month, [], null);
  const credit = { allotment, granted, elsewhere: 0, askedAtMs: 0 };
  await allotments.draw(month, [], null, credit);
  await writeEntry(account.keyHash, entryOf(account));
  await ask(account.keyHash, 1); // it has seen the entry, and counted nothing
  return account;
}

const entryOf = ({ accountId }: Account, plan = 'slow') =>
  JSON.stringify({ account_id: accountId, key_id: randomUUID(), plan, active: true, expires_at: null });

let revision = 0;
async function writeEntry(keyHash: string, value: string): Promise<void> {
  revision += 1;
  await writeCachedCredential(redis, credentialCacheKey(generation, keyHash), { revision, value, replicationId: null }); // prettier-ignore
}

/** The link, and how many scripts were run for how many keys each. */
function counting(): { link: RedisLink; keys: number[] } {
  const keys: number[] = [];
  const link: RedisLink = Object.create(redis, {
    runMany: {
      value(...[which, runs]: Parameters<RedisLink['runMany']>) {
        if (runs.length > 0) keys.push(runs.length);
        return redis.runMany(which, runs);
      },
    },
  }) as RedisLink;
  return { link, keys };
}

test('calls of one turn are asked about by one script, and each is given what its own account has left', async (t) => {
  const { link, keys } = counting();
  const admissions = startAdmissions(t, link);
  const call = fc.record({ account: fc.nat(4), calls: fc.integer({ min: 1, max: 3 }) });
  const property = fc.asyncProperty(
    fc.array(fc.nat(12), { minLength: 5, maxLength: 5 }),
    fc.array(call, { minLength: 1, maxLength: 24 }),
    async (granted, calls) => {
      const accounts = await Promise.all(granted.map((each) => newAccount(admissions, each)));
      keys.length = 0;
      const answers = await Promise.all(
        calls.map(({ account, calls: counted }) => admissions.ask(accounts[account]?.keyHash ?? '', counted)),
      );
      t.deepEqual(keys, [new Set(calls.map(({ account }) => account)).size]);
      for (const [i, { accountId }] of accounts.entries()) {
        const own = calls.flatMap((each, at) =>
          each.account === i ? [{ ...each, answer: answers[at] }] : [],
        );
        let left = own.length <= perSecond ? (granted[i] ?? 0) : 0;
        for (const [n, { calls: counted, answer }] of own.entries()) {
          const { credential, second, month } = answer as Admission;
          const isGiven = counted <= left;
          if (isGiven) left -= counted;
          t.deepEqual(
            [credential.accountId, second?.allowed, month?.granted, month?.hold?.calls],
            [accountId, n < perSecond, isGiven || undefined, isGiven ? counted : undefined],
          );
        }
      }
    },
  );
  await fc.assert(property, { numRuns: 40 });
  t.deepEqual(admissions.asked, []);
});

test('more than 16 keys are asked about in turn, and all calls with a key at once', async (t) => {
  const { link, keys } = counting();
  const admissions = startAdmissions(t, link);
  const accounts = await Promise.all(Array.from({ length: 20 }, () => newAccount(admissions, 5)));
  keys.length = 0;
  const calls = [...accounts.slice(0, 16), ...accounts.slice(0, 16), ...accounts.slice(16)];
  const answers = await Promise.all(calls.map(({ keyHash }) => admissions.ask(keyHash, 1)));
  t.deepEqual(keys, [16, 4]);
  t.true(answers.every((answer) => answer?.month?.granted));
});

test('a key that was revoked, one that has another plan now, and one that is new are told apart from the others of a turn', async (t) => {
  const admissions = startAdmissions(t);
  const [kept, revoked, moved] = await Promise.all(
    Array.from({ length: 3 }, () => newAccount(admissions, 5)),
  );
  if (!kept || !revoked || !moved) throw new Error('There are three accounts.');
  await writeEntry(revoked.keyHash, '');
  await writeEntry(moved.keyHash, entryOf(moved, 'free'));
  const unknown = randomUUID();
  const asked = [kept, revoked, moved].map(({ keyHash }) => admissions.ask(keyHash, 1));
  const [ofKept, ofRevoked, ofMoved, ofUnknown] = await Promise.all([...asked, admissions.ask(unknown, 1)]);
  t.is(ofKept?.month?.granted, true);
  t.is(ofRevoked, null);
  t.is(ofMoved?.credential.plan, 'free');
  t.is(ofMoved?.second, undefined);
  t.is(ofUnknown, null);
  t.deepEqual(admissions.asked, [unknown]);
});

test('an entry that is no JSON fails the calls with its key, and no others', async (t) => {
  const admissions = startAdmissions(t);
  const [kept, broken] = await Promise.all(Array.from({ length: 2 }, () => newAccount(admissions, 5)));
  if (!kept || !broken) throw new Error('There are two accounts.');
  await writeEntry(broken.keyHash, '{');
  for (let turn = 0; turn < 2; turn += 1) {
    const [ofKept, ofBroken] = await Promise.allSettled(
      [kept, broken].map(({ keyHash }) => admissions.ask(keyHash, 1)),
    );
    t.is(ofKept?.status, 'fulfilled');
    t.is(ofBroken?.status, 'rejected');
  }
});
