// The baseline: the migrations that create the whole schema. Older versions created the same schema in other steps.
import type { Migration } from '../kernel/schema.sql.ts';

/** The last migration of the baseline; later ones build on it. */
export const baselineEnd = '000012_webhooks';

/** The last migration before the baseline: a database or backup that has it has the baseline's tables. */
const lastBefore: Migration = {
  name: '000160_heartbeat',
  checksum: 'e737a6fc67ef8b3ac5c4fd18bebe63eb512295de73c0fc01da55cb2e166ecaa8',
};
const firstBefore = '000001_data';

/** Whether the schema was created by the migrations before the baseline. */
export function isBeforeBaseline(applied: readonly Migration[]): boolean {
  return applied.some(({ name }) => name === firstBefore);
}

/** Whether it has the baseline's tables, as the last version before the baseline left them. */
export function hasBaselineTables(applied: readonly Migration[]): boolean {
  const last = applied.at(-1);
  return isBeforeBaseline(applied) && last?.name === lastBefore.name && last.checksum === lastBefore.checksum;
}
