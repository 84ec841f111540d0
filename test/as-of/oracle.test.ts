// A key that is pinned to a day gets the same answer as from an installation where nothing was published after that day: for every
// endpoint whose history is stored, each of its parameters and formats, and after random histories. See test/as-of/how-long.ts.
import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import { endpoints as declared } from '../../data-api/routes.ts';
import { proAccount, startDataService, type Answer } from '../services/data-service.ts';
import { agreeOn, requestsOf, shown } from './agreement.ts';
import { fundRoutes } from './fund-histories.ts';
import { anyHistory, play, type History, type Sides } from './histories.ts';
import { howLong } from './how-long.ts';
import { rowRoutes } from './row-histories.ts';

const ofBulk = ['/v1/bulk', '/v1/bulk/:name'];
const ofOthers: readonly string[] = [...rowRoutes, ...fundRoutes, ...ofBulk];
const coveredRoutes = Object.entries(declared).filter(
  ([route, { method }]) => method === 'GET' && !ofOthers.includes(route),
);
/** In addition to those of the table: combined parameters, unknown ids, several pages. */
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
  requests = [
    ...new Set([
      ...more,
      ...(await requestsOf(
        service,
        coveredRoutes.map(([route]) => route),
      )),
    ]),
  ];
  await service.close();
});

/** A share of the requests for each history: together, the histories ask all of them. */
const partCount = 6;
let played = 0;

async function agree(history: History): Promise<void> {
  const sides = await play(history);
  const part = played++ % partCount;
  try {
    const asked = requests.filter((_, i) => i < more.length || i % partCount === part);
    for (const request of asked) await agreeOn(sides, request);
    await isOfVintage(sides);
    await agreeOnBody(sides);
    await sides.release();
    for (const request of more) await agreeOn(sides, request);
  } finally {
    await sides.close();
  }
}

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

test.serial(
  'an answer to a pinned key is that of an installation where nothing was published later',
  async (t) => {
    await fc.assert(fc.asyncProperty(anyHistory, agree), howLong);
    t.pass();
  },
);
