// The inbox of Stripe events: which events are accepted, that no event is lost, and that order and repetition do not matter.
import test from 'ava';
import { billingFigures, describeBilling } from '../../accounts-api/billing/figures.ts';
import { leaseDueCustomers } from '../../accounts-api/billing/customers.sql.ts';
import { inboxPath } from '../../accounts-api/billing/inbox.ts';
import { exchange, lines } from '../gateway/raw.ts';
import { syncDue } from './sync-due.ts';
import { dayMs, startPaying, webhookSecret, type Paying } from './paying.ts';

let paying: Paying;
test.beforeEach(async () => {
  paying = await startPaying();
});
test.afterEach.always(() => paying.close());

/** An account whose customer has a subscription. No event has reported it yet. */
async function subscriber(plan = 'pro') {
  const { accountId, key } = await paying.services.accountWithKey('free');
  const customer = await paying.customerOf(accountId);
  const { id } = paying.fake.subscribe({ customer, price: paying.price(plan) });
  return { accountId, key, customer, id };
}
const created = () => {
  const found = paying.fake.events.findLast(({ type }) => type === 'customer.subscription.created');
  if (found === undefined) throw new Error('There is no event.');
  return found;
};
/** As Stripe would send it now, but signed with another secret. */
const forged = () => `t=${Math.floor(paying.clock.now().getTime() / 1000)},v1=${'0'.repeat(64)}`;
/** Makes an event serialize as another value. */
function replaceBy(given: object, value: unknown): void {
  for (const name of Object.keys(given)) Reflect.deleteProperty(given, name);
  Object.assign(given, { toJSON: () => value });
}
const stored = async () =>
  (await paying.rows<{ id: string }>('select id from accounts.stripe_events')).length;

test.serial(
  'an event that is forged, of another secret, old, of the future, tampered with or of the other mode is refused and not stored',
  async (t) => {
    await subscriber();
    const event = created();
    const forgeries = {
      'another secret': { secret: 'whsec_another' },
      old: { ageSeconds: 301 },
      future: { ageSeconds: -301 },
      tampered: { body: (text: string) => text.replace('subscription.created', 'subscription.deleted') },
      'serialised again': { body: (text: string) => JSON.stringify(JSON.parse(text), null, 1) },
      'another scheme': { scheme: 'v0' as const },
      'no signature': { header: '' },
      'nonsense instead of one': { header: 't=now,v1=abc' },
      'live mode': { change: (given: { livemode: boolean }) => void (given.livemode = true) },
    };
    for (const [what, forgery] of Object.entries(forgeries)) {
      const { status, body } = await paying.fake.deliver(event, forgery);
      t.is(status, 400, what);
      t.regex(body, /invalid_request/, what);
    }
    t.is(await stored(), 0);
    for (const ageSeconds of [300, -300])
      t.is((await paying.fake.deliver(event, { ageSeconds })).status, 200);
    t.is(await stored(), 1);
  },
);

test.serial('only the inbox accepts bodies of up to 1 MB, with a length or chunked', async (t) => {
  const { accountId } = await subscriber();
  const event = created();
  const megabyte = 1024 * 1024;
  const padded = (bytes: number) => ({
    change(given: typeof event) {
      const { length } = JSON.stringify(given, null, 2);
      given.id = `evt_${'a'.repeat(event.id.length - 4)}`;
      given.api_version = (given.api_version ?? '') + 'x'.repeat(bytes - length);
    },
  });
  t.is((await paying.fake.deliver(event, padded(megabyte + 1))).status, 413);
  t.is(await stored(), 0);
  t.is((await paying.fake.deliver(event, padded(megabyte))).status, 200);
  t.is(await stored(), 1);
  await paying.sync();
  t.is(await paying.entitlement(accountId), 'pro active');

  for (const [path, bytes, status] of [
    [inboxPath, megabyte, 400], // not signed
    [inboxPath, megabyte + 1, 413],
    ['/v1/checkout', 64 * 1024 + 1, 413],
  ] as const) {
    for (const body of ['x'.repeat(bytes), new Blob(['x'.repeat(bytes)]).stream()]) {
      const headers = { 'content-type': 'application/json', 'stripe-signature': forged() };
      const init = { method: 'POST', body, headers, duplex: 'half' } as const;
      t.is((await paying.services.call(path, init)).status, status, `${path} ${bytes} ${typeof body}`);
    }
  }
});

