// Whatever a key that is pinned to a day asks, the answer is that of an installation where nothing was published after that day: over every
// endpoint that is kept, each of its parameters and formats, and after random histories. AS_OF_RUNS=200 tries more, AS_OF_REPLAY=seed/path one again.
import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import { endpoints as declared } from '../../data-api/routes.ts';
import { proAccount, startDataService, type Answer } from '../services/data-service.ts';
import { endpoints, requestsFor } from '../v1/endpoint-requests.ts';
import { anyHistory, play, type History, type Sides } from './histories.ts';

const kept = Object.entries(declared).filter(([, { isKeptAsOf, method }]) => isKeptAsOf && method === 'GET');
/** Besides those of the table: parameters together, ids that nobody has, several pages. */
const more = [
  '/v1/series?ids=CPI,TRADES',
  '/v1/series?ids=CPI,PRICES,EMPTY',
  '/v1/series/CPI?release=first&fields=date,value,status,published_on&include_missing=true',
  '/v1/series/TRADES?include_missing=true&fields=date,value,dims,status,published_on&limit=2',
  '/v1/series/TRADES?sort=desc&limit=3&fields=date,value,published_on',
  '/v1/series/BENCH?release=first&include_missing=true',
  '/v1/series/PRICES?transform=index&frequency=annual&incomplete=true',
  '/v1/series/NONE',
  '/v1/series/BENC/latest',
  '/v1/series?ids=CPI,NONE',
  '/v1/series?ids=CPI,TRADES&format=xlsx&layout=wide',
  '/v1/series/EMPTY',
  '/v1/series/TRADES/vintages?limit=1',
  '/v1/series/TRADES/triangle?layout=wide&include_missing=true',
  '/v1/series/BENCH/cite',
  '/v1/series/PRICES2',
  '/v1/series/PRICES/cite',
  '/v1/series?ids=PRICES2,CPI&include=notes',
  '/v1/catalog/TRADES',
  '/v1/catalog/CPI',
  '/fred/series?series_id=TRADES~buy~Lahore&file_type=json',
  '/fred/series/observations?series_id=TRADES~sell~Lahore&file_type=json&output_type=2',
  '/fred/series/observations?series_id=BENCH&file_type=json&realtime_start=1776-07-04&realtime_end=9999-12-31',
];

let requests: readonly string[] = [];
test.before(async () => {
  const service = await startDataService();
  const all: string[] = [...more];
  for (const [route] of kept) {
    const asked = endpoints.filter((each) => each.route === route);
    if (asked.length === 0) throw new Error(`test/v1/endpoint-requests.ts has no request for ${route}`);
    for (const each of asked) all.push(...(await requestsFor(service, each)));
  }
  requests = [...new Set(all)];
  await service.close();
});

/** A share of the requests for each history: together, the histories ask all of them. */
const shares = 6;
let played = 0;

async function agree(history: History): Promise<void> {
  const sides = await play(history);
  const share = played++ % shares;
  try {
    const asked = requests.filter((_, i) => i < more.length || i % shares === share);
    for (const request of asked) await agreeOn(sides, request);
    await isOfVintage(sides);
    await agreeOnBody(sides);
  } finally {
    await sides.close();
  }
}

async function agreeOn({ whole, cut, day, today }: Sides, request: string): Promise<void> {
  const isCitation = request.includes('/cite');
  let [asked, expectedOf] = [request, request];
  for (let page = 1; page <= 4; page += 1) {
    const found = await whole.call(asked, { identity: { ...proAccount, asOf: day } });
    assert.equal(found.headers.get('x-as-of'), day, request);
    assert.doesNotMatch(found.headers.get('cache-control') ?? '', /public/, request);
    if (isAfter(request, day)) {
      // What did not exist then is not found, whatever else is asked.
      if (found.status === 404) return assert.equal((await cut.call(expectedOf)).status, 404, request);
      assert.equal(found.status, 400, request);
      assert.match(
        found.text,
        new RegExp(`must not be after ${day}, the day that the API key is pinned to`),
        request,
      );
      return;
    }
    const expected = await cut.call(expectedOf);
    const seen = await shown(found);
    if (isCitation) seen.text = accessedThen(seen.text, today, day);
    assert.deepEqual(seen, await shown(expected), `${request}, page ${page}, as of ${day}`);
    const [next, expectedNext] = [cursorOf(found), cursorOf(expected)];
    if (next === null || expectedNext === null) return;
    [asked, expectedOf] = [withCursor(request, next), withCursor(request, expectedNext)];
  }
}

