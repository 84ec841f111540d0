// The filters common to all lists: several values, bounds, ids, and count_only. The OpenAPI document defines the lists and their parameters; each
// answer is compared with the complete rows.
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { documentFile } from '../../openapi/published.ts';
import { startListService, type ListService } from '../services/list-service.ts';
import { endpoints, requestsFor, withParameter } from './endpoint-requests.ts';
import { initialLoads, loadInto } from './every-dataset.ts';

interface Parameter {
  name: string;
  in: string;
  schema: { type?: string; items?: object; format?: string; enum?: readonly string[]; examples?: unknown };
}
interface OpenApi {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>;
}
type Row = Readonly<Record<string, unknown>>;

/** The parameters of each list. A list is an endpoint with pages of rows and `fields`. */
const listed = Object.entries((JSON.parse(readFileSync(documentFile, 'utf8')) as OpenApi).paths).flatMap(
  ([at, { get }]) => {
    const parameters = get?.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
    const names = parameters.map(({ name }) => name);
    const isList = ['cursor', 'fields', 'format'].every((name) => names.includes(name));
    const isPoints = names.includes('transform') || names.includes('dims');
    const route = at.replaceAll(/\{(\w+)\}/g, ':$1');
    return isList && !isPoints && isOfData(route) ? [{ route, parameters, names }] : [];
  },
);

/** Lists of accounts and operators have other filters. */
function isOfData(route: string): boolean {
  return endpoints.some((endpoint) => endpoint.route === route) || route === '/v1/bulk';
}

/** The tested lists, without the bulk files, which need a store. */
const asked = listed.flatMap((list) =>
  endpoints.filter(({ route }) => route === list.route).map((endpoint) => ({ ...list, ...endpoint })),
);

/** The identifying field of a row, if it is not `id`. */
const idFields: Readonly<Record<string, string>> = {
  '/v1/securities': 'code',
  '/v1/securities/trades': 'trade_id',
  '/v1/fixed-income/auctions': 'auction_id',
  '/v1/bulk': 'name',
};
/** Rows without a unique id: a fund and a series may have the same id; vintages, prices and records of funds have none. */
const withoutIds = [
  '/v1/search',
  '/v1/series/:id/vintages',
  '/v1/securities/:code/prices',
  '/v1/funds/:id/nav',
  '/v1/funds/:id/payouts',
  '/v1/funds/:id/expenses',
];

let service: ListService;
test.before(async () => {
  service = await startListService();
  service.clock.set('2024-07-01T12:00:00Z');
  for (const load of initialLoads) await loadInto(service, load);
});
test.after.always(() => service?.close());

const whole = (path: string) => service.list(withParameter(path, 'limit', '1000'));
const rowsOf = async (path: string): Promise<readonly Row[]> => (await whole(path)).data;
const narrowed = (path: string, parameter: string, value: string) =>
  rowsOf(withParameter(path, parameter, value));
const textsOf = (rows: readonly Row[]): string[] => rows.map((row) => JSON.stringify(row));

/** Text parameters that do not select a value of a field: words, bounds of a rating, computations, formats. */
const single = ['q', 'sort', 'cursor', 'format', 'basis', 'rating_min', 'rating_max', 'fiscal_year_end'];

test('every list takes count_only, ids where its rows have one, several values in each filter, and both bounds', (t) => {
  t.true(listed.length > 18, `${listed.length} lists`);
  for (const { route, parameters, names } of listed) {
    t.true(names.includes('count_only'), route);
    t.is(names.includes('ids'), !withoutIds.includes(route), route);
    for (const { name, schema } of parameters) {
      const side = /_(min|max)$/.exec(name)?.[1];
      if (side === 'min' && name !== 'rating_min')
        t.true(names.includes(name.replace(/min$/, 'max')), `${route} ${name}`);
      const isOfOne =
        schema.type === 'string' && schema.format === undefined && schema.examples === undefined;
      const isFrequencyOfNavs = route === '/v1/funds/:id/nav' && name === 'frequency';
      if (isOfOne && !isFrequencyOfNavs) t.true(single.includes(name), `${route} ${name} takes one value`);
    }
  }
});

test('count_only returns the number of the rows of a request, without the rows', async (t) => {
  let counted = 0;
  for (const list of asked) {
    for (const path of await requestsFor(service, list)) {
      if (/[?&](limit|cursor|count_only|format)=/.test(path)) continue;
      const all = await whole(path);
      if (!all.success) continue;
      const { success, data, count, pagination } = await service.list(
        withParameter(path, 'count_only', 'true'),
      );
      t.deepEqual([success, data, count], [true, [], all.data.length], path);
      t.deepEqual(pagination, { next_cursor: null, count: 0 }, path);
      if (all.pagination.total !== undefined) t.is(all.pagination.total, count, `the total of ${path}`);
      counted += 1;
    }
    const csv = withParameter(withParameter(list.path, 'count_only', 'true'), 'format', 'csv');
    t.is((await service.list(csv)).error.param, 'format', csv);
  }
  t.true(counted > 200, `${counted} requests`);
});

