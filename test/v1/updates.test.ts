// /v1/updates shows readers every change of data once and in order, wherever they stop and continue.
import test from 'ava';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { deleteOldUpdates } from '../../ingest/load/events/updates.sql.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { startDataService, type DataService } from '../services/data-service.ts';
import { daily, loadCsv, today } from '../ingest/loading.ts';

interface Update {
  cursor: string;
  id: string;
  type: string;
  timestamp: string;
  data: { series?: string[]; load: number; [field: string]: unknown };
}
interface Page {
  data: Update[];
  count: number;
  pagination: { next_cursor: string | null };
  meta: { cursor: string; kept_since: string | null };
  error: { code: string; message: string; param?: string };
}

const clock = fakeClock(`${today}T12:00:00Z`);
let service: DataService;
let database: Database;
test.before(async () => {
  service = await startDataService(`${today}T13:00:00Z`);
  database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  await makeHistory();
});
test.after.always(async () => {
  await database.close();
  await service.close();
});

const load = (rows: readonly string[], options: Parameters<typeof loadCsv>[2] = {}) =>
  loadCsv(database, ['series_id,date,value', ...rows], { create: true, set: daily, ...options });
const how = { noGateway: true, seriesTimeZone: 'UTC', clock };

async function makeHistory(): Promise<void> {
  await load(['WHEAT,2024-01-01,1', 'RICE,2024-01-01,1'], { set: { ...daily, source: 'Office' } });
  await loadCsv(
    database,
    [
      'release_id,title,source,release_at,time_zone,series_ids',
      `wheat-1,Wheat,Office,${today}T10:00:00Z,UTC,WHEAT`,
    ],
    { dataset: 'calendar' },
  );
  await load(['WHEAT,2024-01-01,2', 'WHEAT,2024-01-02,3']);
  await load(['OATS,2024-01-01,1'], { set: { ...daily, source: 'Bureau' } });
  await renameSeries(database, { ...how, id: 'RICE', newId: 'RICE.NEW' });
  await deleteSeries(database, { ...how, id: 'OATS' });
  await restoreSeries(database, { ...how, id: 'OATS' });
}

async function read(parameters: Readonly<Record<string, string>>, status = 200): Promise<Page> {
  const answer = await service.call(`/v1/updates?${String(new URLSearchParams(parameters))}`);
  if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.json as Page;
}
const shown = ({ data }: Page) =>
  data.map(({ type, data: { series } }) => [type, ...(series ?? [])].join(' '));

const all = [
  'series.updated RICE WHEAT',
  'dataset.updated',
  'series.updated WHEAT',
  'series.revised WHEAT',
  'release.published WHEAT',
  'series.updated OATS',
  'dataset.updated',
  'series.renamed RICE RICE.NEW',
  'dataset.updated',
  'series.deleted OATS',
  'dataset.updated',
  'series.restored OATS',
];

test('every change is shown in the order of the loads, the same as webhooks are sent', async (t) => {
  const page = await read({ cursor: '0' });
  t.deepEqual(shown(page).slice(0, all.length), all);
  const events = await writtenEvents(database);
  t.deepEqual(
    page.data.map(({ id, type, data }) => ({ id, type, data })),
    events.slice(0, page.count).map(({ id, type, data }) => ({ id, type, data })),
  );
  t.is(page.meta.kept_since, `${today}T12:00:00Z`);
});

test('pages from cursor to cursor have each change once, and nothing follows the last cursor', async (t) => {
  const whole = await read({ cursor: '0' });
  for (const limit of ['1', '5', '1000']) {
    const seen: Update[] = [];
    let page = await read({ cursor: '0', limit });
    for (;;) {
      seen.push(...page.data);
      if (page.pagination.next_cursor === null) break;
      t.is(page.pagination.next_cursor, page.meta.cursor);
      page = await read({ cursor: page.meta.cursor, limit });
    }
    t.deepEqual(seen, whole.data);
    t.deepEqual((await read({ cursor: page.meta.cursor })).data, []);
  }
});

