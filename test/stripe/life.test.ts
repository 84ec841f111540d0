// The life of a subscription in the fake, step by step as at Stripe: the effect of each step on its objects, and its events.
import test from 'ava';
import type { Stripe } from 'stripe';
import { dayMs, hourMs, newTypes, pastDue, setUp } from './set-up.ts';

const at = (seconds: number | null | undefined): string | null =>
  typeof seconds === 'number' ? new Date(seconds * 1000).toISOString().slice(0, 16) : null;
const period = ({ items }: Stripe.Subscription): (string | null)[] => [
  at(items.data[0]!.current_period_start),
  at(items.data[0]!.current_period_end),
];

test('a paid Checkout makes customer, subscription and invoice, and reports them in order', async (t) => {
  const { fake, stripe, session } = await setUp(t);
  const types = newTypes(fake);
  const open = await session({
    client_reference_id: 'account-1',
    customer_email: 'payer@example.org',
    metadata: { account: '1' },
    subscription_data: { metadata: { account: '1' } },
  });
  t.like(open, { status: 'open', payment_status: 'unpaid', customer: null, subscription: null });
  t.true(open.url?.startsWith(fake.url));
  fake.completeCheckout(open.id);
  t.deepEqual(types(), [
    'customer.created',
    'customer.subscription.created',
    'invoice.created',
    'invoice.finalized',
    'invoice.paid',
    'invoice.payment_succeeded',
    'customer.subscription.updated',
    'checkout.session.completed',
  ]);
  const done = await stripe.checkout.sessions.retrieve(open.id);
  t.like(done, {
    status: 'complete',
    payment_status: 'paid',
    client_reference_id: 'account-1',
    metadata: { account: '1' },
    url: null,
  });
  t.is(done.customer_details?.email, 'payer@example.org');
  const subscription = await stripe.subscriptions.retrieve(done.subscription as string);
  t.like(subscription, { status: 'active', customer: done.customer, metadata: { account: '1' } });
  t.deepEqual(period(subscription), ['2026-01-31T12:00', '2026-02-28T12:00']);
  const invoice = await stripe.invoices.retrieve(done.invoice as string);
  t.like(invoice, {
    status: 'paid',
    amount_paid: 2900,
    billing_reason: 'subscription_create',
    attempt_count: 1,
  });
  t.is(invoice.parent?.subscription_details?.subscription, subscription.id);
  t.throws(() => fake.completeCheckout(open.id), { message: /complete, not open/ });
});

test('events show the object as it was then', async (t) => {
  const { fake, subscriber } = await setUp(t);
  const { subscription } = await subscriber();
  fake.cancelNow(subscription.id);
  const states = fake.events
    .filter(({ type }) => type.startsWith('customer.subscription.'))
    .map(({ type, data }) => [type, (data.object as Stripe.Subscription).status]);
  t.deepEqual(states, [
    ['customer.subscription.created', 'incomplete'],
    ['customer.subscription.updated', 'active'],
    ['customer.subscription.deleted', 'canceled'],
  ]);
});

test('a session expires after a day, or when asked to, and then cannot be paid', async (t) => {
  const { fake, stripe, session } = await setUp(t);
  const [first, second, short] = [await session(), await session(), await session()];
  fake.override(short.id, { expires_at: short.created + 1800 });
  await stripe.checkout.sessions.expire(second.id);
  await t.throwsAsync(stripe.checkout.sessions.expire(second.id), { message: /can be expired/ });
  await fake.advance(hourMs);
  t.is(fake.session(short.id).status, 'expired');
  await fake.advance(23 * hourMs - 1000);
  t.is(fake.session(first.id).status, 'open');
  await fake.advance(1000);
  t.is(fake.session(first.id).status, 'expired');
  t.throws(() => fake.completeCheckout(first.id), { message: /expired, not open/ });
  t.is(fake.events.filter(({ type }) => type === 'checkout.session.expired').length, 3);
  await session();
  const listed = await stripe.checkout.sessions.list({ status: 'expired' });
  t.is(listed.data.length, 3);
});

