// POST /v1/checkout begins the purchase of a plan, with or without an account. To avoid two live subscriptions, an account has at most one open
// checkout, and a repeated request gets the same Stripe page.
import type { Transaction } from 'sequelize';
import type { Request } from 'express';
import { z } from 'zod';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import { intervals, type PlanPrice, type Plans } from '../../kernel/plans.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { failDeleted, findAccount, lockOwnAccount } from '../models/find-account.ts';
import { clientInfoOf } from '../sessions/client-info.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { emailField } from '../fields.ts';
import { newId } from '../ids.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../keys/idempotency.ts';
import type { Account } from '../models/account.ts';
import { requesterOf } from '../requester.ts';
import {
  closeCheckout,
  closeUnmade,
  insertCheckout,
  releaseRequest,
  selectCheckoutOfRequest,
  selectOpenCheckout,
  storeSession,
  type Checkout,
} from './checkouts.sql.ts';
import { askStripe, expireSession, isMissing, requireBilling, type Billing } from './connection.ts';
import {
  countDeletedCustomersOf,
  insertCustomerOf,
  noteDeleted,
  selectCustomersOf,
  selectSubscriptions,
} from './customers.sql.ts';
import { fetchSession } from './fetched.ts';
import { askForCustomer } from './inbox.sql.ts';
import { findPrice } from './prices.ts';
import { isLive } from './subscription-status.ts';

const hourMs = 60 * 60_000;
/** Stripe allows at most a day, counted from when it creates the session. */
const openMs = 23 * hourMs;
/** After this time, a checkout without a session belongs to a process that died. */
const madeWithinMs = 10 * 60_000;
const attemptsMax = 4;

const wish = z.strictObject({
  plan: z.string().describe('An id of `/v1/plans`.'),
  interval: z
    .enum(intervals)
    .optional()
    .describe('Default: the shortest interval that the plan is sold for.'),
  email: emailField.optional().describe('Required without an account; not accepted with one.'),
});

export const beginCheckout = endpoint({
  summary: 'Starts the purchase of a plan: returns the URL of the payment page.',
  description:
    'With a key or a session for its account. Without either for a new account, whose first key is shown on the return page; an e-mail to the payer’s address proves it. An account that already has this address does not change: its holder can take the purchase. A repeated request returns the same page.',
  requester: 'anyone',
  body: wish,
  requestHeaders: idempotencyHeader,
  answers: { 200: z.object({ url: z.url() }) },
  errors: [
    'invalid_request',
    'unauthorized',
    'already_subscribed',
    'conflict',
    'idempotency_in_progress',
    'idempotency_mismatch',
    'rate_limited',
    'billing_not_configured',
    'unavailable',
  ],
  handler: async (deps, { body, call, request }) => {
    const billing = requireBilling(deps);
    const sold = soldFor(deps.plans, body);
    const key = idempotencyKeyOf(request);
    const buyer = await buyerOf(deps, { email: body.email, call, request });
    const who = buyer.account === null ? buyer.email.toLowerCase() : buyer.account.id;
    const requestHash = key === undefined ? null : sha256(JSON.stringify([key, who]));
    return one({ url: await openCheckout(deps, billing, { ...sold, buyer, requestHash }) });
  },
});

type Buyer = { account: Account; email: null } | { account: null; email: string };

/** The account of the call, or without one the e-mail address. @throws Failure `rate_limited` for too many requests with an address. */
async function buyerOf(
  deps: ServiceDeps,
  { email, call, request }: { email: string | undefined; call: ServiceCall; request: Request },
): Promise<Buyer> {
  if (call.identity.accountId === null) {
    if (email === undefined) refuseField('email', '"email" is required without an API key or a session.');
    await deps.throttle.mail('checkout', { email, ip: clientInfoOf(request).ip });
    return { account: null, email };
  }
  if (email !== undefined) refuseField('email', '"email": the account has one already. Leave it out.');
  return { account: await findAccount(deps, requesterOf(call).accountId), email: null };
}

