// Finds the account of a Stripe customer. A payer without an account gets a new one even if another account has the e-mail address: the payer has not
// proved the mailbox, so the other account must not change.
import type { Transaction } from 'sequelize';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { emailField } from '../fields.ts';
import { newId } from '../ids.ts';
import { closeCheckout, notePaid, selectCheckout } from './checkouts.sql.ts';
import type { FetchedCustomer, FetchedSession } from './fetched.ts';

export interface PayerDeps extends Deps {
  readonly jobs: Jobs;
}

/**
 * The account of a customer that has none yet; null if it is not known. `customer.accountId` is from the customer's metadata at Stripe, which only
 * our own requests set: a payer cannot.
 */
export async function accountOfCustomer(
  deps: PayerDeps,
  transaction: Transaction,
  customer: FetchedCustomer,
  sessions: readonly FetchedSession[],
): Promise<string | null> {
  if (customer.accountId !== null) {
    const account = await deps.db.accounts.findByPk(customer.accountId, { transaction });
    if (account !== null) return account.id;
  }
  for (const { checkoutId, isPaid, email } of sessions) {
    const checkout = checkoutId === null ? null : await selectCheckout(deps.db, transaction, checkoutId);
    if (checkout === null) continue;
    if (checkout.accountId !== null) return checkout.accountId;
    // An e-mail address counts only with a payment.
    const payer = email ?? checkout.email;
    if (!isPaid || payer === null) continue;
    const accountId = await makeAccountOf(deps, transaction, { email: payer, plan: checkout.plan });
    if (accountId === null) continue;
    const now = deps.clock.now();
    await notePaid(deps.db, transaction, { id: checkout.id, accountId, hasKey: true, now });
    return accountId;
  }
  return null;
}

/**
 * An account that only its key can access until the mailed link proves the mailbox. The worker that writes the e-mail checks later whether another
 * account has the e-mail address. @returns null if no account can have the e-mail address.
 */
async function makeAccountOf(
  deps: PayerDeps,
  transaction: Transaction,
  { email: given, plan }: { email: string; plan: string },
): Promise<string | null> {
  // Stripe accepts addresses that we do not, such as one with umlauts.
  const { success, data: email } = emailField.safeParse(given);
  if (!success) return null;
  const id = newId('acct');
  await deps.db.accounts.create(
    { id, email, emailSignsIn: false, name: null, plan: 'free', createdAt: deps.clock.now() },
    { transaction },
  );
  await audit(deps, transaction, {
    ...{ accountId: id, actor: { actorKind: 'visitor', actorId: null }, action: 'account.created' },
    detail: { email, plan: 'free', by: 'payment' },
  });
  await deps.jobs.enqueue(transaction, { mail: 'purchase', accountId: id, plan });
  return id;
}

/** Records which checkouts of an account were paid, or closed without payment, according to their sessions at Stripe. */
export async function noteSessions(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  sessions: readonly FetchedSession[],
): Promise<void> {
  const now = deps.clock.now();
  for (const { checkoutId: id, isPaid, status } of sessions) {
    if (id === null) continue;
    if (isPaid) await notePaid(deps.db, transaction, { id, accountId, hasKey: false, now });
    else if (status !== 'open') await closeCheckout(deps.db, transaction, id, now);
  }
}