test.serial(
  'an event without a current signature header is refused before its body is read, a forged one after it',
  async (t) => {
    const head = (...signature: string[]) =>
      lines(
        ...[`POST ${inboxPath} HTTP/1.1`, 'Host: a', 'Connection: close', 'Content-Type: application/json'],
        ...['Content-Length: 1000000', ...signature],
      );
    const old = forged().replace(/\d+/, (seconds) => String(Number(seconds) - 3_601));
    const { url } = paying.services;
    for (const signature of ['t=now,v1=abc', forged().replace('v1', 'v0'), forged().slice(0, -1), old, '']) {
      const [answer] = await exchange(url, `${head(`Stripe-Signature: ${signature}`)}{"half`);
      t.is(answer?.status, 400, signature);
      t.regex(answer?.body ?? '', /Stripe-Signature/);
    }
    t.is((await exchange(url, head()))[0]?.status, 400, 'none');
    const whole = head(`Stripe-Signature: ${forged()}`).replace('1000000', '2');
    const [answer] = await exchange(url, `${whole}{}`);
    t.is(answer?.status, 400);
    t.regex(answer?.body ?? '', /signature of the event/);
  },
);

test.serial('while the secret is replaced, events signed with either are taken', async (t) => {
  const both = await startPaying({ stripe: { webhookSecrets: ['whsec_next', webhookSecret] } });
  const { accountId } = await both.services.accountWithKey('free');
  both.fake.subscribe({ customer: await both.customerOf(accountId), price: both.price('pro') });
  const [first, second] = both.fake.events;
  if (first === undefined || second === undefined) throw new Error('There are no events.');
  t.is((await both.fake.deliver(first, { secret: 'whsec_next' })).status, 200);
  t.is((await both.fake.deliver(second)).status, 200);
  t.is((await both.fake.deliver(second, { secret: 'whsec_previous' })).status, 400);
  await both.close();
});

test.serial('an event that comes ten times at once is stored once, and each time answered 200', async (t) => {
  const { accountId } = await subscriber();
  const event = created();
  const answers = await Promise.all(Array.from({ length: 10 }, () => paying.fake.deliver(event)));
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  t.is(await stored(), 1);
  await paying.sync();
  t.is(await paying.entitlement(accountId), 'pro active');
  t.is((await paying.events(accountId)).length, 1);
});

test.serial('the replay of an old event after the end of the subscription changes nothing', async (t) => {
  const { accountId, id } = await subscriber();
  const active = created();
  await paying.deliverAndSync();
  paying.fake.cancelNow(id);
  await paying.deliverAndSync();
  const before = await paying.events(accountId);
  // As it arrived then; and with a new id, as if the inbox had deleted it.
  await paying.fake.deliver(active);
  await paying.fake.deliver(active, { change: (event) => void (event.id = 'evt_another') });
  await paying.sync();
  t.is(await paying.entitlement(accountId), 'free none');
  t.deepEqual(await paying.events(accountId), before);
});

/** The tables that are written to apply an event, in order. */
const written = [
  'insert on accounts.stripe_events',
  'insert on accounts.billing_customers',
  'update on accounts.billing_customers',
  'insert on accounts.subscriptions',
  'update on accounts.stripe_events',
  'update on accounts.accounts',
  'insert on accounts.audit_events',
  'insert on events.outbox',
];

