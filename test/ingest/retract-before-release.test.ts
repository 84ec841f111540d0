// A retraction of an operator while a release under embargo comes due: the release does not wait for it.
import test from 'ava';
import { lockLoads } from '../../ingest/load/statements.sql.ts';
import { beforeRelease } from '../../ingest/operator/before-release.ts';
import { acceptUnderEmbargo } from '../../ingest/publisher/accept.ts';
import { databaseClock } from '../../ingest/publisher/release-clock.ts';
import { listLoads } from '../../ingest/undo/load-list.sql.ts';
import { retract } from '../../ingest/undo/retract.ts';
import { Failure } from '../../kernel/errors.ts';
import { until } from '../run/until.ts';
import { fakeClock } from '../services/harness.ts';
import { daily, fileOf, loadCsv, openIngestDatabase, published, today } from './loading.ts';

const database = await openIngestDatabase(test);

test.serial(
  'a retraction that is under way when a release comes due is given up whole, and the release gets the lock',
  async (t) => {
    const csv = ['series_id,date,value', 'RETRACTED,2024-01-01,1'];
    await loadCsv(database, csv, { create: true, set: daily });
    const [load] = await listLoads(database, { limit: 1 });
    const loadNo = load?.load_no ?? 0;
    const release = fileOf(['series_id,date,value', 'DUE,2024-01-01,1']);
    const wish = { dataset: 'observations', create: true, set: daily, seriesTimeZone: 'UTC', input: release };
    const { releaseNo } = await acceptUnderEmbargo(database, wish, { instant: '2099-01-01T00:00:00Z' });
    const { promise: due, resolve: comeDue } = Promise.withResolvers<void>();
    const releaseClock = { now: databaseClock.now, pause: () => due };
    const retracted = (signal?: AbortSignal) =>
      retract(database, {
        ...{ loadNo, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`), noGateway: true },
        ...(signal === undefined ? {} : { signal }),
      });
    await database.transaction(async (on) => {
      await on.query('lock table data.audit_events in share mode'); // its row is written last
      const given = t.throwsAsync(beforeRelease({ database, releaseClock }, retracted), {
        instanceOf: Failure,
      });
      const waiting = async () =>
        (
          await database.query(
            `select from pg_stat_activity
           where datname = current_database() and application_name = 'test' and wait_event_type = 'Lock'`,
          )
        ).length > 0;
      await until('it waits, with the load lock', waiting);
      comeDue();
      const error = await given;
      t.is(error?.code, 'unavailable');
      t.regex(error?.message ?? '', new RegExp(`^Release ${releaseNo} is due 2099-01-01`));
      await until('the lock is free', async () => !(await waiting()));
      await lockLoads(on, () => t.fail('the load lock is still held'));
    });
    t.deepEqual(await listLoads(database, { limit: 1 }), load === undefined ? [] : [load]);
    t.deepEqual(await published(database, 'RETRACTED'), { '2024-01-01': '1' });
    t.is((await retracted()).effect, 'out_of_force');
  },
);

test.serial('a retraction that is done before the release is due is kept', async (t) => {
  await loadCsv(database, ['series_id,date,value', 'KEPT,2024-01-01,1'], { create: true, set: daily });
  const [load] = await listLoads(database, { limit: 1 });
  const due = new AbortController();
  const { effect } = await retract(database, {
    ...{ loadNo: load?.load_no ?? 0, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) },
    ...{ noGateway: true, signal: due.signal },
  });
  due.abort(new Error('The release is due.'));
  t.is(effect, 'out_of_force');
  t.deepEqual(await published(database, 'KEPT'), {});
});