test('series, their sources, releases, words and types filter the updates, and the ids in them', async (t) => {
  const release = (await service.call('/v1/releases')).json as { data: { id: string }[] };
  const releaseId = release.data[0]?.id ?? '';
  const ofWheat = all.filter((line) => line.endsWith('WHEAT')).map((line) => line.replace('RICE ', ''));
  for (const [parameters, expected] of [
    [{ series: 'WHEAT' }, ofWheat],
    [{ series: 'RICE' }, ['series.updated RICE', 'series.renamed RICE']],
    [
      { series: 'RICE*,OATS' },
      [
        'series.updated RICE',
        'series.updated OATS',
        'series.renamed RICE RICE.NEW',
        'series.deleted OATS',
        'series.restored OATS',
      ],
    ],
    [
      { source: 'Office' },
      [
        'series.updated RICE WHEAT',
        'series.updated WHEAT',
        'series.revised WHEAT',
        'release.published WHEAT',
        'series.renamed RICE RICE.NEW',
      ],
    ],
    [{ q: 'rice' }, ['series.updated RICE', 'series.renamed RICE RICE.NEW']],
    [{ source: 'Bureau' }, ['series.updated OATS', 'series.deleted OATS', 'series.restored OATS']],
    [{ release: releaseId }, ofWheat],
    [{ q: 'oats' }, ['series.updated OATS', 'series.deleted OATS', 'series.restored OATS']],
    [{ type: 'series.renamed,series.deleted' }, ['series.renamed RICE RICE.NEW', 'series.deleted OATS']],
    [{ type: 'series.revised', source: 'Bureau' }, []],
  ] as const)
    // prettier-ignore
    t.deepEqual(shown(await read({ cursor: '0', ...parameters })), [...expected], JSON.stringify(parameters));
});

// Serial, as it moves the clock of all tests.
test.serial('without a cursor the updates begin at an instant, or a week before the call', async (t) => {
  t.deepEqual(shown(await read({ since: `${today}T12:00:00Z` })).slice(0, all.length), all);
  t.deepEqual(shown(await read({ since: `${today}T12:00:01Z` })), []);
  t.deepEqual(shown(await read({ since: '2999-01-01' })), []);
  t.deepEqual(shown(await read({})).slice(0, all.length), all);
  service.clock.advance(7 * 86_400_000);
  t.deepEqual(shown(await read({})), []);
  service.clock.advance(-7 * 86_400_000);
});

test('words without a letter or digit are refused', async (t) => {
  const { status, json } = await service.call('/v1/updates?q=%25');
  t.is(status, 400);
  t.like((json as Page).error, { code: 'invalid_parameter', param: 'q' });
});

