import test from 'ava';
import { publicCaller, startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish } from './series-fixture.ts';

interface List {
  success: boolean;
  data: Record<string, unknown>[];
  count: number;
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let service: DataService;

test.before(async () => {
  service = await startDataService();
  await makeSeries(service.pool, {
    id: 'CPI.PK',
    name: 'Consumer prices',
    category: 'prices/consumer',
    geography: 'Pakistan',
    tags: ['inflation', 'headline'],
  });
  await makeSeries(service.pool, {
    id: 'WPI.PK',
    name: '=Wholesale 100%',
    category: 'prices',
    geography: 'Pakistan',
  });
  await makeSeries(service.pool, {
    id: 'GDP',
    frequency: 'quarterly',
    source: 'Statistics Office',
    category: 'pricesetting',
  });
  await publish(service.pool, 'CPI.PK', '2024-05-02', [{ date: '2024-04-30', value: '1.50' }]);
  await publish(service.pool, 'GDP', '2024-06-02', [{ date: '2024-03-31', value: '2' }]);
});

test.after.always(() => service.close());

async function list(path: string): Promise<List> {
  return (await service.call(path, { identity: publicCaller })).json as List;
}

const ids = ({ data }: List) => data.map((entry) => entry['id']);

test('the catalogue lists the series in the list envelope, in order of id, without a key', async (t) => {
  const answer = await list('/v1/catalog');
  t.deepEqual(ids(answer), ['CPI.PK', 'GDP', 'WPI.PK']);
  t.true(answer.success);
  t.is(answer.count, 3);
  t.deepEqual(answer.pagination, { next_cursor: null, count: 3, total: 3 });
  t.deepEqual(answer.data[0], {
    id: 'CPI.PK',
    name: 'Consumer prices',
    unit: 'USD',
    frequency: 'monthly',
    source: 'Bureau of Examples',
    category: 'prices/consumer',
    geography: 'Pakistan',
    tags: ['inflation', 'headline'],
    first_date: '2024-04-30',
    last_date: '2024-04-30',
    last_updated: '2024-05-02',
    observation_count: 1,
  });
  t.deepEqual(ids(await list('/v1/catalog?sort=-id')), ['WPI.PK', 'GDP', 'CPI.PK']);
});

test('every filter narrows the catalogue, and they combine', async (t) => {
  const cases: [query: string, ids: string[]][] = [
    ['q=consumer', ['CPI.PK']],
    ['q=.pk', ['CPI.PK', 'WPI.PK']],
    ['q=100%25', ['WPI.PK']],
    ['category=prices', ['CPI.PK', 'WPI.PK']],
    ['category=prices/consumer', ['CPI.PK']],
    ['source=Statistics%20Office', ['GDP']],
    ['frequency=quarterly', ['GDP']],
    ['geography=Pakistan&tag=headline', ['CPI.PK']],
    ['updated_after=2024-05-02', ['GDP']],
    ['updated_after=2024-05-01', ['CPI.PK', 'GDP']],
    ['q=consumer&frequency=quarterly', []],
  ];
  for (const [query, expected] of cases)
    t.deepEqual(ids(await list(`/v1/catalog?${query}`)), expected, query);
});

test('paging through the catalogue by cursor misses nothing and repeats nothing', async (t) => {
  for (const [sort, expected] of [
    ['id', ['CPI.PK', 'GDP', 'WPI.PK']],
    ['-id', ['WPI.PK', 'GDP', 'CPI.PK']],
  ] as const) {
    const paged: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: List = await list(
        `/v1/catalog?sort=${sort}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      paged.push(...ids(page));
      cursor = page.pagination.next_cursor;
    }
    t.deepEqual(paged, expected);
  }
  const { pagination } = await list('/v1/catalog?limit=1');
  t.is(
    (await list(`/v1/catalog?limit=1&q=GDP&cursor=${pagination.next_cursor}`)).error.code,
    'invalid_cursor',
  );
});

test('the catalogue comes as CSV too, with formulas defused', async (t) => {
  const { text, headers } = await service.call('/v1/catalog?format=csv&q=WPI', { identity: publicCaller });
  t.is(headers.get('content-type'), 'text/csv; charset=utf-8');
  t.is(
    text,
    'id,name,unit,frequency,source,category,geography,tags,first_date,last_date,last_updated,observation_count\r\n' +
      "WPI.PK,'=Wholesale 100%,USD,monthly,Bureau of Examples,prices,Pakistan,[],,,,0\r\n",
  );
});

test('a catalogue entry has all metadata of a series and a URL that works', async (t) => {
  const { json } = await service.call('/v1/catalog/CPI.PK', { identity: publicCaller });
  const { success, data } = json as { success: boolean; data: Record<string, unknown> };
  t.true(success);
  t.is(data['id'], 'CPI.PK');
  t.is(data['observation_count'], 1);
  t.is((await service.call(String(data['sample_url']))).status, 200);
  const missing = await list('/v1/catalog/CPI.PX');
  t.is(missing.error.code, 'not_found');
  t.regex(missing.error.message, /Did you mean "CPI\.PK"/);
});

test('the catalogue is cacheable and answers 304', async (t) => {
  for (const path of ['/v1/catalog', '/v1/catalog/GDP']) {
    const first = await service.call(path);
    t.is(first.headers.get('cache-control'), 'public, max-age=60');
    const again = await service.call(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    t.is(again.status, 304);
  }
});

test('a bad filter is 400 and named', async (t) => {
  for (const [query, param] of [
    ['limit=1001', 'limit'],
    ['frequency=hourly', 'frequency'],
    ['updated_after=yesterday', 'updated_after'],
    ['sort=name', 'sort'],
    ['tags=a', 'tags'],
    ['q=%25', 'q'],
  ]) {
    const { error } = await list(`/v1/catalog?${query}`);
    t.deepEqual([error.code, error.param], ['invalid_parameter', param]);
  }
});

test('the words of q may be in any order and end in any way, the last may be a beginning; where no series has all, some are enough', async (t) => {
  t.deepEqual(ids(await list('/v1/catalog?q=price+consumer')), ['CPI.PK']);
  t.deepEqual(ids(await list('/v1/catalog?q=consumer+pri')), ['CPI.PK']);
  t.deepEqual(ids(await list('/v1/catalog?q=headline')), ['CPI.PK']);
  t.deepEqual(ids(await list('/v1/catalog?q=pakistan&sort=-id')), ['WPI.PK', 'CPI.PK']);
  t.deepEqual(ids(await list('/v1/catalog?q=consumer+zzyzx')), ['CPI.PK']);
  t.deepEqual(ids(await list('/v1/catalog?q=zzyzx')), []);
});

test('with q the most relevant series come first, on every page; synonyms match too; another order can be requested', async (t) => {
  t.deepEqual(
    ids(await list('/v1/catalog?q=prices')),
    ids(await list('/v1/catalog?q=prices&sort=relevance')),
  );
  t.deepEqual(ids(await list('/v1/catalog?q=wholesale+prices')), ['WPI.PK']);
  t.deepEqual(ids(await list('/v1/catalog?q=inflation')), ['CPI.PK']);
  const first = await list('/v1/catalog?q=prices&limit=1');
  const second = await list(`/v1/catalog?q=prices&limit=1&cursor=${first.pagination.next_cursor ?? ''}`);
  t.deepEqual([...ids(first), ...ids(second)], ids(await list('/v1/catalog?q=prices&limit=2')));
  t.deepEqual(ids(await list('/v1/catalog?sort=relevance')), ids(await list('/v1/catalog?sort=id')));
});

test('facets count the matching series by category, source, frequency and geography', async (t) => {
  const facetsOf = async (path: string) =>
    ((await list(path)) as unknown as { meta: { facets: Record<string, unknown> } }).meta.facets;
  t.deepEqual(await facetsOf('/v1/catalog?facets=true&limit=1'), {
    category: [
      { value: 'prices', count: 1 },
      { value: 'prices/consumer', count: 1 },
      { value: 'pricesetting', count: 1 },
    ],
    source: [
      { value: 'Bureau of Examples', count: 2 },
      { value: 'Statistics Office', count: 1 },
    ],
    frequency: [
      { value: 'monthly', count: 2 },
      { value: 'quarterly', count: 1 },
    ],
    geography: [{ value: 'Pakistan', count: 2 }],
  });
  t.like(await facetsOf('/v1/catalog?facets=true&q=consumer'), {
    frequency: [{ value: 'monthly', count: 1 }],
  });
  t.like(await facetsOf('/v1/catalog?facets=true&updated_after=2024-06-01'), {
    frequency: [{ value: 'quarterly', count: 1 }],
  });
});
