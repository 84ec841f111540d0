// Billing for the operator: a worker on its own, the metrics, the report of `almanac check`, and deleted rows.
import test from 'ava';
import { describeBilling, gaugesOfBilling, billingFigures } from '../../accounts-api/billing/figures.ts';
import { comparePrices } from '../../accounts-api/billing/prices.ts';
import { endGraces } from '../../accounts-api/billing/apply-subscription.ts';
import { startBillingWork } from '../../accounts-api/billing/work.ts';
import { prune } from '../../accounts-api/housekeeping.sql.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { until } from '../run/until.ts';
import { testRedisUrl } from '../services/harness.ts';
import { dayMs, startPaying, type Paying } from './paying.ts';

let paying: Paying;
test.beforeEach(async () => {
  paying = await startPaying();
});
test.afterEach.always(() => paying.close());

async function subscriber(plan = 'pro') {
  const { accountId, key } = await paying.services.accountWithKey('free');
  const customer = await paying.customerOf(accountId);
  const { id } = paying.fake.subscribe({ customer, price: paying.price(plan) });
  return { accountId, key, customer, id };
}

test.serial('a worker acts on events, and ends a grace, by itself', async (t) => {
  const work = startBillingWork(paying.deps);
  t.teardown(() => work.close());
  const { accountId, key, id } = await subscriber();
  await paying.fake.deliverPending();
  await until('the plan is active', async () => (await paying.entitlement(accountId)) === 'pro active');
  paying.fake.failPayment(id);
  await paying.fake.deliverPending();
  const inGrace = `select from accounts.subscriptions where grace_ends_at is not null`;
  await until('the failure is known', async () => (await paying.rows(inGrace)).length === 1);
  paying.clock.advance(14 * dayMs);
  await until('the grace has ended', async () => (await paying.entitlement(accountId)) === 'pro inactive');
  t.is(await paying.calls(key), 402);
  await until('it is counted', () =>
    Promise.resolve(
      work.gauges.every(({ read }) => read().length <= 1 && work.gauges[0]?.read().length === 1),
    ),
  );
});

test.serial(
  'the end of a grace counts once, and not at all for an account that another subscription keeps served',
  async (t) => {
    const cheap = paying.fake.addPrice({ amount: 1, product: 'cheap' }).id;
    const ours = { checkout: `chk_${'a'.repeat(20)}` };
    const other = await paying.services.accountWithKey('free');
    const customer = await paying.customerOf(other.accountId);
    const late = paying.fake.subscribe({ customer, price: cheap, metadata: ours });
    paying.fake.subscribe({ customer, price: cheap, metadata: ours });
    const only = await subscriber();
    for (const id of [late.id, only.id]) paying.fake.failPayment(id);
    await paying.deliverAndSync();
    t.is(await endGraces(paying.deps), 0);
    paying.clock.advance(14 * dayMs);
    t.is(await endGraces(paying.deps), 1);
    t.is(await endGraces(paying.deps), 0, 'a worker that has more to do goes on without a pause');
    t.is(await paying.entitlement(only.accountId), 'pro inactive');
    t.is(await paying.entitlement(other.accountId), 'free active');
  },
);

test.serial('a plan change from Stripe makes gateways look up the keys of that account only', async (t) => {
  const shared = await startPaying({ services: { mail: {}, redisUrl: testRedisUrl() } });
  t.teardown(() => shared.close());
  const buys = async (plan: string) => {
    const { accountId, key } = await shared.services.accountWithKey('free');
    t.is(await shared.calls(key), 404, 'the key is cached');
    const customer = await shared.customerOf(accountId);
    shared.fake.subscribe({ customer, price: shared.price(plan) });
    await shared.fake.deliverPending();
    await until('the plan is active', async () => (await shared.entitlement(accountId)) === `${plan} active`);
    return accountId;
  };
  const numbered = () =>
    shared.rows<{ account_id: string }>('select account_id from accounts.changes order by no');
  const before = (await numbered()).length;
  const accounts = [await buys('starter'), await buys('pro')];
  const changed = (await numbered()).slice(before).map(({ account_id }) => account_id);
  t.deepEqual([...new Set(changed)], accounts);
});

test.serial('a customer with slow answers from Stripe delays no other, however many are due', async (t) => {
  const first = await subscriber();
  const slow = paying.fake.delayRequests({ path: `/v1/customers/${first.customer}` });
  t.teardown(() => slow.release());
  await paying.fake.deliverPending();
  const work = startBillingWork(paying.deps);
  t.teardown(() => work.close());
  await slow.arrived;
  for (let i = 0; i < 12; i += 1) {
    const { accountId } = await subscriber();
    await paying.fake.deliverPending();
    await until('the plan is active', async () => (await paying.entitlement(accountId)) === 'pro active');
  }
  t.is(await paying.entitlement(first.accountId), 'free none');
  slow.release();
  await until('and then its own', async () => (await paying.entitlement(first.accountId)) === 'pro active');
});

