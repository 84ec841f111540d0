// ETags and the caches of the data-api and of a gateway in front of it, over every parameter of every endpoint and every kind of load.
// The reference is a second data-api on the same database with empty caches.
import test, { type ExecutionContext } from 'ava';
import { loadFrontPage } from '../../data-api/front-page/front-page-file.ts';
import { loadVocabulary } from '../../data-api/search/vocabulary.ts';
import { createCursors } from '../../kernel/http/cursor.ts';
import type { Dependencies } from '../../data-api/dependencies.ts';
import { createLoads } from '../../data-api/loads.ts';
import { toRoutes } from '../../data-api/endpoint.ts';
import { endpoints as declared } from '../../data-api/routes.ts';
import { findSeries } from '../../data-api/series/stored/series.sql.ts';
import { openDatabase } from '../../kernel/database.ts';
import { newestLoadPath, type DataState } from '../../kernel/http/validity.ts';
import { startService } from '../../kernel/http/server.ts';
import { createOpener } from '../../kernel/identity.ts';
import type { Answer, DataService } from '../services/data-service.ts';
import { freeAccount } from '../services/data-service.ts';
import { declaredParameters, endpoints, requestsFor, withParameter } from './endpoint-requests.ts';
import { changes, seriesCommands } from './every-change.ts';
import { initialLoads, loadInto } from './every-dataset.ts';
import { startTestGateway, type TestGateway } from '../gateway/recording-upstream.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { until } from '../run/until.ts';
import { startListService, type ListService } from '../services/list-service.ts';

const start = '2024-07-01T12:00:00Z';
let service: ListService;
let accounts: AccountsService;
let gateway: TestGateway;
let key: string;
let closeUncached: () => Promise<void>;
/** Calls the data-api without caches. */
let truth: (path: string, headers?: Record<string, string>) => Promise<Answer>;

test.before(async () => {
  service = await startListService({ openRevisionsSeries: 'CPI' });
  accounts = await startAccountsService(start);
  setClocks(start);
  const uncached = await startUncachedService(service);
  closeUncached = uncached.close;
  const asked: DataService = { ...service, url: uncached.url };
  truth = (path, headers = {}) => callAt(asked, path, headers);
  for (const load of initialLoads) await loadInto(service, load);
  ({ key } = await accounts.newClient('pro'));
  const plans = unhurried(projectPlans());
  gateway = await startTestGateway({ accounts, plans, responseCacheMb: 64, dataApiUrls: [service.url] });
});

test.after.always(async () => {
  await gateway?.close();
  await accounts?.close();
  await closeUncached?.();
  await service?.close();
});

/** Sets both clocks, as the gateway counts by that of accounts-api. */
function setClocks(instant: string): void {
  service.clock.set(instant);
  accounts.clock.set(instant);
}

/** The same service without caches. */
async function startUncachedService({ databaseUrl, clock, call }: ListService) {
  const asked = await call(newestLoadPath, { identity: { ...freeAccount, scope: 'internal' } });
  const { edition } = asked.json as DataState;
  const database = openDatabase(databaseUrl, silentLog, { applicationName: 'data-api without caches' });
  const dependencies: Dependencies = {
    database,
    longReads: database,
    bulk: undefined,
    asOf: null,
    present: null,
    cursors: createCursors(testIdentitySecret),
    seriesFacts: {
      known: () => undefined,
      find: (id, vintage) => findSeries(database, id, vintage, clock.now()),
    },
    loads: createLoads(database, edition),
    edition,
    vocabulary: loadVocabulary(),
    frontPage: loadFrontPage(),
    drawingSlots: { draw: (_image, draw) => draw() },
    clock,
    seriesTimeZone: 'UTC',
    publicUrl: 'https://almanac.example',
    previewPoints: 120,
    openRevisionsSeries: 'CPI',
    log: silentLog,
  };
  const running = await startService({
    log: silentLog,
    routes: toRoutes(declared, dependencies),
    openIdentity: createOpener(testIdentitySecret, 'data-api', undefined),
    ready: () => Promise.resolve(),
    host: '127.0.0.1',
    port: 0,
  });
  return {
    url: running.url,
    async close() {
      await running.close();
      await database.close();
    },
  };
}

async function callAt(
  { url, headers: identity }: Pick<DataService, 'url' | 'headers'>,
  path: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const ask = () =>
    fetch(url + path, { headers: { 'accept-encoding': 'identity', ...identity(path), ...headers } });
  let response = await ask();
  // Only one PNG per account is drawn at a time.
  await until('a PNG has its place', async () => {
    if (response.status !== 429) return true;
    response = await ask();
    return false;
  });
  return { status: response.status, headers: response.headers, text: await response.text(), json: undefined };
}

