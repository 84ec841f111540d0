// Finds out to which account a customer of Stripe belongs. Whoever pays without an account gets one: the account with the e-mail address
// that Stripe has taken, or a new one. Hides that only a new account's first key is for its payer.
import type { Transaction } from 'sequelize';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import { emailField } from '../fields.ts';
import { newId } from '../ids.ts';
import { findAccountByEmail } from '../operator/operator.sql.ts';
import { closeCheckout, notePaid, selectCheckout } from './checkouts.sql.ts';
import type { FetchedCustomer, FetchedSession } from './fetched.ts';

/**
 * The account of a customer that has none yet; null if it is not known. @param metadata names the account only where our own request
 * has made the customer: no payer can set it.
 */
export async function accountOfCustomer(
  deps: Deps,
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
    // An e-mail address without a payment is only a wish.
    const payer = email ?? checkout.email;
    if (!isPaid || payer === null) continue;
    const known = await findAccountByEmail(deps.db, payer, transaction);
    const accountId = known?.id ?? (await makeAccountOf(deps, transaction, payer));
    if (accountId === null) continue;
    await notePaid(deps.db, transaction, {
      ...{ id: checkout.id, accountId, hasKey: known === null, now: deps.clock.now() },
    });
    return accountId;
  }
  return null;
}

/** An account without a password, whose holder proves the mailbox to sign in. @returns null: no account can have the e-mail address. */
async function makeAccountOf(deps: Deps, transaction: Transaction, given: string): Promise<string | null> {
  // Stripe takes addresses that we do not, such as one with umlauts.
  const { success, data: email } = emailField.safeParse(given);
  if (!success) return null;
  const id = newId('acct');
  await deps.db.accounts.create(
    { id, email, name: null, plan: 'free', createdAt: deps.clock.now() },
    { transaction },
  );
  await audit(deps, transaction, {
    ...{ accountId: id, actor: { actorKind: 'visitor', actorId: null }, action: 'account.created' },
    detail: { email, plan: 'free', by: 'payment' },
  });
  return id;
}

/** Notes which checkouts of an account its sessions have ended. */
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