test.serial('the metrics count customers that are waiting, parked, failing and not understood', async (t) => {
  const figures = () => billingFigures(paying.deps);
  const none = {
    waiting: 0,
    parked: 0,
    failing: 0,
    odd: 0,
    duplicates: 0,
    unread: 0,
    lastAt: null,
    oldestWaitingAt: null,
  };
  t.deepEqual(await figures(), none);
  const { id } = await subscriber();
  const at = paying.clock.now();
  await paying.fake.deliverPending();
  const waiting = await figures();
  t.true(waiting.waiting > 0);
  t.like(waiting, { lastAt: at, oldestWaitingAt: at });
  paying.clock.advance(5_000);
  const gauges = gaugesOfBilling(() => waiting, paying.deps.clock.now);
  const valueOf = (name: string) =>
    gauges.find((gauge) => gauge.name === `almanac_billing_${name}`)?.read()[0]?.value;
  t.deepEqual(
    ['events_waiting', 'oldest_waiting_event_age_seconds', 'last_event_age_seconds', 'customers_parked'].map(
      valueOf,
    ),
    [waiting.waiting, 5, 5, 0],
  );
  await paying.sync();
  t.like(await figures(), { ...none, lastAt: at });
  paying.fake.override(id, { status: 'hibernating' }, 'customer.subscription.updated');
  const lost = await paying.stripe.customers.create({ email: 'lost@example.org' });
  paying.fake.subscribe({ customer: lost.id, price: paying.price('pro') });
  await paying.deliverAndSync();
  t.like(await figures(), { waiting: 0, parked: 1, failing: 0, odd: 1 });
  const failing = await subscriber();
  await paying.fake.deliverPending();
  paying.fake.fail({ status: 500 }, { times: 3, path: `/v1/customers/${failing.customer}` });
  await paying.sync();
  t.like(await figures(), { failing: 1 });
});

test.serial('almanac check reports what needs the operator’s attention', async (t) => {
  t.regex(await describeBilling(paying.deps), /^0 events wait; the last came never$/);
  const { id } = await subscriber();
  await paying.fake.deliverPending();
  t.regex(await describeBilling(paying.deps), /^\d events wait; the last came 2026-11-20T10:00:00.000Z$/);
  paying.clock.advance(10 * 60_000 + 1);
  await t.throwsAsync(describeBilling(paying.deps), {
    message: /events wait, the oldest since .*is a worker running/,
  });
  await paying.sync();
  paying.fake.override(id, { status: 'hibernating' }, 'customer.subscription.updated');
  await paying.deliverAndSync();
  await t.throwsAsync(describeBilling(paying.deps), { message: /1 subscriptions have a status or a price/ });
});

test.serial(
  'prices at Stripe are compared with the plans: amount, currency, interval, and whether they can be bought',
  async (t) => {
    const compare = () => comparePrices(paying.stripe, paying.plans);
    t.is(await compare(), 4);
    const id = paying.price('pro', 'year');
    const recurring = (await paying.stripe.prices.retrieve(id)).recurring;
    const good = {
      unit_amount: 99_000,
      currency: 'usd',
      active: true,
      lookup_key: 'almanac_pro_year',
      recurring,
    };
    const wrong: [Record<string, unknown>, RegExp][] = [
      [{ unit_amount: 98_000 }, /almanac_pro_year is 98000 usd a year; the plan states 99000 usd a year/],
      [{ currency: 'eur' }, /is 99000 eur a year/],
      [{ recurring: { ...recurring, interval: 'month' } }, /is 99000 usd a month/],
      [{ recurring: { ...recurring, interval_count: 2 } }, /is 99000 usd a 2 years/],
      [{ recurring: null }, /is charged once/],
      [{ active: false }, /almanac_pro_year (?:is archived|does not exist)/],
      [{ lookup_key: null }, /almanac_pro_year does not exist/],
    ];
    for (const [change, message] of wrong) {
      paying.fake.override(id, change);
      await t.throwsAsync(compare(), { message });
      paying.fake.override(id, good);
    }
    t.is(await compare(), 4);
  },
);

test.serial(
  'handled events and closed checkouts are thrown away after 30 days, and nothing that waits',
  async (t) => {
    await subscriber();
    await paying.deliverAndSync();
    await subscriber();
    await paying.fake.deliverPending();
    const { key } = await paying.services.accountWithKey('free');
    const body = (plan: string) => ({
      ...{ method: 'POST', body: JSON.stringify({ plan }), key },
      headers: { 'content-type': 'application/json' },
    });
    await paying.services.call('/v1/checkout', body('starter'));
    await paying.services.call('/v1/checkout', body('pro')); // closes the first checkout
    const left = async (ms: number) => {
      await prune(paying.services.accounts.db, new Date(paying.clock.now().getTime() + ms));
      const [row] = await paying.rows<{ handled: number; waiting: number; checkouts: number }>(
        `select count(handled_at)::int as handled, (count(*) - count(handled_at))::int as waiting,
              (select count(*)::int from accounts.checkouts) as checkouts
       from accounts.stripe_events`,
      );
      return row;
    };
    const before = await left(30 * dayMs);
    t.like(before, { checkouts: 2 });
    t.true((before?.handled ?? 0) > 0 && (before?.waiting ?? 0) > 0);
    t.deepEqual(await left(30 * dayMs + 1), { handled: 0, waiting: before?.waiting ?? 0, checkouts: 1 });
  },
);

test.serial(
  "the operator's plan holds until one is bought, and a subscription decides while it is live",
  async (t) => {
    const { accountId, id } = await subscriber('starter');
    await setPlan(paying.services.accounts, accountId, 'pro');
    t.is(await paying.entitlement(accountId), 'pro none');
    t.like((await paying.events(accountId)).at(-1), {
      type: 'subscription.updated',
      data: { plan: 'pro', state: 'none' },
    });
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'starter active');
    await t.throwsAsync(setPlan(paying.services.accounts, accountId, 'pro'), { code: 'conflict' });
    paying.fake.cancelNow(id);
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'pro none', 'the operator’s plan applies again');
    await setPlan(paying.services.accounts, accountId, 'pro');
    paying.fake.override(id, {}, 'customer.subscription.deleted');
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'pro none', 'a late event of the ended one takes nothing away');
  },
);
