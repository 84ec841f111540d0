import test from 'ava';
import { readBlocks, type Points } from '../../data-api/series/points.ts';
import { findSeries } from '../../data-api/series/series.sql.ts';
import { openDatabase, type Queryable } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { makeSeries, publish } from './series-fixture.ts';
import pg from 'pg';

test('a load that commits between two statements of one call changes neither', async (t) => {
  const testDatabase = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: testDatabase.url });
  const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'tests' });
  t.teardown(async () => {
    await pool.end();
    await database.close();
    await testDatabase.drop();
  });
  const points = (value: string) => [1, 2, 3, 4].map((day) => ({ date: `2024-01-0${day}`, value }));
  for (const [id, vintage, expected] of [
    ['NOW', null, '2'],
    ['PAST', '2024-02-01', '1'],
  ] as const) {
    await makeSeries(pool, { id, frequency: 'daily' });
    await publish(pool, id, '2024-02-01', points('1'));
    await publish(pool, id, '2024-02-02', points('2'));
    const series = await findSeries(database, id, vintage);
    if (series === undefined) throw new Error('the series was made above');
    let loads = 0;
    const overtaken: Queryable = {
      async query(text, values, name) {
        // The series was looked up; each time its points are about to be read, another load is quicker.
        if (name?.startsWith('points_live') === true || name?.startsWith('points_as_of') === true) {
          loads += 1;
          await publish(pool, id, '2024-02-03', points(`${loads}0`).slice(loads), { complete: true });
        }
        return database.query(text, values, name);
      },
    };
    const selection = {
      series,
      dimsNos: [0],
      from: '0001-01-01',
      to: '9999-12-31',
      order: 'asc',
      vintage,
      release: 'current',
      wanted: 'values',
      version: series.version,
    } as const;
    const read: Points[] = [];
    for await (const block of readBlocks(overtaken, selection, 1)) read.push(block);
    t.true(loads > 1, 'every block was overtaken');
    t.deepEqual(
      read.flatMap(({ dates, values }) => dates.map((date, i) => ({ date, value: values[i] }))),
      points(expected),
    );
  }
});
