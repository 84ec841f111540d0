// The customer of an account at Stripe: made once, when the account first buys something.
import type { Deps } from '../database.ts';
import type { Account } from '../models/account.ts';
import type { Billing } from './connection.ts';
import { countDeletedCustomersOf, insertCustomerOf, selectCustomersOf } from './customers.sql.ts';

/** The id of the customer; requests at the same time make one. @throws StripeError. */
export async function customerOf(
  deps: Deps,
  { stripe }: Billing,
  { id: accountId, email, name }: Account,
): Promise<string> {
  const [known] = await selectCustomersOf(deps.db, accountId);
  if (known !== undefined) return known;
  const deleted = await countDeletedCustomersOf(deps.db, accountId);
  const { id } = await stripe.customers.create(
    { email, ...(name === null ? {} : { name }), metadata: { account_id: accountId } },
    { idempotencyKey: `customer:${accountId}:${deleted}` },
  );
  await insertCustomerOf(deps.db, id, accountId, deps.clock.now());
  return id;
}