/** A citation has the present day as the one on which it was accessed, and no other day after the pin. */
const accessedThen = (text: string, today: string, day: string): string =>
  text.replaceAll(today, day).replaceAll(partsOf(today), partsOf(day));
const partsOf = (date: string): string => date.split('-').map(Number).join(',');

/** Several series by a body. */
async function agreeOnBody({ whole, cut, day }: Sides): Promise<void> {
  const body = JSON.stringify({ ids: ['TRADES', 'CPI'], include_missing: true, sort: 'desc' });
  const asked = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const found = await whole.call('/v1/series/query', { identity: { ...proAccount, asOf: day }, ...asked });
  assert.deepEqual(
    await shown(found),
    await shown(await cut.call('/v1/series/query', asked)),
    `${body} as of ${day}`,
  );
}

/** What makes an answer: cursors are encrypted anew each time. */
async function shown({ status, headers, text }: Answer) {
  const of = (name: string) => headers.get(name)?.replaceAll(/cursor=[^&>]*/g, 'cursor=') ?? null;
  return {
    status,
    ...{ type: of('content-type'), location: of('content-location'), link: of('link') },
    ...{ changed: of('last-modified'), file: of('content-disposition') },
    text: text
      .replaceAll(/"next_cursor":"[^"]*"/g, '"next_cursor":"…"')
      .replaceAll(/evt_[a-z2-7]{20}/g, 'evt'),
  };
}

function cursorOf({ json, headers }: Answer): string | null {
  const named = (json as { pagination?: { next_cursor?: string | null } } | undefined)?.pagination
    ?.next_cursor;
  return named ?? /cursor=([^&>]*)/.exec(headers.get('link') ?? '')?.[1] ?? null;
}

function withCursor(request: string, cursor: string): string {
  const url = new URL(request, 'http://host');
  url.searchParams.set('cursor', decodeURIComponent(cursor));
  return url.pathname + url.search;
}

/** Whether the request names a state after the day. */
function isAfter(request: string, day: string): boolean {
  const { searchParams } = new URL(request, 'http://host');
  // These bound the dates of releases, of which a calendar knows later ones too.
  if (/^\/fred\/releases?\/dates\?/.test(request)) return false;
  return ['vintage', 'vintage_dates', 'vintage_date', 'realtime_start', 'realtime_end']
    .flatMap((name) => searchParams.get(name)?.split(',') ?? [])
    .some((named) => named > day && named !== '9999-12-31');
}

/** The points are those that anybody may read with `vintage`. */
async function isOfVintage({ whole, day }: Sides): Promise<void> {
  for (const id of ['CPI', 'TRADES', 'BENCH', 'PRICES']) {
    const path = `/v1/series/${id}?include_missing=true&fields=date,value,dims,status,published_on`;
    const pinned = await whole.call(path, { identity: { ...proAccount, asOf: day } });
    const past = await whole.call(`${path}&vintage=${day}`);
    if (pinned.status === 404) assert.ok(past.status === 404 || dataOf(past).length === 0, id);
    else assert.deepEqual(dataOf(pinned), dataOf(past), `${id} as of ${day}`);
  }
}

const dataOf = ({ json }: Answer): readonly unknown[] => (json as { data: unknown[] }).data;

const replay = /^(-?\d+)\/([\d:]+)$/.exec(process.env['AS_OF_REPLAY'] ?? '');
const howLong: fc.Parameters<unknown> = {
  includeErrorInReport: true,
  ...(replay === null
    ? { seed: 20_240_418, numRuns: Number(process.env['AS_OF_RUNS'] ?? 10), endOnFailure: true }
    : { seed: Number(replay[1]), path: replay[2] ?? '' }),
};

test.serial(
  'an answer to a pinned key is that of an installation where nothing was published later',
  async (t) => {
    await fc.assert(fc.asyncProperty(anyHistory, agree), howLong);
    t.pass();
  },
);
