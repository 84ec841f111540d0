// The statements for mailed links. Each link is valid once, until it expires or until what it is bound to changes.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export type Purpose = 'sign_up' | 'verify_email' | 'change_email' | 'reset_password';

/** The purpose of a link. `email` is the mailbox it was sent to. */
export type SignUpLink = { purpose: 'sign_up'; signup_id: string; account_id: null; email: string };
export type AccountLink = {
  purpose: Exclude<Purpose, 'sign_up'>;
  signup_id: null;
  account_id: string;
  email: string;
};
type LinkFor<P extends Purpose> = P extends 'sign_up' ? SignUpLink : AccountLink;

/** Stores a new link's hash. */
export async function insertMailToken(
  db: AccountsDatabase,
  token: (SignUpLink | AccountLink) & {
    hash: string;
    credentialVersion: number | null;
    createdAt: Date;
    expiresAt: Date;
  },
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.mail_tokens
       (hash, purpose, signup_id, account_id, email, credential_version, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    {
      bind: [
        token.hash,
        token.purpose,
        token.signup_id,
        token.account_id,
        token.email,
        token.credentialVersion,
        token.createdAt,
        token.expiresAt,
      ],
    },
  );
}

const stillGood = `token.hash = $1 and token.purpose = any($2::text[]) and token.used_at is null and token.expires_at > $3
  and (token.account_id is null or exists (
    select from accounts.accounts as account
    where account.id = token.account_id and account.status = 'active'
      and account.credential_version = token.credential_version))`;

/** The state of a link, without using it; null if it is invalid. */
export async function selectMailToken<P extends Purpose>(
  db: AccountsDatabase,
  hash: string,
  purposes: readonly P[],
  now: Date,
): Promise<LinkFor<P> | null> {
  return db.readFirst<LinkFor<P>>(
    `select purpose, signup_id, account_id, email from accounts.mail_tokens as token where ${stillGood}`,
    { bind: [hash, purposes, now] },
  );
}

/** Consumes a link. @returns false if it is invalid, or was used concurrently. */
export async function spendMailToken(
  db: AccountsDatabase,
  transaction: Transaction,
  hash: string,
  purpose: Purpose,
  now: Date,
): Promise<boolean> {
  return db.hasRow(
    `update accounts.mail_tokens as token set used_at = $3 where ${stillGood} returning true`,
    { bind: [hash, [purpose], now], transaction },
  );
}
