// The Sequelize model of a follow: one row of accounts.follows.
import { bigInteger, instant, key, nullable, table, text, type RowOf } from './table.ts';

export const followKinds = ['series', 'source', 'search'] as const;
export type FollowKind = (typeof followKinds)[number];
export const followModes = ['at_once', 'daily'] as const;
export type FollowMode = (typeof followModes)[number];

export const follows = table('follows', 'follow', {
  id: key,
  accountId: text(),
  kind: text<FollowKind>(),
  /** The id of a series, the name of a source, or the words of a search. */
  subject: text(),
  mode: text<FollowMode>(),
  createdAt: instant,
  /** The cursor of the last mailed update, or of the last one before the follow was created. */
  place: bigInteger,
  /** When the first update after `place` was published; set when that update is read. */
  changedAt: nullable(instant),
  mailedAt: nullable(instant),
});

export type Follow = RowOf<typeof follows>;
