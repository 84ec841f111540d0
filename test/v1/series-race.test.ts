import test from 'ava';
import { longReadConnections } from '../../data-api/main.ts';
import type { Points } from '../../data-api/series/stored/point-columns.ts';
import { readBlocks } from '../../data-api/series/stored/points.ts';
import { findSeries } from '../../data-api/series/stored/series.sql.ts';
import { openDatabase, type Queryable } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { until } from '../run/until.ts';
import { startDataService } from '../services/data-service.ts';
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
    const series = await findSeries(database, id, vintage, new Date());
    if (series === undefined) throw new Error('the series was made above');
    let loads = 0;
    const racingDatabase: Queryable = {
      async query(text, values, name) {
        // After the series was looked up, another load commits each time before its points are read.
        if (name?.startsWith('points_live') === true || name?.startsWith('points_as_of') === true) {
          loads += 1;
          await publish(pool, id, '2024-02-03', points(`${loads}0`).slice(loads), { complete: true });
        }
        return database.query(text, values, name);
      },
    };
    const selection = {
      series,
      lineNos: series.combinations.map(({ lineNo }) => lineNo),
      from: '0001-01-01',
      to: '9999-12-31',
      order: 'asc',
      vintage,
      release: 'current',
      wanted: 'values',
      version: series.version,
    } as const;
    const read: Points[] = [];
    for await (const block of readBlocks(racingDatabase, selection, 1)) read.push(block);
    t.true(loads > 1, 'every block was overtaken');
    t.deepEqual(
      read.flatMap(({ dates, values }) => dates.map((date, i) => ({ date, value: values[i] }))),
      points(expected),
    );
  }
});

test('streams and long pages have a few connections of their own, so that short reads never wait for one behind them', async (t) => {
  const service = await startDataService();
  t.teardown(() => service.close());
  const days = Array.from({ length: 20 }, (_, i) => ({
    date: `2024-01-${String(i + 1).padStart(2, '0')}`,
    value: '1',
  }));
  for (const id of ['LONG', 'OTHER']) {
    await makeSeries(service.pool, { id, frequency: 'daily' });
    await publish(service.pool, id, '2024-02-01', days);
  }
  // Their points cannot be read, so calls for them occupy their connections.
  const lock = await service.pool.connect();
  let isLocked = true;
  const unlock = async () => {
    if (isLocked) await lock.query('rollback');
    isLocked = false;
  };
  t.teardown(async () => {
    await unlock();
    lock.release();
  });
  await lock.query('begin');
  await lock.query('lock table data.observations in access exclusive mode');
  const reads = [
    'format=csv',
    'format=csv&transform=yoy',
    'format=csv&sort=desc&transform=yoy',
    'limit=100000',
  ];
  const long = reads.flatMap((query) =>
    Array.from({ length: 5 }, (_, i) => service.call(`/v1/series/LONG?${query}&from=2023-0${i + 1}`)),
  );
  long.push(service.call('/v1/series?ids=LONG,OTHER&limit=50000'));
  const waiting = async () => {
    const { rows } = await service.pool.query<{ name: string; count: number }>(
      `select application_name as name, count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' group by 1`,
    );
    return rows;
  };
  await until(
    'the long reads wait for the points',
    async () => (await waiting())[0]?.count === longReadConnections,
  );
  for (let i = 0; i < 20; i += 1) t.is((await service.call(`/v1/series/NONE${i}`)).status, 404);
  t.deepEqual(await waiting(), [{ name: 'almanac data-api long reads', count: longReadConnections }]);
  await unlock();
  for (const { status } of await Promise.all(long)) t.is(status, 200);
});