/** The plan and price to buy; the price comes from the plans, never from a request. @throws Failure `invalid_body`. */
function soldFor(
  plans: Plans,
  { plan: id, interval }: z.output<typeof wish>,
): { plan: string; price: PlanPrice } {
  const plan = plans.get(id);
  const sold = plans.all.filter(({ prices }) => prices.length > 0).map((each) => each.id);
  if (plan === undefined || plan.prices.length === 0) {
    const known = sold.length === 0 ? 'No plan is for sale.' : `For sale: ${sold.join(', ')}.`;
    refuseField('plan', `"plan" is not for sale here. ${known}`);
  }
  const shortest = intervals.find((each) => plan.prices.some((price) => price.interval === each));
  const price = plan.prices.find((each) => each.interval === (interval ?? shortest));
  if (price === undefined) {
    const known = plan.prices.map((each) => each.interval).join(', ');
    refuseField('interval', `"interval": ${plan.name} is not sold for this interval, but for: ${known}.`);
  }
  return { plan: plan.id, price };
}

interface Order {
  plan: string;
  price: PlanPrice;
  buyer: Buyer;
  /** Identifies the buyer's Idempotency-Key; null without one. */
  requestHash: string | null;
}

/** @returns the URL of Stripe's page. */
async function openCheckout(deps: ServiceDeps, billing: Billing, order: Order): Promise<string> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    if (order.requestHash !== null) await releaseRequest(deps.db, order.requestHash, deps.clock.now());
    const checkout = await deps.db.inLedgerTransaction((transaction) => reserve(deps, transaction, order));
    const isWanted = checkout.plan === order.plan && checkout.interval === order.price.interval;
    const url =
      checkout.sessionId === null
        ? await makeSession(deps, billing, checkout, { ...order, isWanted })
        : await reopen(deps, billing, { ...checkout, sessionId: checkout.sessionId }, isWanted);
    if (url !== null) return url;
  }
  return fail('conflict', 'Other requests are starting a purchase for this account. Try again.');
}

/**
 * The open checkout of the buyer, or a new one.
 * @throws Failure `already_subscribed` if the account has a live subscription, `idempotency_mismatch`.
 */
async function reserve(deps: ServiceDeps, transaction: Transaction, order: Order): Promise<Checkout> {
  const { db, clock } = deps;
  const { account, email } = order.buyer;
  const { requestHash } = order;
  const now = clock.now();
  if (account !== null) {
    await lockOwnAccount(deps, transaction, account.id);
    if ((await selectSubscriptions(db, [account.id], transaction)).some(isLive)) failSubscribed();
  }
  const known = requestHash === null ? null : await selectCheckoutOfRequest(db, transaction, requestHash);
  if (known !== null) {
    if (known.plan !== order.plan || known.interval !== order.price.interval)
      fail('idempotency_mismatch', 'This Idempotency-Key was used with a different body. Use a new one.');
    if (known.paidAt !== null) failPaid();
    return known;
  }
  const open = account === null ? null : await selectOpenCheckout(db, transaction, account.id);
  if (open !== null) return open;
  const id = newId('chk');
  const checkout = {
    ...{ id, accountId: account?.id ?? null, email, plan: order.plan, interval: order.price.interval },
    expiresAt: new Date(now.getTime() + openMs),
  };
  const claimHash = sha256(deps.claimTokenOf(id));
  const isNew = await insertCheckout(db, transaction, {
    ...checkout,
    claimHash,
    requestHash,
    createdAt: now,
  });
  if (!isNew) {
    fail('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
      headers: { 'retry-after': '1' },
    });
  }
  const rest = { sessionId: null, url: null, paidAt: null, hasKey: false, claimedAt: null, closedAt: null };
  return { ...checkout, ...rest };
}

function failSubscribed(): never {
  fail(
    'already_subscribed',
    'The account has a subscription already. Change or pay it at the billing portal: GET /v1/billing/portal.',
  );
}

function failPaid(): never {
  fail('conflict', 'The purchase with this Idempotency-Key is already paid. Use a new key.');
}

/**
 * The page of an open checkout, if it is still open at Stripe and for the same plan. Otherwise the checkout is closed, also at Stripe, so that two
 * cannot both be paid.
 * @returns null if it was closed: try again. @throws Failure `already_subscribed` if it was just paid.
 */
async function reopen(
  deps: ServiceDeps,
  billing: Billing,
  { id, sessionId, url, accountId }: Checkout & { sessionId: string },
  isWanted: boolean,
): Promise<string | null> {
  const { db, clock } = deps;
  // A payer without an account has no stored subscription that would reveal an earlier payment.
  const session = await askStripe(fetchSession(billing.stripe, sessionId));
  if (session?.status === 'complete') {
    if (session.customerId !== null) await askForCustomer(db, null, session.customerId, clock.now());
    if (accountId !== null) failSubscribed();
    failPaid();
  }
  if (session?.status === 'open' && isWanted) return url;
  if (session?.status === 'open' && !(await askStripe(expireSession(billing.stripe, sessionId)))) return null;
  await closeCheckout(db, null, id, clock.now());
  return null;
}

