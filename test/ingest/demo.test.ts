import { Readable } from 'node:stream';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { demoFiles } from '../../ingest/demo/demo.ts';
import { load } from '../../ingest/load/load.ts';
import { createTestDatabase, fakeClock, silentLog } from '../services/harness.ts';

test('the demo loads without a refused row, the same again changes nothing, and every file says it is synthetic', async (t) => {
  const testDatabase = await createTestDatabase();
  const database = openDatabase(testDatabase.url, silentLog, {
    applicationName: 'test',
    statementTimeoutMs: 0,
  });
  const clock = fakeClock('2026-03-31T12:00:00Z');
  const loadAll = async () => {
    const summaries = [];
    for (const { dataset, vintage, lines } of demoFiles('2026-03-31')) {
      const input = Readable.from([Buffer.from([...lines()].join('\n'))]);
      const when = vintage === undefined ? {} : { vintage };
      summaries.push(await load(database, { dataset, input, seriesTimeZone: 'UTC', clock, ...when }));
    }
    return summaries;
  };
  const first = await loadAll();
  t.true(
    first.every(
      ({ rowsRejected, pointsNew, pointsRevised }) => rowsRejected === 0 && pointsNew + pointsRevised > 0,
    ),
  );
  const again = await loadAll();
  t.true(
    again.every(
      ({ pointsNew, pointsRevised, pointsDeleted }) => pointsNew + pointsRevised + pointsDeleted === 0,
    ),
  );
  const sources = await database.query<{ source: string }>(
    'select source from data.series union select source from data.releases union select source from data.search_entries',
  );
  t.deepEqual(sources, [{ source: 'Almanac demo generator (synthetic)' }]);
  await database.close();
  await testDatabase.drop();
});
