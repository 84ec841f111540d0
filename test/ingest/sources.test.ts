// Sources that keep themselves fresh: registered by almanac publish, fetched when they are due, loaded once and only if they have changed.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { planPublishing } from '../../ingest/publish/plan.ts';
import { publish, type Published } from '../../ingest/publish/publish.ts';
import type { FetchDeps } from '../../ingest/publisher/sources/fetch-source.ts';
import { fetchDeps, fetchDue, startFetching } from '../../ingest/publisher/sources/fetching.ts';
import { findSource, removeSource } from '../../ingest/publisher/sources/operate.ts';
import { leaseSources, selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { retract } from '../../ingest/undo/retract.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { startFileServer, type FileServer } from './file-server.ts';
import { published } from './loading.ts';
import { fakeReleaseClock } from './releasing.ts';

const testDatabase = await createTestDatabase();
const options = { applicationName: 'test', statementTimeoutMs: 0 };
const database = openDatabase(testDatabase.url, silentLog, options);
const byRole = openDatabase(serviceUrl(testDatabase.url, 'almanac_publisher'), silentLog, options);
test.after.always(async () => {
  await byRole.close();
  await database.close();
  await testDatabase.drop();
});

const start = '2026-11-23T08:00:00Z';
const local = { allowCidrs: ['127.0.0.0/8'], allowHttp: true };
const never = new AbortController().signal;
let number = 0;

const table = (id: string, file: string, more = '') => `
  - file: ${file}
    header: 1
    first: 2
    date: { column: date }
    values: value
    series: { id: ${id}, unit: USD, frequency: monthly, source: Tests }
${more === '' ? '' : `    ${more}\n`}`;

interface Here {
  server: FileServer;
  /** The id of a series, and the name of the publication. */
  id: string;
  deps: FetchDeps;
  clock: ReturnType<typeof fakeReleaseClock>;
  url(query?: string): string;
  /** Writes almanac.yml and publishes its folder. */
  publishes(tables: string, change?: { dryRun?: boolean }): Promise<Published>;
  /** Fetches what is due as a publisher does. */
  due(): Promise<Record<string, string>>;
}

async function startHere(t: ExecutionContext): Promise<Here> {
  const server = await startFileServer(t);
  const id = `S${(number += 1)}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  const clock = fakeReleaseClock(start);
  const deps = fetchDeps({ database: byRole, clock, log: silentLog }, { ...local, seriesTimeZone: 'UTC' });
  return {
    ...{ server, id, deps, clock },
    url: (query = '') => `${server.url}/${id}.csv${query}`,
    async publishes(tables, { dryRun = false } = {}) {
      writeFileSync(
        path.join(folder, 'almanac.yml'),
        `version: 1\nname: ${id}\ntables: ${tables === '' ? '[]\n' : tables}`,
      );
      const now = await clock.now(database);
      const today = now.toISOString().slice(0, 10);
      const [plan] = await planPublishing(database, { targets: [folder], facts: {}, again: false, today });
      if (plan === undefined) throw new Error('there is no plan');
      try {
        return await publish(database, plan, {
          ...{ acceptGuesses: false, dryRun, seriesTimeZone: 'UTC', noGateway: true },
          ...{ clock: { now: () => now }, sourceGuard: createAddressGuard(local) },
        });
      } finally {
        await plan.close();
      }
    },
    async due() {
      return Object.fromEntries(await fetchDue(deps, never));
    },
  };
}

const csv = (...points: [string, number][]) =>
  ['date,value', ...points.map(([date, value]) => `${date},${value}`)].join('\n');
const january = csv(['2026-01', 1]);
const february = csv(['2026-01', 1], ['2026-02', 2]);

test.serial.afterEach.always(() => database.query('delete from embargo.sources'));

test.serial('a URL with a schedule is fetched when it is due, and what has changed is loaded', async (t) => {
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

test.serial('content that is unchanged loads nothing, whether the server says so or not', async (t) => {
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

test.serial(
  'a file that was refused is asked for as a whole again, also if it has not changed since',
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
  'a failure is tried again after 1, 5, 15 and 60 minutes, and not later than the schedule says; of the third in a row an event tells',
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
    for (const [at, then, told] of next) {
      here.clock.set(`2026-11-23T${at}Z`);
      t.deepEqual(Object.values(await here.due()), ['failed'], at);
      t.is((await selectSources(database))[0]?.fetchAt.toISOString(), `2026-11-23T${then}.000Z`);
      t.is((await events()).length, told, at);
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
    t.is((await events()).length, 2, 'after a success the third failure is told of anew, once');
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
  const [waiting] = await selectSources(database, `${slow.id}.${slow.id}`);
  t.not(waiting?.leasedUntil, null);
  await fetching.close();
  t.deepEqual(fetching.counts, { loaded: 1, unchanged: 0, failed: 0 });
  const [given] = await selectSources(database, `${slow.id}.${slow.id}`);
  t.like(given, { leasedUntil: null, failures: 0 }, 'a publisher that stops gives it back');
  t.deepEqual(given?.fetchAt, new Date('2026-11-23T09:00:00Z'));
});

test.serial('of two publishers one fetches a source, and a lease that has ended is taken over', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  here.server.serve(february);
  const now = new Date('2026-11-23T09:00:00Z');
  const until = new Date('2026-11-23T09:01:00Z');
  const [gone] = await leaseSources(byRole, { now, until, limit: 9 });
  t.is(gone?.name, `${here.id}.${here.id}`);
  here.clock.set('2026-11-23T09:00:59Z');
  t.deepEqual(await here.due(), {}, 'it is being fetched');
  here.clock.set('2026-11-23T09:01:00Z');
  t.deepEqual(Object.values(await here.due()), ['loaded']);
});

test.serial('a load whose lease was taken over meanwhile is undone', async (t) => {
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
  'the sources of a publication are those of its almanac.yml: changed, ended, and nothing by a dry run',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    const [one, two] = [here.url('?n=1'), here.url('?n=2')];
    const b = `${here.id}B`;
    const both = table(here.id, one, 'schedule: hourly') + table(b, two, 'schedule: daily 10:30');
    await here.publishes(both, { dryRun: true });
    t.deepEqual(await selectSources(database), []);
    await here.publishes(both);
    const name = `${here.id}.${here.id}`;
    t.deepEqual(
      (await selectSources(database)).map((source) => [
        source.name,
        source.url,
        source.fetchAt.toISOString(),
      ]),
      [
        [name, one, '2026-11-23T09:00:00.000Z'],
        [`${name}.2`, two, '2026-11-23T10:30:00.000Z'],
      ],
    );
    t.deepEqual((await here.publishes(both)).sources, { added: [], changed: [], ended: [], refused: [] });

    const edited = table(here.id, one, 'schedule: weekly mon 08:30').replace('unit: USD', 'unit: EUR');
    const dry = await here.publishes(edited, { dryRun: true });
    t.deepEqual(dry.sources.ended, [`${name}.2`]);
    t.is((await selectSources(database)).length, 2);
    const { sources } = await here.publishes(edited);
    t.deepEqual(sources.changed, [
      { name, schedule: 'weekly mon 08:30', fetchAt: new Date('2026-11-23T08:30:00Z') },
    ]);
    t.deepEqual(sources.ended, [`${name}.2`]);
    const [left, ...more] = await selectSources(database);
    t.deepEqual(more, []);
    t.like(left?.entry, { series: { unit: 'EUR' } });
    t.deepEqual((await here.publishes(table(here.id, one))).sources.ended, [name], 'no schedule any more');
    t.deepEqual(await selectSources(database), []);
  },
);

test.serial(
  'an entry that nobody has confirmed, that is skipped, or whose URL is refused is not registered',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    const guessed = table(here.id, here.url('?1'), 'schedule: hourly\n    guessed: [series.unit]');
    const skipped = table(here.id, here.url('?2'), 'schedule: hourly\n    skip: not this one');
    const { sources } = await here.publishes(guessed + skipped);
    t.deepEqual(sources, { added: [], changed: [], ended: [], refused: [] });
    const refused = await here.publishes(
      table(here.id, 'http://169.254.169.254/latest?token=secret', 'schedule: hourly'),
    );
    t.deepEqual(refused.sources.refused, [
      {
        path: 'http://169.254.169.254/latest',
        reason:
          'It cannot be fetched by schedule: its URL must have a host with a public address, and a port that is allowed.',
      },
    ]);
    t.deepEqual(await selectSources(database), []);
  },
);

test.serial('an entry that is edited while its server is away is loaded by the next fetch', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  here.clock.set('2026-11-23T09:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['unchanged']);
  here.server.fail(503);
  const edited = table(here.id, here.url(), 'schedule: hourly').replace('unit: USD', 'unit: EUR');
  const { sources } = await here.publishes(edited);
  t.is(sources.changed.length, 1);
  here.server.serve(january);
  here.clock.set('2026-11-23T10:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['loaded'], 'although its content is as it was');
  const [series] = await database.query<{ unit: string }>(
    'select unit from data.series where series_id = $1',
    [here.id],
  );
  t.is(series?.unit, 'EUR');
});
