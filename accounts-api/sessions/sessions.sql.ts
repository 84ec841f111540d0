// The statements about sessions, except reading or writing a single row by id.
import { Op, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import { deleteFlowsOf } from './google.sql.ts';
import { deletePendingOf } from './pending.sql.ts';
import { idleHours, seenEveryMinutes } from './session-limits.ts';

export interface SessionCredentialRow {
  session_id: string;
  secret_hash: string;
  account_id: string;
  /** The plan id as stored. */
  plan: string;
  active: boolean;
  role: 'operator' | null;
  /** Whether the account has a second factor, an app or a passkey; only for an operator. */
  has_second_factor: boolean;
  /** Whether the session was opened by a passkey, or by a code besides the first factor. */
  two_factors: boolean;
  /** When all factors of the account last proved the identity: a password or Google, plus a code if there is a second factor. */
  auth_time: Date;
}

/** The sessions with these ids that have not ended, in any order; the caller compares their secrets. */
export function selectSessions(
  db: AccountsDatabase,
  ids: readonly string[],
  now: Date,
): Promise<SessionCredentialRow[]> {
  return db.read(
    `select session.id as session_id, session.secret_hash, session.account_id, account.plan,
            account.subscription_state <> 'inactive' as active, account.role, session.auth_time, session.two_factors,
            account.role = 'operator' and (
              exists (select from accounts.authenticators as app
                      where app.account_id = account.id and app.confirmed_at is not null)
              or exists (select from accounts.passkeys as passkey where passkey.account_id = account.id)) as has_second_factor
     from accounts.sessions as session join accounts.accounts as account on account.id = session.account_id
     where session.id = any($1::text[]) and session.idle_expires_at > $2 and session.absolute_expires_at > $2
       and account.status = 'active'`,
    { bind: [ids, now] },
  );
}

/** Extends the idle limit of sessions in use, at most once in five minutes. */
export async function touchSessions(db: AccountsDatabase, ids: readonly string[], now: Date): Promise<void> {
  await db.sequelize.query(
    `update accounts.sessions
     set last_seen_at = $2, idle_expires_at = $2::timestamptz + interval '${idleHours} hours'
     where id in (select id from accounts.sessions
                  where id = any($1::text[]) and last_seen_at <= $2::timestamptz - interval '${seenEveryMinutes} minutes'
                  order by id for no key update skip locked)`,
    { bind: [ids, now] },
  );
}

/** Ends an account's least recently used sessions beyond the maximum. @param id the new session, which is not ended. */
export async function endOldestSessions(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, id }: { accountId: string; id: string },
  sessionsMax: number,
): Promise<void> {
  await db.sequelize.query(
    `delete from accounts.sessions where id in (
       select id from accounts.sessions where account_id = $1 and id <> $2
       order by last_seen_at desc, created_at desc, id offset $3)`,
    { bind: [accountId, id, sessionsMax - 1], transaction },
  );
}

/**
 * Ends all sessions of an account except one, and deletes its Google flows, codes and pending sign-ins, which could open another session or link a
 * stranger's identity. Those are deleted first: the deletion waits for a code that is being exchanged, and then finds the session that it opened.
 * @param exceptId null: end all.
 * @returns the number of sessions.
 */
export async function endSessionsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  exceptId: string | null,
): Promise<number> {
  await deleteFlowsOf(db, transaction, accountId);
  await deletePendingOf(db, transaction, accountId);
  const others = exceptId === null ? {} : { id: { [Op.ne]: exceptId } };
  return db.sessions.destroy({ where: { accountId, ...others }, transaction });
}