test('a subscription renews automatically: the period moves at once, and the card is charged an hour later', async (t) => {
  const { fake, subscriber } = await setUp(t);
  const { subscription } = await subscriber();
  const types = newTypes(fake);
  await fake.advance(28 * dayMs);
  t.deepEqual(types(), ['customer.subscription.updated', 'invoice.created']);
  const renewed = fake.subscription(subscription.id);
  t.deepEqual(period(renewed), ['2026-02-28T12:00', '2026-03-31T12:00']);
  t.is(fake.invoice(renewed.latest_invoice as string).status, 'draft');
  await fake.advance(hourMs);
  t.deepEqual(types(), ['invoice.finalized', 'invoice.paid', 'invoice.payment_succeeded']);
  await fake.advance(365 * dayMs);
  t.deepEqual(period(fake.subscription(subscription.id)), ['2027-02-28T12:00', '2027-03-31T12:00']);
  const times = fake.events.filter(({ type }) => type === 'invoice.paid').map(({ created }) => at(created));
  t.deepEqual(times.slice(0, 3), ['2026-01-31T12:00', '2026-02-28T13:00', '2026-03-31T13:00']);
  t.is(times.length, 14);
});

test('anything due before a request has happened at its own instant', async (t) => {
  const { clock, fake, stripe, subscriber } = await setUp(t);
  const { subscription } = await subscriber();
  clock.advance(40 * dayMs);
  const found = await stripe.subscriptions.retrieve(subscription.id);
  t.deepEqual(period(found), ['2026-02-28T12:00', '2026-03-31T12:00']);
  t.is(at(fake.events.at(-1)!.created), '2026-02-28T13:00');
});

test('a delayed payment leaves the subscription incomplete until it arrives', async (t) => {
  const { fake, session } = await setUp(t);
  const { id } = await session();
  const types = newTypes(fake);
  const made = fake.completeCheckout(id, { paid: false, email: 'payer@example.org' });
  t.like(made.session, { status: 'complete', payment_status: 'unpaid' });
  t.is(made.subscription.status, 'incomplete');
  t.is(made.invoice.status, 'open');
  types();
  t.is(fake.resolveDelayedPayment(id, true).payment_status, 'paid');
  t.is(fake.subscription(made.subscription.id).status, 'active');
  t.deepEqual(types(), [
    'invoice.paid',
    'invoice.payment_succeeded',
    'customer.subscription.updated',
    'checkout.session.async_payment_succeeded',
  ]);
  t.throws(() => fake.resolveDelayedPayment(id, true), { message: /waits for no payment/ });
});

test('a first payment that fails leaves the subscription incomplete, and after 23 hours it has expired', async (t) => {
  const { fake, session, stripe } = await setUp(t);
  const { id } = await session();
  const { subscription, invoice } = fake.completeCheckout(id, { paid: false });
  const types = newTypes(fake);
  fake.resolveDelayedPayment(id, false);
  t.deepEqual(types(), ['invoice.payment_failed', 'checkout.session.async_payment_failed']);
  t.is(fake.invoice(invoice.id).next_payment_attempt, null, 'a first invoice is not tried again by itself');
  await fake.advance(23 * hourMs - 1000);
  t.is(fake.subscription(subscription.id).status, 'incomplete');
  await fake.advance(1000);
  t.like(await stripe.subscriptions.retrieve(subscription.id), { status: 'incomplete_expired' });
  t.deepEqual(types(), ['invoice.voided', 'customer.subscription.updated']);
  t.is(fake.invoice(invoice.id).status, 'void');
  await fake.advance(60 * dayMs);
  t.deepEqual(types(), []);
});

test('a trial needs no payment, warns three days before its end, and then the first paid period begins', async (t) => {
  const { fake, session } = await setUp(t);
  const { id } = await session({ subscription_data: { trial_period_days: 10 } });
  const { subscription, session: done, invoice } = fake.completeCheckout(id, { email: 'payer@example.org' });
  t.is(subscription.status, 'trialing');
  t.is(done.payment_status, 'no_payment_required');
  t.like(invoice, { status: 'paid', amount_due: 0 });
  const types = newTypes(fake);
  await fake.advance(7 * dayMs);
  t.deepEqual(types(), ['customer.subscription.trial_will_end']);
  await fake.advance(3 * dayMs);
  t.deepEqual(types(), ['customer.subscription.updated', 'invoice.created']);
  const renewed = fake.subscription(subscription.id);
  t.is(renewed.status, 'active');
  t.deepEqual(period(renewed), ['2026-02-10T12:00', '2026-03-10T12:00']);
  await fake.advance(hourMs);
  t.like(fake.invoice(renewed.latest_invoice as string), { status: 'paid', amount_paid: 2900 });
});

test('a trial without a card pauses if its settings say so, otherwise its first invoice fails', async (t) => {
  const { fake, stripe, starter } = await setUp(t);
  const customer = (await stripe.customers.create({})).id;
  const trial = () => fake.subscribe({ customer, price: starter.id, trialDays: 10, paid: false }).id;
  const [paused, failing] = [trial(), trial()];
  t.is((await stripe.invoices.list({ customer, status: 'paid' })).data.length, 2, 'of nothing');
  fake.override(paused, {
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'pause' } },
  });
  await fake.advance(10 * dayMs + hourMs);
  t.is(fake.subscription(paused).status, 'paused');
  t.is(fake.subscription(failing).status, 'past_due');
});

