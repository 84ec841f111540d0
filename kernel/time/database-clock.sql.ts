// Reads PostgreSQL's clock, not the beginning of the transaction.
import type { Queryable } from '../database.ts';
import { entryAt } from '../entries.ts';

export const selectInstant = 'select clock_timestamp() as now';

export async function readClock(on: Queryable): Promise<Date> {
  const rows = await on.query<{ now: Date }>(selectInstant, [], 'clock');
  return entryAt(rows, 0).now;
}
