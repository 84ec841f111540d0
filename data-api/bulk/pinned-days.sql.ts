// The statement for the days that API keys are pinned to. The view is in migrations/000009_keys_and_quota.sql.
import type { Queryable } from '../../kernel/database.ts';

/** The rank of the day among those that get bulk files; undefined if no active key is pinned to it. @param day `YYYY-MM-DD`. */
export async function readPlaceOfDay(on: Queryable, day: string): Promise<number | undefined> {
  const [row] = await on.query<{ place: number }>(
    'select place::int from data.pinned_days where day = $1::date',
    [day],
    'place_of_pinned_day',
  );
  return row?.place;
}