test.serial(
  'a crash at any step, of the inbox or of the worker, loses nothing and does nothing twice',
  async (t) => {
    const run = (text: string) => paying.services.database.query(text, []);
    await run(
      `create function accounts.crash() returns trigger language plpgsql as $$ begin raise exception 'crash'; end $$`,
    );
    for (const when of written) {
      const { accountId } = await subscriber();
      await run(`create trigger crash before ${when} for each row execute function accounts.crash()`);
      const answers = await paying.fake.deliverPending();
      const isOfInbox = answers.some(({ status }) => status >= 500);
      t.is(isOfInbox, /billing_customers$|insert on accounts.stripe_events$/.test(when), when);
      await paying.sync().catch(() => undefined); // the failure itself cannot be recorded at the customer
      t.is(await paying.entitlement(accountId), 'free none', when);
      t.deepEqual(await paying.events(accountId), [], when);
      await run(`drop trigger crash on ${when.split(' ').at(-1)}`);
      paying.clock.advance(60_000); // the longest of lease and wait
      await paying.deliverAndSync();
      t.is(await paying.entitlement(accountId), 'pro active', when);
      t.is((await paying.events(accountId)).length, 1, when);
    }
    t.deepEqual(await paying.rows('select from accounts.stripe_events where handled_at is null'), []);
  },
);

test.serial(
  'a worker that dies while it asks Stripe holds a customer for a minute, then another one takes over',
  async (t) => {
    const { accountId } = await subscriber();
    await paying.fake.deliverPending();
    const now = paying.clock.now();
    const leasedUntil = new Date(now.getTime() + 60_000);
    t.is((await leaseDueCustomers(paying.services.accounts.db, { now, leasedUntil, most: 8 })).length, 1);
    paying.clock.advance(59_999);
    await paying.sync();
    t.is(await paying.entitlement(accountId), 'free none');
    paying.clock.advance(1);
    await paying.sync();
    t.is(await paying.entitlement(accountId), 'pro active');
  },
);

test.serial(
  'a fetch that outlives its lease counts as failed, and the next one has twice the time',
  async (t) => {
    const { accountId } = await subscriber();
    await paying.fake.deliverPending();
    const lease = () => {
      const now = paying.clock.now();
      const leasedUntil = new Date(now.getTime() + 60_000);
      return leaseDueCustomers(paying.services.accounts.db, { now, leasedUntil, most: 8 });
    };
    t.like(await lease(), { 0: { failures: 0 }, length: 1 });
    paying.clock.advance(60_000);
    t.like(await lease(), { 0: { failures: 1 }, length: 1 });
    paying.clock.advance(119_999);
    t.deepEqual(await lease(), []);
    paying.clock.advance(1);
    await paying.sync();
    t.is(await paying.entitlement(accountId), 'pro active');
  },
);

test.serial('a second subscription that could not be cancelled is cancelled later', async (t) => {
  const { customer, id } = await subscriber();
  paying.clock.advance(1_000);
  const second = paying.fake.subscribe({ customer, price: paying.price('pro') });
  paying.fake.fail({ status: 400 as 500 }, { path: '/v1/subscriptions/', method: 'DELETE' });
  await paying.deliverAndSync();
  t.is(paying.fake.subscription(second.id).status, 'active');
  paying.clock.advance(15_000);
  await paying.deliverAndSync();
  t.is(paying.fake.subscription(second.id).status, 'canceled');
  t.is(paying.fake.subscription(id).status, 'active');
});

test.serial('a fetch that took so long that another one began writes nothing', async (t) => {
  const { accountId, id } = await subscriber();
  await paying.deliverAndSync();
  paying.fake.changePlan(id, paying.price('starter'));
  await paying.fake.deliverPending();
  const slow = paying.fake.delayRequests({ path: '/v1/checkout/sessions' }); // it has the subscription already
  const late = syncDue(paying.deps);
  await slow.arrived;
  paying.clock.advance(60_001);
  paying.fake.changePlan(id, paying.price('pro'));
  const now = paying.clock.now();
  await leaseDueCustomers(paying.services.accounts.db, { now, leasedUntil: now, most: 8 });
  slow.release();
  await late;
  t.is(await paying.entitlement(accountId), 'pro active', 'the slow one knew it as starter');
  await paying.deliverAndSync();
  t.is(await paying.entitlement(accountId), 'pro active');
});

