// Fetches customers from Stripe and applies their subscriptions. An event only reports that something changed: the state is fetched, so late,
// repeated and reordered events do no harm. One process fetches a customer at a time, under a lease; Stripe is never called within a transaction.
import type { Log } from '../../kernel/log/log.ts';
import { isMissing, type Billing } from './connection.ts';
import {
  endFailedLease,
  endLease,
  lockLeasedCustomer,
  leaseDueCustomers,
  replaceSubscriptions,
  selectSubscriptions,
  type Lease,
  type StoredSubscription,
} from './customers.sql.ts';
import { fetchCustomer, fetchSession, fetchSessionsOf, type FetchedCustomer } from './fetched.ts';
import { askForCustomer, markHandled } from './inbox.sql.ts';
import { closeCheckout, claimCheckoutsToCheck } from './checkouts.sql.ts';
import { accountOfCustomer, noteSessions, type PayerDeps } from './payers.ts';
import { applySubscription } from './apply-subscription.ts';
import { lockAccount } from '../models/find-account.ts';
import { currentOf, isKnown, isLive, subscriptionDataOf, type Subscription } from './subscription-status.ts';

export interface SyncDeps extends PayerDeps {
  billing: Billing;
  log: Log;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Longer than most fetches take. A fetch that takes longer writes nothing, and the customer is fetched again, with a longer lease. */
const leaseMs = minuteMs;
const customersAtOnce = 8;
const retryMs = { first: 15_000, most: hourMs };
/** How soon after a fetch the next one is due without an event: more often for a status that Stripe is about to change. */
const reconcileMs = { transient: hourMs, other: 24 * hourMs };
const checkSessionsMs = hourMs;
/** How long to wait for a payment by a slow method, such as a bank debit or a voucher. */
const slowPaymentMs = 60 * 24 * hourMs;

export interface Syncing {
  /** Begins to fetch due customers, as many as there are free slots; waits for a slot if there is none. @returns how many. */
  begin(): Promise<number>;
  /** Resolves when all fetches that have begun have ended. */
  end(): Promise<void>;
}

/** Fetches at most eight customers at once. A slow fetch occupies only its own slot. */
export function startSyncing(deps: SyncDeps): Syncing {
  const inFlight = new Set<Promise<void>>();
  return {
    async begin() {
      if (inFlight.size >= customersAtOnce) await Promise.race(inFlight);
      const now = deps.clock.now();
      const leases = await leaseDueCustomers(deps.db, {
        now,
        leasedUntil: new Date(now.getTime() + leaseMs),
        most: customersAtOnce - inFlight.size,
      });
      for (const lease of leases) {
        const run = syncLeased(deps, lease)
          .catch((error: unknown) =>
            deps.log.warn(
              { err: error, customer: lease.customerId },
              'could not record a failed fetch from Stripe; will retry when its lease has ended',
            ),
          )
          .finally(() => inFlight.delete(run));
        inFlight.add(run);
      }
      return leases.length;
    },
    async end() {
      await Promise.all(inFlight);
    },
  };
}

/** A failure is logged, and the customer is fetched again after at most an hour. */
async function syncLeased(deps: SyncDeps, lease: Lease): Promise<void> {
  try {
    await syncCustomer(deps, lease);
  } catch (error) {
    const waitMs = Math.min(retryMs.most, retryMs.first * 2 ** Math.min(lease.failures, 20));
    const dueAt = new Date(deps.clock.now().getTime() + waitMs);
    const text = error instanceof Error ? error.message : String(error);
    deps.log.warn(
      { err: error, customer: lease.customerId },
      'a customer could not be fetched from Stripe; will retry',
    );
    await endFailedLease(deps.db, lease, { dueAt, error: text });
  }
}

async function syncCustomer(deps: SyncDeps, lease: Lease): Promise<void> {
  const { db, plans, billing, log } = deps;
  const { customerId } = lease;
  const customer = await fetchCustomer(billing, plans, customerId);
  const sessions = customer.isDeleted ? [] : await fetchSessionsOf(billing.stripe, customerId);
  const applied = await db.inTransaction(async (transaction) => {
    const locked = await lockLeasedCustomer(db, transaction, lease);
    if (locked === undefined) return null; // another fetch has begun since, and its state is at least as new
    const found = locked.accountId ?? (await accountOfCustomer(deps, transaction, customer, sessions));
    const account = found === null ? null : await lockAccount(deps, transaction, found);
    const stored = account === null ? [] : await selectSubscriptions(db, [account.id], transaction);
    const before = account && subscriptionDataOf(account, currentOf(stored));
    await replaceSubscriptions(db, transaction, customerId, customer.subscriptions);
    const now = deps.clock.now();
    const isWaiting = sessions.some(({ checkoutId, isPaid }) => checkoutId !== null && !isPaid);
    const isParked = account === null && !isWaiting && customer.subscriptions.some(paysForPlan);
    if (isParked && !locked.isParked)
      log.error({ customer: customerId }, 'a Stripe customer pays for a plan but has no account');
    await endLease(db, transaction, lease, {
      ...{ now, accountId: account?.id ?? null, isDeleted: customer.isDeleted, isParked },
      dueAt: account !== null || isParked || isWaiting ? nextFetchAt(customer, now) : null,
    });
    await markHandled(db, transaction, { customerId, upTo: lease.eventNo, now });
    if (account === null || before === null) return null;
    await noteSessions(deps, transaction, account.id, sessions);
    await applySubscription(deps, transaction, account, before);
    return { accountId: account.id, stored };
  });
  if (applied !== null) await handleAnomalies(deps, applied);
}

/** Whether it pays for a plan. */
function paysForPlan(subscription: Subscription): boolean {
  return isLive(subscription) && subscription.plan !== null;
}

function nextFetchAt({ isDeleted, subscriptions }: FetchedCustomer, now: Date): Date | null {
  if (isDeleted || subscriptions.length === 0) return null;
  const isTransient = subscriptions.some(({ status }) => status === 'past_due' || status === 'incomplete');
  return new Date(now.getTime() + (isTransient ? reconcileMs.transient : reconcileMs.other));
}

/**
 * Reports once to the operator what is paid for but not understood, and cancels an account's second live subscription, crediting the rest of its
 * period. After an error this is retried. @param stored the subscriptions before this fetch.
 */
async function handleAnomalies(
  { db, clock, log, billing }: SyncDeps,
  { accountId, stored }: { accountId: string; stored: readonly StoredSubscription[] },
): Promise<void> {
  const subscriptions = (await selectSubscriptions(db, [accountId])).filter(isLive);
  const current = currentOf(subscriptions);
  for (const each of subscriptions) {
    const { id, status, plan, priceId, customerId, cancelAskedAt } = each;
    const where = { account_id: accountId, subscription: id };
    const before = stored.find((other) => other.id === id);
    if (!isKnown(each) && before?.status !== status)
      log.error({ ...where, status }, 'a subscription has an unknown status: its calls are refused');
    if (plan === null && before?.plan !== null)
      log.error(
        { ...where, price: priceId },
        'a subscription has a price that belongs to no plan: its calls are served under the free plan',
      );
    if (cancelAskedAt === null || each === current) continue;
    log.error(
      where,
      'an account has a second subscription, which is now cancelled; check whether to refund it',
    );
    await billing.stripe.subscriptions.cancel(id, { prorate: true }).catch((error: unknown) => {
      if (!isMissing(error)) throw error; // it has ended meanwhile
    });
    await askForCustomer(db, null, customerId, clock.now());
  }
}

/**
 * Asks Stripe for the state of open checkouts whose events never came. For a paid one the customer is fetched; one that has expired, or has waited
 * too long for its payment, is closed. @returns how many were checked.
 */
export async function checkSessions(deps: SyncDeps): Promise<number> {
  const { db, clock, log, billing } = deps;
  const now = clock.now();
  const nextAt = new Date(now.getTime() + checkSessionsMs);
  const checkouts = await claimCheckoutsToCheck(db, { now, nextAt, most: 20 });
  for (const { id, sessionId, expiresAt } of checkouts) {
    try {
      const session = sessionId === null ? null : await fetchSession(billing.stripe, sessionId);
      if (session?.status === 'complete' && session.customerId !== null) {
        await askForCustomer(db, null, session.customerId, now);
        const isGivenUp = now.getTime() >= expiresAt.getTime() + slowPaymentMs;
        // A later payment is still recorded while the row exists.
        if (!session.isPaid && isGivenUp) await closeCheckout(db, null, id, now);
      } else if (session?.status === 'expired' || expiresAt <= now) {
        await closeCheckout(db, null, id, now);
      }
    } catch (error) {
      log.warn({ err: error, checkout: id }, 'a session could not be fetched from Stripe; will retry');
    }
  }
  return checkouts.length;
}
