// Every answer under /fred has the numbers of its counterpart under /v1. The table of comparisons has an entry for each route, or the test fails.
import test from 'ava';
import { nameId, numberOfNameId } from '../../domain/name-id.ts';
import { endpoints } from '../../data-api/routes.ts';
import {
  columnOf,
  computationsOf,
  expectedRows,
  fredDate,
  knownOf,
  type Asked,
  type Row,
} from './expected-rows.ts';
import { startListService, type ListBody } from '../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

const monthsOfCpi = 40;
test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source,category,tags,seasonal_adjustment,description',
    'CPI,Consumer prices,Index,monthly,Office,prices/consumer,inflation;prices,NSA,A basket of goods',
    'GDP,Output,Billion,quarterly,Bureau,accounts,output,SA,',
    'FX,Exchange rates,USD,daily,Bureau,prices,prices,,',
    'NEW,Announced,Index,monthly,Office,,,,',
  ]);
  const load = (header: string, lines: string[], vintage: string) =>
    service.load('observations', [header, ...lines], { vintage });
  const cpi = (from: number, to: number, of: (month: number) => number | '') =>
    Array.from({ length: to - from }, (_, i) => {
      const date = new Date(Date.UTC(2022, from + i + 1, 0)).toISOString().slice(0, 10);
      return `CPI,${date},${of(from + i)}`;
    });
  await load(
    'series_id,date,value',
    cpi(0, monthsOfCpi - 2, (i) => (i === 20 ? '' : 100 + i * i)),
    '2025-04-10',
  );
  await load(
    'series_id,date,value',
    cpi(19, monthsOfCpi - 1, (i) => 100.5 + i * i),
    '2025-05-10',
  );
  await load(
    'series_id,date,value',
    cpi(30, monthsOfCpi, (i) => (i === 33 ? '' : 101 + i * i)),
    '2025-06-10',
  );
  const quarters = (day: string, ...lines: string[]) =>
    load(
      'series_id,date,value',
      lines.map((line) => `GDP,${line}`),
      day,
    );
  await quarters('2025-01-30', '2023-12-31,26.10', '2024-03-31,27.1', '2024-06-30,27.60', '2024-09-30,-28');
  await quarters('2025-04-30', '2024-03-31,27.30', '2024-12-31,28.7', '2025-03-31,');
  const rates = Array.from({ length: 60 }, (_, i) => new Date(Date.UTC(2025, 0, 1 + i)).toISOString())
    .map((at) => at.slice(0, 10))
    .filter((day) => ![0, 6].includes(new Date(day).getUTCDay()));
  const fx = (offset: number) =>
    rates.flatMap((day, i) =>
      ['EUR', 'GBP'].map((currency, j) => `FX,${day},${offset + i / 8 + j},${currency}`),
    );
  await load('series_id,date,value,currency', fx(10), '2025-03-05');
  await load('series_id,date,value,currency', fx(10.25).slice(-30), '2025-03-20');
  await service.load('calendar', [
    'release_id,title,publication,source,release_at,time_zone,frequency,series_ids,url',
    'p4,"Prices, April",Prices,Office,2025-05-10 08:00,UTC,monthly,CPI;FX,https://example.org/4',
    'p5,"Prices, May",Prices,Office,2026-06-10 08:00,UTC,monthly,CPI;FX,',
    'a1,Accounts,,Bureau,2026-04-30 08:00,Asia/Karachi,quarterly,GDP,',
  ]);
});

const today = '2026-06-15';
const everything = ['1776-07-04', '9999-12-31'] as const;

async function body(path: string): Promise<unknown> {
  const { status, json, text } = await service.call(path);
  if (status !== 200) throw new Error(`${path}: ${text}`);
  return json;
}
const v1 = async (path: string) => ((await body(path)) as ListBody).data;
const one = async (path: string) => ((await body(path)) as { data: Row }).data;
const fred = async (path: string, root: string) =>
  ((await body(`${path}${path.includes('?') ? '&' : '?'}file_type=json`)) as Record<string, Row[]>)[root] ??
  [];
const column = (rows: readonly Row[], name: string) => rows.map((row) => row[name]);
const numberOf = (id: unknown) => numberOfNameId(String(id));
const prices = nameId('Prices', 'Office');
const office = nameId('Office');
const categoryNumber = (path: string) => numberOfNameId(nameId(path));

/** How a series is asked for under /fred and under /v1, and the frequencies that are lower than its own. */
const asked: readonly [Asked, Asked, Asked] = [
  { fredId: 'CPI', id: 'CPI', dims: '', own: 'monthly', lower: ['q', 'sa', 'a'] },
  { fredId: 'GDP', id: 'GDP', dims: '', own: 'quarterly', lower: ['sa', 'a'] },
  { fredId: 'FX~EUR', id: 'FX', dims: '&dims=currency:EUR', own: 'daily', lower: ['w', 'm'] },
];
/** Today, a day that is past, two windows, and everything. */
const realtimes = [
  [today, today],
  ['2025-05-12', '2025-05-12'],
  ['2025-05-12', today],
  ['2025-03-05', '2025-05-10'],
  everything,
] as const;