test.serial('a fetch requested while another is running starts right after it', async (t) => {
  const { accountId, id } = await subscriber();
  await paying.fake.deliverPending();
  const slow = paying.fake.delayRequests({ path: '/v1/checkout/sessions' }); // it has the subscription already
  const fetching = syncDue(paying.deps);
  await slow.arrived;
  await paying.stripe.subscriptions.cancel(id);
  await paying.fake.deliverPending();
  slow.release();
  await fetching;
  t.is(await paying.entitlement(accountId), 'pro active');
  await paying.sync();
  t.is(await paying.entitlement(accountId), 'free none');
});

test.serial('an event that arrives during a fetch that fails is fetched at once', async (t) => {
  const { accountId, id, customer } = await subscriber();
  await paying.fake.deliverPending();
  const slow = paying.fake.delayRequests({ path: `/v1/customers/${customer}` });
  paying.fake.fail({ status: 400 as 500 }, { path: '/v1/subscriptions' });
  const fetching = syncDue(paying.deps);
  await slow.arrived;
  paying.fake.changePlan(id, paying.price('starter'));
  await paying.fake.deliverPending();
  slow.release();
  await fetching;
  t.is(await paying.entitlement(accountId), 'free none');
  t.is(await syncDue(paying.deps), 1);
  t.is(await paying.entitlement(accountId), 'starter active');
});

test.serial(
  'while Stripe fails, events wait; each failure is tried again later, and nothing is lost',
  async (t) => {
    const { accountId } = await subscriber();
    paying.fake.fail({ status: 500 }, { times: 1_000 });
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'free none');
    const [row] = await paying.rows<{ failures: number }>(
      'select failures, last_error from accounts.billing_customers where failures > 0',
    );
    t.is(row?.failures, 1);
    paying.fake.fail({ status: 500 }, { times: 0 });
    t.is(await syncDue(paying.deps), 0, 'not at once');
    paying.clock.advance(15_000);
    t.is(await syncDue(paying.deps), 1);
  },
);

test.serial(
  'a customer of another product of the same Stripe account is left alone, one who pays for a plan is parked',
  async (t) => {
    const other = await paying.stripe.customers.create({ email: 'other@example.org' });
    const { id: otherPrice } = paying.fake.addPrice({ amount: 5, product: 'mugs' });
    paying.fake.subscribe({ customer: other.id, price: otherPrice });
    const lost = await paying.stripe.customers.create({ email: 'lost@example.org' });
    paying.fake.subscribe({ customer: lost.id, price: paying.price('pro') });
    await paying.deliverAndSync();
    const parked = await paying.rows<{ id: string; due: boolean }>(
      'select id, parked_at is not null as parked, due_at is not null as due from accounts.billing_customers order by id',
    );
    t.deepEqual(
      parked.sort((a, b) => (a.id === other.id ? -1 : b.id === other.id ? 1 : 0)),
      [
        { id: other.id, parked: false, due: false },
        { id: lost.id, parked: true, due: true },
      ] as object[] as typeof parked,
    );
    // The operator names the account at Stripe.
    const { accountId } = await paying.services.accountWithKey('free');
    await paying.stripe.customers.update(lost.id, { metadata: { account_id: accountId } });
    paying.fake.override(lost.id, {}, 'customer.updated');
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'pro active');
    t.deepEqual(
      await paying.rows('select id from accounts.billing_customers where parked_at is not null'),
      [],
    );
  },
);

