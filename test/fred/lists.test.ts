// /fred/releases, sources, categories, tags and updates: the forms that FRED's clients parse, and the rows of /v1.
import test from 'ava';
import { nameId, numberOfNameId } from '../../domain/name-id.ts';
import { findSeriesPage } from '../../data-api/fred/catalog.sql.ts';
import { catalogList, catalogWhere } from '../../data-api/discovery/discovery.sql.ts';
import { openDatabase, type Queryable } from '../../kernel/database.ts';
import { publicCaller } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';
import { startListService, type ListBody } from '../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source,category,tags',
    'CPI,Consumer prices,Index,monthly,Office,prices/consumer,inflation;prices',
    'CORE,Core prices,Index,monthly,Office,prices/consumer,prices',
    'WPI,Wholesale prices,Points,monthly,Office,prices,prices;trade',
    'RATE,Rate,%,daily,Bank,money/rates/policy,',
    'NOTE,Elsewhere,%,annual,Bank,,',
  ]);
  const load = (lines: string[], vintage: string) =>
    service.load('observations', ['series_id,date,value', ...lines], { vintage });
  await load(['CPI,2026-04,100', 'WPI,2026-04,200'], '2026-05-10');
  await load(['CPI,2026-05,101'], '2026-06-10');
  await load(['RATE,2026-06-12,3'], '2026-06-12');
  await service.load('calendar', [
    'release_id,title,publication,source,release_at,time_zone,frequency,status,series_ids,url',
    'p4,"Prices, April",Prices,Office,2026-05-10 08:00,UTC,monthly,,CPI,https://example.org/4',
    'p5,"Prices, May",Prices,Office,2026-06-10 08:00,UTC,monthly,,CPI;CORE,https://example.org/5?a&b',
    'p6,"Prices, June",Prices,Office,2026-07-10 08:00,UTC,monthly,,CPI;CORE,',
    'p6d,"Prices, extra",Prices,Office,2026-06-30 08:00,UTC,,cancelled,CPI,',
    'b1,Prices,,Bank,2026-06-20 02:00,Asia/Karachi,,,,',
    'o1,Old,,Bank,2020-01-01 08:00,UTC,annual,,RATE,',
  ]);
});

const numberOf = (name: string, within = '') => numberOfNameId(nameId(name, within));
const prices = numberOf('Prices', 'Office');
const today = '2026-06-15';

type Row = Readonly<Record<string, unknown>>;
interface Body extends Record<
  'releases' | 'sources' | 'seriess' | 'categories' | 'tags' | 'release_dates',
  Row[]
> {
  count: number;
}
const call = (path: string) => service.call(path, { identity: publicCaller });
const json = async (path: string) =>
  (await call(`${path}${path.includes('?') ? '&' : '?'}file_type=json`)).json as Body;
const v1 = async (path: string) => ((await call(path)).json as ListBody).data;
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);
const xml = (...lines: string[]) => `${['<?xml version="1.0" encoding="utf-8" ?>', ...lines].join('\n')}\n`;
const realtime = `realtime_start="${today}" realtime_end="${today}"`;

test.serial('the releases are those of /v1, with numbers as ids', async (t) => {
  const { releases, ...head } = await json('/fred/releases');
  t.deepEqual(head as object, {
    ...{ realtime_start: today, realtime_end: today, order_by: 'release_id', sort_order: 'asc' },
    ...{ count: 3, offset: 0, limit: 1_000 },
  });
  const expected = (await v1('/v1/releases')).map(({ id, name, url }) => ({
    ...{ id: numberOfNameId(String(id)), realtime_start: today, realtime_end: today, name },
    ...{ press_release: url !== null, link: url ?? `https://almanac.example/v1/releases/${String(id)}` },
  }));
  t.deepEqual(
    releases,
    expected.sort((a, b) => a.id - b.id),
  );
  const names = async (query: string) =>
    (await json(`/fred/releases?${query}`)).releases.map(({ name }) => name);
  t.deepEqual(await names('order_by=name'), ['Old', 'Prices', 'Prices']);
  t.deepEqual(await names('order_by=name&sort_order=desc&limit=2&offset=1'), ['Prices', 'Old']);
  t.deepEqual((await names('order_by=press_release&sort_order=desc'))[0], 'Prices');
});

test.serial('one release, by its number or by a series that it brings', async (t) => {
  const expected = xml(
    `<releases ${realtime}>`,
    `  <release id="${prices}" ${realtime} name="Prices" press_release="true" link="https://example.org/5?a&amp;b"/>`,
    '</releases>',
  );
  t.is((await call(`/fred/release?release_id=${prices}`)).text, expected);
  t.is((await call('/fred/series/release?series_id=core')).text, expected);
  t.deepEqual((await json('/fred/series/release?series_id=NOTE')).releases, []);
});

