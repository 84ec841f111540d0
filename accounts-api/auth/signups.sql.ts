// The statement that finds the sign-ups which a mailed link may finish.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Signup } from '../models/signup.ts';

/** Bounds how many passwords one use of a link compares. */
const signUpsMax = 10;

/**
 * The sign-up that a link was mailed for, then the newest others for the same e-mail address: whoever has the link has the
 * mailbox of them all. None if that of the link has expired.
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