test('a pause stops periods and invoices; resumed within its period it costs nothing, later a new period is paid', async (t) => {
  const { fake, stripe, subscriber } = await setUp(t);
  const { subscription } = await subscriber();
  const types = newTypes(fake);
  fake.pause(subscription.id);
  t.deepEqual(types(), ['customer.subscription.updated', 'customer.subscription.paused']);
  await stripe.subscriptions.resume(subscription.id);
  t.deepEqual(types(), ['customer.subscription.updated', 'customer.subscription.resumed']);
  await stripe.subscriptions.pause(subscription.id, { type: 'subscription' });
  types();
  await fake.advance(100 * dayMs);
  t.deepEqual(types(), []);
  t.is(fake.resume(subscription.id).status, 'active');
  t.deepEqual(period(fake.subscription(subscription.id)), ['2026-05-11T12:00', '2026-06-11T12:00']);
  t.deepEqual(types(), [
    'customer.subscription.updated',
    'invoice.created',
    'invoice.finalized',
    'invoice.paid',
    'invoice.payment_succeeded',
    'customer.subscription.updated',
    'customer.subscription.resumed',
  ]);
});

test('paused collection leaves the subscription active, whether or not its invoices are paid', async (t) => {
  for (const [behavior, status] of [
    ['keep_as_draft', 'draft'],
    ['void', 'void'],
    ['mark_uncollectible', 'uncollectible'],
  ] as const) {
    const { fake, stripe, subscriber } = await setUp(t);
    const { subscription } = await subscriber();
    await stripe.subscriptions.update(subscription.id, { pause_collection: { behavior } });
    await fake.advance(28 * dayMs + hourMs);
    const after = fake.subscription(subscription.id);
    t.is(after.status, 'active');
    t.is(fake.invoice(after.latest_invoice as string).status, status);
    const collected = await stripe.subscriptions.update(subscription.id, { pause_collection: '' });
    t.is(collected.pause_collection, null);
  }
});

test('a subscription canceled at the end of its period is active until then, and the cancellation can be undone', async (t) => {
  const { fake, stripe, subscriber } = await setUp(t);
  const { subscription } = await subscriber();
  await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
  t.is(fake.cancelAtPeriodEnd(subscription.id, false).cancel_at, null);
  const types = newTypes(fake);
  t.is(at(fake.cancelAtPeriodEnd(subscription.id).cancel_at), '2026-02-28T12:00');
  await fake.advance(28 * dayMs - 1000);
  t.is(fake.subscription(subscription.id).status, 'active');
  await fake.advance(1000);
  t.like(fake.subscription(subscription.id), { status: 'canceled', cancel_at_period_end: true });
  t.deepEqual(types(), ['customer.subscription.updated', 'customer.subscription.deleted']);
  await t.throwsAsync(stripe.subscriptions.cancel(subscription.id), { message: /has ended/ });
});

test('canceled now it has ended, its open invoice is not tried again, and the default list leaves it out', async (t) => {
  const { fake, stripe, subscription, customer, invoice } = await pastDue(t, 'unpaid');
  t.is((await stripe.subscriptions.cancel(subscription.id)).status, 'canceled');
  t.like(fake.invoice(invoice.id), { status: 'open', next_payment_attempt: null });
  t.deepEqual((await stripe.subscriptions.list({ customer: customer.id })).data, []);
  t.is((await stripe.subscriptions.list({ customer: customer.id, status: 'all' })).data.length, 1);
  t.is((await stripe.subscriptions.list({ status: 'ended' })).data.length, 1);
  const expanded = await stripe.customers.retrieve(customer.id, { expand: ['subscriptions'] });
  t.deepEqual((expanded as Stripe.Customer).subscriptions?.data, []);
  t.is((await stripe.subscriptions.list({ status: 'active' })).data.length, 0);
  fake.pay(invoice.id);
  t.is(fake.subscription(subscription.id).status, 'canceled', 'a late payment does not bring it back');
});

test('the draft of a subscription that was canceled is tried only by hand, and not again', async (t) => {
  const { fake, stripe, subscriber } = await setUp(t);
  const { subscription, customer } = await subscriber();
  await fake.advance(28 * dayMs);
  const { latest_invoice: draft } = fake.cancelNow(subscription.id);
  fake.setCard(customer.id, 'declines');
  await fake.advance(dayMs);
  t.like(fake.invoice(draft as string), { status: 'draft', attempt_count: 0 });
  await t.throwsAsync(stripe.invoices.pay(draft as string), { message: /declined/ });
  t.like(fake.invoice(draft as string), { status: 'open', attempt_count: 1, next_payment_attempt: null });
});