test.serial('the series of a release are those of /v1, filtered, ordered and paged', async (t) => {
  const path = `/fred/release/series?release_id=${prices}`;
  t.regex(
    (await call(`${path}&limit=1`)).text,
    /^<\?xml .*\n<seriess realtime_start="2026-06-15" realtime_end="2026-06-15" order_by="series_id" sort_order="asc" count="2" offset="0" limit="1">\n {2}<series id="CORE" .*title="Core prices" .*popularity="0" group_popularity="0"\/>\n<\/seriess>\n$/,
  );
  const { data } = (await call(`/v1/releases/${nameId('Prices', 'Office')}`)).json as {
    data: { series: Row[] };
  };
  const found = async (query: string) => ids((await json(`${path}&${query}`)).seriess);
  t.deepEqual(await found(''), ids(data.series));
  t.deepEqual(await found('order_by=last_updated'), ['CPI', 'CORE'], 'what was never updated is last');
  t.deepEqual(await found('order_by=title&sort_order=desc'), ['CORE', 'CPI']);
  t.deepEqual(await found('tag_names=inflation'), ['CPI']);
  t.deepEqual(await found('exclude_tag_names=inflation'), ['CORE']);
  t.deepEqual(await found('filter_variable=units&filter_value=Points'), []);
});

const datesOf = async (query: string) =>
  (await json(`/fred/release/dates?release_id=${prices}&${query}`)).release_dates.map(({ date }) => date);

test.serial(
  'the dates of a release are the days of the calendar: those that are released, and on request those that are scheduled',
  async (t) => {
    t.is(
      (await call(`/fred/release/dates?release_id=${prices}`)).text,
      xml(
        '<release_dates realtime_start="1776-07-04" realtime_end="9999-12-31" order_by="release_date" sort_order="asc" count="2" offset="0" limit="10000">',
        `  <release_date release_id="${prices}">2026-05-10</release_date>`,
        `  <release_date release_id="${prices}">2026-06-10</release_date>`,
        '</release_dates>',
      ),
    );
    const calendar = async (status: string) =>
      (await v1(`/v1/calendar?source=Office&from=2000&to=2030&status=${status}`)).map(
        ({ release_date: day }) => day,
      );
    const released = await calendar('released');
    t.deepEqual(await datesOf(''), released);
    t.deepEqual(await datesOf('include_release_dates_with_no_data=true'), [
      ...released,
      ...(await calendar('scheduled')),
    ]);
    t.deepEqual(await datesOf('sort_order=desc&limit=1&offset=1'), ['2026-05-10']);
    t.deepEqual(await datesOf('realtime_start=2026-05-11&realtime_end=2026-06-10'), ['2026-06-10']);
  },
);

test.serial(
  'the dates of all releases begin this year, the newest first, each the day of its publisher',
  async (t) => {
    const dates = async (query: string) =>
      (await json(`/fred/releases/dates?${query}`)).release_dates.map(
        ({ release_name: name, date }) => `${String(date)} ${String(name)}`,
      );
    t.deepEqual(await dates(''), ['2026-06-10 Prices', '2026-05-10 Prices']);
    t.deepEqual(await dates('include_release_dates_with_no_data=true&limit=2'), [
      '2026-07-10 Prices',
      '2026-06-20 Prices',
    ]);
    t.deepEqual(await dates('realtime_start=2020-01-01&order_by=release_name&sort_order=asc'), [
      '2020-01-01 Old',
      '2026-05-10 Prices',
      '2026-06-10 Prices',
    ]);
    t.regex(
      (await call('/fred/releases/dates?limit=1')).text,
      /order_by="release_date" sort_order="desc" count="2" .*\n {2}<release_date release_id="\d+" release_name="Prices">2026-06-10<\/release_date>\n/,
    );
  },
);

test.serial('a date is released from its second on', async (t) => {
  service.clock.set('2026-07-10T07:59:59Z');
  t.is((await datesOf('')).length, 2);
  service.clock.set('2026-07-10T08:00:00Z');
  t.is((await datesOf('')).at(-1), '2026-07-10');
  service.clock.set('2026-06-15T12:00:00Z');
});

