// Applies an account's subscriptions to it. A live subscription decides plan and state; without one, the operator's plan applies.
import type { Transaction } from 'sequelize';
import type { Deps } from '../database.ts';
import { audit } from '../audit.ts';
import { emitEvents } from '../events.ts';
import type { Account } from '../models/account.ts';
import type { Actor } from '../models/audit-event.ts';
import { lockAccount } from '../models/find-account.ts';
import {
  noteCancelAsked,
  noteFailuresReported,
  selectGraceEnded,
  selectSubscriptions,
  type StoredSubscription,
} from './customers.sql.ts';
import {
  currentOf,
  isLive,
  entitlementOf,
  subscriptionDataOf,
  type SubscriptionData,
} from './subscription-status.ts';

const stripeActor: Actor = { actorKind: 'stripe', actorId: null };

/** How many graces are ended before the worker checks whether it should stop. */
const gracesAtOnce = 100;

/**
 * Sets plan and state of an account that the transaction has locked, from its stored subscriptions. Emits an event if they have changed.
 * @param before the state reported before the subscriptions were stored.
 */
export async function applySubscription(
  deps: Deps,
  transaction: Transaction,
  account: Account,
  before: SubscriptionData,
): Promise<void> {
  const { db, clock } = deps;
  const accountId = account.id;
  const subscriptions = await selectSubscriptions(db, [accountId], transaction);
  const current = currentOf(subscriptions);
  const { plan, state } = entitlementOf(current, clock.now());
  // Without a live subscription, the operator sets the plan. A live one keeps that plan for later.
  const own = account.subscriptionState === 'none' ? account.plan : (account.planSetAside ?? 'free');
  const next = { plan: plan ?? own, subscriptionState: state, planSetAside: plan === null ? null : own };
  if (next.plan !== account.plan || next.subscriptionState !== account.subscriptionState) {
    await account.update(next, { transaction });
  }
  const after = subscriptionDataOf(account, current);
  if (JSON.stringify(after) !== JSON.stringify(before)) {
    const detail = { before, ...after };
    await audit(deps, transaction, { accountId, actor: stripeActor, action: 'subscription.updated', detail });
    await emitEvents(deps, transaction, { type: 'subscription.updated', accountId, data: after });
  }
  for (const each of subscriptions) await notifyOfFailure(deps, transaction, each);
  // A subscription without a plan may have been turned into another product at Stripe.
  const duplicates = subscriptions.filter((each) => isLive(each) && each.plan !== null && each !== current);
  for (const { id, cancelAskedAt, customerId, invoice } of duplicates) {
    if (cancelAskedAt !== null) continue;
    await noteCancelAsked(db, transaction, id, clock.now());
    // The paid amount becomes a credit of a customer who is no longer charged: only the operator can pay it back.
    const paid =
      invoice?.status === 'paid' ? { amount: invoice.amount_due, currency: invoice.currency } : null;
    const detail = { subscription: id, kept: current?.id, customer: customerId, invoice: invoice?.id, paid };
    await audit(deps, transaction, {
      ...{ accountId, actor: stripeActor, action: 'subscription.duplicate_canceled', detail },
    });
  }
}

/** Reports a failed payment, once per attempt. Attempts that are fetched together are reported as one. */
async function notifyOfFailure(
  deps: Deps,
  transaction: Transaction,
  { id, accountId, status, invoice, failuresReported }: StoredSubscription,
): Promise<void> {
  // A bank debit can be pending for days, neither paid nor failed: the subscription then stays active.
  const isFailing = status === 'past_due' || status === 'unpaid';
  if (!isFailing || invoice?.status !== 'open' || invoice.attempts <= failuresReported) return;
  await noteFailuresReported(deps.db, transaction, id, invoice.attempts);
  const { amount_due, currency, next_attempt_at } = invoice;
  const data = { invoice: invoice.id, amount_due, currency, next_attempt_at };
  await audit(deps, transaction, { accountId, actor: stripeActor, action: 'payment.failed', detail: data });
  await emitEvents(deps, transaction, { type: 'payment.failed', accountId, data });
}

/**
 * Ends the service of at most 100 accounts whose grace is over. Stripe is not asked, so this also works while Stripe is unavailable.
 * @returns how many accounts are no longer served; those that another subscription keeps served do not count.
 */
export async function endGraces(deps: Deps): Promise<number> {
  const { db, clock } = deps;
  const now = clock.now();
  const accountIds = await selectGraceEnded(db, now);
  const stored = Map.groupBy(await selectSubscriptions(db, accountIds), (each) => each.accountId);
  const isServed = (id: string) => entitlementOf(currentOf(stored.get(id) ?? []), now).state === 'active';
  let count = 0;
  for (const accountId of accountIds.filter((id) => !isServed(id)).slice(0, gracesAtOnce)) {
    const hasEnded = await db.inTransaction(async (transaction) => {
      const account = await lockAccount(deps, transaction, accountId);
      if (account?.subscriptionState !== 'active') return false; // deleted, or changed meanwhile
      const subscriptions = await selectSubscriptions(db, [accountId], transaction);
      await applySubscription(
        deps,
        transaction,
        account,
        subscriptionDataOf(account, currentOf(subscriptions)),
      );
      return account.subscriptionState !== 'active';
    });
    if (hasEnded) count += 1;
  }
  return count;
}