for (const series of asked) {
  test(`the observations of ${series.fredId} have the numbers of /v1, for every output type, unit, frequency and period`, async (t) => {
    let rowsCompared = 0;
    for (const computation of computationsOf(series)) {
      const known = await knownOf(service, series, computation);
      for (const [start, end] of realtimes) {
        for (const type of [1, 2, 3, 4]) {
          const query = `output_type=${type}&realtime_start=${start}&realtime_end=${end}${computation.ofFred}`;
          const path = `/fred/series/observations?series_id=${series.fredId}&${query}`;
          const expected = await expectedRows(known, { type, id: series.fredId, start, end, today });
          t.deepEqual(await fred(path, 'observations'), expected, path);
          rowsCompared += expected.length;
        }
      }
    }
    t.true(rowsCompared > 300, `${rowsCompared}`);
  });
}

/** The values of an answer, and those of /v1. */
type Comparison = () => Promise<[found: unknown, expected: unknown]>;

const seriesFacts = (rows: readonly Row[]) =>
  rows.map((row) => [row['id'], row['title'], row['units'], String(row['frequency']).toLowerCase()]);
const catalogFacts = (rows: readonly Row[]) =>
  rows.map((row) => [row['id'], row['name'], row['unit'], row['frequency']]);
const byId = (rows: readonly Row[]) => rows.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
const namesAndNumbers = (rows: readonly Row[]) =>
  rows.map(({ id, name }) => [numberOf(id), name]).sort(([a], [b]) => Number(a) - Number(b));
const found = (rows: readonly Row[]) => rows.map(({ id, name }) => [id, name]);
const categoriesOf = async () =>
  [...new Set(column(await v1('/v1/catalog?limit=1000'), 'category'))].filter(
    (path) => path !== null,
  ) as string[];
const ofCategory = async (path: string) =>
  (await v1('/v1/catalog?limit=1000')).filter((row) => row['category'] === path);
const releasedDays = async (query: string) =>
  (await v1(`/v1/calendar?from=1990&to=${today}&status=released&limit=1000${query}`)).map(
    (row) => row['release_date'],
  );
const fredFacts = async (path: string) => byId(await fred(path, 'seriess'));

