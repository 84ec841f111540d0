// The statements for sign-ins that wait for their second step.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** The kind of the first step. */
export type FirstStep = 'password' | 'google' | 'mailed_link';

export interface PendingSignIn {
  account_id: string;
  credential_version: number;
  how: FirstStep;
  known_device: boolean;
}

/**
 * Stores a pending sign-in under the hash of its token, and deletes the account's expired ones: somebody with only the password can create many.
 * Valid ones are never displaced, so that nobody can keep the holder from signing in.
 */
export async function insertPending(
  db: AccountsDatabase,
  transaction: Transaction,
  pending: PendingSignIn & { hash: string; now: Date; expiresAt: Date },
): Promise<void> {
  await db.sequelize.query(
    'delete from accounts.pending_sign_ins where account_id = $1 and expires_at <= $2',
    { bind: [pending.account_id, pending.now], transaction },
  );
  await db.sequelize.query(
    `insert into accounts.pending_sign_ins (hash, account_id, credential_version, how, known_device, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    {
      bind: [
        pending.hash,
        pending.account_id,
        pending.credential_version,
        pending.how,
        pending.known_device,
        pending.expiresAt,
      ],
      transaction,
    },
  );
}

/** The pending sign-in of a token; null if it is unknown, used or expired. */
export async function selectPending(
  db: AccountsDatabase,
  hash: string,
  now: Date,
): Promise<PendingSignIn | null> {
  return db.readFirst<PendingSignIn>(
    `select account_id, credential_version, how, known_device
     from accounts.pending_sign_ins where hash = $1 and expires_at > $2`,
    { bind: [hash, now] },
  );
}

/** Consumes a pending sign-in. @returns false if another request has consumed it. */
export async function consumePending(
  db: AccountsDatabase,
  transaction: Transaction,
  hash: string,
): Promise<boolean> {
  return db.hasRow('delete from accounts.pending_sign_ins where hash = $1 returning true', {
    bind: [hash],
    transaction,
  });
}

/** Ends the pending sign-ins of an account. */
export async function deletePendingOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  await db.sequelize.query('delete from accounts.pending_sign_ins where account_id = $1', {
    bind: [accountId],
    transaction,
  });
}
