// The statements for authenticator apps and recovery codes. Their callers have locked the account.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface Authenticator {
  /** Encrypted. */
  secret: string;
  created_at: Date;
  /** Null: not confirmed yet, and not used for sign-in. */
  confirmed_at: Date | null;
}

/** The authenticator app of an account, confirmed or not. */
export async function selectAuthenticator(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<Authenticator | null> {
  return db.readFirst<Authenticator>(
    'select secret, created_at, confirmed_at from accounts.authenticators where account_id = $1',
    { bind: [accountId], transaction },
  );
}

/** Whether an account has a confirmed second factor. */
export async function hasSecondFactor(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<boolean> {
  return db.hasRow(
    'select true from accounts.authenticators where account_id = $1 and confirmed_at is not null',
    { bind: [accountId], transaction },
  );
}

/** Stores a new app, replacing an unconfirmed one. @returns false if there is a confirmed one. */
export async function storeAuthenticator(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, secret, now }: { accountId: string; secret: string; now: Date },
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.authenticators as mine (account_id, secret, created_at) values ($1, $2, $3)
     on conflict (account_id) do update set secret = $2, created_at = $3 where mine.confirmed_at is null
     returning true`,
    { bind: [accountId, secret, now], transaction },
  );
}

/** Confirms an app. @param step of the code that confirms it. */
export async function confirmAuthenticator(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, step, now }: { accountId: string; step: number; now: Date },
): Promise<void> {
  await db.sequelize.query(
    'update accounts.authenticators set confirmed_at = $2, last_step = $3 where account_id = $1 and confirmed_at is null',
    { bind: [accountId, now, step], transaction },
  );
}

/** Consumes the code of a time step. @returns false if a code of that step or a later one was used before. */
export async function consumeStep(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, step }: { accountId: string; step: number },
): Promise<boolean> {
  return db.hasRow(
    `update accounts.authenticators set last_step = $2
     where account_id = $1 and confirmed_at is not null and last_step < $2 returning true`,
    { bind: [accountId, step], transaction },
  );
}

/** Deletes the app of an account and its recovery codes. @returns whether the app was confirmed. */
export async function deleteAuthenticator(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<boolean> {
  const rows = await db.read<{ counted: boolean }>(
    'delete from accounts.authenticators where account_id = $1 returning confirmed_at is not null as counted',
    { bind: [accountId], transaction },
  );
  return rows[0]?.counted ?? false;
}

/** Replaces all recovery codes of an account. */
export async function replaceRecoveryCodes(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, hashes, now }: { accountId: string; hashes: readonly string[]; now: Date },
): Promise<void> {
  await db.sequelize.query('delete from accounts.recovery_codes where account_id = $1', {
    bind: [accountId],
    transaction,
  });
  await db.sequelize.query(
    `insert into accounts.recovery_codes (account_id, hash, created_at)
     select $1, hash, $3 from unnest($2::text[]) as hash`,
    { bind: [accountId, hashes, now], transaction },
  );
}

/** Consumes a recovery code. @returns false if it is unknown or was used. */
export async function spendRecoveryCode(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, hash, now }: { accountId: string; hash: string; now: Date },
): Promise<boolean> {
  return db.hasRow(
    `update accounts.recovery_codes set used_at = $3
     where account_id = $1 and hash = $2 and used_at is null returning true`,
    { bind: [accountId, hash, now], transaction },
  );
}

/** The number of unused recovery codes of an account. */
export async function countRecoveryCodes(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<number> {
  const rows = await db.read<{ left: number }>(
    'select count(*)::int as left from accounts.recovery_codes where account_id = $1 and used_at is null',
    { bind: [accountId], transaction },
  );
  return rows[0]?.left ?? 0;
}

/** Secrets that were not encrypted with the current key, locked, by account. @param after the last account of the previous batch. */
export function selectOutdatedAuthenticators(
  db: AccountsDatabase,
  transaction: Transaction,
  { keyId, after, limit }: { keyId: string; after: string; limit: number },
): Promise<{ account_id: string; secret: string }[]> {
  return db.read(
    `select account_id, secret from accounts.authenticators
     where account_id > $2 and split_part(secret, '.', 1) <> $1
     order by account_id limit $3 for no key update`,
    { bind: [keyId, after, limit], transaction },
  );
}

/** The number of secrets encrypted with a key that is not in the list. */
export async function countUnreadableAuthenticators(
  db: AccountsDatabase,
  keyIds: readonly string[],
): Promise<number> {
  const rows = await db.read<{ unreadable: number }>(
    `select count(*)::int as unreadable from accounts.authenticators
     where split_part(secret, '.', 1) <> all($1::text[])`,
    { bind: [keyIds] },
  );
  return rows[0]?.unreadable ?? 0;
}

/** Stores a re-encrypted secret. */
export async function storeSealed(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, secret }: { accountId: string; secret: string },
): Promise<void> {
  await db.sequelize.query('update accounts.authenticators set secret = $2 where account_id = $1', {
    bind: [accountId, secret],
    transaction,
  });
}
