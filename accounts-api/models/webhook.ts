// The Sequelize model of a customer's webhook endpoint: one row of accounts.webhooks. Its secrets are encrypted.
import type { EventType } from '../../kernel/events/catalogue.ts';
import { instant, key, nullable, smallInteger, table, text, texts, type RowOf } from './table.ts';

export const webhooks = table('webhooks', 'webhook', {
  id: key,
  accountId: text(),
  /** 1 to 10. */
  slot: smallInteger,
  url: text(),
  description: nullable(text()),
  events: texts<EventType>(),
  /** Ids of series, and prefixes ending in `*`; null: all. */
  series: nullable(texts()),
  /** In the format of `sealSecret`. */
  secret: text(),
  previousSecret: nullable(text()),
  /** Until then messages are signed with both secrets. */
  previousSecretUntil: nullable(instant),
  createdAt: instant,
  disabledAt: nullable(instant),
  disabledBecause: nullable(text<'asked' | 'failing' | 'gone'>()),
  /** The first failure since the last success. */
  failingSince: nullable(instant),
  lastFailedAt: nullable(instant),
  /** Nothing is sent before this time. */
  throttledUntil: nullable(instant),
});

export type Webhook = RowOf<typeof webhooks>;
