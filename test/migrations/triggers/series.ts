// The triggers that note which series have changed, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const at = '2026-11-20T10:00:00Z';

/** The series that have changed since they were made to look old. */
async function changedSeries(db: Bench, statement: string): Promise<unknown[]> {
  await db.run(`update data.series set updated_at = '2000-01-01', row_version = 0`);
  await db.run(statement);
  return db.values(
    'select series_id from data.series where updated_at = now() and row_version = 1 order by 1',
  );
}

async function threeSeries(db: Bench): Promise<void> {
  for (const [i, series_id] of ['A', 'B', 'C'].entries()) {
    await db.insert('data.series', { series_no: String(i + 1), series_id });
  }
}

export const seriesTriggers: readonly TriggerCase[] = [
  {
    trigger: 'data.releases.change_series_of_new_releases',
    async seen(db) {
      await threeSeries(db);
      return changedSeries(
        db,
        `insert into data.releases (release_id, title, source, release_at, time_zone, series_ids)
         values ('r', 'R', 'Tests', '${at}', 'UTC', '{A,C}')`,
      );
    },
    expected: ['A', 'C'],
  },
  {
    trigger: 'data.releases.change_series_of_changed_releases',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.releases', { series_ids: '{A}' });
      return changedSeries(db, `update data.releases set series_ids = '{B}'`);
    },
    expected: ['A', 'B'],
  },
  {
    trigger: 'data.releases.change_series_of_gone_releases',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.releases', { series_ids: '{B,C}' });
      return changedSeries(db, 'delete from data.releases');
    },
    expected: ['B', 'C'],
  },
  {
    trigger: 'data.commodity_cities.change_series_of_cities',
    async seen(db) {
      await threeSeries(db);
      await db.insert('data.commodity_items');
      await db.insert('data.commodity_cities');
      return changedSeries(db, `update data.commodity_cities set name = 'Karāchī'`);
    },
    expected: ['commodity.wheat'],
  },
  {
    trigger: 'data.commodity_items.keep_commodity_series',
    async seen(db) {
      await db.insert('data.commodity_items', { category: 'food' });
      const made = await db.values('select series_id, name, unit, category, dimensions from data.series');
      await db.run(`update data.commodity_items set name = 'Wheat flour', unit = '20 Kg'`);
      return [made, await db.values('select series_id, name, unit, row_version::int from data.series')];
    },
    expected: [
      [['commodity.wheat', 'Wheat', 'PKR per 1 Kg', 'food', ['city', 'price_type', 'stat']]],
      [['commodity.wheat', 'Wheat flour', 'PKR per 20 Kg', 1]],
    ],
  },
];
