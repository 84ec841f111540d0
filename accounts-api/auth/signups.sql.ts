// The statements for a proved mailbox: the sign-ups that a mailed link may finish, and the end of access that others may have set up.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Signup } from '../models/signup.ts';

/** Limits how many passwords one use of a link compares. */
const signUpsMax = 10;

/**
 * The sign-up that a link was mailed for, then the newest others for the same e-mail address: the owner of the link owns the mailbox of all of them.
 * Empty if the link's sign-up has expired.
 */
export function findSignUpsOfLink(db: AccountsDatabase, signupId: string, now: Date): Promise<Signup[]> {
  return db.sequelize.query(
    `select each.*
     from accounts.signups as linked join accounts.signups as each on lower(each.email) = lower(linked.email)
     where linked.id = $1 and linked.expires_at > $2 and each.expires_at > $2
     order by each.id = $1 desc, each.created_at desc, each.id limit $3`,
    {
      bind: [signupId, now, signUpsMax],
      type: QueryTypes.SELECT,
      model: db.signups,
      mapToModel: true,
    },
  );
}

/**
 * Ends an account's keys and sessions and unlinks its Google identity; the caller sets the password and the e-mail address.
 * @returns the revoked keys.
 */
export function revokeUnprovenAccess(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  now: Date,
): Promise<{ id: string; name: string; mask: string }[]> {
  return db.read(
    `with ended as (delete from accounts.sessions where account_id = $1),
          unlinked as (delete from accounts.identities where account_id = $1)
     update accounts.api_keys set revoked_at = $2, slot = null where account_id = $1 and revoked_at is null
     returning id, name, mask`,
    { bind: [accountId, now], transaction },
  );
}
