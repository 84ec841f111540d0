// Deletes an account for its holder. Open checkouts and subscriptions are ended first, so that nobody can pay for a deleted account.
import type { Transaction } from 'sequelize';
import { fail } from '../../kernel/errors.ts';
import { audit } from '../audit.ts';
import { requireFresh } from '../sessions/sessions.ts';
import { closeCheckout, closeUnmade, selectOpenCheckout } from '../billing/checkouts.sql.ts';
import { askStripe, expireSession } from '../billing/connection.ts';
import { selectSubscriptions } from '../billing/customers.sql.ts';
import { fetchSession } from '../billing/fetched.ts';
import { askForCustomer } from '../billing/inbox.sql.ts';
import { isPending } from '../billing/subscription-status.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { notify } from '../jobs/jobs.ts';
import type { Account } from '../models/account.ts';
import { findAccount, lockAccountIfUnchanged } from '../models/find-account.ts';
import { lockOwnedRows, lockRowsOf } from '../models/lock-order.sql.ts';

export const closeAccount = endpoint({
  summary: 'Closes the account permanently, with its keys and sessions.',
  description:
    'Needs a sign-in within the last hour. An open payment page at Stripe, on which a plan could still be bought, is closed first.',
  requester: 'signed_in',
  answers: { 204: null },
  errors: ['reauthentication_required', 'conflict', 'billing_not_configured', 'unavailable'],
  handler: async (deps, { requester }) => {
    const account = await findAccount(deps, requester.accountId);
    await requireFresh(deps, requester, account);
    refuseSubscribed(account);
    if (!(await endCheckout(deps, account.id))) {
      fail('conflict', 'A plan has just been bought for the account. Reload the account, then close it.');
    }
    await deps.db.inTransaction(async (transaction) => {
      const { id: accountId, email } = account;
      await lockRowsOf(deps.db, transaction, 'accounts.billing_customers', accountId);
      await lockRowsOf(deps.db, transaction, 'accounts.quota_months', accountId);
      if (!(await lockAccountIfUnchanged(deps, transaction, account))) {
        fail('conflict', 'The account has just been changed elsewhere. Reload it, then close it.');
      }
      refuseSubscribed(await account.reload({ transaction }));
      await refusePayable(deps, transaction, accountId);
      await lockOwnedRows(deps.db, transaction, accountId);
      // Keys, sessions, identities and links are deleted with the row. The audit log and the usage ledger remain, without the e-mail address.
      await account.destroy({ transaction });
      await audit(deps, transaction, { accountId, actor: requester.actor, action: 'account.closed' });
      await notify(deps, transaction, 'account_closed', email);
    });
    return { status: 204 };
  },
});

/**
 * Closes the open checkout of an account, also at Stripe. Without a connection to Stripe, it stays open.
 * @returns false if it was paid. @throws Failure `unavailable` if Stripe does not answer.
 */
export async function endCheckout({ db, clock, billing }: ServiceDeps, accountId: string): Promise<boolean> {
  const checkout = billing === null ? null : await selectOpenCheckout(db, null, accountId);
  if (billing === null || checkout === null) return true;
  const { id, sessionId } = checkout;
  if (sessionId === null) {
    await closeUnmade(db, id, clock.now()); // a request that is creating its session finds it closed, and closes the session
    return true;
  }
  const session = await askStripe(fetchSession(billing.stripe, sessionId));
  if (session?.status === 'complete' && session.customerId !== null) {
    await askForCustomer(db, null, session.customerId, clock.now());
  }
  const isOver =
    session?.status === 'complete' ||
    (session?.status === 'open' && !(await askStripe(expireSession(billing.stripe, sessionId))));
  if (isOver) return false;
  await closeCheckout(db, null, id, clock.now());
  return true;
}

function refuseSubscribed({ subscriptionState }: Account): void {
  if (subscriptionState === 'none') return;
  fail('conflict', 'The account has a subscription. Cancel it first: GET /v1/billing/portal.');
}

/** @throws Failure `conflict` if the account, which the transaction has locked, can still be paid for. */
async function refusePayable(
  { db, billing }: ServiceDeps,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  if (billing === null) return;
  if ((await selectOpenCheckout(db, transaction, accountId)) !== null) {
    fail('conflict', 'A purchase has just been started for the account. Try again.');
  }
  if ((await selectSubscriptions(db, [accountId], transaction)).some(isPending)) {
    fail(
      'conflict',
      'The first payment of a subscription is pending. Close the account after the payment was made and the subscription was cancelled, or after the payment has expired (a day at most).',
    );
  }
}