test('a list whose number of rows is cached reports it as the total on every page', async (t) => {
  for (const path of [
    '/v1/catalog',
    '/v1/catalog?category=prices',
    '/v1/catalog?category=prices,markets&sort=-last_updated',
    '/v1/catalog?source=Office,Bureau',
    '/v1/catalog?frequency=daily',
    '/v1/catalog?geography=Pakistan',
    '/v1/catalog?q=prices&facets=true',
    '/v1/catalog?category=prices&frequency=monthly&facets=true',
    '/v1/search?q=prices&facets=true',
    '/v1/releases',
    '/v1/sources',
  ]) {
    const rows = await rowsOf(path);
    t.true(rows.length > 0, path);
    const first = await service.list(withParameter(path, 'limit', '1'));
    t.is(first.pagination.total, rows.length, path);
    const cursor = first.pagination.next_cursor;
    if (cursor === null) continue;
    const next = withParameter(withParameter(path, 'limit', '1'), 'cursor', cursor);
    t.is((await service.list(next)).pagination.total, rows.length, next);
  }
});

/** The rows that several values give together. Few hits are supplemented by those with some of the words, which may occur for only one value. */
const together = (rows: readonly Row[]): string[] =>
  textsOf(rows.filter(({ match }) => match !== 'some_words')).sort();

test('several values of a filter select the rows that match any of them, each once', async (t) => {
  let tried = 0;
  for (const list of asked) {
    for (const name of filtersOf(list)) {
      const path = list.path;
      const values = (list.values[name] ?? []).filter((value) => value !== 'balance' && !value.includes(','));
      if (values.length === 0) continue; // tried at another path of the route
      t.true(values.length > 1, `${path} ${name} is tried with several values`);
      const each = await Promise.all(values.map((value) => narrowed(path, name, value)));
      const found = await narrowed(path, name, values.join(','));
      t.deepEqual(
        together(found),
        [...new Set(each.flatMap(together))].sort(),
        `${path} ${name}=${values.join(',')}`,
      );
      t.deepEqual(await narrowed(path, name, values.map((value) => `"${value}"`).join(',')), found);
      tried += 1;
    }
  }
  t.true(tried > 40, `${tried} filters`);
});

/** The filters of a list that take several values. */
const filtersOf = ({ parameters }: (typeof asked)[number]): string[] =>
  parameters
    .filter(({ schema }) => schema.type === 'array')
    .map(({ name }) => name)
    .filter((name) => !['fields', 'aggregate_by', 'ids'].includes(name));

test('a wrong value among several is refused by the name of the parameter, and so are too many or an empty one', async (t) => {
  for (const [path, param] of [
    ['/v1/catalog?frequency=monthly,weekli', 'frequency'],
    ['/v1/trade?reporter=PAK,PAKI', 'reporter'],
    ['/v1/trade?ids=1,x', 'ids'],
    ['/v1/catalog?source=Office,,Bureau', 'source'],
    ['/v1/catalog?source=Office,', 'source'],
    [`/v1/catalog?source=${Array.from({ length: 101 }, (_, i) => `s${i}`).join(',')}`, 'source'],
    ['/v1/funds?aum_min=much', 'aum_min'],
    ['/v1/funds?launch_date_max=2024-13', 'launch_date_max'],
    ['/v1/trade?flow=balance,export&period=2024-04', 'flow'],
    ['/v1/trade?aggregate_by=commodity&period=2024-04&partner=CHN,PAK', 'partner'],
    ['/v1/trade?aggregate_by=partner&period=2024-04&commodity=01,02', 'commodity'],
    ['/v1/trade?flow=balance&period=2024-04&ids=1', 'ids'],
  ] as const) {
    const { error } = await service.list(path);
    t.deepEqual([error?.code, error?.param], ['invalid_parameter', param], path);
  }
  const most = Array.from({ length: 100 }, (_, i) => `s${i}`).join(',');
  t.deepEqual(await rowsOf(`/v1/catalog?source=${most}`), []);
});

test('a text with a comma is one value as a whole, and only that in double quotes', async (t) => {
  const own = await startListService();
  t.teardown(() => own.close());
  await own.load('series', [
    'series_id,name,unit,frequency,source',
    'A,A,U,daily,"Food, drink"',
    'B,B,U,daily,Food',
    'C,C,U,daily,drink',
    'D,D,U,daily,"The ""Food"", drink"',
  ]);
  for (const [source, ids] of [
    ['Food, drink', ['A', 'B', 'C']],
    ['"Food, drink"', ['A']],
    ['"Food, drink",Food', ['A', 'B']],
    ['drink , Food', ['B', 'C']],
    ['"The ""Food"", drink"', ['D']],
  ] as const) {
    t.deepEqual(await own.column(withParameter('/v1/catalog', 'source', source), 'id'), ids, source);
  }
});

