// The statements for Google flows. Each flow belongs to one browser, is answered once, and ends with the session or account that began it.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

interface NewFlow {
  stateHash: string;
  cookieHash: string;
  returnTo: string;
  expiresAt: Date;
}

/** Stores a sign-in flow. */
export async function insertSignInFlow(db: AccountsDatabase, flow: NewFlow): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.google_flows (state_hash, cookie_hash, return_to, expires_at) values ($1, $2, $3, $4)`,
    { bind: [flow.stateHash, flow.cookieHash, flow.returnTo, flow.expiresAt] },
  );
}

/**
 * Stores a flow that links Google to the account of a session, with the account's current credential version. Locks the account first, as closing does.
 * @returns false if the session has ended.
 */
export async function insertLinkFlow(
  db: AccountsDatabase,
  flow: NewFlow,
  sessionId: string,
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.google_flows
       (state_hash, cookie_hash, return_to, expires_at, session_id, link_account_id, credential_version)
     select $1, $2, $3, $4, session.id, account.id, account.credential_version
     from accounts.sessions as session join accounts.accounts as account on account.id = session.account_id
     where session.id = $5
     for key share of account, session
     returning true`,
    {
      bind: [flow.stateHash, flow.cookieHash, flow.returnTo, flow.expiresAt, sessionId],
    },
  );
}

/** Consumes the flow of a Google callback: null if it is unknown, used, expired, or from another browser. */
export async function consumeFlow(
  db: AccountsDatabase,
  { stateHash, cookieHash, now }: { stateHash: string; cookieHash: string; now: Date },
): Promise<{ return_to: string; link_account_id: string | null } | null> {
  return db.readFirst<{ return_to: string; link_account_id: string | null }>(
    `update accounts.google_flows set used_at = $3
     where state_hash = $1 and cookie_hash = $2 and used_at is null and expires_at > $3
     returning return_to, link_account_id`,
    { bind: [stateHash, cookieHash, now] },
  );
}

/**
 * Locks the account that a flow links until the transaction ends, so that a change that ends access to it comes either before or after.
 * @returns false if the account is disabled, belongs to an operator or has new credentials; if the flow has ended, as it does with the session that
 * began it; or if that session's last proof of identity is older than `since`.
 */
export async function lockLinkTarget(
  db: AccountsDatabase,
  transaction: Transaction,
  { stateHash, since }: { stateHash: string; since: Date },
): Promise<boolean> {
  return db.hasRow(
    `select true
     from accounts.google_flows as flow join accounts.accounts as account on account.id = flow.link_account_id
     join accounts.sessions as session on session.id = flow.session_id
     where flow.state_hash = $1 and session.auth_time >= $2 and account.role is null
       and account.status = 'active' and account.credential_version = flow.credential_version
     for no key update of account`,
    { bind: [stateHash, since], transaction },
  );
}

/** Stores the one-time code that the dashboard exchanges for a session. It is bound to the account's current credential version. */
export async function storeCode(
  db: AccountsDatabase,
  transaction: Transaction,
  code: { stateHash: string; codeHash: string; accountId: string; expiresAt: Date },
): Promise<void> {
  await db.sequelize.query(
    `update accounts.google_flows
     set code_hash = $2, code_account_id = $3, code_expires_at = $4,
         credential_version = (select credential_version from accounts.accounts where id = $3)
     where state_hash = $1`,
    {
      bind: [code.stateHash, code.codeHash, code.accountId, code.expiresAt],
      transaction,
    },
  );
}

/**
 * Consumes the code, in the browser that it was made for, and locks its account until the transaction ends. A password change comes either before,
 * which invalidates the code, or after, which ends the session opened by the code.
 * @returns the account, or null.
 */
export async function consumeCode(
  db: AccountsDatabase,
  transaction: Transaction,
  { codeHash, cookieHash, now }: { codeHash: string; cookieHash: string; now: Date },
): Promise<string | null> {
  const rows = await db.read<{ code_account_id: string }>(
    `with held as (
       select flow.state_hash
       from accounts.google_flows as flow join accounts.accounts as account on account.id = flow.code_account_id
       where flow.code_hash = $1 and flow.cookie_hash = $2 and flow.code_expires_at > $3
         and account.status = 'active' and account.credential_version = flow.credential_version
       for no key update of account)
     delete from accounts.google_flows as flow using held where flow.state_hash = held.state_hash
     returning flow.code_account_id`,
    { bind: [codeHash, cookieHash, now], transaction },
  );
  return rows[0]?.code_account_id ?? null;
}

/** Deletes the flows that would link Google to an account, and the codes that would sign in to it. */
export async function deleteFlowsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  await db.sequelize.query(
    'delete from accounts.google_flows where link_account_id = $1 or code_account_id = $1',
    { bind: [accountId], transaction },
  );
}
