// The statement for the newest load.
import type { Queryable } from '../kernel/database.ts';

/** Its number; 0 if there is none. Loads are serialised, so the highest number is that of the last one committed. */
export async function readNewestLoad(database: Queryable): Promise<number> {
  const [row] = await database.query<{ load: string }>(
    'select coalesce(max(load_no), 0)::text as load from data.loads',
    [],
    'newest_load',
  );
  return Number(row?.load);
}
