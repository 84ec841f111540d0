// The Sequelize model of an API key: one row of accounts.api_keys, without the key's value.
import type { KeyScope } from '../../kernel/credentials/key-access.ts';
import {
  day,
  instant,
  key,
  nullable,
  smallInteger,
  table,
  text,
  texts,
  withDefault,
  type RowOf,
} from './table.ts';

export const apiKeys = table('api_keys', 'apiKey', {
  id: key,
  accountId: text(),
  name: text(),
  /** SHA-256 of the value, 64 hex digits. */
  hash: text(),
  /** `pk_live_abcd…wxyz` */
  mask: text(),
  /** 1 to 3; null once the key is revoked, or was found expired. */
  slot: nullable(smallInteger),
  createdAt: instant,
  expiresAt: nullable(instant),
  lastUsedAt: nullable(instant),
  revokedAt: nullable(instant),
  /** The hash of the value before the last rotation; null: it has ended. */
  previousHash: nullable(text()),
  previousMask: nullable(text()),
  previousUntil: nullable(instant),
  scopes: withDefault(texts<KeyScope>()),
  /** Address ranges; null: every address. */
  addresses: nullable(texts()),
  /** The day that it is pinned to, `YYYY-MM-DD`; null: none. Never changed. */
  asOf: nullable(day),
});

export type ApiKey = RowOf<typeof apiKeys>;