const ask = (path: string, headers: Record<string, string> = {}) => callAt(service, path, headers);
const askGateway = (path: string, headers: Record<string, string> = {}) =>
  callAt({ url: gateway.url, headers: () => ({ 'x-api-key': key }) }, path, headers);
/** The two services, each with its own caches. */
const callers = { 'data-api': ask, 'the gateway': askGateway };

/** The content that an ETag represents. Two spellings of one request have the same next page, to which the cursor points. */
function representationOf({ headers, text }: Answer) {
  const link = headers.get('link');
  return {
    body: text,
    type: headers.get('content-type'),
    disposition: headers.get('content-disposition'),
    cursor: link === null ? null : /cursor=([\w-]+)/.exec(link)?.[1],
    pinnedAt: headers.get('content-location')?.split('?')[0] ?? null,
  };
}

/** ETag → the content that it represented first, and the request. */
class Ledger {
  readonly #known = new Map<string, { path: string; shown: string }>();

  /** Checks that an ETag represents the same content as before, for any request. */
  note(t: ExecutionContext, path: string, answer: Answer): void {
    const etag = answer.headers.get('etag');
    if (answer.status !== 200 || etag === null) return;
    const shown = JSON.stringify(representationOf(answer));
    const known = this.#known.get(etag);
    if (known === undefined) this.#known.set(etag, { path, shown });
    else if (known.shown !== shown) t.is(shown, known.shown, `${path} has the ETag of ${known.path}`);
  }
}

/** Runs the work of all items, several at a time. */
async function overAll<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

test.serial('the table of requests has every route and every parameter of the service', async (t) => {
  const reads = Object.entries(declared).filter(([, { method }]) => method === 'GET');
  // Bulk files need a store; their requests are in test/v1/bulk/.
  const served = reads.map(([route]) => route).filter((route) => !route.startsWith('/v1/bulk'));
  t.deepEqual([...new Set(endpoints.map(({ route }) => route))].sort(), served.sort());
  for (const { path, values } of endpoints) {
    const declared = await declaredParameters(service, path);
    const learned = ['sort', 'limit', 'cursor', 'fields', 'format', 'updated_after', 'count_only', 'ids'];
    const isLearned = (name: string) => learned.includes(name) || /_(?:min|max)$/.test(name);
    t.deepEqual(
      declared.filter((name) => !isLearned(name) || Object.hasOwn(values, name)).sort(),
      Object.keys(values).sort(),
      `${path} takes these parameters`,
    );
  }
});

/** Every request of the table, each order and past state by pages too, and each endpoint as CSV, whole and by pages. */
async function everyRequest(): Promise<string[]> {
  const requests: string[] = [];
  for (const endpoint of endpoints) {
    const own = await requestsFor(service, endpoint);
    const declared = await declaredParameters(service, endpoint.path);
    const paged = declared.includes('limit')
      ? own.filter((path) => /[?&](sort|vintage|release)=/.test(path))
      : [];
    requests.push(...own, ...paged.slice(0, 12).map((path) => withParameter(path, 'limit', '2')));
    if (!declared.includes('format') || endpoint.path.includes('?ids=')) continue;
    const csv = own.filter((path) => path === endpoint.path || /[?&](fields|section|basis)=/.test(path));
    requests.push(...csv.map((path) => withParameter(path, 'format', 'csv')));
    if (!declared.includes('limit')) continue;
    requests.push(...csv.map((path) => withParameter(withParameter(path, 'format', 'csv'), 'limit', '1')));
  }
  return [...new Set(requests)];
}

test.serial(
  'different answers never share an ETag, and no cache answers a request with the answer to another',
  async (t) => {
    const ledger = new Ledger();
    const requests = await everyRequest();
    const answers = new Map<string, Answer>();
    await overAll(requests, async (path) => {
      const expected = await truth(path);
      t.true([200, 400].includes(expected.status), `${path}: ${expected.status} ${expected.text}`);
      ledger.note(t, path, expected);
      answers.set(path, expected);
      const cursor = /"next_cursor":"([\w-]+)"/.exec(expected.text)?.[1];
      if (cursor === undefined || path.includes('?ids=')) return; // the cursor of one of many series is valid only for that series
      const next = withParameter(path, 'cursor', cursor);
      const nextAnswer = await truth(next);
      t.is(nextAnswer.status, 200, next);
      ledger.note(t, next, nextAnswer);
      answers.set(next, nextAnswer);
    });
    t.log(`${answers.size} requests`);
    await overAll([...answers], async ([path, expected]) => {
      for (const [caller, ask] of Object.entries(callers)) {
        const answer = await ask(path);
        t.is(answer.status, expected.status, `${path} at ${caller}`);
        if (expected.status !== 200) continue;
        t.deepEqual(representationOf(answer), representationOf(expected), `${path} at ${caller}`);
        for (const name of ['etag', 'last-modified', 'cache-control', 'vary'])
          t.is(answer.headers.get(name), expected.headers.get(name), `${name} of ${path} at ${caller}`);
      }
    });
    // A repeated request may be answered from a cache.
    await assertOnlyOwnTag(t, answers);
  },
);

