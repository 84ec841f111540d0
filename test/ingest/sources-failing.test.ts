// Sources that cannot be fetched or loaded: they are retried, reported and counted, and do not delay others.
import test from 'ava';
import { recordHeartbeat, removePublisher } from '../../ingest/publisher/releases/embargo.sql.ts';
import { fetchDue, startFetching } from '../../ingest/publisher/sources/fetch-due-sources.ts';
import { loadFetchedHere } from '../../ingest/publisher/sources/load-fetched.ts';
import { countSources, leaseSources, selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { describeSources } from '../../ingest/publisher/sources/source-health.ts';
import { until } from '../run/until.ts';
import { february, january, never, table, openSourceTests } from './fetching.ts';
import { published } from './loading.ts';

const { database, byRole, startHere } = await openSourceTests(test);

test.serial(
  'a file that was refused is requested again completely, even if it has not changed since',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
    here.server.serve('date,value\n2026-01,one');
    here.clock.set('2026-11-23T09:00:00Z');
    t.deepEqual(Object.values(await here.due()), ['failed']);
    const [failed] = await selectSources(database);
    t.is(failed?.failures, 1);
    t.like(failed?.outcome, { result: 'failed', code: 'invalid_rows', rows_rejected: 1 });
    const [reject] = (failed?.outcome?.['rejects'] ?? []) as object[];
    t.like(reject, { line: 2, column: 'value', value: 'one' });
    here.clock.set('2026-11-23T09:01:00Z');
    t.deepEqual(Object.values(await here.due()), ['failed'], 'and not "unchanged"');
    here.server.serve(february);
    here.clock.set('2026-11-23T09:06:00Z');
    t.deepEqual(Object.values(await here.due()), ['loaded']);
    t.like((await selectSources(database))[0], { failures: 0, failingSince: null });
  },
);

test.serial(
  'a failure is retried after 1, 5, 15 and 60 minutes, but not later than scheduled; the third in a row is reported by an event',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    await here.publishes(table(here.id, here.url('?token=secret'), 'schedule: daily 12:00'));
    await database.query('delete from events.outbox');
    here.server.fail(503);
    const events = () =>
      database.query<{ type: string; account_id: string | null; data: Record<string, unknown> }>(
        `select type, account_id, data from events.outbox where type = 'source.failed'`,
      );
    const next = [
      ['12:00:00', '12:01:00', 0],
      ['12:01:00', '12:06:00', 0],
      ['12:06:00', '12:21:00', 1],
      ['12:21:00', '13:21:00', 1],
      ['13:21:00', '14:21:00', 1],
    ] as const;
    for (const [at, then, reported] of next) {
      here.clock.set(`2026-11-23T${at}Z`);
      t.deepEqual(Object.values(await here.due()), ['failed'], at);
      t.is((await selectSources(database))[0]?.fetchAt.toISOString(), `2026-11-23T${then}.000Z`);
      t.is((await events()).length, reported, at);
    }
    const [event] = await events();
    t.is(event?.account_id, null);
    t.deepEqual(event?.data, {
      source: `${here.id}.${here.id}`,
      reason: `${here.url()} cannot be fetched: the server answered 503.`,
      failures: 3,
      failing_since: '2026-11-23T12:00:00Z',
      next_fetch_at: '2026-11-23T12:21:00Z',
    });
    here.clock.set('2026-11-24T11:30:00Z');
    await here.due();
    t.is((await selectSources(database))[0]?.fetchAt.toISOString(), '2026-11-24T12:00:00.000Z');

    here.server.serve(january);
    here.clock.set('2026-11-24T12:00:00Z');
    t.deepEqual(Object.values(await here.due()), ['unchanged']);
    here.server.fail(500);
    for (const day of ['25', '26', '27', '28']) {
      here.clock.set(`2026-11-${day}T12:00:00Z`);
      await here.due();
    }
    t.is((await events()).length, 2, 'after a success the third failure is reported anew, once');
  },
);

test.serial(
  'the reason of a failure names the URL of a file without a table, and no temporary file',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    await here.publishes(table(here.id, here.url('?token=secret'), 'schedule: hourly'));
    here.server.serve('<!doctype html><html><body>Sign in</body></html>');
    here.clock.set('2026-11-23T09:00:00Z');
    t.deepEqual(Object.values(await here.due()), ['failed']);
    const [failed] = await selectSources(database);
    t.is(
      failed?.outcome?.['message'],
      `${here.url()} is a web page without a table: save the table as CSV or .xlsx.`,
    );
  },
);

