// The statement that finds keys by their hashes.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface CredentialRow {
  hash: string;
  account_id: string;
  key_id: string;
  /** As stored. */
  plan: string;
  active: boolean;
  expires_at: Date | null;
  scopes: string[];
  addresses: string[] | null;
}

/** The valid keys with the hashes, in any order. `active` is false while the subscription is unpaid. */
export function selectCredentials(
  { sequelize }: AccountsDatabase,
  hashes: readonly string[],
  now: Date,
): Promise<CredentialRow[]> {
  return sequelize.query(
    `select key.hash, key.account_id, key.id as key_id, account.plan,
            account.subscription_state <> 'inactive' as active, key.expires_at, key.scopes, key.addresses
     from accounts.api_keys as key join accounts.accounts as account on account.id = key.account_id
     where key.hash = any($1::text[]) and key.revoked_at is null
       and (key.expires_at is null or key.expires_at > $2) and account.status = 'active'`,
    { bind: [hashes, now], type: QueryTypes.SELECT },
  );
}
