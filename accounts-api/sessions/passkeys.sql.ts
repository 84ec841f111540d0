// The statements for passkeys and the challenges that they sign.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface Passkey {
  id: string;
  account_id: string;
  /** The authenticator's id of the credential, in base64url. */
  credential_id: string;
  /** In COSE format. */
  public_key: Buffer;
  sign_count: number;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
}

const columns = `id, account_id, credential_id, public_key, sign_count::float8 as sign_count, name, created_at, last_used_at`;

/** The passkeys of an account, oldest first. */
export function selectPasskeys(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<Passkey[]> {
  return db.read<Passkey>(
    `select ${columns} from accounts.passkeys where account_id = $1 order by created_at, id`,
    { bind: [accountId], transaction },
  );
}

export async function countPasskeys(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<number> {
  const rows = await db.read<{ count: number }>(
    'select count(*)::int as count from accounts.passkeys where account_id = $1',
    { bind: [accountId], transaction },
  );
  return rows[0]?.count ?? 0;
}

/** Whether an account has a passkey. */
export async function hasPasskey(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<boolean> {
  return (await countPasskeys(db, transaction, accountId)) > 0;
}

/** The passkey with a credential id, of any account. */
export async function findPasskey(db: AccountsDatabase, credentialId: string): Promise<Passkey | null> {
  return db.readFirst<Passkey>(`select ${columns} from accounts.passkeys where credential_id = $1`, {
    bind: [credentialId],
  });
}

/** Stores a passkey. @returns false if its credential is already stored, for any account. */
export async function insertPasskey(
  db: AccountsDatabase,
  transaction: Transaction,
  { id, account_id, credential_id, public_key, sign_count, name, created_at }: Omit<Passkey, 'last_used_at'>,
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.passkeys (id, account_id, credential_id, public_key, sign_count, name, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (credential_id) do nothing returning true`,
    {
      bind: [id, account_id, credential_id, public_key, sign_count, name, created_at],
      transaction,
    },
  );
}

/** Renames a passkey of an account, which the transaction has locked. @returns the passkey and its former name; null if it does not exist. */
export async function renamePasskey(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, id, name }: { accountId: string; id: string; name: string },
): Promise<(Passkey & { before: string }) | null> {
  return db.readFirst<Passkey & { before: string }>(
    `with old as (select name from accounts.passkeys where account_id = $1 and id = $2)
     update accounts.passkeys set name = $3 where account_id = $1 and id = $2
     returning ${columns}, (select name from old) as before`,
    { bind: [accountId, id, name], transaction },
  );
}

/** Deletes one passkey of an account, or all. @returns the deleted ones. */
export function deletePasskeys(
  db: AccountsDatabase,
  transaction: Transaction,
  { accountId, id = null }: { accountId: string; id?: string | null },
): Promise<{ id: string; name: string }[]> {
  return db.read(
    `delete from accounts.passkeys where account_id = $1 and ($2::text is null or id = $2) returning id, name`,
    { bind: [accountId, id], transaction },
  );
}

/**
 * Records a use of a passkey. @param signCount the signed counter. @returns false if the passkey no longer exists, or its counter has not risen: a
 * copy of it may have signed. An authenticator without a counter always signs 0.
 */
export async function noteUse(
  db: AccountsDatabase,
  transaction: Transaction,
  { id, signCount, now }: { id: string; signCount: number; now: Date },
): Promise<boolean> {
  return db.hasRow(
    `update accounts.passkeys set sign_count = $2, last_used_at = $3
     where id = $1 and (sign_count < $2 or (sign_count = 0 and $2 = 0)) returning true`,
    { bind: [id, signCount, now], transaction },
  );
}

/** The session and account that a challenge adds a passkey to. */
export interface Adder {
  accountId: string;
  sessionId: string;
  credentialVersion: number;
}

/** Stores a challenge by its hash. @param adder null: to sign in. */
export async function insertChallenge(
  db: AccountsDatabase,
  transaction: Transaction | null,
  { hash, adder, expiresAt }: { hash: string; adder: Adder | null; expiresAt: Date },
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.passkey_challenges (hash, account_id, session_id, credential_version, expires_at)
     values ($1, $2, $3, $4, $5)`,
    { bind: [hash, ...boundTo(adder), expiresAt], transaction },
  );
}

/** Consumes a challenge. @param adder as when it was created. @returns false if it is unknown, used, expired, or another user's. */
export async function consumeChallenge(
  db: AccountsDatabase,
  { hash, adder, now }: { hash: string; adder: Adder | null; now: Date },
): Promise<boolean> {
  return db.hasRow(
    `delete from accounts.passkey_challenges
     where hash = $1 and account_id is not distinct from $2 and session_id is not distinct from $3
       and credential_version is not distinct from $4::int and expires_at > $5 returning true`,
    { bind: [hash, ...boundTo(adder), now] },
  );
}

function boundTo(adder: Adder | null): (string | number | null)[] {
  return [adder?.accountId ?? null, adder?.sessionId ?? null, adder?.credentialVersion ?? null];
}
