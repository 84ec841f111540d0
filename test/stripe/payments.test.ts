// Payments that fail in the fake, and how a subscription becomes active again, as at Stripe.
import test from 'ava';
import { dayMs, newTypes, pastDue } from './set-up.ts';

for (const outcome of ['canceled', 'unpaid', 'past_due'] as const) {
  test(`a card that declines: past due, tried again after 3, 5 and 7 days, then ${outcome}`, async (t) => {
    const { fake, subscription, invoice } = await pastDue(t, outcome);
    t.like(invoice, { status: 'open', attempt_count: 1, amount_due: 2900, amount_paid: 0 });
    t.is(fake.subscription(subscription.id).status, 'past_due');
    const types = newTypes(fake);
    await fake.advance(15 * dayMs - 1000);
    t.deepEqual(types(), ['invoice.payment_failed', 'invoice.payment_failed']);
    t.is(fake.subscription(subscription.id).status, 'past_due');
    await fake.advance(1000);
    const last = {
      canceled: ['customer.subscription.deleted'],
      unpaid: ['customer.subscription.updated'],
      past_due: [],
    };
    t.deepEqual(types(), ['invoice.payment_failed', ...last[outcome]]);
    t.is(fake.subscription(subscription.id).status, outcome);
    t.like(fake.invoice(invoice.id), { status: 'open', attempt_count: 4, next_payment_attempt: null });
  });
}

test('a payment brings a past due subscription back, and so does a retry with a card that works', async (t) => {
  const { fake, subscription, customer, invoice } = await pastDue(t, 'unpaid');
  const types = newTypes(fake);
  t.is(fake.pay(invoice.id).status, 'paid');
  t.is(fake.subscription(subscription.id).status, 'active');
  t.deepEqual(types(), ['invoice.paid', 'invoice.payment_succeeded', 'customer.subscription.updated']);
  t.throws(() => fake.pay(invoice.id), { message: /already paid/ });
  const again = fake.failPayment(subscription.id);
  t.is(fake.retryPayment(subscription.id).status, 'open');
  fake.setCard(customer.id, 'works');
  await fake.advance(3 * dayMs);
  t.is(fake.invoice(again.id).status, 'paid');
  t.is(fake.subscription(subscription.id).status, 'active');
});

test('a retry by hand fails without moving the schedule of retries', async (t) => {
  const { fake, subscription, invoice } = await pastDue(t, 'unpaid');
  const types = newTypes(fake);
  const tried = fake.retryPayment(subscription.id);
  t.deepEqual(types(), ['invoice.payment_failed']);
  t.like(tried, { attempt_count: 1, next_payment_attempt: invoice.next_payment_attempt });
});

test('only the latest invoice decides the status: once it is paid, the subscription is active, even if an older one is unpaid', async (t) => {
  const { fake, stripe, subscription, customer, invoice, proYear } = await pastDue(t, 'unpaid');
  const yearly = fake.changePlan(subscription.id, proYear.id);
  const latest = yearly.latest_invoice as string;
  t.is(yearly.status, 'past_due');
  fake.pay(latest);
  t.is(fake.subscription(subscription.id).status, 'active');
  fake.setCard(customer.id, 'declines');
  await fake.advance(30 * dayMs);
  t.is(fake.subscription(subscription.id).status, 'active');
  const { data } = await stripe.invoices.list({ subscription: subscription.id, status: 'open' });
  t.deepEqual(
    data.map(({ id, attempt_count: attempts }) => [id, attempts]),
    [[invoice.id, 4]],
  );
  const again = fake.failPayment(subscription.id);
  t.not(again.id, invoice.id);
  t.is(fake.subscription(subscription.id).status, 'past_due');
  fake.pay(invoice.id);
  t.is(fake.subscription(subscription.id).status, 'past_due');
});

test('an unpaid subscription gets drafts that nobody tries, and paying the newest invoice brings it back', async (t) => {
  const { fake, subscription, customer } = await pastDue(t, 'unpaid');
  await fake.advance(45 * dayMs);
  const draft = fake.invoice(fake.subscription(subscription.id).latest_invoice as string);
  t.like(draft, { status: 'draft', auto_advance: false });
  fake.setCard(customer.id, 'works');
  t.is(fake.retryPayment(subscription.id).status, 'paid');
  t.is(fake.subscription(subscription.id).status, 'active');
});

test('an invoice marked uncollectible, or voided, leaves the subscription active, as at Stripe', async (t) => {
  for (const act of ['markUncollectible', 'voidInvoice'] as const) {
    const { fake, subscription, invoice } = await pastDue(t, 'unpaid');
    const types = newTypes(fake);
    t.is(fake[act](invoice.id).status, act === 'voidInvoice' ? 'void' : 'uncollectible');
    t.is(types()[0], act === 'voidInvoice' ? 'invoice.voided' : 'invoice.marked_uncollectible');
    t.is(fake.subscription(subscription.id).status, 'active');
    await fake.advance(20 * dayMs);
    t.is(fake.subscription(subscription.id).status, 'active', 'nothing is tried any more');
  }
});
