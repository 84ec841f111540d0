// The Sequelize model of a sign-up that waits for its mailed link: one row of accounts.signups. There may be others for the same address.
import { instant, key, nullable, table, text, type RowOf } from './table.ts';

export const signups = table('signups', 'signup', {
  id: key,
  email: text(),
  name: nullable(text()),
  passwordHash: text(),
  createdAt: instant,
  expiresAt: instant,
});

export type Signup = RowOf<typeof signups>;