/**
 * Creates the session of a checkout at Stripe. Requests for the same checkout are identical to Stripe, which creates one session.
 * @returns its URL; null if the checkout was closed because the session cannot be created: try again.
 */
async function makeSession(
  deps: ServiceDeps,
  billing: Billing,
  checkout: Checkout,
  order: Order & { isWanted: boolean },
): Promise<string | null> {
  const { db, clock, log } = deps;
  const now = clock.now();
  const isStale = now.getTime() > checkout.expiresAt.getTime() - openMs + madeWithinMs;
  if (!order.isWanted || isStale) {
    await closeUnmade(db, checkout.id, now);
    return null;
  }
  const price = await askStripe(findPrice(billing.stripe, order.price));
  if ('fault' in price) {
    log.error(
      { plan: order.plan, fault: price.fault },
      'a plan cannot be bought: its price at Stripe differs',
    );
    await closeUnmade(db, checkout.id, now);
    fail('billing_not_configured', `${order.plan} cannot be bought now: its price is being set up.`);
  }
  const { account } = order.buyer;
  const customer = account && (await askStripe(customerOf(deps, billing, account)));
  const session = await askStripe(
    requestSession(deps, billing, checkout, { priceId: price.id, customer }),
  ).catch(async (error: unknown) => {
    if (customer === null || !isMissing(error)) throw error;
    await noteDeleted(db, customer, now); // deleted at Stripe, without an event so far
    return null;
  });
  if (session?.url == null) {
    await closeUnmade(db, checkout.id, now);
    return null;
  }
  const { id: sessionId, url } = session;
  const checkAt = new Date(now.getTime() + hourMs);
  if (await storeSession(db, { id: checkout.id, sessionId, url, checkAt })) return url;
  await askStripe(expireSession(billing.stripe, sessionId)); // a request for another plan has replaced it
  return null;
}

/** The Stripe customer of an account, created with its first purchase; concurrent requests create only one. @throws StripeError. */
async function customerOf(
  deps: ServiceDeps,
  { stripe }: Billing,
  { id: accountId, email, name }: Account,
): Promise<string> {
  const [known] = await selectCustomersOf(deps.db, accountId);
  if (known !== undefined) return known;
  const deleted = await countDeletedCustomersOf(deps.db, accountId);
  const parameters = { email, ...(name === null ? {} : { name }), metadata: { account_id: accountId } };
  const { id } = await stripe.customers.create(parameters, {
    idempotencyKey: `customer:${accountId}:${deleted}:${digestOf(parameters)}`,
  });
  if (!(await insertCustomerOf(deps.db, id, accountId, deps.clock.now()))) failDeleted();
  return id;
}

function requestSession(
  { settings: { publicUrl }, claimTokenOf }: ServiceDeps,
  { stripe }: Billing,
  { id, accountId, email, plan, expiresAt }: Checkout,
  { priceId, customer }: { priceId: string; customer: string | null },
) {
  const metadata = { checkout: id, plan, ...(accountId === null ? {} : { account_id: accountId }) };
  const back = `${publicUrl}${returnPath}`;
  const parameters = {
    mode: 'subscription' as const,
    line_items: [{ price: priceId, quantity: 1 }],
    ...(customer === null ? { customer_email: email ?? '' } : { customer }),
    client_reference_id: id,
    metadata,
    subscription_data: { metadata },
    // After `#`, which browsers send to no server.
    success_url: `${back}#claim=${claimTokenOf(id)}`,
    cancel_url: `${back}#cancelled`,
    expires_at: Math.floor(expiresAt.getTime() / 1000),
  };
  return stripe.checkout.sessions.create(parameters, {
    idempotencyKey: `checkout:${id}:${digestOf(parameters)}`,
  });
}

/** A part of an idempotency key: Stripe refuses a key with other parameters for a day, such as after a change of the e-mail address. */
function digestOf(parameters: object): string {
  return sha256(JSON.stringify(parameters)).slice(0, 16);
}

/** The page that Stripe returns the browser to. */
const returnPath = '/billing/return';
