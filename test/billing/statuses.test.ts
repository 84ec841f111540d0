// The effect of each subscription status at Stripe on the account's next call, through a gateway.
import test, { type ExecutionContext } from 'ava';
import { billingFigures, describeBilling } from '../../accounts-api/billing/figures.ts';
import { syncDue } from './sync-due.ts';
import { dayMs, startPaying, type Paying } from './paying.ts';

let paying: Paying;
test.before(async () => {
  paying = await startPaying();
});
test.after.always(() => paying?.close());
// Tests move the clock, so a continuing subscription would be billed during later tests.
test.afterEach.always(async () => {
  const { fake, services } = paying;
  fake.clearFaults();
  const ended = ['canceled', 'incomplete_expired'];
  for (const { id: customer } of fake.customers())
    for (const { id, status } of fake.subscriptionsOf(customer))
      if (!ended.includes(status)) fake.cancelNow(id);
  for (const event of fake.undelivered()) fake.drop(event);
  await services.accounts.db.sequelize.query('delete from accounts.billing_customers');
});

/** An account with a key, on the free plan, and a subscription that is active at Stripe. */
async function subscriber(plan = 'pro') {
  const { accountId, key } = await paying.services.accountWithKey('free');
  const customer = await paying.customerOf(accountId);
  const { id } = paying.fake.subscribe({ customer, price: paying.price(plan) });
  await paying.deliverAndSync();
  return { accountId, key, customer, id };
}

/** Plan and state of the account, and the status of its next call: 404 is served. */
async function assertEntitlement(
  t: ExecutionContext,
  { accountId, key }: { accountId: string; key: string },
  current: string,
  call: number,
) {
  t.is(await paying.entitlement(accountId), current);
  const answer = await paying.services.call('/v1/series/NONE', { key });
  t.is(answer.status, call, answer.text);
  if (call === 402) {
    t.like(answer.json, { error: { code: 'subscription_inactive' } });
    t.regex(answer.text, /\/v1\/billing\/portal/);
  }
}

test.serial(
  'an active or trialing subscription has its plan, also when it is cancelled, until the period ends',
  async (t) => {
    const who = await subscriber();
    await assertEntitlement(t, who, 'pro active', 404);
    const cancelled = paying.fake.cancelAtPeriodEnd(who.id);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);
    const endsAt = cancelled.items.data[0]?.current_period_end ?? 0;
    await paying.fake.advance(endsAt * 1000 - paying.clock.now().getTime() - 1_000);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);
    await paying.fake.advance(1_000);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'free none', 404);

    const { accountId, key } = await paying.services.accountWithKey('free');
    const customer = await paying.customerOf(accountId);
    paying.fake.subscribe({ customer, price: paying.price('starter'), trialDays: 7 });
    await paying.deliverAndSync();
    await assertEntitlement(t, { accountId, key }, 'starter active', 404);
  },
);

test.serial(
  'a failed payment is served for the days of grace by the clock, then refused, though Stripe is away',
  async (t) => {
    const who = await subscriber();
    paying.fake.failPayment(who.id);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);
    const [reported] = await paying.rows<{ grace: string }>(
      `select data ->> 'grace_ends_at' as grace from events.outbox
     where account_id = $1 and type = 'subscription.updated' order by position desc`,
      who.accountId,
    );
    paying.clock.advance(14 * dayMs - 1_000);
    paying.fake.fail({ status: 500 }, { times: 1_000 }); // the end of the grace does not need Stripe
    await paying.sync();
    await assertEntitlement(t, who, 'pro active', 404);
    paying.clock.advance(1_000);
    t.is(reported?.grace, `${paying.clock.now().toISOString().slice(0, -5)}Z`);
    await paying.sync();
    await assertEntitlement(t, who, 'pro inactive', 402);
  },
);

