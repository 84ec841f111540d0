// The filters, orders, pages and bounds of every list endpoint, compared with a computation from all rows.
import test, { type ExecutionContext } from 'ava';
import { screeners } from '../../data-api/funds/funds.sql.ts';
import type { List } from '../../data-api/list.sql.ts';
import {
  allowedValues,
  declaredParameters,
  endpoints,
  requestsFor,
  withParameter,
} from './endpoint-requests.ts';
import { initialLoads, loadInto } from './every-dataset.ts';
import { isBelow, lists, textOf, type Row } from './list-filters.ts';
import { startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
  service.clock.set('2024-07-01T12:00:00Z');
  for (const load of initialLoads) await loadInto(service, load);
});

test.after.always(() => service?.close());

/** Parameters that do not filter, or are tested elsewhere. */
const noFilters = [
  'sort',
  'limit',
  'cursor',
  'fields',
  'format',
  'updated_after',
  'facets',
  'adjusted',
  'count_only',
  'aggregate_by',
  'fiscal_year_end',
];

/** Bounds and ids, which test/v1/list-narrowing.test.ts tests for every list. */
const isOfEveryList = (name: string): boolean => name === 'ids' || /_(?:min|max)$/.test(name);

const rowsOf = async (path: string): Promise<Row[]> =>
  (await service.list(withParameter(path, 'limit', '1000'))).data;

/** The path with a parameter, and all its rows. */
async function narrowed(path: string, parameter: string, value: string): Promise<Row[]> {
  return rowsOf(withParameter(path, parameter, value));
}

test('each filter selects exactly the matching rows of the whole list, in the same order', async (t) => {
  for (const { path, list, filters } of lists) {
    const declared = (await declaredParameters(service, path)).filter(
      (name) => !noFilters.includes(name) && (!isOfEveryList(name) || Object.hasOwn(filters, name)),
    );
    const others = ['q', 'frequency', 'status', 'basis', 'include_stale'].filter(
      (name) => filters[name] === undefined,
    );
    t.deepEqual(declared.filter((name) => !others.includes(name)).sort(), Object.keys(filters).sort(), path);
    const all = await rowsOf(path);
    t.true(all.length > 1, path);
    const known = endpoints.find((endpoint) => endpoint.path === path)?.values ?? {};
    for (const [parameter, passes] of Object.entries(filters)) {
      for (const value of valuesOf(parameter, known[parameter] ?? [], all)) {
        // A balance is not a row of the list, and the screener omits funds that have ended unless they are requested.
        if (value === 'balance' || (list === screeners.by_length && ['merged', 'inactive'].includes(value)))
          continue;
        const expected = all.filter((row) => passes(row, value));
        t.deepEqual(await narrowed(path, parameter, value), expected, `${path} ${parameter}=${value}`);
      }
    }
  }
});

/** The values for a bound: each existing figure, so that equality is tested. */
function valuesOf(parameter: string, known: readonly string[], rows: readonly Row[]): string[] {
  const [, name = ''] = /^(.+)_(?:min|max)$/.exec(parameter) ?? [];
  const figures = rows.map((row) => row[name]).filter((value) => typeof value === 'number');
  return [...known, ...figures.map(String)];
}

/** By list: the filters for one value of a text column that may have any text, with the column. */
const exactTexts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/v1/catalog': { source: 'source', geography: 'geography' },
  '/v1/commodities/items': { category: 'category' },
  '/v1/commodities/cities': { province: 'province' },
  '/v1/securities': { currency: 'currency' },
  '/v1/securities/trades': { code: 'code', venue: 'venue' },
  '/v1/funds': { amc: 'amc_id', category: 'category', risk_profile: 'risk_profile', currency: 'currency' },
  '/v1/trade': { reporter: 'reporter', partner: 'partner_code', currency: 'currency' },
};

