// Revokes the keys and sessions and unlinks the Google identity of an account whose mailbox is proved for the first time, possibly by
// someone other than its maker.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/**
 * Ends an account's keys and sessions and unlinks its Google identity; the caller sets password and e-mail address.
 * @returns the keys that are revoked by it.
 */
export function revokeUnprovenAccess(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  now: Date,
): Promise<{ id: string; name: string; mask: string }[]> {
  return db.sequelize.query(
    `with ended as (delete from accounts.sessions where account_id = $1),
          unlinked as (delete from accounts.identities where account_id = $1)
     update accounts.api_keys set revoked_at = $2, slot = null where account_id = $1 and revoked_at is null
     returning id, name, mask`,
    { bind: [accountId, now], type: QueryTypes.SELECT, transaction },
  );
}
