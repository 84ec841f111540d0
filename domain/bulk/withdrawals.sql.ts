// The statement for the newest load that withdrew data.
import type { Queryable } from '../../kernel/database.ts';

/**
 * The newest load that withdrew public data: a retraction, or the deletion of a series. Files that may contain the data are not served. 0
 * if no data were withdrawn.
 */
export async function readNewestWithdrawal(on: Queryable): Promise<number> {
  const [row] = await on.query<{ load: number }>(
    `select coalesce(max(load_no), 0) as load from data.audit_events where action in ('load.retracted', 'series.deleted')`,
    [],
    'newest_withdrawal',
  );
  return row?.load ?? 0;
}
