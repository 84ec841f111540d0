// QUOTA_OUTAGE: the calls that a gateway serves beyond its blocks while accounts-api is unavailable; all of them are charged later.
import test from 'ava';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import { Failure } from '../../kernel/errors.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { startLife, type GatewayLife, type LifeOptions } from './lives.ts';

const limit = 1_000;
const november = '2026-11-01';
const december = '2026-12-01';
const justBeforeDecember = '2026-11-30T23:59:55.000Z'; // a lease granted then is still valid when the next month begins
/** How long an exhausted month is cached. */
const knownForMs = 1_000;

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService(justBeforeDecember);
});
test.after.always(() => service?.close());
test.beforeEach(() => service.clock.set(justBeforeDecember));

/** A gateway whose connection to accounts-api can be cut. */
async function startCuttable(outage: LifeOptions['outage']) {
  let isAway = false;
  const life = await startLife(service, {
    ...(outage && { outage }),
    through(message, send) {
      if (isAway) return Promise.reject(new Failure('unavailable', 'It is cut off.'));
      return send(message);
    },
  });
  return {
    life,
    cut() {
      isAway = true;
      service.clock.advance(knownForMs + 1);
    },
    async mend() {
      isAway = false;
      await life.flushJournal();
    },
  };
}

/** Requests this many calls concurrently, one each. @returns the number served; the others were refused, as the remaining quota is unknown. */
async function serve(life: GatewayLife, accountId: string, calls: number): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: calls }, () => life.serve(accountId, 1)));
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled' && outcome.value.charge === null)
      throw new Error('A call was refused with 402.');
    if (outcome.status === 'rejected' && (outcome.reason as Failure).code !== 'unavailable')
      throw outcome.reason as Error;
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

// The first call is granted with 8 more calls in advance; a request for most of a month is granted without any in advance.
for (const [outage, before, most] of [
  ['closed', 1, 8],
  ['bounded', 1, 8 + 100],
  ['bounded', 930, 70],
  ['bounded', 1_000, 0],
  ['open', 1_000, 400],
] as const) {
  test.serial(
    `while accounts-api is away, QUOTA_OUTAGE=${outage} serves ${most} calls after ${before} of ${limit}, and charges them later`,
    async (t) => {
      const { accountId } = await service.newClient('free');
      const { life, cut, mend } = await startCuttable(outage);
      t.teardown(() => life.close());
      t.not((await life.serve(accountId, before)).charge, null);
      cut();
      // In two rounds: the calls served in the first count against the second.
      t.is((await serve(life, accountId, 200)) + (await serve(life, accountId, 200)), most);
      await mend();
      t.is(await selectUsed(service.deps.db, accountId, november), before + most);
    },
  );
}

test.serial(
  'while accounts-api is unavailable, a new month has its own outage quota, and is charged separately',
  async (t) => {
    const { accountId } = await service.newClient('free');
    const { life, cut, mend } = await startCuttable('bounded');
    t.teardown(() => life.close());
    t.not((await life.serve(accountId, limit)).charge, null);
    cut();
    t.is(await serve(life, accountId, 1), 0);
    service.clock.set('2026-12-01T00:00:00.000Z');
    t.is(await serve(life, accountId, 150), 100);
    await mend();
    t.is(await selectUsed(service.deps.db, accountId, november), limit);
    t.is(await selectUsed(service.deps.db, accountId, december), 100);
  },
);

test.serial('once accounts-api has answered for an account, the next outage has a new quota', async (t) => {
  const { accountId } = await service.newClient('starter'); // 25000 calls: 500 in an outage
  const { life, cut, mend } = await startCuttable('bounded');
  t.teardown(() => life.close());
  for (const calls of [20_000, 3_000]) {
    t.not((await life.serve(accountId, calls)).charge, null);
    cut();
    t.is(await serve(life, accountId, 600), 500);
    await mend();
  }
  t.is(await selectUsed(service.deps.db, accountId, november), 24_000);
});

test.serial(
  'while accounts-api is unavailable, an account that the gateway has not seen before is served nothing',
  async (t) => {
    const { accountId } = await service.newClient('free');
    const { life, cut, mend } = await startCuttable('bounded');
    t.teardown(() => life.close());
    cut();
    t.is(await serve(life, accountId, 3), 0);
    await mend();
  },
);
