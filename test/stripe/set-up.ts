// Shared by the tests of the fake: one fake with its clock and the real SDK, and a receiver of events that can refuse.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { Stripe } from 'stripe';
import { fakeClock } from '../services/harness.ts';
import { startStripe, type StripeOptions } from './stripe.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
export const webhookSecret = 'whsec_of_the_tests';

/** A fake that begins on 2026-01-31, with the prices of two plans; it is closed when the test ends. */
export async function setUp(t: ExecutionContext, options: Partial<StripeOptions> = {}) {
  const clock = fakeClock('2026-01-31T12:00:00Z');
  const fake = await startStripe({ clock, ...options });
  t.teardown(fake.close);
  const stripe = client(fake);
  const starter = fake.addPrice({ lookupKey: 'starter_month', amount: 2900, product: 'Starter' });
  const pro = fake.addPrice({ lookupKey: 'pro_month', amount: 9900, product: 'Pro' });
  const proYear = fake.addPrice({ lookupKey: 'pro_year', amount: 99_000, interval: 'year', product: 'Pro' });
  const session = (params: Partial<Stripe.Checkout.SessionCreateParams> = {}) =>
    stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: starter.id, quantity: 1 }],
      success_url: 'https://almanac.example/return?session_id={CHECKOUT_SESSION_ID}',
      ...params,
    });
  /** A customer who has paid for Starter. */
  async function subscriber(params: Partial<Stripe.Checkout.SessionCreateParams> = {}) {
    const { id } = await session({ customer_email: 'payer@example.org', ...params });
    return fake.completeCheckout(id);
  }
  return { clock, fake, stripe, starter, pro, proYear, session, subscriber };
}

/** A subscriber whose card has just declined, and the outcome after the last retry. */
export async function pastDue(t: ExecutionContext, outcome: 'canceled' | 'unpaid' | 'past_due') {
  const found = await setUp(t, { retries: { afterDays: [3, 5, 7], outcome } });
  const { subscription, customer } = await found.subscriber();
  const invoice = found.fake.failPayment(subscription.id);
  return { ...found, subscription, customer, invoice };
}

/** The types of the events since the last call. */
export function newTypes(fake: { events: Stripe.Event[] }): () => string[] {
  let seen = fake.events.length;
  return () => fake.events.slice(seen, (seen = fake.events.length)).map(({ type }) => type);
}

/** The real SDK against the fake. */
export function client(
  {
    apiKey,
    clientConfig,
  }: { apiKey: string; clientConfig: { host: string; port: number; protocol: 'http' } },
  config: Partial<ConstructorParameters<typeof Stripe>[1]> = {},
): Stripe {
  return new Stripe(apiKey, { ...clientConfig, maxNetworkRetries: 2, telemetry: false, ...config });
}

/** Receives deliveries; answers with `status`, which can be changed. */
export async function receiver(t: ExecutionContext) {
  const received: { body: string; signature: string }[] = [];
  const answers = { status: 200 };
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      received.push({ body, signature: String(req.headers['stripe-signature']) });
      res.writeHead(answers.status, { location: '/elsewhere' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    received,
    answers,
    types: () => received.map(({ body }) => (JSON.parse(body) as Stripe.Event).type),
  };
}
