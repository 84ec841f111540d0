// The statements that publish changes: to the webhooks of all accounts, and to readers of /v1/updates.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import type { EventData } from '../../../kernel/events/catalogue.ts';

/** The change types that this statement publishes; changes of points and releases have their own statements. */
type Reported = 'dataset.updated' | 'series.deleted' | 'series.restored' | 'series.renamed';

interface Update<Type extends Reported> {
  type: Type;
  /** The ids of the series, sorted; null if the change is not about series. */
  series: readonly string[] | null;
  /** Without `series`. */
  data: Omit<EventData<Type>, 'series'>;
  at: Date;
}

/** Records a change in its transaction, under the load lock, so that updates are in commit order. */
export async function reportUpdate<Type extends Reported>(
  on: Transaction,
  { type, series, data, at }: Update<Type>,
): Promise<void> {
  await on.query('select events.report($1, $2, $3, $4)', [type, series, JSON.stringify(data), at]);
}

/**
 * Deletes the updates that are older than 100 days. Readers are promised 90. The newest of them stays: a reader who has it has missed none
 * that was deleted, and continues after it.
 */
export async function deleteOldUpdates(on: Pick<Queryable, 'query'>, now: Date): Promise<void> {
  await on.query(
    `delete from data.updates
     where position < (select max(position) from data.updates where at < $1::timestamptz - interval '100 days')`,
    [now],
  );
}
