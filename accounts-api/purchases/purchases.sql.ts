// The statements about purchases without a session: accounts created by a payment, for the owner of the mailbox that the payer named.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** An account created by a payment. */
export interface PurchaseRow {
  id: string;
  /** The plan id as stored. */
  plan: string;
  isServed: boolean;
  createdAt: Date;
}

/** The purchases that an account's holder may claim: those for its proved e-mail address that have a subscription. */
export function selectPurchasesFor(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<PurchaseRow[]> {
  return db.read(
    `select bought.id, bought.plan, bought.subscription_state = 'active' as "isServed", bought.created_at as "createdAt"
     from accounts.accounts as holder
     join accounts.accounts as bought on lower(bought.email) = lower(holder.email)
     where holder.id = $1 and holder.status = 'active' and holder.email_signs_in and holder.email_verified_at is not null
       and not bought.email_signs_in and bought.status = 'active' and bought.subscription_state <> 'none'
     order by bought.created_at, bought.id`,
    { bind: [accountId], transaction },
  );
}

/** Moves the customers of one account to another, with their subscriptions. */
export async function moveCustomers(
  db: AccountsDatabase,
  transaction: Transaction,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await db.sequelize.query('update accounts.billing_customers set account_id = $2 where account_id = $1', {
    bind: [from, to],
    transaction,
  });
}