test.serial(
  'a later failure has a grace of its own although an older invoice was left open, and one in the same spell has not',
  async (t) => {
    const who = await subscriber();
    const graceEndsAt = async () => {
      const { data } =
        (await paying.events(who.accountId)).findLast(({ type }) => type === 'subscription.updated') ?? {};
      return data?.['grace_ends_at'];
    };
    const afterDays = (days: number) =>
      `${new Date(paying.clock.now().getTime() + days * dayMs).toISOString().slice(0, -5)}Z`;
    const left = paying.fake.failPayment(who.id);
    await paying.deliverAndSync();
    const first = afterDays(14);
    t.is(await graceEndsAt(), first);
    await paying.fake.advance(6 * dayMs);
    paying.fake.changePlan(who.id, paying.price('pro', 'year')); // a second invoice, which also fails
    await paying.deliverAndSync();
    t.is(await graceEndsAt(), first);
    const latest = paying.fake.subscription(who.id).latest_invoice;
    t.not(latest, left.id);
    paying.fake.pay(latest as string);
    paying.fake.setCard(who.customer, 'none'); // otherwise it would also pay the older invoice
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);

    await paying.fake.advance(60 * dayMs);
    const open = await paying.stripe.invoices.list({ subscription: who.id, status: 'open' });
    t.deepEqual(
      open.data.map(({ id }) => id),
      [left.id],
    );
    paying.fake.failPayment(who.id);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);
    t.is(await graceEndsAt(), afterDays(14));
  },
);

test.serial('a payment in the grace ends it', async (t) => {
  const who = await subscriber();
  const invoice = paying.fake.failPayment(who.id);
  await paying.deliverAndSync();
  paying.fake.pay(invoice.id);
  await paying.deliverAndSync();
  await assertEntitlement(t, who, 'pro active', 404);
  const { data } = (await paying.events(who.accountId)).at(-1) ?? {};
  t.like(data, { status: 'active', grace_ends_at: null });
});

test.serial(
  'a subscription that is unpaid or paused is refused with its plan, and served when it is paid or resumed',
  async (t) => {
    const who = await subscriber();
    const invoice = paying.fake.failPayment(who.id);
    for (const days of [3, 5, 7]) await paying.fake.advance(days * dayMs);
    await paying.deliverAndSync();
    t.is(paying.fake.subscription(who.id).status, 'unpaid');
    await assertEntitlement(t, who, 'pro inactive', 402);
    paying.fake.pay(invoice.id);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);
    paying.fake.pause(who.id);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro inactive', 402);
    paying.fake.resume(who.id);
    await paying.deliverAndSync();
    await assertEntitlement(t, who, 'pro active', 404);
  },
);

test.serial(
  'a first payment that is not made leaves the account as it is, also when its time is over',
  async (t) => {
    const { accountId, key } = await paying.services.accountWithKey('starter'); // by the operator
    const customer = await paying.customerOf(accountId);
    paying.fake.subscribe({ customer, price: paying.price('pro'), paid: false });
    await paying.deliverAndSync();
    await assertEntitlement(t, { accountId, key }, 'starter none', 404);
    await paying.fake.advance(dayMs);
    await paying.deliverAndSync();
    t.is(paying.fake.subscriptionsOf(customer)[0]?.status, 'incomplete_expired');
    await assertEntitlement(t, { accountId, key }, 'starter none', 404);
  },
);

test.serial('a cancelled subscription leaves the free plan', async (t) => {
  const who = await subscriber();
  paying.fake.cancelNow(who.id);
  await paying.deliverAndSync();
  await assertEntitlement(t, who, 'free none', 404);
});

test.serial('a status that nobody knows is refused, and the operator sees it', async (t) => {
  const who = await subscriber();
  paying.fake.override(who.id, { status: 'hibernating' }, 'customer.subscription.updated');
  await paying.deliverAndSync();
  await assertEntitlement(t, who, 'pro inactive', 402);
});

