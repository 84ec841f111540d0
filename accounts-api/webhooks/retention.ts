// Deletes old events with their messages and deliveries, and the messages of deleted endpoints.
import type { Deps } from '../database.ts';
import { pruneEvents, pruneMessagesOfDeleted } from './sending/delivery.sql.ts';

const retentionMs = 30 * 24 * 60 * 60_000;
const pruneBatch = 200;
const removeBatch = 1_000;

/** Deletes events older than 30 days. */
export async function pruneWebhooks({ db, clock }: Deps): Promise<void> {
  const before = new Date(clock.now().getTime() - retentionMs);
  while ((await pruneEvents(db, { before, limit: pruneBatch })) === pruneBatch);
}

/** Deletes the remaining messages of deleted endpoints, in small transactions, as there may be many. */
export async function removeMessagesOfDeleted({ db }: Pick<Deps, 'db'>): Promise<void> {
  while ((await pruneMessagesOfDeleted(db, removeBatch)) === removeBatch);
}
