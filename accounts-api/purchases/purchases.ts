// Purchases made without a session, with the e-mail address of an account. The account's holder sees them and can move them into the account. Until
// then, a purchase is an account of its own.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { entryAt, memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { planOf } from '../../kernel/plans.ts';
import { accountRecord, accountSchema } from '../account/account.ts';
import { lockAccount } from '../models/find-account.ts';
import { lockOwnedRows, lockRowsOf } from '../models/lock-order.sql.ts';
import { endCheckout } from '../account/closing.ts';
import { audit } from '../audit.ts';
import { moveCheckouts, selectOpenCheckout } from '../billing/checkouts.sql.ts';
import { selectSubscriptions } from '../billing/customers.sql.ts';
import { applySubscription } from '../billing/apply-subscription.ts';
import { currentOf, isLive, isPending, subscriptionDataOf } from '../billing/subscription-status.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import type { Account } from '../models/account.ts';
import type { SignedIn } from '../requester.ts';
import { moveCustomers, selectPurchasesFor } from './purchases.sql.ts';

const purchaseSchema = z.object({
  id: z.string(),
  plan: z.string().describe('An id of `/v1/plans`.'),
  served: z.boolean().describe('Whether it is paid, so that it can be moved into the account.'),
  created_at: z.iso.datetime(),
});

export const listPurchases = endpoint({
  summary: 'Purchases made with the e-mail address of the account, without a session.',
  description:
    'Lists purchases with a subscription, for an account whose e-mail address is proved. They do not belong to the account until its holder moves one into it.',
  requester: 'signed_in',
  query: listParams({ fields: purchaseSchema.keyof().options, sorts: ['created_at'], sort: '-created_at' }),
  rows: purchaseSchema,
  handler: async (deps, { requester: { accountId }, query, call }) => {
    const found = await call.stage('sql', () => selectPurchasesFor(deps.db, null, accountId));
    const rows = found.map(({ id, plan, isServed, createdAt }) => ({
      ...{ id, plan: planOf(deps.plans, plan).id, served: isServed, created_at: instantText(createdAt) },
    }));
    return page(deps.cursors, {
      query,
      of: ['purchases', accountId],
      fileName: 'purchases',
      read: inMemory(rows, query.sort, ({ id }, position) => [
        entryAt(found, position).createdAt.getTime(),
        id,
      ]),
    });
  },
});

export const movePurchase = endpoint({
  summary: 'Moves a purchase into the account, which then has its subscription.',
  description:
    'The keys and webhooks of the payer end, as the payer may be somebody else. An open Stripe page of the account is closed first.',
  requester: 'signed_in',
  params: { id: z.string().describe('An id of `/v1/billing/purchases`.') },
  answers: { 200: accountSchema },
  errors: ['not_found', 'already_subscribed', 'conflict', 'billing_not_configured', 'unavailable'],
  handler: async (deps, { requester, params }) => {
    const id = memberOf(params, 'id');
    await requireOffered(deps, null, { accountId: requester.accountId, id });
    for (const accountId of [requester.accountId, id])
      if (!(await endCheckout(deps, accountId))) failChanged();
    const account = await deps.db.inTransaction((transaction) =>
      moveIntoAccount(deps, transaction, { requester, id }),
    );
    return one(await accountRecord(deps, account));
  },
});

/**
 * Moves the customers of a purchase, and deletes its account. Every transaction that locks several of these rows must use this lock order.
 * @returns the holder's account afterwards.
 */
async function moveIntoAccount(
  deps: ServiceDeps,
  transaction: Transaction,
  { requester: { accountId, actor }, id }: { requester: SignedIn; id: string },
): Promise<Account> {
  const { db, clock } = deps;
  await lockRowsOf(db, transaction, 'accounts.billing_customers', id);
  await moveCheckouts(db, transaction, { from: id, to: accountId, now: clock.now() });
  await lockRowsOf(db, transaction, 'accounts.quota_months', id);
  const [account, bought] = await lockBoth(deps, transaction, { accountId, id });
  const { plan } = await requireOffered(deps, transaction, { accountId, id });
  const own = await selectSubscriptions(db, [accountId], transaction);
  if (own.some((each) => isLive(each) || isPending(each))) failSubscribed();
  // A checkout that began after this request's check could be paid in addition to the purchase.
  if ((await selectOpenCheckout(db, transaction, accountId)) !== null) failChanged();
  const before = subscriptionDataOf(account, currentOf(own));
  await moveCustomers(db, transaction, { from: id, to: accountId });
  await lockOwnedRows(db, transaction, id);
  await bought.destroy({ transaction }); // also deletes its keys and webhooks
  await audit(deps, transaction, {
    accountId: id,
    actor,
    action: 'account.closed',
    detail: { into: accountId },
  });
  const detail = { plan };
  await audit(deps, transaction, { accountId, actor, action: 'purchase.taken', subject: id, detail });
  await applySubscription(deps, transaction, account, before);
  return account;
}

/** Locks the account of the holder and that of the purchase, ordered by their ids: two holders may each claim the other's. */
async function lockBoth(
  deps: ServiceDeps,
  transaction: Transaction,
  { accountId, id }: { accountId: string; id: string },
): Promise<[Account, Account]> {
  const locked = new Map<string, Account>();
  for (const each of [accountId, id].toSorted()) {
    const account = await lockAccount(deps, transaction, each);
    if (account !== null) locked.set(each, account);
  }
  const [account, bought] = [locked.get(accountId), locked.get(id)];
  if (account === undefined || bought === undefined) failUnknown();
  return [account, bought];
}

/** @throws Failure `not_found` if the holder may not claim the purchase, `conflict` while it is unpaid. */
async function requireOffered(
  { db }: ServiceDeps,
  transaction: Transaction | null,
  { accountId, id }: { accountId: string; id: string },
): Promise<{ plan: string }> {
  const found = (await selectPurchasesFor(db, transaction, accountId)).find((each) => each.id === id);
  if (found === undefined) failUnknown();
  if (!found.isServed) {
    fail('conflict', `The purchase is not paid. Pay it first: GET /v1/billing/portal?purchase=${id}.`);
  }
  return found;
}

function failSubscribed(): never {
  fail(
    'already_subscribed',
    'The account has a subscription of its own, or the first payment of one is pending. Cancel that subscription first, or the one of the purchase: GET /v1/billing/portal.',
  );
}

function failChanged(): never {
  fail('conflict', 'A plan has just been bought for the account. Reload it and try again.');
}

function failUnknown(): never {
  fail('not_found', 'There is no purchase with this id for the account.');
}