test('a bound selects the rows whose value is within it, for each number and date that a list can be sorted by', async (t) => {
  let tried = 0;
  for (const { path, names } of asked) {
    const all = await rowsOf(path);
    const bounded = names.filter((name) => name.endsWith('_min') && name !== 'rating_min');
    for (const field of bounded.map((name) => name.replace(/_min$/, ''))) {
      const values = [...new Set(all.map((row) => row[field]).filter((value) => value !== null))];
      for (const value of values.slice(0, 3)) {
        for (const side of ['min', 'max'] as const) {
          const bound = typeof value === 'string' ? value.slice(0, 10) : JSON.stringify(value);
          const expected = all.filter((row) => isWithin(row[field], side, bound));
          const request = withParameter(path, `${field}_${side}`, bound);
          t.deepEqual(textsOf(await rowsOf(request)), textsOf(expected), request);
          tried += 1;
        }
      }
    }
  }
  t.true(tried > 150, `${tried} bounds`);
});

function isWithin(value: unknown, side: 'min' | 'max', bound: string): boolean {
  if (value === null || value === undefined) return false;
  const order =
    typeof value === 'string'
      ? value.slice(0, 10).localeCompare(bound, 'en')
      : Math.sign((value as number) - Number(bound));
  return side === 'min' ? order >= 0 : order <= 0;
}

test('bounds of a field that contradict each other are refused, and the message names both', async (t) => {
  let tried = 0;
  for (const { path, parameters, names } of asked) {
    for (const { name, schema } of parameters) {
      const most = name.replace(/_min$/, '_max');
      if (most === name || !names.includes(most)) continue;
      const [low, high] =
        name === 'rating_min'
          ? ['A', 'AAA']
          : schema.type === 'number'
            ? ['9', '10']
            : ['2024-03', '2024-04'];
      const reversed = withParameter(withParameter(path, name, high), most, low);
      const { error } = await service.list(reversed);
      t.deepEqual([error?.code, error?.param], ['invalid_parameter', name], reversed);
      t.true(error?.message.includes(`"${most}"`), error?.message);
      tried += 1;
    }
  }
  t.true(tried > 60, `${tried} pairs of bounds`);
  for (const equal of [
    'aum_min=10&aum_max=10.0',
    'rating_min=A&rating_max=A',
    'age_years_min=9&age_years_max=10',
  ])
    t.true((await service.list(`/v1/funds/screener?${equal}`)).success, equal);
});

test('a bound of a date accepts a period: from its first day, or to its last', async (t) => {
  const all = await rowsOf('/v1/trade');
  const months = [...new Set(all.map(({ date }) => String(date).slice(0, 7)))];
  t.true(months.length > 1);
  for (const month of months) {
    const found = await rowsOf(`/v1/trade?date_min=${month}&date_max=${month}`);
    t.deepEqual(
      found,
      all.filter(({ date }) => String(date).startsWith(month)),
      month,
    );
  }
});

test('ids selects the rows with these ids', async (t) => {
  for (const { route, path, names } of asked.filter((list) => list.names.includes('ids'))) {
    const field = idFields[route] ?? 'id';
    const all = await rowsOf(path);
    t.true(all.length > 0 && names.includes('ids'), path);
    const [first, last] = [all[0]?.[field], all.at(-1)?.[field]].map(String);
    await givesIds(t, path, field, [String(first)]);
    await givesIds(t, path, field, [String(last), String(first)]);
    t.deepEqual(await narrowed(path, 'ids', '999999999'), [], path);
  }
});

async function givesIds(t: ExecutionContext, path: string, field: string, ids: readonly string[]) {
  const expected = (await rowsOf(path)).filter((row) => ids.includes(String(row[field])));
  t.deepEqual(await narrowed(path, 'ids', ids.join(',')), expected, `${path} ${ids.join(',')}`);
}

test('the facets of the catalogue are those of the series within bounds and ids', async (t) => {
  for (const narrowing of ['ids=CPI,TRADES', 'last_updated_min=2024-06', 'updated_after=2024-06-01']) {
    const path = `/v1/catalog?facets=true&${narrowing}`;
    const { data, meta } = (await whole(path)) as unknown as {
      data: Row[];
      meta: { facets: { frequency: { value: string; count: number }[] } };
    };
    const counts = Object.entries(Object.groupBy(data, ({ frequency }) => String(frequency))).map(
      ([value, rows]) => ({ value, count: rows?.length ?? 0 }),
    );
    const byValue = (a: { value: string }, b: { value: string }) => a.value.localeCompare(b.value, 'en');
    t.deepEqual(meta.facets.frequency.toSorted(byValue), counts.toSorted(byValue), path);
  }
});
