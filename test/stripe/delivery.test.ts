// Deliveries of the fake: signed as Stripe signs, in any order, twice, late, never, forged; and automatic ones with retries.
import test, { type ExecutionContext } from 'ava';
import { Stripe } from 'stripe';
import { dayMs, hourMs, receiver, setUp, webhookSecret } from './set-up.ts';
import type { Forgery } from './stripe.ts';

/** A fake with a receiver, and the events of one subscriber. */
async function withEvents(t: ExecutionContext, mode: 'held' | 'automatic' = 'held') {
  const to = await receiver(t);
  const found = await setUp(t, { webhook: { url: to.url, secret: webhookSecret, mode } });
  const made = await found.subscriber();
  /** The newest delivery as the SDK reads it, at the fake's time. */
  const verified = (secret = webhookSecret): Stripe.Event => {
    const { body, signature } = to.received.at(-1)!;
    return Stripe.webhooks.constructEvent(
      body,
      signature,
      secret,
      300,
      undefined,
      found.clock.now().getTime(),
    );
  };
  return { ...found, ...made, to, verified };
}

test('the SDK verifies a delivery, whose content is the event', async (t) => {
  const { fake, verified } = await withEvents(t);
  const event = fake.events.at(-1)!;
  t.is((await fake.deliver(event)).status, 200);
  t.like(verified(), { id: event.id, type: 'checkout.session.completed', livemode: false });
});

test('forgeries are refused by the SDK: another secret, a tampered or re-serialised body, an old timestamp, another scheme, no signature', async (t) => {
  const { fake, verified } = await withEvents(t);
  const event = fake.events[0]!;
  const forgeries: Record<string, Forgery> = {
    'another secret': { secret: 'whsec_other' },
    tampered: { body: (signed) => signed.replace('customer', 'Customer') },
    reserialised: { body: (signed) => JSON.stringify(JSON.parse(signed)) },
    old: { ageSeconds: 301 },
    'another scheme': { scheme: 'v0' },
    'no header': { header: null },
    'another header': { header: 't=1,v1=00' },
  };
  for (const [name, forgery] of Object.entries(forgeries)) {
    await fake.deliver(event, forgery);
    t.throws(() => verified(), { instanceOf: Stripe.errors.StripeSignatureVerificationError }, name);
  }
  await fake.deliver(event, { ageSeconds: 299 });
  t.is(verified().id, event.id);
  await fake.deliver(event, { change: (forged) => void (forged.livemode = true) });
  t.true(verified().livemode, 'signed after the change');
  t.false(event.livemode, 'the event itself stays as it is');
  t.is(event.pending_webhooks, 1, 'no forgery counts as its delivery');
});

test('a timestamp of the future passes the SDK: receivers have to refuse it themselves', async (t) => {
  const { fake, verified } = await withEvents(t);
  await fake.deliver(fake.events[0]!, { ageSeconds: -3600 });
  t.is(verified().id, fake.events[0]!.id);
});

test('held events are delivered as the test asks: in reverse, twice, late, never', async (t) => {
  const { fake, to, stripe } = await withEvents(t);
  const all = fake.undelivered();
  t.is(all.length, 8);
  for (const event of all.toReversed().slice(0, 2)) await fake.deliver(event);
  await fake.deliver(all[7]!);
  await fake.deliver(all[7]!.id);
  t.deepEqual(to.types().slice(0, 2), ['checkout.session.completed', 'customer.subscription.updated']);
  t.deepEqual([to.types()[2], to.types()[3]], ['checkout.session.completed', 'checkout.session.completed']);
  fake.drop(all[0]!);
  await fake.advance(2 * dayMs);
  t.deepEqual(
    (await fake.deliverPending()).map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  t.deepEqual(fake.undelivered(), []);
  const missed = await stripe.events.list({ delivery_success: false });
  t.deepEqual(
    missed.data.map(({ id }) => id),
    [all[0]!.id],
  );
  t.is((await stripe.events.list({ delivery_success: true, limit: 100 })).data.length, 7);
});

test('an event stays held after an answer other than 2xx or no answer', async (t) => {
  const { fake, to } = await withEvents(t);
  for (const status of [400, 500, 302]) {
    to.answers.status = status;
    t.is((await fake.deliver(fake.events[0]!)).status, status);
    t.is(fake.undelivered().length, 8);
  }
  fake.setWebhook({ url: 'http://127.0.0.1:1/', secret: webhookSecret });
  const unanswered = await fake.deliver(fake.events[0]!);
  t.is(unanswered.status, 0);
  t.truthy(unanswered.error);
  t.is(fake.undelivered().length, 8);
  t.deepEqual(
    fake.deliveries.map(({ status }) => status),
    [400, 500, 302, 0],
  );
});

test('automatic deliveries are repeated by the clock until they are answered, and end after three days', async (t) => {
  const { fake, to, stripe } = await withEvents(t, 'automatic');
  await fake.idle();
  t.deepEqual(to.types().sort(), fake.events.map(({ type }) => type).sort());
  t.deepEqual(fake.undelivered(), []);
  to.answers.status = 500;
  const { id } = await stripe.customers.create({});
  await fake.idle();
  const event = fake.events.at(-1)!;
  const attempts = (): number => fake.deliveries.filter(({ eventId }) => eventId === event.id).length;
  t.is(attempts(), 1);
  await fake.advance(300_000);
  t.is(attempts(), 2);
  to.answers.status = 200;
  await fake.advance(hourMs / 2);
  t.is(attempts(), 3);
  t.is((await stripe.events.retrieve(event.id)).pending_webhooks, 0);
  to.answers.status = 500;
  await stripe.customers.update(id, { name: 'New' });
  await fake.advance(7 * dayMs);
  t.is(fake.deliveries.filter(({ eventId }) => eventId === fake.events.at(-1)!.id).length, 8);
  t.deepEqual(
    fake.undelivered().map(({ id }) => id),
    [fake.events.at(-1)!.id],
  );
});

test('on the way of the clock every event is delivered at its own instant', async (t) => {
  const { fake, clock } = await withEvents(t, 'automatic');
  const startedAtMs = clock.now().getTime();
  await fake.advance(40 * dayMs);
  for (const { eventId, at } of fake.deliveries)
    t.is(at, fake.events.find(({ id }) => id === eventId)!.created);
  t.is(clock.now().getTime(), startedAtMs + 40 * dayMs);
});

test('events are listed by type and time, and found by id', async (t) => {
  const { fake, stripe } = await withEvents(t);
  const first = fake.events[0]!;
  t.is((await stripe.events.retrieve(first.id)).type, 'customer.created');
  t.deepEqual(
    (await stripe.events.list({ type: 'invoice.paid' })).data.map(({ type }) => type),
    ['invoice.paid'],
  );
  const types = ['invoice.paid', 'customer.created'];
  t.is((await stripe.events.list({ types })).data.length, 2);
  await fake.advance(hourMs);
  await stripe.customers.create({});
  const later = await stripe.events.list({ created: { gt: first.created } });
  t.is(later.data.length, 1);
  t.is((await stripe.events.list({ created: { lte: first.created } })).data.length, 8);
});

test('in livemode objects, events and ids are marked so, and only a live key is accepted', async (t) => {
  const { fake, session } = await setUp(t, { livemode: true });
  t.regex(fake.apiKey, /^sk_live_/);
  const { id, livemode } = await session();
  t.true(livemode);
  t.regex(id, /^cs_live_/);
  fake.completeCheckout(id);
  t.true(fake.events.every((event) => event.livemode));
});
