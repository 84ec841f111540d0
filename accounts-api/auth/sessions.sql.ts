// The statements about sessions. A session that has ended has no row.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import { deleteFlowsOf } from './google.sql.ts';

/** How long a session lasts without a call, and in all. */
export const idleHours = 24;
export const absoluteDays = 14;
/** How often its use is written down. */
const seenEveryMinutes = 5;

export interface SessionCredentialRow {
  session_id: string;
  secret_hash: string;
  account_id: string;
  /** As stored. */
  plan: string;
  active: boolean;
}

/** The sessions of those ids that last still, in any order; their secrets are the caller's to compare. */
export function selectSessions(
  db: AccountsDatabase,
  ids: readonly string[],
  now: Date,
): Promise<SessionCredentialRow[]> {
  return db.sequelize.query(
    `select session.id as session_id, session.secret_hash, session.account_id, account.plan,
            account.subscription_state <> 'inactive' as active
     from accounts.sessions as session join accounts.accounts as account on account.id = session.account_id
     where session.id = any($1::text[]) and session.idle_expires_at > $2 and session.absolute_expires_at > $2
       and account.status = 'active'`,
    { bind: [ids, now], type: QueryTypes.SELECT },
  );
}

/** Moves the idle end of sessions in use forward, at most once in five minutes. */
export async function touchSessions(db: AccountsDatabase, ids: readonly string[], now: Date): Promise<void> {
  await db.sequelize.query(
    `update accounts.sessions
     set last_seen_at = $2, idle_expires_at = $2::timestamptz + interval '${idleHours} hours'
     where id in (select id from accounts.sessions
                  where id = any($1::text[]) and last_seen_at <= $2::timestamptz - interval '${seenEveryMinutes} minutes'
                  order by id for no key update skip locked)`,
    { bind: [ids, now], type: QueryTypes.RAW },
  );
}

export interface SessionRow {
  id: string;
  created_at: Date;
  last_seen_at: Date;
  idle_expires_at: Date;
  absolute_expires_at: Date;
  auth_time: Date;
  ip: string;
  user_agent: string;
}

const columns =
  'id, created_at, last_seen_at, idle_expires_at, absolute_expires_at, auth_time, ip, user_agent';

/** The sessions of an account that last still, in any order. */
export function selectSessionsOf(db: AccountsDatabase, accountId: string, now: Date): Promise<SessionRow[]> {
  return db.sequelize.query(
    `select ${columns} from accounts.sessions
     where account_id = $1 and idle_expires_at > $2 and absolute_expires_at > $2`,
    { bind: [accountId, now], type: QueryTypes.SELECT },
  );
}

/** When the holder of a session last proved who it is; null where the session has ended. */
export async function selectAuthTime(db: AccountsDatabase, id: string): Promise<Date | null> {
  const rows = await db.sequelize.query<{ auth_time: Date }>(
    'select auth_time from accounts.sessions where id = $1',
    { bind: [id], type: QueryTypes.SELECT },
  );
  return rows[0]?.auth_time ?? null;
}

/** Stores a new session and ends the account's oldest beyond the number that may last. */
export async function insertSession(
  db: AccountsDatabase,
  transaction: Transaction,
  session: { id: string; accountId: string; secretHash: string; now: Date; ip: string; userAgent: string },
  sessionsMax: number,
): Promise<{ idle_expires_at: Date; absolute_expires_at: Date }> {
  const { id, accountId, secretHash, now, ip, userAgent } = session;
  const rows = await db.sequelize.query<{ idle_expires_at: Date; absolute_expires_at: Date }>(
    `insert into accounts.sessions (id, account_id, secret_hash, created_at, last_seen_at, idle_expires_at,
                                    absolute_expires_at, auth_time, ip, user_agent)
     values ($1, $2, $3, $4, $4, $4::timestamptz + interval '${idleHours} hours',
             $4::timestamptz + interval '${absoluteDays} days', $4, $5, $6)
     returning idle_expires_at, absolute_expires_at`,
    { bind: [id, accountId, secretHash, now, ip, userAgent], type: QueryTypes.SELECT, transaction },
  );
  await db.sequelize.query(
    `delete from accounts.sessions where id in (
       select id from accounts.sessions where account_id = $1 and id <> $2
       order by last_seen_at desc, created_at desc, id offset $3)`,
    { bind: [accountId, id, sessionsMax - 1], type: QueryTypes.RAW, transaction },
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The new session has no row.');
  return row;
}

/** Ends one session of an account. @returns false where the account has none of that id. */
export async function deleteSession(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  id: string,
): Promise<boolean> {
  const rows = await db.sequelize.query(
    'delete from accounts.sessions where account_id = $1 and id = $2 returning true',
    { bind: [accountId, id], type: QueryTypes.SELECT, transaction },
  );
  return rows.length === 1;
}

/**
 * Ends all sessions of an account but one, and what could still open another or link a stranger: its flows to Google and their
 * codes. These go first: that waits for a code that is being exchanged, and finds the session that it opens.
 * @param exceptId null: all.
 * @returns how many sessions.
 */
export async function endSessionsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  exceptId: string | null,
): Promise<number> {
  await deleteFlowsOf(db, transaction, accountId);
  const rows = await db.sequelize.query(
    'delete from accounts.sessions where account_id = $1 and id is distinct from $2 returning true',
    { bind: [accountId, exceptId], type: QueryTypes.SELECT, transaction },
  );
  return rows.length;
}