test.serial('a server that never answers delays no other source', async (t) => {
  const [slow, quick] = [await startHere(t), await startHere(t)];
  slow.server.serve(january);
  quick.server.serve(january);
  await slow.publishes(table(slow.id, slow.url(), 'schedule: hourly'));
  await quick.publishes(table(quick.id, quick.url(), 'schedule: hourly'));
  slow.server.stall();
  quick.server.serve(february);
  slow.clock.set('2026-11-23T09:00:00Z');
  const fetching = startFetching(slow.deps);
  await until('the other is loaded', async () => (await published(database, quick.id))['2026-02-28'] === '2');
  const [waiting] = await selectSources(database, { name: `${slow.id}.${slow.id}` });
  t.not(waiting?.leasedUntil, null);
  await fetching.close();
  t.deepEqual(fetching.counts, { loaded: 1, unchanged: 0, failed: 0 });
  const [given] = await selectSources(database, { name: `${slow.id}.${slow.id}` });
  t.like(given, { leasedUntil: null, failures: 0 }, 'a publisher that stops gives it back');
  t.deepEqual(given?.fetchAt, new Date('2026-11-23T09:00:00Z'));
});

test.serial(
  'a fault of the database does not count as a failure of the source, which is due again a minute later',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
    here.server.serve(february);
    here.clock.set('2026-11-23T09:00:00Z');
    const fault = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const broken = { ...byRole, transaction: () => Promise.reject(fault) };
    const load: typeof here.deps.load = (fetched) =>
      loadFetchedHere({ database: broken, clock: here.clock }, fetched);
    await t.throwsAsync(fetchDue({ ...here.deps, database: broken, load }, never), { is: fault });
    t.like((await selectSources(database))[0], { failures: 0, fetchedAt: null });
    t.deepEqual(await here.due(), {});
    here.clock.advance(60_000);
    t.deepEqual(Object.values(await here.due()), ['loaded']);
  },
);

test.serial(
  'failing and overdue sources are counted and reported, and so is a missing publisher',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    const both =
      table(here.id, here.url('?1'), 'schedule: hourly') +
      table(`${here.id}B`, here.url('?2'), 'schedule: daily');
    await here.publishes(both);
    const counts = (now: string) => countSources(byRole, new Date(now), 3);
    t.deepEqual(await counts('2026-11-23T09:00:00Z'), { fresh: 2, failing: 0, overdueSeconds: 0 });
    t.deepEqual(await counts('2026-11-23T09:01:40Z'), { fresh: 2, failing: 0, overdueSeconds: 100 });
    await database.query(
      `update embargo.sources set failures = 2, failing_since = fetch_at where schedule = 'hourly'`,
    );
    t.like(await counts('2026-11-23T09:00:00Z'), { fresh: 2, failing: 0 });
    await database.query(`update embargo.sources set failures = 3 where schedule = 'hourly'`);
    t.like(await counts('2026-11-23T09:00:00Z'), { fresh: 1, failing: 1 });
    const [leased] = await leaseSources(byRole, {
      ...{ now: new Date('2026-11-23T09:00:00Z'), until: new Date('2026-11-23T09:05:00Z'), limit: 1 },
    });
    t.is(leased?.schedule, 'hourly');
    t.is((await counts('2026-11-23T09:04:59Z')).overdueSeconds, 0, 'it is being fetched');
    t.is((await counts('2026-11-23T09:05:00Z')).overdueSeconds, 300);

    await database.query(`update embargo.sources set fetch_at = clock_timestamp() + interval '1 hour'`);
    t.deepEqual(await describeSources(database), {
      detail:
        '2 are fetched by schedule; 1 of them failing: see "almanac sources list"; no publisher is running',
      ...{ needsAttention: true, lacksPublisher: true },
    });
    await recordHeartbeat(database, 'one of the test');
    await database.query(
      `update embargo.sources set failures = 0, failing_since = null, lease = null, leased_until = null,
       fetch_at = clock_timestamp() - interval '400 seconds'`,
    );
    const late = await describeSources(database);
    t.regex(late.detail, /^2 are fetched by schedule; due for 40\d s$/);
    t.like(late, { needsAttention: true, lacksPublisher: false });
    await removePublisher(database, 'one of the test');
  },
);
