// The Sequelize model of a session: one row of accounts.sessions. An ended session has no row.
import { boolean, instant, key, table, text, type RowOf } from './table.ts';

export const sessions = table('sessions', 'session', {
  id: key,
  accountId: text(),
  /** SHA-256 of the token's second half, 64 hex digits. */
  secretHash: text(),
  createdAt: instant,
  /** Accurate to five minutes, like `idleExpiresAt`. */
  lastSeenAt: instant,
  idleExpiresAt: instant,
  absoluteExpiresAt: instant,
  /** When all factors of the account last proved the identity: a password or Google, plus a code if there is a second factor. */
  authTime: instant,
  /** Whether it was opened by a passkey, or by a code besides the first factor. */
  twoFactors: boolean,
  ip: text(),
  userAgent: text(),
});

export type Session = RowOf<typeof sessions>;