const comparisons: Readonly<Record<string, Comparison>> = {
  '/fred/series': async () => {
    const rows = await Promise.all(
      asked.slice(0, 2).map(({ id }) => fred(`/fred/series?series_id=${id}`, 'seriess')),
    );
    const entries = await Promise.all(asked.slice(0, 2).map(({ id }) => one(`/v1/catalog/${id}`)));
    const spans = entries.map(({ first_date: first, last_date: last, frequency }) =>
      [first, last].map((date) => fredDate(String(date), String(frequency))),
    );
    return [
      [
        seriesFacts(rows.flat()),
        rows.flat().map((row) => [row['observation_start'], row['observation_end']]),
      ],
      [catalogFacts(entries), spans],
    ];
  },
  '/fred/series/vintagedates': async () => [
    await fred('/fred/series/vintagedates?series_id=CPI', 'vintage_dates'),
    column(await v1('/v1/series/CPI/vintages'), 'vintage'),
  ],
  '/fred/series/search': async () => [
    seriesFacts(await fredFacts('/fred/series/search?search_text=prices')),
    catalogFacts(byId(await v1('/v1/catalog?q=prices'))),
  ],
  '/fred/series/release': async () => [
    found(await fred('/fred/series/release?series_id=CPI', 'releases')),
    namesAndNumbers(await v1('/v1/releases?series=CPI')),
  ],
  '/fred/series/categories': async () => {
    const { category } = await one('/v1/catalog/CPI');
    const path = String(category);
    return [
      found(await fred('/fred/series/categories?series_id=CPI', 'categories')),
      [[categoryNumber(path), path.split('/').at(-1)]],
    ];
  },
  '/fred/series/tags': async () => [
    column(await fred('/fred/series/tags?series_id=CPI&order_by=name', 'tags'), 'name'),
    ((await one('/v1/catalog/CPI'))['tags'] as string[]).toSorted(),
  ],
  '/fred/series/updates': async () => [
    column(await fred('/fred/series/updates', 'seriess'), 'last_updated'),
    column(await v1('/v1/catalog?sort=-last_updated'), 'last_updated').flatMap((day) =>
      typeof day === 'string' ? [`${day} 00:00:00+00`] : [],
    ),
  ],
  '/fred/releases': async () => [
    found(await fred('/fred/releases', 'releases')),
    namesAndNumbers(await v1('/v1/releases')),
  ],
  '/fred/releases/dates': async () => [
    column(
      await fred('/fred/releases/dates?realtime_start=1990-01-01&sort_order=asc', 'release_dates'),
      'date',
    ),
    (await releasedDays('')).sort(),
  ],
  '/fred/release': async () => [
    found(await fred(`/fred/release?release_id=${numberOf(prices)}`, 'releases')),
    namesAndNumbers([await one(`/v1/releases/${prices}`)]),
  ],
  '/fred/release/series': async () => [
    seriesFacts(await fredFacts(`/fred/release/series?release_id=${numberOf(prices)}`)).map(([id]) => id),
    column((await one(`/v1/releases/${prices}`))['series'] as Row[], 'id').sort(),
  ],
  '/fred/release/dates': async () => [
    column(await fred(`/fred/release/dates?release_id=${numberOf(prices)}`, 'release_dates'), 'date'),
    (await releasedDays('&source=Office')).sort(),
  ],
  '/fred/release/sources': async () => [
    found(await fred(`/fred/release/sources?release_id=${numberOf(prices)}`, 'sources')),
    namesAndNumbers([await one(`/v1/sources/${office}`)]),
  ],
  '/fred/sources': async () => [
    found(await fred('/fred/sources', 'sources')),
    namesAndNumbers(await v1('/v1/sources')),
  ],
  '/fred/source': async () => [
    found(await fred(`/fred/source?source_id=${numberOf(office)}`, 'sources')),
    namesAndNumbers([await one(`/v1/sources/${office}`)]),
  ],
  '/fred/source/releases': async () => [
    found(await fred(`/fred/source/releases?source_id=${numberOf(office)}`, 'releases')),
    namesAndNumbers(await v1('/v1/releases?source=Office')),
  ],
  '/fred/category': async () => {
    const paths = await categoriesOf();
    const rows = await Promise.all(
      paths.map((path) => fred(`/fred/category?category_id=${categoryNumber(path)}`, 'categories')),
    );
    return [column(rows.flat(), 'name'), paths.map((path) => path.split('/').at(-1))];
  },
  '/fred/category/children': async () => [
    column(await fred('/fred/category/children?category_id=0', 'categories'), 'name'),
    [...new Set((await categoriesOf()).map((path) => path.split('/')[0]))].sort(),
  ],
  '/fred/category/series': async () => [
    seriesFacts(await fredFacts(`/fred/category/series?category_id=${categoryNumber('prices/consumer')}`)),
    catalogFacts(await ofCategory('prices/consumer')),
  ],
  '/fred/tags': async () => {
    const tags = await fred('/fred/tags', 'tags');
    const counted = await Promise.all(
      tags.map(async ({ name }) => [name, (await v1(`/v1/catalog?tag=${String(name)}`)).length]),
    );
    const all = new Set(column(await v1('/v1/catalog'), 'tags').flatMap((tags) => tags as string[]));
    return [
      [tags.map(({ name, series_count: count }) => [name, count]), column(tags, 'name').sort()],
      [counted, [...all].sort()],
    ];
  },
  '/fred/tags/series': async () => [
    seriesFacts(await fredFacts('/fred/tags/series?tag_names=prices')),
    catalogFacts(byId(await v1('/v1/catalog?tag=prices'))),
  ],
  '/fred/v2/release/observations': async () => {
    const path = `/fred/v2/release/observations?release_id=${numberOf(prices)}`;
    const { series } = (await body(path)) as { series: { series_id: string; observations: Row[] }[] };
    const [cpi, , fx] = asked;
    const ids = [cpi, fx, { ...fx, dims: '&dims=currency:GBP' }];
    const columns = await Promise.all(
      ids.map((each) => columnOf(service, each, { ofFred: '', ofV1: '', frequency: each.own }, '')),
    );
    return [
      series.map(({ observations }) => observations),
      columns.map((each) => [...each].map(([date, value]) => ({ date, value }))),
    ];
  },
  '/graph/fredgraph.csv': async () => {
    const path = '/graph/fredgraph.csv?id=CPI&fq=q&fam=sum&transformation=pch&vintage_date=2025-05-12';
    const { text } = await service.call(path);
    const ofV1 = '&frequency=quarterly&aggregate=sum&transform=pch';
    const known = await columnOf(
      service,
      asked[0],
      { ofFred: '', ofV1, frequency: 'quarterly' },
      '&vintage=2025-05-12',
    );
    const lines = [...known].map(([date, value]) => `${date},${value === '.' ? '' : value}`);
    return [text.trimEnd().split('\r\n'), ['observation_date,CPI', ...lines]];
  },
};

/** Routes that are compared above. */
const comparedAbove = ['/fred/series/observations'];

test('every route under /fred is compared with /v1, and has its numbers', async (t) => {
  const routes = Object.keys(endpoints).filter((route) => /^\/(?:fred|graph)\//.test(route));
  t.deepEqual([...Object.keys(comparisons), ...comparedAbove].sort(), routes.sort());
  for (const [route, compare] of Object.entries(comparisons)) {
    const [own, expected] = await compare();
    t.true(JSON.stringify(expected).length > 4, route);
    t.deepEqual(own, expected, route);
  }
});
