// The statements about ways to Google and back.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from './database.ts';

/** Remembers a way that has begun. */
export async function insertFlow(
  db: AccountsDatabase,
  flow: {
    stateHash: string;
    cookieHash: string;
    returnTo: string;
    linkAccountId: string | null;
    expiresAt: Date;
  },
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.google_flows (state_hash, cookie_hash, return_to, link_account_id, expires_at)
     values ($1, $2, $3, $4, $5)`,
    {
      bind: [flow.stateHash, flow.cookieHash, flow.returnTo, flow.linkAccountId, flow.expiresAt],
      type: QueryTypes.RAW,
    },
  );
}

/** Takes the way back, once: null where it is unknown, used, expired, or was begun in another browser. */
export async function takeFlow(
  db: AccountsDatabase,
  { stateHash, cookieHash, now }: { stateHash: string; cookieHash: string; now: Date },
): Promise<{ return_to: string; link_account_id: string | null } | null> {
  const rows = await db.sequelize.query<{ return_to: string; link_account_id: string | null }>(
    `update accounts.google_flows set used_at = $3
     where state_hash = $1 and cookie_hash = $2 and used_at is null and expires_at > $3
     returning return_to, link_account_id`,
    { bind: [stateHash, cookieHash, now], type: QueryTypes.SELECT },
  );
  return rows[0] ?? null;
}

/** Stores the one-time code that the dashboard exchanges for a session. */
export async function storeCode(
  db: AccountsDatabase,
  transaction: Transaction,
  code: { stateHash: string; codeHash: string; accountId: string; expiresAt: Date },
): Promise<void> {
  await db.sequelize.query(
    `update accounts.google_flows set code_hash = $2, code_account_id = $3, code_expires_at = $4 where state_hash = $1`,
    {
      bind: [code.stateHash, code.codeHash, code.accountId, code.expiresAt],
      type: QueryTypes.RAW,
      transaction,
    },
  );
}

/** Spends the code, in the browser that went the way: the account it stands for, or null. */
export async function takeCode(
  db: AccountsDatabase,
  transaction: Transaction,
  { codeHash, cookieHash, now }: { codeHash: string; cookieHash: string; now: Date },
): Promise<string | null> {
  const rows = await db.sequelize.query<{ code_account_id: string }>(
    `delete from accounts.google_flows
     where code_hash = $1 and cookie_hash = $2 and code_expires_at > $3
       and exists (select from accounts.accounts where id = code_account_id and status = 'active')
     returning code_account_id`,
    { bind: [codeHash, cookieHash, now], type: QueryTypes.SELECT, transaction },
  );
  return rows[0]?.code_account_id ?? null;
}