test.serial('an object that cannot be interpreted is logged once, however often it is fetched', async (t) => {
  const who = await subscriber();
  const errors: object[] = [];
  const log = { ...paying.deps.log, error: (entry: object) => void errors.push(entry) };
  const about = { account_id: who.accountId, subscription: who.id };
  const sync = async () => {
    await paying.fake.deliverPending();
    while ((await syncDue({ ...paying.deps, log })) > 0);
    paying.clock.advance(dayMs);
    while ((await syncDue({ ...paying.deps, log })) > 0);
  };
  paying.fake.override(who.id, { status: 'hibernating' }, 'customer.subscription.updated');
  await sync();
  t.deepEqual(errors, [{ ...about, status: 'hibernating' }]);
  paying.fake.override(who.id, { status: 'active' }, 'customer.subscription.updated');
  const { id: price } = paying.fake.addPrice({ amount: 1, product: 'cheap' });
  paying.fake.changePlan(who.id, price);
  await sync();
  t.deepEqual(errors.slice(1), [{ ...about, price }]);
});

test.serial('a change of plan at Stripe, up or down, applies to the next call', async (t) => {
  const who = await subscriber('starter');
  const asksVintage = () => paying.services.call('/v1/series/NONE?vintage=2026-01-01', { key: who.key });
  t.is((await asksVintage()).status, 403);
  paying.fake.changePlan(who.id, paying.price('pro', 'year'));
  await paying.deliverAndSync();
  t.is((await asksVintage()).status, 404);
  await assertEntitlement(t, who, 'pro active', 404);
  paying.fake.changePlan(who.id, paying.price('starter'));
  await paying.deliverAndSync();
  t.is((await asksVintage()).status, 403);
});

test.serial('a customer who pays an older price of the plan still has the plan', async (t) => {
  const who = await subscriber();
  const price = await paying.stripe.prices.retrieve(paying.price('pro'));
  paying.fake.override(price.id, { lookup_key: null });
  paying.fake.override(who.id, {}, 'customer.subscription.updated');
  await paying.deliverAndSync();
  await assertEntitlement(t, who, 'pro active', 404);
  paying.fake.override(price.id, { lookup_key: price.lookup_key });
});

test.serial('a subscription that is changed to a price of no plan is served as the free plan', async (t) => {
  const who = await subscriber();
  const { id: cheap } = paying.fake.addPrice({ amount: 1, product: 'cheap' });
  paying.fake.changePlan(who.id, cheap);
  await paying.deliverAndSync();
  await assertEntitlement(t, who, 'free active', 404);
  // Even if it was changed before its first fetch.
  const { accountId, key } = await paying.services.accountWithKey('free');
  const customer = await paying.customerOf(accountId);
  paying.fake.subscribe({ customer, price: cheap, metadata: { checkout: `chk_${'a'.repeat(20)}` } });
  await paying.deliverAndSync();
  await assertEntitlement(t, { accountId, key }, 'free active', 404);
  t.is((await billingFigures(paying.deps)).odd, 2);
});

for (const first of ['the other product', 'the plan']) {
  test.serial(
    `a subscription to another product of the Stripe account is left alone, and never counts: ${first} first`,
    async (t) => {
      const { accountId, key } = await paying.services.accountWithKey('free');
      const customer = await paying.customerOf(accountId);
      const support = paying.fake.addPrice({ amount: 500, product: 'Support' });
      const prices = [support.id, paying.price('pro')];
      if (first === 'the plan') prices.reverse();
      const ids: string[] = [];
      for (const price of prices) {
        ids.push(paying.fake.subscribe({ customer, price }).id);
        paying.clock.advance(60_000);
        await paying.deliverAndSync();
        await paying.deliverAndSync();
      }
      t.deepEqual(
        ids.map((id) => paying.fake.subscription(id).status),
        ['active', 'active'],
      );
      await assertEntitlement(t, { accountId, key }, 'pro active', 404);
      t.is((await billingFigures(paying.deps)).odd, 0);
    },
  );
}