test('deleting a customer cancels its subscriptions', async (t) => {
  const { fake, stripe, subscriber } = await setUp(t);
  const { subscription, customer } = await subscriber();
  const types = newTypes(fake);
  await stripe.customers.del(customer.id);
  t.is(fake.subscription(subscription.id).status, 'canceled');
  t.deepEqual(types(), ['customer.subscription.deleted', 'customer.deleted']);
});

test('another plan of the same interval applies at once, without an invoice, and the next one has its price', async (t) => {
  const { fake, stripe, subscriber, pro, starter } = await setUp(t);
  const { subscription } = await subscriber();
  const types = newTypes(fake);
  const item = subscription.items.data[0]!.id;
  const up = await stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: pro.id }] });
  t.is(up.items.data[0]!.price.id, pro.id);
  t.is(up.items.data[0]!.plan.amount, 9900);
  t.deepEqual(period(up), period(subscription));
  t.deepEqual(types(), ['customer.subscription.updated']);
  await fake.advance(28 * dayMs + hourMs);
  t.is(fake.invoice(fake.subscription(subscription.id).latest_invoice as string).amount_paid, 9900);
  t.is(fake.changePlan(subscription.id, starter.id).items.data[0]!.price.id, starter.id);
});

test('another interval begins a new period with an invoice; without money the subscription is past due', async (t) => {
  const { fake, subscriber, proYear, pro } = await setUp(t);
  const { subscription, customer } = await subscriber();
  await fake.advance(10 * dayMs);
  const yearly = fake.changePlan(subscription.id, proYear.id);
  t.deepEqual(period(yearly), ['2026-02-10T12:00', '2027-02-10T12:00']);
  t.like(fake.invoice(yearly.latest_invoice as string), {
    status: 'paid',
    amount_paid: 99_000,
    billing_reason: 'subscription_update',
  });
  fake.setCard(customer.id, 'declines');
  t.is(fake.changePlan(subscription.id, pro.id).status, 'past_due');
});

test('a plan in another currency, an inactive price and a foreign item are refused and change nothing', async (t) => {
  const { fake, stripe, session, subscriber, pro } = await setUp(t);
  const { subscription } = await subscriber();
  const euro = fake.addPrice({ amount: 2900, currency: 'eur' });
  const old = fake.addPrice({ amount: 2900, active: false });
  t.throws(() => fake.changePlan(subscription.id, euro.id), { message: /another currency/ });
  t.throws(() => fake.changePlan(subscription.id, old.id), { message: /inactive/ });
  const foreign = stripe.subscriptions.update(subscription.id, {
    items: [{ id: 'si_other', price: pro.id }],
  });
  await t.throwsAsync(foreign, { message: /must name it/ });
  await t.throwsAsync(session({ line_items: [{ price: old.id, quantity: 1 }] }), { message: /inactive/ });
  t.deepEqual(fake.subscription(subscription.id), subscription);
});

test('a customer can have two subscriptions, each with its own invoices', async (t) => {
  const { fake, stripe, subscriber, pro } = await setUp(t);
  const { customer } = await subscriber();
  const second = fake.subscribe({ customer: customer.id, price: pro.id, metadata: { made: 'by hand' } });
  const third = await stripe.subscriptions.create({ customer: customer.id, items: [{ price: pro.id }] });
  t.is(third.status, 'active');
  t.is(fake.subscriptionsOf(customer.id).length, 3);
  const { data } = await stripe.invoices.list({ subscription: second.id, customer: customer.id });
  t.deepEqual(
    data.map(({ amount_paid: paid }) => paid),
    [9900],
  );
  t.is((await stripe.invoices.list({ customer: customer.id, status: 'open' })).data.length, 0);
});

test('fields can be overwritten, silently or with an event', async (t) => {
  const { fake, stripe, subscriber } = await setUp(t);
  const { subscription } = await subscriber();
  const types = newTypes(fake);
  fake.override(subscription.id, { status: 'hibernating' });
  t.deepEqual(types(), []);
  t.is((await stripe.subscriptions.retrieve(subscription.id)).status, 'hibernating');
  fake.override(subscription.id, { status: 'dreaming' }, 'customer.subscription.updated');
  t.is((fake.events.at(-1)!.data.object as Stripe.Subscription).status, 'dreaming');
  t.throws(() => fake.override('sub_none', {}), { message: /Nothing has the id/ });
});