test.serial('the sources are those of /v1, and each has its releases', async (t) => {
  const { sources, count } = await json('/fred/sources?order_by=name');
  const expected = (await v1('/v1/sources?sort=name')).map(({ id, name }) => ({
    ...{ id: numberOfNameId(String(id)), realtime_start: today, realtime_end: today, name },
    link: `https://almanac.example/v1/sources/${String(id)}`,
  }));
  t.deepEqual(sources, expected);
  t.is(count, 2);
  const office = numberOf('Office');
  const source = xml(
    `<sources ${realtime}>`,
    `  <source id="${office}" ${realtime} name="Office" link="https://almanac.example/v1/sources/${nameId('Office')}"/>`,
    '</sources>',
  );
  t.is((await call(`/fred/source?source_id=${office}`)).text, source);
  t.is((await call(`/fred/release/sources?release_id=${prices}`)).text, source);
  t.deepEqual(ids((await json(`/fred/source/releases?source_id=${office}`)).releases), [prices]);
  t.is((await json(`/fred/source/releases?source_id=${numberOf('Bank')}`)).count, 2);
});

test.serial('categories are a tree of the paths, with those between', async (t) => {
  const [consumer, all] = [numberOf('prices/consumer'), numberOf('prices')];
  t.is(
    (await call(`/fred/category?category_id=${consumer}`)).text,
    xml('<categories>', `  <category id="${consumer}" name="consumer" parent_id="${all}"/>`, '</categories>'),
  );
  const children = async (query: string) => (await json(`/fred/category/children?${query}`)).categories;
  t.deepEqual(await children(''), [
    { id: numberOf('money'), name: 'money', parent_id: 0 },
    { id: all, name: 'prices', parent_id: 0 },
  ]);
  t.deepEqual(await children(`category_id=${consumer}`), []);
  t.deepEqual((await json('/fred/category')).categories, [{ id: 0, name: 'Categories', parent_id: 0 }]);
  t.deepEqual((await json('/fred/series/categories?series_id=CPI')).categories, [
    { id: consumer, name: 'consumer', parent_id: all },
  ]);
  t.deepEqual(ids((await json('/fred/series/categories?series_id=NOTE')).categories), [0]);
});

test.serial('the tree of categories has every series of the catalogue once', async (t) => {
  const seriesBelow = async (id: unknown): Promise<unknown[]> => {
    const { seriess } = await json(`/fred/category/series?category_id=${String(id)}`);
    const { categories } = await json(`/fred/category/children?category_id=${String(id)}`);
    const below = await Promise.all(ids(categories).map(seriesBelow));
    return [...ids(seriess), ...below.flat()];
  };
  t.deepEqual((await seriesBelow(0)).sort(), ids(await v1('/v1/catalog')));
  t.deepEqual((await seriesBelow(numberOf('prices'))).sort(), ids(await v1('/v1/catalog?category=prices')));
  t.deepEqual(ids((await json(`/fred/category/series?category_id=${numberOf('prices')}`)).seriess), ['WPI']);
});

test.serial('tags have the number of their series, and their series are those of /v1', async (t) => {
  const { tags, ...head } = await json('/fred/tags');
  t.like(head, { order_by: 'series_count', sort_order: 'desc', count: 3 });
  t.deepEqual(
    tags.map(({ name, series_count: count }) => [name, count]),
    [
      ['prices', 3],
      ['inflation', 1],
      ['trade', 1],
    ],
  );
  for (const { name, series_count: count } of tags) {
    const found = ids((await json(`/fred/tags/series?tag_names=${String(name)}`)).seriess);
    t.deepEqual(found, ids(await v1(`/v1/catalog?tag=${String(name)}`)));
    t.is(found.length, count as number);
  }
  const names = async (path: string) => (await json(path)).tags.map(({ name }) => name);
  t.deepEqual(await names('/fred/tags?order_by=name&sort_order=desc&limit=2'), ['trade', 'prices']);
  t.deepEqual(await names('/fred/tags?tag_names=trade;prices&order_by=name'), ['prices', 'trade']);
  t.deepEqual(await names('/fred/tags?search_text=INFL'), ['inflation']);
  t.deepEqual(await names('/fred/tags?tag_group_id=geo'), []);
  t.deepEqual(await names('/fred/series/tags?series_id=CPI'), ['prices', 'inflation']);
  t.deepEqual(ids((await json('/fred/tags/series?tag_names=prices;trade')).seriess), ['WPI']);
  t.deepEqual(ids((await json('/fred/tags/series?tag_names=prices&exclude_tag_names=trade')).seriess), [
    'CORE',
    'CPI',
  ]);
  t.regex(
    (await call('/fred/tags?limit=1')).text,
    /<tag name="prices" group_id="gen" notes="" created="" popularity="0" series_count="3"\/>/,
  );
});