test.serial(
  'whoever has only another product can buy a plan, and is served though the other is unpaid',
  async (t) => {
    const { accountId, key } = await paying.services.accountWithKey('free');
    const customer = await paying.customerOf(accountId);
    const support = paying.fake.addPrice({ amount: 500, product: 'Support' });
    const { id } = paying.fake.subscribe({ customer, price: support.id });
    paying.fake.failPayment(id);
    for (const days of [3, 5, 7]) await paying.fake.advance(days * dayMs);
    await paying.deliverAndSync();
    t.is(paying.fake.subscription(id).status, 'unpaid');
    await assertEntitlement(t, { accountId, key }, 'free none', 404);
    t.deepEqual(await paying.events(accountId), []);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ plan: 'pro' });
    const { status, text } = await paying.services.call('/v1/checkout', {
      method: 'POST',
      key,
      headers,
      body,
    });
    t.is(status, 200, text);
  },
);

test.serial('a plan that was turned into another product is no second subscription', async (t) => {
  const who = await subscriber('starter');
  paying.fake.changePlan(who.id, paying.fake.addPrice({ amount: 500, product: 'Support' }).id);
  await paying.deliverAndSync();
  paying.clock.advance(60_000);
  const { id } = paying.fake.subscribe({ customer: who.customer, price: paying.price('pro') });
  await paying.deliverAndSync();
  await paying.deliverAndSync();
  t.is(paying.fake.subscription(who.id).status, 'active');
  t.is(paying.fake.subscription(id).status, 'active');
  await assertEntitlement(t, who, 'pro active', 404);
  // Its own payments decide: the other one is paid and does not extend the grace.
  paying.fake.failPayment(id);
  await paying.deliverAndSync();
  paying.clock.advance(14 * dayMs);
  await paying.sync();
  await assertEntitlement(t, who, 'pro inactive', 402);
});

test.serial(
  'of two live subscriptions the newer is cancelled, once, and its account is notified',
  async (t) => {
    const who = await subscriber('starter');
    paying.clock.advance(60_000);
    const second = paying.fake.subscribe({ customer: who.customer, price: paying.price('pro') });
    await paying.deliverAndSync();
    await paying.deliverAndSync();
    t.is(paying.fake.subscription(second.id).status, 'canceled');
    t.is(paying.fake.subscription(who.id).status, 'active');
    await assertEntitlement(t, who, 'starter active', 404);
    const audited = await paying.rows<{ detail: object }>(
      `select detail from accounts.audit_events where account_id = $1 and action = 'subscription.duplicate_canceled'`,
      who.accountId,
    );
    const invoice = paying.fake.subscription(second.id).latest_invoice;
    const paid = { amount: 9_900, currency: 'usd' };
    const about = { subscription: second.id, kept: who.id, customer: who.customer };
    t.deepEqual(audited, [{ detail: { ...about, invoice, paid } }]);
    t.regex(
      await describeBilling(paying.deps),
      /; 1 paid second subscriptions were cancelled within 30 days/,
    );
    paying.clock.advance(30 * dayMs);
    t.notRegex(await describeBilling(paying.deps), /second/);
  },
);

test.serial('an event is written for each change, and for each failed payment once', async (t) => {
  const who = await subscriber();
  await paying.deliverAndSync();
  const invoice = paying.fake.failPayment(who.id);
  await paying.deliverAndSync();
  for (const event of paying.fake.events.slice(-3)) await paying.fake.deliver(event);
  paying.fake.override(who.id, {}, 'customer.subscription.updated'); // fetched again without a change
  await paying.deliverAndSync();
  await paying.fake.advance(3 * dayMs);
  await paying.deliverAndSync();
  const reported = (await paying.events(who.accountId)).map(({ type, data }) => [
    type,
    data['state'] ?? data['invoice'],
  ]);
  t.deepEqual(
    reported.filter(([type]) => type === 'payment.failed'),
    [
      ['payment.failed', invoice.id],
      ['payment.failed', invoice.id],
    ],
  );
  t.deepEqual(
    reported.filter(([type]) => type === 'subscription.updated').map(([, state]) => state),
    ['active', 'active'],
  );
});