test('if nothing matches, meta names each filter whose value no row has, and the nearest existing value', async (t) => {
  for (const [path, filters] of Object.entries(exactTexts)) {
    const all = await rowsOf(path);
    for (const [parameter, field] of Object.entries(filters)) {
      const values = all.map((row) => textOf(row[field])).filter((value) => value.length > 2);
      const [value = ''] = values;
      t.not(value, '', `${path} ${parameter}`);
      const isCode = ['currency', 'reporter', 'partner'].includes(parameter);
      const mistyped = isCode ? `${value.slice(0, 2)}Z` : value.slice(1).toUpperCase();
      const { data, meta } = await service.list(withParameter(path, parameter, mistyped));
      t.deepEqual(data, [], path);
      const [hint = '', ...more] = meta?.hints ?? [];
      t.deepEqual(more, []);
      t.true(hint.startsWith(`No row has ${parameter} "${mistyped}". The nearest is "`), hint);
      t.true(values.includes(/The nearest is "(.*)"\.$/.exec(hint)?.[1] ?? ''), hint);
      if (!isCode) {
        const far = await service.list(withParameter(path, parameter, 'zzzzzzzzzz'));
        t.deepEqual(far.meta?.hints, [`No row has ${parameter} "zzzzzzzzzz".`]);
      }
      t.is((await service.list(withParameter(path, parameter, value))).meta?.hints, undefined);
    }
  }
});

test('updated_after selects the rows updated on a later day, in every list', async (t) => {
  for (const { path } of lists) {
    const all = await rowsOf(path);
    const days = [...new Set(all.map((row) => row['last_updated']).filter((day) => typeof day === 'string'))];
    for (const day of ['2000-01-01', '2999-01-01', ...days]) {
      const expected = all.filter(({ last_updated: at }) => typeof at === 'string' && at > day);
      t.deepEqual(await narrowed(path, 'updated_after', day), expected, `${path} ${day}`);
    }
  }
});