/** Only the ETag of the answer itself results in 304, not those of other answers of the same path. */
async function assertOnlyOwnTag(t: ExecutionContext, answers: ReadonlyMap<string, Answer>): Promise<void> {
  const tagged = [...answers].filter(([, answer]) => answer.headers.has('etag'));
  const byPath = Map.groupBy(tagged, ([path]) => path.split('?')[0] ?? '');
  await overAll([...[...byPath.values()].flat().entries()], async ([at, [path, expected]]) => {
    const own = expected.headers.get('etag') ?? '';
    const siblings = byPath.get(path.split('?')[0] ?? '') ?? [];
    const others = new Set(siblings.map(([, { headers }]) => headers.get('etag') ?? ''));
    others.delete(own);
    for (const [caller, ask] of Object.entries(callers)) {
      // A gateway compares tags in the same way for all cached answers, so the answers of a path are requested in turn.
      if (caller === 'data-api' || at % 2 === 0) {
        const answer = await ask(path, { 'if-none-match': [...others].slice(0, 300).join(', ') || '"none"' });
        t.deepEqual([answer.status, answer.text], [200, expected.text], `${path} at ${caller}`);
      }
      if (caller === 'data-api' || at % 2 === 1) {
        const same = await ask(path, { 'if-none-match': own });
        t.deepEqual([same.status, same.text], [304, ''], `${path} at ${caller}`);
      }
    }
  });
}

test.serial('each encoding has its own ETag, and a cache keeps them apart', async (t) => {
  const paths = ['/v1/series/CPI', '/v1/series?ids=CPI,TRADES', '/v1/catalog?sort=-id', '/v1/funds'];
  for (const [path, ask] of paths.flatMap((path) =>
    Object.values(callers).map((ask) => [path, ask] as const),
  )) {
    const expected = (await truth(path)).text;
    const tags = new Set<string>();
    for (const encoding of ['identity', 'gzip', 'br', 'identity', 'gzip', 'br']) {
      const { text, headers } = await ask(path, { 'accept-encoding': encoding });
      t.is(text, expected);
      const sent = headers.get('content-encoding') ?? 'identity';
      t.true([encoding, 'identity'].includes(sent), `${path} as ${encoding}: ${sent}`);
      tags.add(headers.get('etag') ?? '');
    }
    t.is(tags.size, 3, path);
  }
});

/** The requests repeated after every load: each endpoint without parameters, and those that read the data in another way. */
const watched = [
  ...endpoints.map(({ path }) => path).filter((path) => path !== '/v1/status'),
  '/v1/series/CPI?fields=date,value,status,published_on',
  '/v1/series/CPI?vintage=2024-05-20',
  '/v1/series/CPI?release=first',
  '/v1/series/CPI?format=csv',
  '/v1/series/CPI?include=notes',
  '/v1/series/TRADES?include=notes&format=csv',
  '/v1/series?ids=CPI,TRADES&include=notes',
  '/v1/series/CPI?include_missing=true&fields=date,value,status',
  '/v1/commodities/by-city?item=rice&format=csv',
  '/v1/catalog?facets=true',
  '/v1/funds/share/nav?format=csv',
  '/v1/catalog?q=prices',
  '/v1/catalog?format=csv',
  '/v1/calendar?format=ics',
  '/v1/trade?aggregate_by=partner&from=2023',
  '/v1/trade?aggregate_by=commodity,fiscal_year&fiscal_year_end=06-30&from=2023',
  '/v1/trade?flow=balance&from=2023',
  '/v1/trade?count_only=true',
];

/** How often all watched requests were made. */
let states = 0;

/**
 * Makes all watched requests with their previous ETags: 304 only if the answer is still the same.
 * @returns the present answers, and which of them have changed.
 */
