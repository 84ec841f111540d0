// The statement that finds keys by their hashes.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface CredentialRow {
  hash: string;
  account_id: string;
  key_id: string;
  /** The plan id as stored. */
  plan: string;
  active: boolean;
  expires_at: Date | null;
  scopes: string[];
  addresses: string[] | null;
  /** `YYYY-MM-DD` */
  as_of: string | null;
}

/**
 * The valid keys with these hashes, in any order. A key found by the hash of its old value expires with that value. `active` is false while the
 * subscription is unpaid.
 */
export function selectCredentials(
  { sequelize }: AccountsDatabase,
  hashes: readonly string[],
  now: Date,
): Promise<CredentialRow[]> {
  return sequelize.query(
    `with key as (
       select hash, id, account_id, expires_at, scopes, addresses, as_of, revoked_at
       from accounts.api_keys where hash = any($1::text[])
       union all
       select previous_hash, id, account_id, least(expires_at, previous_until), scopes, addresses, as_of, revoked_at
       from accounts.api_keys where previous_hash = any($1::text[])
     )
     select key.hash, key.account_id, key.id as key_id, account.plan,
            account.subscription_state <> 'inactive' as active, key.expires_at, key.scopes, key.addresses,
            key.as_of::text
     from key join accounts.accounts as account on account.id = key.account_id
     where key.revoked_at is null and (key.expires_at is null or key.expires_at > $2) and account.status = 'active'`,
    { bind: [hashes, now], type: QueryTypes.SELECT },
  );
}
