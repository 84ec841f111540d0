// The tools of /mcp and refusals with a key that is pinned to a day, through the gateway: an installation with later data answers as one where
// nothing was published after the day.
import test from 'ava';
import { createKey } from '../../accounts-api/operator/operator.ts';
import { exempt } from '../openapi/check-answers.ts';
import { loadCsv } from '../ingest/loading.ts';
import { connect, listTools, post } from '../mcp/mcp-client.ts';
import { fakeClock } from '../services/harness.ts';
import { startServices } from '../services/services.ts';

exempt(); // the document describes /v1, not the messages of MCP

const day = '2024-03-31';
const monthly = { frequency: 'monthly', unit: 'Index', source: 'Office' };
const calendar = 'release_id,title,source,release_at,time_zone,series_ids';
/** The publications, by day. */
const published: readonly { on: string; dataset?: string; lines: readonly string[] }[] = [
  { on: '2024-02-01', lines: ['series_id,date,value', 'GDP,2023-12,1', 'GDP,2024-01,2', 'CPI,2024-01,100'] },
  { on: '2024-02-05', dataset: 'calendar', lines: [calendar, 'r-1,Output,Office,2024-04-02 08:00,UTC,GDP'] },
  {
    on: '2024-02-06',
    dataset: 'series',
    lines: ['series_id,name,unit,frequency,source', 'EMPTY,Empty,Index,monthly,Office'],
  },
  { on: '2024-03-01', lines: ['series_id,date,value', 'GDP,2024-01,2.5', 'GDP,2024-02,3'] },
  {
    on: '2024-03-20',
    dataset: 'series',
    lines: ['series_id,name,description', 'GDP,Output,Of all industries'],
  },
  {
    on: '2024-04-02',
    lines: ['series_id,date,value', 'GDP,2023-12,1.5', 'GDP,2024-03,4', 'LATER,2024-03,7'],
  },
  { on: '2024-04-03', dataset: 'series', lines: ['series_id,name,description', 'GDP,Product,Revised'] },
  { on: '2024-04-04', dataset: 'calendar', lines: [calendar, 'r-1,Output,Office,2024-05-02 08:00,UTC,GDP'] },
];

/** An installation whose clock is at a day, with everything published until then. */
async function startUntil(last: string) {
  const services = await startServices({ clock: fakeClock(`${last}T23:00:00Z`) });
  const { database } = services;
  for (const { on, dataset = 'observations', lines } of published.filter((each) => each.on <= last)) {
    const clock = fakeClock(`${on}T12:00:00Z`);
    const create = dataset === 'observations' ? { create: true, set: monthly } : {};
    await loadCsv(database, lines, { dataset, clock, ...create });
    const now = [`${on}T12:00:00Z`];
    await database.query(`update data.loads set loaded_at = $1 where loaded_at > '2025-01-01'`, now);
    for (const column of ['created_at', 'updated_at'])
      await database.query(`update data.series set ${column} = $1 where ${column} > '2025-01-01'`, now);
  }
  const { accountId, key } = await services.accountWithKey('pro');
  const pinned = await createKey(services.accounts, accountId, 'backtest', { as_of: day });
  return { services, key, pinned: pinned.key };
}

const whole = await startUntil('2024-06-15');
const cut = await startUntil(day);
test.after.always(async () => {
  await whole.services.close();
  await cut.services.close();
});

type Side = typeof whole;

const calls: readonly { name: string; given: Record<string, unknown> }[] = [
  ...['GDP', 'output', 'product', 'LATER', 'latr'].map((q) => ({ name: 'search', given: { q } })),
  ...['GDP', 'CPI', 'EMPTY', 'LATER', 'NONE'].map((id) => ({ name: 'describe', given: { id } })),
  { name: 'get_series', given: { ids: ['GDP', 'CPI'], from: '2024', transform: 'change' } },
  { name: 'get_series', given: { ids: ['GDP', 'LATER'] } },
  { name: 'get_series', given: { ids: ['GDP'], as_of: '2024-02-15' } },
  { name: 'get_series', given: { ids: ['GDP'], limit: 0 } },
  { name: 'latest', given: { ids: ['GDP', 'CPI'] } },
  { name: 'latest', given: { ids: ['EMPTY'] } },
  { name: 'latest', given: { ids: ['LATER'] } },
  { name: 'compare', given: { ids: ['GDP'], as_of_a: '2024-02-15', as_of_b: day } },
  { name: 'revisions', given: { id: 'GDP' } },
  { name: 'revisions', given: { id: 'GDP', date: '2024-01', as_of: '2024-02-15' } },
  { name: 'revisions', given: { id: 'LATER' } },
  { name: 'calendar', given: { from: '2024' } },
  { name: 'calendar', given: {} },
  { name: 'changes', given: { since: '2024-01-01' } },
  { name: 'changes', given: { series: ['GDP'] } },
];
/** Calls for a day after the key's: refused for this key, accepted for a key without a day. */
const later: typeof calls = [
  { name: 'latest', given: { ids: ['GDP'], as_of: '2024-04-15' } },
  { name: 'compare', given: { ids: ['GDP'], as_of_a: day, as_of_b: '2024-04-15' } },
  { name: 'revisions', given: { id: 'GDP', as_of: '2024-04-15' } },
  { name: 'describe', given: { id: 'GDP', as_of: '2024-04-15' } },
];