test.serial(
  'a change whose event never came is found by the nightly fetch, a due payment by the hourly one',
  async (t) => {
    const { accountId, id } = await subscriber();
    await paying.deliverAndSync();
    paying.fake.changePlan(id, paying.price('starter'));
    paying.clock.advance(dayMs - 1);
    await paying.sync();
    t.is(await paying.entitlement(accountId), 'pro active');
    paying.clock.advance(1);
    await paying.sync();
    t.is(await paying.entitlement(accountId), 'starter active');
    const invoice = paying.fake.failPayment(id);
    await paying.deliverAndSync();
    paying.fake.pay(invoice.id);
    paying.clock.advance(60 * 60_000);
    await paying.sync();
    const { data } = (await paying.events(accountId)).at(-1) ?? {};
    t.is(data?.['status'], 'active');
  },
);

test.serial('a customer who is deleted at Stripe has no subscription any more', async (t) => {
  const { accountId, customer } = await subscriber();
  await paying.deliverAndSync();
  await paying.stripe.customers.del(customer);
  await paying.deliverAndSync();
  t.is(await paying.entitlement(accountId), 'free none');
});

test.serial(
  'a signed event of any shape is answered 200 and noted once; the customer that it names is fetched',
  async (t) => {
    const { accountId, customer } = await subscriber();
    const event = created();
    for (const event of paying.fake.undelivered()) paying.fake.drop(event);
    const change = (fields: Record<string, unknown>) => ({
      change(given: typeof event): void {
        Object.assign(given, fields);
      },
    });
    const bodyOf = (value: unknown) => ({ change: (given: typeof event) => replaceBy(given, value) });
    const thin = { object: 'v2.core.event', created: '2026-11-20T10:00:00.000Z', data: undefined };
    const related = (type: string, id: unknown) => ({ related_object: { id, type, url: '/v1/customers' } });
    const shapes: Readonly<Record<string, ReturnType<typeof change>>> = {
      'a thin event of v2': change({
        ...thin,
        type: 'v2.core.account.updated',
        ...related('v2.core.account', 'acct_1'),
      }),
      'a thin event that names the customer': change({
        ...{ ...thin, type: 'v1.customer.updated', context: null },
        ...related('customer', customer),
      }),
      'no data': change({ data: undefined }),
      'data that is null': change({ data: null }),
      'data without an object': change({ data: { object: null } }),
      'an object that is text': change({ data: { object: 'cus_1' } }),
      'an id that is a number': change({ id: 12 }),
      'an id with other signs': change({ id: 'evt_\u0000\ud800/…' }),
      'an id of 100 KB': change({ id: `evt_${'a'.repeat(100_000)}` }),
      'created as text': change({ created: '1763632800' }),
      'created in the year 33 million': change({ created: 1e15 }),
      'created below zero': change({ created: -1e15 }),
      'created with a fraction': change({ created: 1.5 }),
      'a null type': change({ type: null }),
      'a type of 1,000 signs': change({ type: 'x'.repeat(1_000) }),
      'no mode': change({ livemode: undefined }),
      'a customer that is a list': change({ data: { object: { customer: [customer] } } }),
      'an array': bodyOf([]),
      'an object without anything': bodyOf({}),
    };
    for (const [what, forgery] of Object.entries(shapes))
      for (const _time of [1, 2]) {
        const { status, body } = await paying.fake.deliver(event, forgery);
        t.is(status, 200, `${what}: ${body}`);
      }
    const rows = await paying.rows<{ id: string; customer_id: string | null }>(
      'select id, customer_id from accounts.stripe_events',
    );
    t.is(rows.length, Object.keys(shapes).length, 'each once');
    t.is(
      (await billingFigures(paying.deps)).unread,
      rows.filter(({ id }) => id.startsWith('evt_unread_')).length,
    );
    t.regex(await describeBilling({ ...paying.deps }).catch(String), /events with an unknown format/);
    await paying.sync();
    t.is(await paying.entitlement(accountId), 'pro active');
    t.like(await billingFigures(paying.deps), { waiting: 0, failing: 0 });
    for (const forgery of Object.values(shapes))
      t.is((await paying.fake.deliver(event, { ...forgery, secret: 'whsec_another' })).status, 400);
    const other = change({ ...thin, livemode: true });
    t.is((await paying.fake.deliver(event, other)).status, 400, 'of the other mode');
  },
);