test('lines of JSON have what JSON has, and a feed has the newest first', async (t) => {
  const { data } = await read({ cursor: '0' });
  const lines = await service.call('/v1/updates?cursor=0&format=ndjson');
  t.deepEqual(lines.text.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown), data); // prettier-ignore
  t.is(lines.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
  const feed = await service.call('/v1/updates?cursor=0&limit=3&format=atom');
  t.is(feed.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
  t.deepEqual(
    [...feed.text.matchAll(/<entry><id>[^<]*#(evt_\w+)<\/id>/g)].map(([, id]) => id),
    data.slice(-3).map(({ id }) => id).toReversed(), // prettier-ignore
  );
});

test('a search for few among many updates looks at 500 in an answer, and finds them in a later one', async (t) => {
  const own = await startDataService(`${today}T13:00:00Z`);
  t.teardown(() => own.close());
  await own.pool.query(
    `insert into data.updates (type, series, data, at)
     select 'series.updated', array[case when i = 600 then 'RARE' else 'OTHER' end],
       jsonb_build_object('load', i, 'published_at', '2024-06-30T12:00:00Z', 'vintage', '2024-06-30'), '2024-06-30T12:00:00Z'
     from generate_series(1, 600) i`,
  );
  const asked = async (cursor: string) =>
    (await own.call(`/v1/updates?series=RARE&cursor=${cursor}`)).json as Page;
  const [first, second] = [await asked('0'), await asked('500')];
  t.deepEqual([first.data.length, first.pagination.next_cursor], [0, '500']);
  t.deepEqual([shown(second), second.pagination.next_cursor], [['series.updated RARE'], null]);
});

test('a cursor that never existed is refused, and so is one whose update is no longer stored', async (t) => {
  const own = await startDataService(`${today}T13:00:00Z`);
  const ownDatabase = openDatabase(own.databaseUrl, silentLog, { applicationName: 'test' });
  t.teardown(async () => {
    await ownDatabase.close();
    await own.close();
  });
  for (const [day, value] of [
    ['2024-01-01', 1],
    ['2024-04-21', 2],
    ['2024-06-30', 3],
  ] as const)
    // prettier-ignore
    await loadCsv(ownDatabase, ['series_id,date,value', `A,2024-01-01,${value}`], {
      ...{ create: true, set: daily, vintage: day, clock: fakeClock(`${day}T12:00:00Z`) },
    });
  const answered = async (cursor: string) => {
    const answer = await own.call(`/v1/updates?cursor=${cursor}`);
    const { error, data } = answer.json as Page;
    return answer.status === 200 ? data.length : [answer.status, error.code];
  };
  t.deepEqual(await Promise.all(['0', '1', '999'].map(answered)), [5, 4, [400, 'invalid_cursor']]);
  await deleteOldUpdates(ownDatabase, new Date(`${today}T12:00:00Z`));
  t.deepEqual(await Promise.all(['0', '1', '2', '3'].map(answered)), [5, 4, 3, 2]);
  await deleteOldUpdates(ownDatabase, new Date('2024-06-30T00:00:00Z'));
  t.deepEqual(await answered('3'), 2, 'what is younger than 90 days is kept');
  await deleteOldUpdates(ownDatabase, new Date('2026-06-30T00:00:00Z'));
  t.deepEqual(await Promise.all(['0', '4', '5'].map(answered)), [1, [410, 'gone'], 0]);
  await loadCsv(ownDatabase, ['series_id,date,value', 'A,2024-01-01,4'], {
    ...{ create: true, set: daily, vintage: '2026-06-30', clock: fakeClock('2026-06-30T12:00:00Z') },
  });
  await deleteOldUpdates(ownDatabase, new Date('2026-07-01T00:00:00Z'));
  t.deepEqual(await answered('5'), 2, 'a reader who has every update continues, however old the last one is');
});

test.serial('readers that stop and go on while loads run see each change once and in order', async (t) => {
  const { meta } = await read({ cursor: '0', limit: '1000' });
  let isDone = false;
  const loading = Promise.all(
    [1, 2, 3].map(async (loader) => {
      for (let value = 1; value <= 12; value += 1)
        await load([`MANY.${loader},2024-01-01,${value}`, `MANY.${loader},2024-01-02,${value}`]);
    }),
  ).then(() => {
    isDone = true;
  });
  const reader = async (limit: number): Promise<Update[]> => {
    const seen: Update[] = [];
    let cursor = meta.cursor;
    for (;;) {
      const wasDone = isDone;
      const page = await read({ cursor, limit: String(limit) });
      seen.push(...page.data);
      ({ cursor } = page.meta);
      if (wasDone && page.pagination.next_cursor === null) return seen;
    }
  };
  const [first, ...others] = await Promise.all([1, 2, 3, 7, 1000].map(reader));
  await loading;
  const values = (first ?? []).filter(({ type }) => type === 'series.updated');
  t.is(values.length, 36);
  t.is(new Set((first ?? []).map(({ id }) => id)).size, (first ?? []).length);
  t.deepEqual(
    values.map(({ data }) => data.load),
    values.map(({ data }) => data.load).toSorted((a, b) => a - b),
  );
  for (const seen of others) t.deepEqual(seen, first);
});
