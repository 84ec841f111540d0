// The baseline: the migrations that make the whole schema at once. Before it the schema was made in other steps, up to the same state.
import type { Migration } from '../kernel/schema.sql.ts';

/** The last migration of the baseline. Those after it go forward from it. */
export const baselineEnd = '000012_webhooks';

/** The last migration of before: a database and a backup that have it have the tables of the baseline. */
const lastBefore: Migration = {
  name: '000160_heartbeat',
  checksum: 'e737a6fc67ef8b3ac5c4fd18bebe63eb512295de73c0fc01da55cb2e166ecaa8',
};
const firstBefore = '000001_data';

/** Whether the schema was made by the migrations of before the baseline. */
export function isBeforeBaseline(applied: readonly Migration[]): boolean {
  return applied.some(({ name }) => name === firstBefore);
}

/** Whether it has the tables of the baseline, as the last version of before left them. */
export function hasBaselineTables(applied: readonly Migration[]): boolean {
  const last = applied.at(-1);
  return isBeforeBaseline(applied) && last?.name === lastBefore.name && last.checksum === lastBefore.checksum;
}
