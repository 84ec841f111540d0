// The inbox of Stripe's events: checks who sent an event, stores it and has its customer fetched, in one transaction. What the event
// says of the customer is not used.
import type { Stripe } from 'stripe';
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { internalEndpoint } from '../internal-endpoint.ts';
import type { Billing } from './connection.ts';
import { fromSeconds } from './fetched.ts';
import { askForCustomer, insertStripeEvent } from './inbox.sql.ts';

/** The path to register at Stripe, behind PUBLIC_URL. */
export const inboxPath = '/billing/stripe/events';

const toleranceSeconds = 300;
/** As at the gateway. Fifty entries of metadata, or the lines of an invoice with what they were before, are above the usual 64 KB. */
const eventBytesMax = 1024 * 1024;

export const receiveStripeEvent = endpoint({
  summary: 'The inbox of events: only Stripe calls it.',
  description:
    'The signature is checked on the bytes of the body. An event that came before is answered in the same way, and changes nothing.',
  requester: 'anyone',
  takesRawBody: true,
  bodyBytesMax: eventBytesMax,
  requestHeaders: {
    'Stripe-Signature': z.string().describe('`t=…,v1=…`: when it was sent, and the HMAC of the body.'),
  },
  answers: { 200: z.object({ received: z.literal(true) }) },
  errors: ['invalid_request', 'not_found'],
  admit: (deps) => (request) => {
    requireInbox(deps);
    if (request.get('stripe-signature') === undefined) refuseUnsigned();
  },
  handler:
    (deps) =>
    async ({ request, call }) => {
      const billing = requireInbox(deps);
      const event = await call.stage('parse', () =>
        verifiedEvent(billing, request.body, request.get('stripe-signature') ?? '', deps.clock.now()),
      );
      await call.stage('sql', () => receive(deps, event));
      return one({ received: true });
    },
});

/** @throws Failure `not_found` where billing is off. */
function requireInbox({ billing }: ServiceDeps): Billing {
  return billing ?? fail('not_found', 'This endpoint is not set up here: billing is off.');
}

/** For gateways, which refuse events where nothing is sold without reading them. */
export const readBillingState = internalEndpoint({
  body: z.strictObject({}),
  answer: z.object({ is_on: z.boolean() }),
  handler:
    ({ billing }) =>
    () =>
      Promise.resolve({ is_on: billing !== null }),
});

async function receive(deps: ServiceDeps, event: Stripe.Event): Promise<void> {
  const { db, clock } = deps;
  const [receivedAt, createdAt] = [clock.now(), fromSeconds(event.created)];
  const customerId = customerOf(event);
  await db.inLedgerTransaction(async (transaction) => {
    const { id, type } = event;
    const isNew = await insertStripeEvent(db, transaction, { id, type, customerId, createdAt, receivedAt });
    if (isNew && customerId !== null) await askForCustomer(db, transaction, customerId, receivedAt);
  });
}

/**
 * An event whose signature is right, made within five minutes, in the mode of the key.
 * @throws Failure `invalid_request`, which does not say which secret or time would be right.
 */
function verifiedEvent(billing: Billing, body: unknown, signature: string, now: Date): Stripe.Event {
  if (!Buffer.isBuffer(body)) fail('invalid_request', 'The event has no body.');
  const event = billing.webhookSecrets
    .map((secret) => opened(billing.stripe, body, signature, { secret, now }))
    .find((each) => each !== null);
  if (event === undefined || isFromFuture(signature, now)) {
    refuseUnsigned();
  }
  if (event.livemode !== billing.isLive) {
    fail(
      'invalid_request',
      `The event is of the ${event.livemode ? 'live' : 'test'} mode; the key here is not.`,
    );
  }
  return event;
}

function refuseUnsigned(): never {
  return fail('invalid_request', 'The signature of the event is missing or wrong, or its time is not now.');
}

/** The event, or null if this secret has not signed it, or longer ago than is allowed. */
function opened(
  stripe: Stripe,
  body: Buffer,
  signature: string,
  { secret, now }: { secret: string; now: Date },
): Stripe.Event | null {
  try {
    return stripe.webhooks.constructEvent(
      body,
      signature,
      secret,
      toleranceSeconds,
      undefined,
      now.getTime(),
    );
  } catch (error) {
    // A body that is signed and is no JSON comes from nobody but a holder of the secret, who is told the same.
    if (error instanceof stripe.errors.StripeSignatureVerificationError || error instanceof SyntaxError)
      return null;
    throw error;
  }
}

/** The client of Stripe checks only that a signature is not too old. */
function isFromFuture(signature: string, now: Date): boolean {
  const times = [...signature.matchAll(/(?:^|,)\s*t=(\d+)/g)].map(([, seconds]) => Number(seconds));
  return times.some((seconds) => seconds * 1000 > now.getTime() + toleranceSeconds * 1000);
}

/** The id of the customer that an event concerns; null if it concerns none. */
function customerOf({ data: { object } }: Stripe.Event): string | null {
  const given = object as { object?: unknown; id?: unknown; customer?: unknown };
  const customer = given.object === 'customer' ? given.id : given.customer;
  const id = typeof customer === 'object' && customer !== null ? (customer as { id?: unknown }).id : customer;
  return typeof id === 'string' && /^cus_[A-Za-z0-9_]{1,250}$/.test(id) ? id : null;
}
