// The statements of what is reported to everybody: to the webhooks of all accounts, and to readers of /v1/updates.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import type { EventData } from '../../../kernel/events/catalogue.ts';

/** The types of changes that one statement reports; those of points and releases have statements of their own. */
type Reported = 'dataset.updated' | 'series.deleted' | 'series.restored' | 'series.renamed';

interface Update<Type extends Reported> {
  type: Type;
  /** The ids of the series, sorted; null: it is not about series. */
  series: readonly string[] | null;
  /** Without `series`. */
  data: Omit<EventData<Type>, 'series'>;
  at: Date;
}

/** Reports a change in its transaction, under the lock of the loads: the updates then have the order of the commits. */
export async function reportUpdate<Type extends Reported>(
  on: Transaction,
  { type, series, data, at }: Update<Type>,
): Promise<void> {
  await on.query('select events.report($1, $2, $3, $4)', [type, series, JSON.stringify(data), at]);
}

/** Deletes the updates that are older than 100 days. Readers are promised 90. */
export async function deleteOldUpdates(on: Pick<Queryable, 'query'>, now: Date): Promise<void> {
  await on.query(`delete from data.updates where at < $1::timestamptz - interval '100 days'`, [now]);
}