/** Sorts rows by the field, then by the key, all in one direction; rows without a value of the field come last. */
function sorted(rows: readonly Row[], { key, fields }: List, sort: string): Row[] {
  const first = sort.replace(/^-/, '');
  const sign = sort.startsWith('-') ? -1 : 1;
  const compare = (a: unknown, b: unknown, name: string): number => {
    if (a === b) return 0;
    if (a === null || a === undefined) return sign;
    if (b === null || b === undefined) return -sign;
    if (fields[name]?.kind === 'number') return Number(a) - Number(b);
    return textOf(a) < textOf(b) ? -1 : 1;
  };
  return rows.toSorted((a, b) => {
    for (const name of [first, ...key]) {
      const order = compare(a[name], b[name], name);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

test('each order, in either direction, returns the whole list in that order, in pages of any size and at once', async (t) => {
  for (const { path, list } of lists) {
    const all = await rowsOf(path);
    // Without q, all rows are equally relevant.
    const sorts = (await allowedValues(service, path, 'sort')).filter((sort) => sort !== 'relevance');
    t.is(sorts[0], list.sort, 'the first is the order unless asked for another');
    t.deepEqual(all, sorted(all, list, list.sort), path);
    for (const sort of sorts) {
      const expected = sorted(all, list, sort);
      t.deepEqual(await narrowed(path, 'sort', sort), expected, `${path} sort=${sort}`);
      for (const size of all.length > 20 ? [100] : sort === list.sort ? [1, 3] : [3]) {
        await comesByPages(t, withParameter(path, 'sort', sort), expected, size);
      }
    }
  }
});

/** Checks that all pages except the last are full, that together they are all rows, and that the last has no cursor. */
async function comesByPages(t: ExecutionContext, path: string, expected: readonly unknown[], size: number) {
  const shown: unknown[] = [];
  const pages = Math.max(1, Math.ceil(expected.length / size));
  let cursor: string | null = '';
  for (let page = 0; page < pages; page += 1) {
    const asked: string = withParameter(path, 'limit', String(size));
    const answer = await service.list(cursor === '' ? asked : withParameter(asked, 'cursor', cursor ?? ''));
    shown.push(...answer.data);
    cursor = answer.pagination.next_cursor;
    t.is(cursor === null, page === pages - 1, `${path} limit=${size}, page ${page + 1} of ${pages}`);
    if (cursor === null) break;
  }
  t.deepEqual(shown, expected, `${path} by ${size}`);
}

test('a page that ends where the data ends has no cursor, in every endpoint that has pages', async (t) => {
  for (const endpoint of endpoints) {
    const declared = await declaredParameters(service, endpoint.path);
    if (!declared.includes('cursor')) continue;
    const paged = (await requestsFor(service, endpoint)).filter(
      (path) =>
      /[?&](transform|dims|sort|aggregate_by|city|q)=/.test(path) || path === endpoint.path, // prettier-ignore
    );
    for (const path of paged.slice(0, 5)) {
      const whole = await service.list(withParameter(path, 'limit', '1000'));
      if (!whole.success) continue;
      const rows = whole.data;
      if (rows.length > 50) continue; // NAVs, whose pages are like those of any list
      for (const size of new Set([1, 2, 3, rows.length, rows.length + 1])) {
        if (size > 0) await comesByPages(t, path, rows, size);
      }
    }
  }
});

test('a paged CSV links to the next page, and the last page has no link', async (t) => {
  for (const path of [
    '/v1/series/CPI',
    '/v1/catalog',
    '/v1/series/CPI/vintages',
    '/v1/calendar',
    '/v1/trade',
  ]) {
    const csv = withParameter(path, 'format', 'csv');
    const whole = (await service.call(withParameter(csv, 'limit', '1000'))).text.split('\r\n').slice(1, -1);
    for (const size of new Set([1, 2, whole.length])) {
      const lines: string[] = [];
      let next: string | undefined = withParameter(csv, 'limit', String(size));
      let pages = 0;
      while (next !== undefined && pages <= whole.length) {
        const { text, headers } = await service.call(next);
        lines.push(...text.split('\r\n').slice(1, -1));
        next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
        pages += 1;
      }
      t.deepEqual(lines, whole, `${csv} by ${size}`);
      t.is(pages, Math.ceil(whole.length / size), `${csv} by ${size}`);
    }
  }
});

test('a category of search passes itself and what is below it, and none that only begins alike; what has some of the words fills up', async (t) => {
  const { data: series } = await service.list('/v1/catalog?limit=1000');
  const categories = [
    'prices',
    'prices-old',
    'prices%',
    'prices/consumer',
    'markets',
    'markets/index',
    'pric',
  ];
  for (const q of new Set(series.flatMap((row) => [textOf(row['id']), textOf(row['name'])]))) {
    const hits = async (more: string) =>
      (await service.list(`/v1/search?q=${encodeURIComponent(q)}${more}`)).data as Row[];
    const whole = (rows: readonly Row[]) =>
      rows.filter(({ match }) => match !== 'some_words').map(({ id }) => id);
    const all = await hits('');
    t.true(all.length > 0, q);
    for (const category of categories) {
      const isOf = (row: Row) => isBelow('category')(row, category);
      const found = await hits(`&category=${encodeURIComponent(category)}`);
      t.true(found.every(isOf), `${q} in ${category}`);
      t.deepEqual(whole(found), whole(all.filter(isOf)), `${q} in ${category}`);
    }
  }
});

test('the wildcards of LIKE are literal in every filter by a part of a text', async (t) => {
  const signs = ['a', 'B', '%', '_', '\\'];
  const texts = signs.flatMap((one) => [one, ...signs.map((other) => one + other)]);
  const own = await startListService();
  t.teardown(() => own.close());
  const rows = (line: (text: string, i: number) => string) => texts.map(line);
  await own.load('amcs', ['amc_id,name,source', ...rows((text, i) => `${i},x${text}x,Register`)]);
  await own.load('funds', [
    'fund_id,name,currency,source',
    ...rows((text, i) => `${i},x${text}x,PKR,Register`),
  ]);
  await own.load('securities', [
    'code,name,issuer,type,currency,source',
    ...rows((text, i) => `${i},N,x${text}x,tfc,PKR,Register`),
  ]);
  await own.load('series', [
    'series_id,name,unit,frequency,source,category',
    ...rows((text, i) => `S${i},N,U,daily,Register,${text}/x`),
  ]);
  const found = async (path: string, parameter: string, text: string) =>
    (await own.list(withParameter(withParameter(path, parameter, text), 'limit', '1000'))).data.length;
  for (const text of texts) {
    const matching = texts.filter((each) => each.toLowerCase().includes(text.toLowerCase())).length;
    t.is(await found('/v1/amcs', 'q', text), matching, `amcs ${text}`);
    t.is(await found('/v1/funds', 'q', text), matching, `funds ${text}`);
    t.is(await found('/v1/securities', 'issuer', text), matching, `securities ${text}`);
    t.is(await found('/v1/catalog', 'category', text), 1, `catalog ${text}`);
  }
});

test('the largest and the smallest limit are accepted, and one beyond is refused, in every endpoint with a limit', async (t) => {
  for (const { path } of endpoints) {
    if (!(await declaredParameters(service, path)).includes('limit')) continue;
    const ofBulk = path.startsWith('/fred/v2/') ? 500_000 : 1_000;
    const isSeries = /^\/v1\/(series\/[A-Z]+|commodities\?.*|series\?.*)$|^\/fred\/series\/observations/.test(
      path,
    );
    const ofMany = path.startsWith('/v1/previews') ? 36 : 50_000; // of two series, a hundred thousand in all
    const ofList = /^\/fred\/(series\/vintagedates|release\/dates)\?/.test(path) ? 10_000 : ofBulk;
    const most = path.includes('?ids=') ? ofMany : isSeries ? 100_000 : ofList;
    for (const [limit, status] of [
      [0, 400],
      [1, 200],
      [most, 200],
      [most + 1, 400],
    ] as const) {
      const answer = await service.call(withParameter(path, 'limit', String(limit)));
      t.is(answer.status, status, `${path} limit=${limit}`);
    }
  }
});

test('without a limit a page has a thousand points of a series, and a hundred rows of a list', async (t) => {
  const own = await startListService();
  t.teardown(() => own.close());
  await own.pool.query(`
    insert into data.series (series_id, name, unit, frequency, source)
      select 'S' || n, 'Alike', 'USD', 'daily', 'Office' from generate_series(1, 101) n;
    insert into data.series_dims (line_no, series_no, dims) select series_no, series_no, '{}' from data.series;
    insert into data.observations (line_no, date, published_on, load_no, value)
      select series_no, date '2000-01-01' + n, '2024-01-01', 0, n from data.series, generate_series(0, 1000) n
      where series_id = 'S1';
    with loaded as (insert into data.loads (dataset, source_name, vintage, complete)
      select 'observations', '-', date '2024-01-01' + n, false from generate_series(0, 100) n returning load_no, vintage)
    insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
      select series_no, vintage, load_no, false, 1, 0, 0 from loaded, data.series where series_id = 'S1';
    insert into data.releases (release_id, title, source, release_at, time_zone)
      select n, 'T', 'Office', '2026-06-16 08:00Z', 'UTC' from generate_series(1, 101) n;
    update data.series set category = 'all/' || series_id;
    select data.refresh_search(array(select series_no from data.series))`);
  for (const [path, rows] of [
    ['/v1/series/S1', 1_000],
    ['/v1/series/S1?sort=desc', 1_000],
    ['/v1/series/S1/vintages', 100],
    ['/v1/catalog', 100],
    ['/v1/catalog?category=all', 100],
    ['/v1/catalog?category=all&sort=-id', 100],
    ['/v1/search?q=alike', 100],
    ['/v1/calendar', 100],
  ] as const) {
    const { data, pagination } = await own.list(path);
    t.is(data.length, rows, path);
    const rest = await own.list(withParameter(path, 'cursor', pagination.next_cursor ?? ''));
    t.deepEqual([rest.data.length, rest.pagination.next_cursor], [1, null], `${path}, the next page`);
  }
  const { meta } = (await own.call('/v1/catalog?facets=true&limit=1')).json as {
    meta: { facets: Record<string, unknown[]> };
  };
  t.deepEqual([meta.facets['category']?.length, meta.facets['source']?.length], [100, 1]);
  const { data: many } = (await own.call('/v1/series?ids=S1')).json as { data: { data: unknown[] }[] };
  t.is(many[0]?.data.length, 1_000);
});

test('the maximum number of names is accepted, and one more is refused', async (t) => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`).join(',');
  for (const [path, status] of [
    [`/v1/series?limit=1&ids=${names(100)}`, 404], // accepted, but unknown
    [`/v1/series?limit=1&ids=${names(101)}`, 400],
    [`/v1/commodities/by-city?item=rice&cities=${names(100)}`, 404],
    [`/v1/commodities/by-city?item=rice&cities=${names(101)}`, 400],
    [`/v1/search?q=${'x'.repeat(200)}`, 200],
    [`/v1/search?q=${'x'.repeat(201)}`, 400],
    ['/v1/series/CPI?vintage=2024-07-01', 200], // today
    ['/v1/series/CPI?vintage=2024-07-02', 400],
  ] as const) {
    t.is((await service.call(path)).status, status, path.slice(0, 60));
  }
});