test.serial(
  'updates are the series by the day of their newest points, as the catalogue has it',
  async (t) => {
    const { seriess, ...head } = await json('/fred/series/updates');
    t.deepEqual(head as object, {
      ...{ realtime_start: today, realtime_end: today, filter_variable: 'geography', filter_value: 'all' },
      ...{ order_by: 'last_updated', sort_order: 'desc', count: 3, offset: 0, limit: 1_000 },
    });
    const updated = (await v1('/v1/catalog?sort=-last_updated')).filter(
      (row) => row['last_updated'] !== null,
    );
    t.deepEqual(ids(seriess), ids(updated));
    t.is(seriess[0]?.['last_updated'], '2026-06-12 00:00:00+00');
    const between = async (start: string, end: string) =>
      ids((await json(`/fred/series/updates?start_time=${start}&end_time=${end}`)).seriess);
    t.deepEqual(await between('202606101530', '202606120000'), ['RATE', 'CPI'], 'days count whole');
    t.deepEqual(await between('202606110000', '202606112359'), []);
  },
);

test.serial('what is wrong is refused by name', async (t) => {
  const refused = async (path: string, status: number, message: RegExp) => {
    const answer = await call(path);
    t.is(answer.status, status, path);
    t.regex(answer.text.replaceAll('&quot;', '"'), message, path);
  };
  await refused('/fred/release?release_id=1', 404, /There is no release 1\. GET \/fred\/releases lists them/);
  await refused('/fred/source?source_id=1', 404, /There is no source 1\./);
  await refused('/fred/category/series?category_id=1', 404, /There is no category 1\./);
  await refused('/fred/release', 400, /"release_id" is required/);
  await refused(
    '/fred/release?release_id=prices',
    400,
    /"release_id" is "prices", but must be a whole number/,
  );
  await refused('/fred/series/release?series_id=NOPE', 404, /There is no series "NOPE"/);
  await refused('/fred/series/updates?filter_value=macro', 400, /must be one of all/);
  await refused('/fred/series/updates?start_time=202606120000', 400, /belong together/);
  await refused(
    '/fred/series/updates?start_time=202602300000&end_time=202603010000',
    400,
    /a time that exists/,
  );
  await refused(
    '/fred/releases/dates?realtime_start=2026-02-02&realtime_end=2026-01-01',
    400,
    /must not be after/,
  );
  const textless = '/fred/series/search?search_text=%25';
  await refused(textless, 400, /"search_text" is "%", but must have a letter or a digit/);
  t.is((await call(`${textless}&search_type=series_id`)).status, 200);
  await refused('/fred/releases?realtime_start=2026-06-16', 400, /in the future/);
});

test.serial('a number that two releases have is refused, and names both', async (t) => {
  const [one, other] = twins();
  await service.load('calendar', [
    'release_id,title,source,release_at,time_zone',
    `one,${one},Twins,2020-01-01 08:00,UTC`,
    `other,${other},Twins,2020-01-01 08:00,UTC`,
  ]);
  const { status, text } = await call(`/fred/release?release_id=${numberOf(one, 'Twins')}`);
  t.is(status, 409);
  t.true(text.includes(one) && text.includes(other), text);
});

/** Two names of releases with the same number. */
function twins(): [string, string] {
  const names = new Map<number, string>();
  for (let i = 0; ; i += 1) {
    const name = `Release ${i}`;
    const number = numberOf(name, 'Twins');
    const known = names.get(number);
    if (known !== undefined) return [known, name];
    names.set(number, name);
  }
}

test.serial('a filter finds a series by each value that its answer shows', async (t) => {
  await service.load('series', [
    'series_id,name,unit,unit_multiplier,frequency,seasonal_adjustment',
    'SHOWN.A,A,USD,6,irregular,',
    'SHOWN.B,B,USD,-2,annual,Seasonally Adjusted Annual Rate',
    'SHOWN.C,C,USD,0,annual,SAAR',
  ]);
  const search = '/fred/series/search?search_text=SHOWN.*&search_type=series_id';
  for (const shown of (await json(search)).seriess)
    for (const name of ['frequency', 'units', 'seasonal_adjustment']) {
      const filter = `filter_variable=${name}&filter_value=${encodeURIComponent(String(shown[name]))}`;
      t.true(ids((await json(`${search}&${filter}`)).seriess).includes(shown['id']), filter);
    }
});

test.serial('the number of rows and the rows are of one state, whatever is loaded meanwhile', async (t) => {
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  let loads = 0;
  const beforeLoads: Queryable = {
    async query(...statement) {
      const rows = await database.query(...statement);
      await service.load('series', ['series_id,name,unit,frequency', `LATER.${loads},Later,%,annual`]);
      loads += 1;
      return rows as never;
    },
  };
  const page = { order: 'series_id', direction: 'asc', offset: 0, limit: 1_000 } as const;
  const { count, rows } = await findSeriesPage(beforeLoads, catalogList, catalogWhere({}), page);
  const beyond = await findSeriesPage(database, catalogList, catalogWhere({}), { ...page, offset: 100 });
  await database.close();
  t.is(count, rows.length);
  t.deepEqual(beyond, { count: count + loads, rows: [] });
});
