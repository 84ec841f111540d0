// The Sequelize model of an account: one row of accounts.accounts.
import { boolean, instant, integer, key, nullable, table, text, withDefault, type RowOf } from './table.ts';

export const accounts = table('accounts', 'account', {
  id: key,
  email: text(),
  /** False: the account was created by a payment without a session. Nobody has proved the e-mail address, which may also be another account's. */
  emailSignsIn: withDefault(boolean),
  name: nullable(text()),
  /** A plan id as stored; `planOf` returns the current plan. */
  plan: text(),
  /** The plan that applies again when the subscription ends. Unused while there is no subscription. */
  planSetAside: nullable(text()),
  status: withDefault(text<'active' | 'disabled'>()),
  /** `inactive`: calls with a key are refused with 402. */
  subscriptionState: withDefault(text<'none' | 'active' | 'inactive'>()),
  createdAt: instant,
  /** argon2id; null if the holder signs in with Google, or has not set a password yet. */
  passwordHash: nullable(text()),
  /** When the holder proved the mailbox, or the operator confirmed it. */
  emailVerifiedAt: nullable(instant),
  /** Rises with every change of password or e-mail address, which invalidates mailed links. */
  credentialVersion: withDefault(integer),
  /** Whether the holder wants e-mails about the month's usage and about expiring keys. */
  mailsUsage: withDefault(boolean),
  mailsKeyExpiry: withDefault(boolean),
  /** When an e-mail to the e-mail address was last refused for good; null once one was accepted. */
  mailRefusedAt: nullable(instant),
  /** `operator`: may manage all accounts. Set by the command line only. */
  role: nullable(text<'operator'>()),
});

export type Account = RowOf<typeof accounts>;