async function dirtyMarker(
  t: ExecutionContext,
  name: string,
  before: ReadonlyMap<string, Answer>,
  ledger: Ledger,
) {
  const now = new Map<string, Answer>();
  const changed: string[] = [];
  states += 1;
  await overAll(watched, async (path) => {
    const expected = await truth(path);
    t.is(expected.status, 200, `${path}: ${expected.text}`);
    ledger.note(t, `${path} after ${name}`, expected);
    now.set(path, expected);
    const old = before.get(path);
    const isSame = old !== undefined && old.text === expected.text;
    if (!isSame) changed.push(path);
    const etag = old?.headers.get('etag') ?? '"none"';
    for (const [at, [caller, ask]] of Object.entries(callers).entries()) {
      const where = `${path} at ${caller} after ${name}`;
      // Each of the two requests goes to another service, and they are swapped the next time: so neither service can use its cached answer to the
      // same request.
      const isTurn = (states + at) % 2 === 0;
      if (!isSame || isTurn) {
        const asked = await ask(path, { 'if-none-match': etag });
        if (asked.status === 304) t.true(isSame, `${where} is 304`);
        else t.deepEqual(representationOf(asked), representationOf(expected), where);
        if (!isSame) t.not(asked.headers.get('etag'), etag, `${where} keeps its ETag`);
      }
      if (isSame && isTurn) continue;
      const plain = await ask(path);
      t.is(plain.text, expected.text, `${where}, without If-None-Match`);
      t.is(plain.headers.get('last-modified'), expected.headers.get('last-modified'), where);
    }
  });
  return { now, changed };
}

test.serial(
  'after every kind of load each answer is the new one, with a new ETag if it has changed',
  async (t) => {
    const ledger = new Ledger();
    let { now } = await dirtyMarker(t, 'the start', new Map(), ledger);
    for (const change of changes) {
      await loadInto(service, { ...change, options: { ...change.options, noGateway: false } });
      const after = await dirtyMarker(t, change.name, now, ledger);
      t.true(after.changed.length > 0, `${change.name} changes some answer`);
      now = after.now;
    }
  },
);

test.serial(
  'after every change of a series by the command line each answer is the new one, with a new ETag if it has changed',
  async (t) => {
    const ledger = new Ledger();
    let { now } = await dirtyMarker(t, 'the start', new Map(), ledger);
    const { databaseUrl, clock } = service;
    const database = openDatabase(databaseUrl, silentLog, { applicationName: 'test' });
    try {
      for (const { name, run } of seriesCommands) {
        await run(database, { seriesTimeZone: 'UTC', clock });
        const after = await dirtyMarker(t, name, now, ledger);
        t.true(after.changed.length > 0, `${name} changes some answer`);
        now = after.now;
      }
    } finally {
      await database.close();
    }
  },
);

test.serial('as time passes each answer is the current one, with a new ETag if it has changed', async (t) => {
  const ledger = new Ledger();
  let { now } = await dirtyMarker(t, 'the start', new Map(), ledger);
  // One second, one hour, past the next release of CPI, past midnight, one month.
  for (const instant of [
    '2024-07-01T12:00:01Z',
    '2024-07-01T13:00:00Z',
    '2024-07-04T04:00:00Z',
    '2024-07-05T00:00:01Z',
    '2024-08-04T12:00:00Z',
  ]) {
    setClocks(instant);
    ({ now } = await dirtyMarker(t, instant, now, ledger));
  }
});

test.serial(
  'a past state that was answered to one caller is refused to a caller without that plan feature',
  async (t) => {
    for (const path of [
      '/v1/series/CPI?vintage=2024-05-20',
      '/v1/series/CPI?release=first',
      '/v1/series/CPI/latest?vintage=2024-05-20',
      '/v1/series/CPI/vintages',
      '/v1/series/CPI/triangle',
      '/v1/series/CPI/triangle?layout=wide&last=1',
      '/v1/series?ids=CPI&vintage=2024-05-20',
      '/v1/series?ids=CPI&release=first',
      '/v1/commodities?item=rice&vintage=2024-06-10',
      '/v1/commodities?item=rice&release=first',
      '/v1/commodities/by-city?item=rice&vintage=2024-06-10',
    ]) {
      const { status, headers } = await service.call(path);
      t.is(status, 200, path);
      for (const more of [{}, { 'if-none-match': headers.get('etag') ?? '' }, { 'if-none-match': '*' }]) {
        const refused = await service.call(path, { identity: freeAccount, headers: more });
        t.is(refused.status, 403, path);
        t.is((refused.json as { error: { code: string } }).error.code, 'plan_required', path);
      }
      t.is((await service.call(path)).status, 200, path);
    }
  },
);