/** The results of the tools, without ids of requests and events, and without cursors. */
async function results({ services }: Side, key: string, asked: typeof calls): Promise<unknown[]> {
  const client = await connect(services.url, key);
  const found: unknown[] = [];
  for (const { name, given } of asked) {
    const result = await client.callTool({ name, arguments: given });
    const [content] = result.content;
    found.push([name, given, result.isError === true, shown(content?.type === 'text' ? content.text : '')]);
  }
  await client.close();
  return found;
}

const shown = (text: string): string =>
  text
    .replaceAll(/"(request_id|next_cursor|as_of|checked_at)":("[^"]*"|null)/g, '"$1":…')
    .replaceAll(/evt_[a-z2-7]{20}/g, 'evt');

test('every tool answers a pinned key as an installation where nothing was published later', async (t) => {
  const client = await connect(whole.services.url, whole.pinned);
  const { tools } = await client.listTools();
  await client.close();
  t.deepEqual(
    [...new Set(calls.map(({ name }) => name))].toSorted(),
    tools.map(({ name }) => name).toSorted(),
  );
  const found = await results(whole, whole.pinned, calls);
  t.deepEqual(found, await results(cut, cut.key, calls));
  t.deepEqual(found, await results(cut, cut.pinned, calls));
  t.notDeepEqual(found, await results(whole, whole.key, calls));
});

test('as_of of a tool has the effect of a pinned key', async (t) => {
  const asOfDay = calls.map(({ name, given }) => ({ name, given: { as_of: day, ...given } }));
  const found = await results(whole, whole.key, asOfDay);
  t.deepEqual(found, await results(cut, cut.key, asOfDay));
  t.deepEqual(found, await results(whole, whole.pinned, asOfDay));
});

test('a tool refuses a pinned key each later day, whether or not something was published since', async (t) => {
  const found = await results(whole, whole.pinned, later);
  t.deepEqual(found, await results(cut, cut.pinned, later));
  for (const result of found) t.regex(JSON.stringify(result), /true,.*must not be after 2024-03-31/);
});

const json = { 'content-type': 'application/json' };
const requests: readonly { target: string; init?: RequestInit; status: number }[] = [
  ...[
    '/v1/series/LATER',
    '/v1/series/LATER/latest',
    '/v1/series/LATER/triangle',
    '/v1/series/LATER/cite',
  ].map((target) => ({ target, status: 404 })),
  ...['/v1/catalog/LATER', '/v1/series?ids=GDP,LATER', '/v1/no-such-endpoint'].map((target) => ({
    target,
    status: 404,
  })),
  {
    target: '/v1/series/query',
    init: { method: 'POST', headers: json, body: '{"ids":["LATER"]}' },
    status: 404,
  },
  { target: '/v1/series/query', init: { method: 'POST', headers: json, body: '{"ids":' }, status: 400 },
  { target: '/fred/series?series_id=LATER&file_type=json', status: 404 },
  { target: '/fred/series/observations?series_id=LATER', status: 404 },
  { target: '/v1/series/GDP?vintage=2024-13-01', status: 400 },
  { target: '/v1/bulk', status: 404 },
  { target: '/v1/series/GDP?format=pdf', status: 400 },
  { target: '/v1/series/GDP?version=99', status: 400 },
  { target: '/v1/series/GDP', init: { method: 'DELETE' }, status: 405 },
  { target: '/v1/search?q=GDP', init: { method: 'POST', headers: json, body: '{}' }, status: 405 },
];
/** Which a key without a day may read, or is refused otherwise; of vintages until a later day, those of then are shown. */
const ofPins: typeof requests = [
  { target: '/v1/series/GDP?vintage=2024-04-02', status: 400 },
  { target: '/v1/series/GDP/triangle?vintages_to=2024-04-02', status: 200 },
  { target: '/fred/series/observations?series_id=GDP&realtime_end=2024-04-02', status: 400 },
  { target: '/v1/status', status: 200 },
  { target: '/v1/webhooks', status: 403 },
];

async function answers({ services }: Side, key: string, asked: typeof requests): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { target, init } of asked) {
    const { status, headers, text } = await services.call(target, { key, ...init });
    const named = ['content-type', 'allow', 'www-authenticate'].map((name) => headers.get(name));
    found.push([target, init?.method ?? 'GET', status, ...named, shown(text)]);
  }
  return found;
}

test('refusals of a pinned key are those of an installation where nothing was published later', async (t) => {
  const found = await answers(whole, whole.pinned, requests);
  t.deepEqual(found, await answers(cut, cut.key, requests));
  t.deepEqual(found, await answers(cut, cut.pinned, requests));
  t.deepEqual(
    found.map((each) => (each as unknown[])[2]),
    requests.map(({ status }) => status),
  );
});

test('a pinned key gets the same refusal whether or not something was published after its day', async (t) => {
  const found = await answers(whole, whole.pinned, ofPins);
  t.deepEqual(found, await answers(cut, cut.pinned, ofPins));
  t.deepEqual(
    found.map((each) => (each as unknown[])[2]),
    ofPins.map(({ status }) => status),
  );
  const accepted = async ({ services, pinned }: Side) => {
    const headers = { 'x-api-key': pinned, accept: 'text/html' };
    const {
      status,
      headers: given,
      ...answer
    } = await post(services.url, listTools, headers).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    }));
    return [status, given.get('content-type'), shown(answer.text)];
  };
  const refused = await accepted(whole);
  t.is(refused[0], 406);
  t.deepEqual(refused, await accepted(cut));
});
