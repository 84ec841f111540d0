// The inbox of Stripe events: checks the sender of an event, stores it and requests a fetch of its customer, in one transaction. Customer data in
// events is not used. A signed event of any shape is accepted, as Stripe repeats an event for days until it is answered 200.
import type { Stripe } from 'stripe';
import { z } from 'zod';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { internalEndpoint } from '../internal-endpoint.ts';
import type { Billing } from './connection.ts';
import { fromSeconds } from './fetched.ts';
import { askForCustomer, insertStripeEvent } from './inbox.sql.ts';

/** The path to register at Stripe, after PUBLIC_URL. */
export const inboxPath = '/billing/stripe/events';

const toleranceSeconds = 300;
/** The same limit as at the gateway. Fifty metadata entries, or the lines of an invoice with their previous values, exceed the usual 64 KB. */
const eventBytesMax = 1024 * 1024;

export const receiveStripeEvent = endpoint({
  summary: 'The inbox of events: only Stripe calls it.',
  description:
    'The signature is checked on the bytes of the body. A repeated event gets the same answer and changes nothing. An event with an unknown format gets the same answer and is recorded.',
  requester: 'anyone',
  acceptsRawBody: true,
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
  handler: async (deps, { request, call }) => {
    const billing = requireInbox(deps);
    const event = await call.stage('parse', () =>
      readEvent(
        billing,
        verifiedBody(billing, request.body, request.get('stripe-signature') ?? '', deps.clock.now()),
      ),
    );
    await call.stage('sql', () => receive(deps, event));
    return one({ received: true });
  },
});

/** @throws Failure `not_found` if billing is off. */
function requireInbox({ billing }: ServiceDeps): Billing {
  return billing ?? fail('not_found', 'This endpoint is not set up here: billing is off.');
}

/** For gateways, which refuse events unread if billing is off. */
export const readBillingState = internalEndpoint({
  body: z.strictObject({}),
  answer: z.object({ is_on: z.boolean() }),
  handler: ({ billing }) => Promise.resolve({ is_on: billing !== null }),
});

/** The fields of an event that are used. */
interface KnownEvent {
  id: string;
  type: string;
  /** Null: the event concerns no customer. */
  customerId: string | null;
  /** Null: unknown. */
  createdAt: Date | null;
  isUnread: boolean;
}

async function receive({ db, clock, log }: ServiceDeps, event: KnownEvent): Promise<void> {
  const receivedAt = clock.now();
  const { id, type, customerId, isUnread } = event;
  const createdAt = event.createdAt ?? receivedAt;
  const isNew = await db.inLedgerTransaction(async (transaction) => {
    const isFirst = await insertStripeEvent(db, transaction, { id, type, customerId, createdAt, receivedAt });
    if (isFirst && customerId !== null) await askForCustomer(db, transaction, customerId, receivedAt);
    return isFirst;
  });
  if (isUnread && isNew)
    log.warn({ event: id, customer: customerId }, 'a Stripe event has an unknown format; it was recorded');
}

/**
 * The body of an event with a valid signature that is at most five minutes old.
 * @throws Failure `invalid_request`, which does not reveal which secret or time would be valid.
 */
function verifiedBody(
  { stripe, webhookSecrets }: Billing,
  body: unknown,
  signature: string,
  now: Date,
): Buffer {
  if (!Buffer.isBuffer(body)) fail('invalid_request', 'The event has no body.');
  const isSigned = webhookSecrets.some((secret) => isSignedBy(stripe, body, signature, { secret, now }));
  if (!isSigned || isFromFuture(signature, now)) refuseUnsigned();
  return body;
}

function refuseUnsigned(): never {
  return fail(
    'invalid_request',
    'The signature of the event is missing or wrong, or its timestamp is not current.',
  );
}

/** Whether the event was signed with this secret, recently enough. */
function isSignedBy(
  { webhooks, errors }: Stripe,
  body: Buffer,
  signature: string,
  { secret, now }: { secret: string; now: Date },
): boolean {
  try {
    return (
      webhooks.signature?.verifyHeader(
        body,
        signature,
        secret,
        toleranceSeconds,
        undefined,
        now.getTime(),
      ) === true
    );
  } catch (error) {
    if (error instanceof errors.StripeSignatureVerificationError) return false;
    throw error;
  }
}

/** Stripe's client checks only that a signature is not too old. */
function isFromFuture(signature: string, now: Date): boolean {
  const times = [...signature.matchAll(/(?:^|,)\s*t=(\d+)/g)].map(([, seconds]) => Number(seconds));
  return times.some((seconds) => seconds * 1000 > now.getTime() + toleranceSeconds * 1000);
}

const idPattern = /^evt_[A-Za-z0-9_]{1,250}$/;
const lastSecond = 253_402_300_799; // the last second of the year 9999
const eventSchema = z.object({
  id: z.string().regex(idPattern),
  type: z.string().regex(/^[\w.]{1,128}$/),
  created: z.int().min(0).max(lastSecond),
  data: z.object({ object: z.looseObject({}) }),
});

/**
 * Parses a body that Stripe has signed. The id of an event of unknown shape is the hash of its bytes, so a repetition is the same event.
 * @throws Failure `invalid_request` if it is not JSON, or of the other mode.
 */
function readEvent({ isLive }: Billing, body: Buffer): KnownEvent {
  const given = parsed(body);
  const { livemode, related_object: related } = fieldsOf(given);
  if (typeof livemode === 'boolean' && livemode !== isLive) {
    fail('invalid_request', `The event is of the ${livemode ? 'live' : 'test'} mode; the key here is not.`);
  }
  const { data: event } = eventSchema.safeParse(given);
  if (event !== undefined && typeof livemode === 'boolean') {
    const { id, type, created, data } = event;
    const customerId = customerOf(data.object);
    return { id, type, customerId, createdAt: fromSeconds(created), isUnread: false };
  }
  const object = fieldsOf(fieldsOf(given)['data'])['object'];
  // Without a mode, the event may be of the other mode, whose customers are not stored here.
  const customerId = typeof livemode === 'boolean' ? (customerOf(object) ?? customerOf(related)) : null;
  const id = `evt_unread_${sha256(body)}`;
  return { id, type: 'unread', customerId, createdAt: null, isUnread: true };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return refuseUnsigned(); // signed, but not JSON: the answer is the same as for an unsigned body
  }
}

/** The fields of an object; empty for any other value. */
function fieldsOf(given: unknown): Record<string, unknown> {
  return typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
}

/** The customer id that an event's object has or refers to; null without one. A thin event has its type in place of `object`. */
function customerOf(given: unknown): string | null {
  const { object, type, id: own, customer: named } = fieldsOf(given);
  const customer = object === 'customer' || type === 'customer' ? own : named;
  const id = fieldsOf(customer)['id'] ?? customer;
  return typeof id === 'string' && /^cus_[A-Za-z0-9_]{1,250}$/.test(id) ? id : null;
}
