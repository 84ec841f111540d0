// Permanent URLs of past states: Content-Location names them, and caches may keep them permanently.
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { freeAccount, startDataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';

const service = await startDataService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

async function publish(id: string, vintage: string, values: readonly string[]): Promise<void> {
  const rows = values.map((value, i) => `${id},2024-0${i + 1},${value}`);
  await loadCsv(database, ['series_id,date,value', ...rows], {
    create: true,
    set: { frequency: 'monthly', unit: 'Index', source: 'Office' },
    vintage,
    clock: service.clock,
  });
}

async function answer(path: string) {
  const { status, headers, text, json } = await service.call(path);
  const { data, meta, error } = (json ?? {}) as {
    data: { value: number }[];
    meta: Record<string, unknown>;
    error?: { code: string; param?: string; message: string };
  };
  const values = data?.map(({ value }) => value);
  return { status, headers, text, values, meta, error };
}

test('a vintage names the permanent URL of its state, and later loads change nothing there', async (t) => {
  await publish('KEPT', '2024-04-10', ['1.0', '2.0', '3.0']);
  await publish('KEPT', '2024-05-10', ['1.0', '2.5', '3.0', '4.0']);
  const queries = [
    '?vintage=2024-05-10',
    '?vintage=2024-04-30&sort=desc',
    '?vintage=2024-05-10&transform=pct_change',
    '?vintage=2024-05-10&format=csv',
    '?release=first',
    '?vintage=2024-05-10&limit=2',
    '/latest?vintage=2024-05-10',
  ];
  const pinned: [url: string, text: string][] = [];
  for (const query of queries) {
    const open = await answer(`/v1/series/KEPT${query}`);
    t.is(open.headers.get('cache-control'), 'private, no-cache', query);
    const url = open.headers.get('content-location') ?? '';
    t.regex(url, /^\/v1\/series\/KEPT.*[?&]version=\d+$/);
    const kept = await answer(url);
    t.is(kept.headers.get('cache-control'), 'private, max-age=31536000, immutable', url);
    t.is(kept.headers.get('content-location'), null);
    t.deepEqual(kept.values, open.values);
    pinned.push([url, pointsOf(kept.text)]);
  }

  // A correction within the newest vintage, a new vintage, and one that deletes everything.
  await publish('KEPT', '2024-05-10', ['1.0', '9.9', '3.0', '4.0']);
  await publish('KEPT', '2024-06-10', ['7.0', '7.0', '7.0', '7.0', '7.0']);
  for (const [url, text] of pinned) t.is(pointsOf((await answer(url)).text), text, url);
  t.deepEqual((await answer('/v1/series/KEPT?vintage=2024-05-10')).values, [1, 9.9, 3, 4]);
});

test('the pages of a pinned query are pinned too', async (t) => {
  await publish('PAGES', '2024-04-10', ['1', '2', '3', '4']);
  const { meta } = await answer('/v1/series/PAGES');
  const pinned = `/v1/series/PAGES?vintage=2024-04-10&version=${String(meta['version'])}&limit=3`;
  const first = await answer(`${pinned}&format=csv`);
  await publish('PAGES', '2024-04-10', ['5', '6', '7', '8']);
  const next = /^<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const second = await answer(next);
  t.is(second.headers.get('cache-control'), 'private, max-age=31536000, immutable');
  t.is(second.text, 'date,value\r\n2024-04-30,4\r\n');
  const other = await answer(next.replace(/version=\d+/, 'version=0'));
  t.deepEqual([other.status, other.error?.code], [400, 'invalid_cursor']);
});

test('a state that an older vintage has changed since is gone, and never answered differently', async (t) => {
  await publish('OVERTAKEN', '2024-05-10', ['1', '2']);
  const url = (await answer('/v1/series/OVERTAKEN?vintage=2024-05-31')).headers.get('content-location');
  await publish('OVERTAKEN', '2024-04-10', ['0', '0', '0']);
  const gone = await answer(url ?? '');
  t.deepEqual([gone.status, gone.error?.code], [410, 'gone']);
  t.deepEqual((await answer('/v1/series/OVERTAKEN?vintage=2024-05-31')).values, [1, 2, 0]);
});

test('a version requires a past state, a plan with past states, and must already exist', async (t) => {
  await publish('REFUSED', '2024-05-10', ['1']);
  for (const [query, code, message] of [
    ['version=1', 'invalid_parameter', /requires vintage= or release=first/],
    ['vintage=2024-05-10&version=999999', 'invalid_parameter', /at most \d+, the newest/],
    ['vintage=2024-05-10&version=-1', 'invalid_parameter', /whole number from 0/],
    ['ids=REFUSED&vintage=2024-05-10&version=1', 'invalid_parameter', /not a parameter/],
  ] as const) {
    const path = query.startsWith('ids') ? `/v1/series?${query}` : `/v1/series/REFUSED?${query}`;
    const { error } = await answer(path);
    t.deepEqual([error?.code, error?.param], [code, 'version'], query);
    t.regex(error?.message ?? '', message);
  }
  const free = await service.call('/v1/series/REFUSED?vintage=2024-05-10&version=1', {
    identity: freeAccount,
  });
  t.is(free.status, 403);
});

/** The points in either format, without `meta`, which describes the present state. */
function pointsOf(text: string): string {
  return text.startsWith('{') ? text.slice(text.indexOf('"data":'), text.indexOf('"pagination"')) : text;
}
