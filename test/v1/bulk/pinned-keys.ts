// Keys that are pinned to a day, as rows, for tests of services without accounts-api.
import { randomBytes } from 'node:crypto';
import type pg from 'pg';

/** @param account a letter. @param at how long ago the key was created. @returns its id. */
export async function addPinnedKey(
  pool: pg.Pool,
  { account, day, at = '0 days' }: { account: string; day: string; at?: string },
): Promise<string> {
  const accountId = `acct_${account.repeat(20)}`;
  await pool.query(
    `insert into accounts.accounts (id, email, plan, created_at) values ($1, $2, 'pro', now()) on conflict do nothing`,
    [accountId, `${account}@office.example`],
  );
  const hash = randomBytes(32).toString('hex');
  const id = `key_${hash.replaceAll(/[^a-f2-7]/g, 'x').slice(0, 20)}`;
  await pool.query(
    `insert into accounts.api_keys (id, account_id, name, hash, mask, slot, created_at, scopes, as_of)
     select $1, $2, 'backtest', $3, 'pk', 1 + count(*), now() - $4::interval, '{data}', $5 from accounts.api_keys where account_id = $2`,
    [id, accountId, hash, at, day],
  );
  return id;
}
