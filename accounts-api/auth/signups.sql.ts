// The statements about sign-ups that wait for the click in their mail.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface Signup {
  id: string;
  email: string;
  name: string | null;
  passwordHash: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Stores a sign-up; others for the same address stay beside it. */
export async function insertSignup(
  db: AccountsDatabase,
  transaction: Transaction,
  signup: Signup,
): Promise<void> {
  const { id, email, name, passwordHash, createdAt, expiresAt } = signup;
  await db.sequelize.query(
    `insert into accounts.signups (id, email, name, password_hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    { bind: [id, email, name, passwordHash, createdAt, expiresAt], type: QueryTypes.RAW, transaction },
  );
}

/** The sign-up of that id, or null where it is done or has expired. */
export async function selectSignup(db: AccountsDatabase, id: string, now: Date): Promise<Signup | null> {
  const rows = await db.sequelize.query<Signup>(
    `select id, email, name, password_hash as "passwordHash", created_at as "createdAt", expires_at as "expiresAt"
     from accounts.signups where id = $1 and expires_at > $2`,
    { bind: [id, now], type: QueryTypes.SELECT },
  );
  return rows[0] ?? null;
}

/** Forgets a sign-up, and its links with it. */
export async function deleteSignup(
  db: AccountsDatabase,
  transaction: Transaction,
  id: string,
): Promise<void> {
  await db.sequelize.query('delete from accounts.signups where id = $1', {
    bind: [id],
    type: QueryTypes.RAW,
    transaction,
  });
}
