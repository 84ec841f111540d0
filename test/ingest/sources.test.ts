// Scheduled sources: fetched when due, and loaded once and only if they have changed.
import test from 'ava';
import { findSource, removeSource } from '../../ingest/publisher/sources/source-actions.ts';
import { leaseSources, renewLeases, selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { february, january, revised, table, openSourceTests } from './fetching.ts';
import { published } from './loading.ts';

const { database, byRole, startHere } = await openSourceTests(test);

test.serial('a URL with a schedule is fetched when due, and loaded if it has changed', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  const { sources } = await here.publishes(
    table(here.id, here.url('?token=secret'), 'schedule: every 15 minutes'),
  );
  const name = `${here.id}.${here.id}`;
  t.deepEqual(sources, {
    added: [{ name, schedule: 'every 15 minutes', fetchAt: new Date('2026-11-23T08:15:00Z') }],
    ...{ changed: [], ended: [], refused: [] },
  });
  t.deepEqual(await published(database, here.id), { '2026-01-31': '1' });

  here.server.serve(february);
  here.clock.set('2026-11-23T08:14:59.999Z');
  t.deepEqual(await here.due(), {}, 'it is not due');
  here.clock.set('2026-11-23T08:15:00Z');
  t.deepEqual(await here.due(), { [name]: 'loaded' });
  t.deepEqual(await published(database, here.id), { '2026-01-31': '1', '2026-02-28': '2' });
  const source = await findSource(database, name);
  t.like(source, { failures: 0, leasedUntil: null, fetchAt: new Date('2026-11-23T08:30:00Z') });
  t.deepEqual(source.changedAt, new Date('2026-11-23T08:15:00Z'));
  t.is(source.outcome?.['result'], 'loaded');
  const [load] = await database.query<{ source_name: string }>(
    'select source_name from data.loads where load_no = $1',
    [source.outcome?.['load']],
  );
  t.is(load?.source_name, here.url(), 'without the query');
});

test.serial('unchanged content is not loaded, whether or not the server reports that it is', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  const loads = async () => (await database.query('select from data.loads')).length;
  const before = await loads();
  here.clock.set('2026-11-23T09:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['unchanged'], 'by its hash');
  t.is(here.server.requests.at(-1)?.headers['if-none-match'], undefined);
  here.clock.set('2026-11-23T10:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['unchanged'], 'by 304');
  t.is(here.server.requests.at(-1)?.headers['if-none-match'], here.server.etag());
  t.is(here.server.answers.at(-1), 304);
  t.is(await loads(), before);
  const [source] = await selectSources(database);
  t.is(source?.changedAt, null);
  t.deepEqual(source?.fetchedAt, new Date('2026-11-23T10:00:00Z'));
});

test.serial('a load that was retracted is not loaded again until its content changes', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  const { loaded } = await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  t.is(loaded.length, 1);
  const [{ load_no: loadNo } = { load_no: 0 }] = await database.query<{ load_no: number }>(
    'select load_no from data.published_files where publication = $1',
    [here.id],
  );
  const clock = { now: () => new Date('2026-11-23T08:30:00Z') };
  await retract(database, { loadNo, clock, seriesTimeZone: 'UTC', noGateway: true });
  here.clock.set('2026-11-23T09:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['unchanged']);
  t.deepEqual(await published(database, here.id), {});
});

test.serial(
  'only one of two publishers fetches a source; the loss of its process counts as a failure, so that the same fault does not end the next one at once',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
    here.server.serve(february);
    const now = new Date('2026-11-23T09:00:00Z');
    const until = new Date('2026-11-23T09:01:00Z');
    const [leased] = await leaseSources(byRole, { now, until, limit: 9 });
    t.is(leased?.name, `${here.id}.${here.id}`);
    here.clock.set('2026-11-23T09:00:59Z');
    t.deepEqual(await here.due(), {}, 'it is being fetched');
    here.clock.set('2026-11-23T09:01:00Z');
    t.deepEqual(Object.values(await here.due()), ['failed']);
    t.is(here.server.requests.length, 1, 'it was not asked for');
    const [left] = await selectSources(database);
    t.regex(String(left?.outcome?.['message']), /^The process that fetched it ended without a result/);
    here.clock.set('2026-11-23T09:02:00Z');
    t.deepEqual(Object.values(await here.due()), ['loaded']);
    t.is((await selectSources(database))[0]?.failures, 0);
  },
);

test.serial('a load whose lease was taken over meanwhile is rolled back', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  here.clock.set('2026-11-23T09:00:00Z');
  here.server.answer((_request, response) => {
    void database
      .query('update embargo.sources set lease = gen_random_uuid()')
      .then(() => response.writeHead(200).end(february));
  });
  t.deepEqual(Object.values(await here.due()), ['lost']);
  t.deepEqual(await published(database, here.id), { '2026-01-31': '1' });
});

test.serial('a source that is removed while it is fetched loads nothing', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  here.clock.set('2026-11-23T09:00:00Z');
  here.server.answer((_request, response) => {
    void removeSource(database, `${here.id}.${here.id}`).then(() => response.writeHead(200).end(february));
  });
  t.deepEqual(Object.values(await here.due()), ['lost']);
  t.deepEqual(await published(database, here.id), { '2026-01-31': '1' });
  t.deepEqual(await selectSources(database), []);
});

test.serial(
  'a server can return to earlier content, even if it then reports that nothing has changed',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    const yml = table(here.id, here.url(), 'schedule: hourly');
    await here.publishes(yml);
    here.clock.set('2026-11-23T09:00:00Z');
    t.deepEqual(Object.values(await here.due()), ['unchanged'], 'it has the ETag of January');
    here.server.serve(revised);
    await here.publishes(yml);
    t.deepEqual(await published(database, here.id), { '2026-01-31': '5' });
    here.server.serve(january);
    here.clock.set('2026-11-23T10:00:00Z');
    t.deepEqual(Object.values(await here.due()), ['loaded']);
    t.deepEqual(await published(database, here.id), { '2026-01-31': '1' });
  },
);

test.serial('a lease that is renewed is not taken over', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 23, 9, minute));
  const [own] = await leaseSources(byRole, { now: at(0), until: at(1), limit: 1 });
  await renewLeases(byRole, [own?.lease ?? ''], at(5));
  t.deepEqual(await leaseSources(byRole, { now: at(4), until: at(9), limit: 1 }), []);
  t.is((await leaseSources(byRole, { now: at(5), until: at(9), limit: 1 })).length, 1);
});
