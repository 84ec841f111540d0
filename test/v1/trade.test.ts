import test from 'ava';
import { csvLines, startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

const constants = {
  set: { classification: 'hs', basis: 'customs', currency: 'USD', source: 'Customs', status: 'final' },
};

test.before(async () => {
  service = await startListService();
  // Pakistan publishes parts only, at six digits; its exports one year earlier too.
  await service.load(
    'trade',
    [
      'reporter,flow,period,partner_code,partner_name,commodity_code,commodity_name,value,quantity,quantity_unit,valuation',
      'PAK,export,2024-01,CHN,China,010121,Horses,100,10,NMB,fob',
      'PAK,export,2025-01,CHN,China,010121,Horses,150.50,12,NMB,fob',
      'PAK,export,2025-01,USA,United States,010121,Horses,50,0,NMB,fob',
      'PAK,export,2025-01,CHN,China,100630,Rice,300,,,fob',
      'PAK,import,2025-01,CHN,China,100630,Rice,80,4,KGM,cif',
      'PAK,import,2025-01,USA,United States,270900,Oil,,7,KGM,cif',
      'PAK,export,2025-02,CHN,China,010121,Horses,10,1,NMB,fob',
    ],
    constants,
  );
  // New Zealand publishes totals in addition to the parts; its year is provisional.
  await service.load(
    'trade',
    [
      'reporter,flow,period,partner_code,commodity_code,commodity_name,value',
      'NZL,export,2024,WLD,TOTAL,All,1000',
      'NZL,export,2024,AUS,TOTAL,All,600',
      'NZL,export,2024,CHN,TOTAL,All,390',
      'NZL,export,2024,AUS,01,Animals,200',
      'NZL,export,2024,AUS,0101,Horses,150',
      'NZL,export,2024,AUS,0102,Cattle,45',
      'NZL,re_export,2024,AUS,01,Animals,5',
    ],
    { set: { ...constants.set, currency: 'NZD', status: 'provisional' } },
  );
  await service.load('trade-commodities', [
    'classification,commodity_code,name,source',
    'hs,27,Mineral fuels,WCO',
    'hs,0101,Equines,WCO',
  ]);
});

test.after.always(() => service.close());

const column = (query: string, field: string) => service.column(`/v1/trade?${query}`, field);
const sums = async (query: string, ...fields: string[]) =>
  (await service.list(`/v1/trade?${query}`)).data.map((row) => fields.map((field) => row[field]));

test('a row shows every fact, and the values derived from them', async (t) => {
  const { data } = await service.list(
    '/v1/trade?reporter=PAK&flow=export&period=2025-01&partner=CHN&commodity=010121',
  );
  t.deepEqual(
    data.map((row) => ({ ...row, last_updated: null, id: null })),
    [
      {
        period: '2025-01',
        date: '2025-01-31',
        frequency: 'M',
        flow: 'export',
        reporter: 'PAK',
        partner_code: 'CHN',
        partner_name: 'China',
        commodity_code: '010121',
        commodity_name: 'Horses',
        level: 6,
        classification: 'hs',
        classification_version: null,
        basis: 'customs',
        value: 150.5,
        currency: 'USD',
        valuation: 'fob',
        cif_value: null,
        fob_value: 150.5,
        quantity: 12,
        quantity_unit: 'NMB',
        quantity_estimated: null,
        net_weight_kg: null,
        unit_value: 12.541667,
        share_pct: 30.06993007, // of 500.50, all exports of the month
        yoy_pct: 50.5,
        status: 'final',
        is_aggregate: false,
        periods: 1,
        periods_published: 1,
        as_of: '2025-01-31',
        source: 'Customs',
        last_updated: null,
        id: null,
      },
    ],
  );
});

test('if a leg is missing or zero, the derived value is null', async (t) => {
  t.deepEqual(await sums('partner=USA&flow=export', 'unit_value', 'yoy_pct', 'quantity'), [[null, null, 0]]);
  t.deepEqual(await sums('partner=USA&flow=import', 'value', 'unit_value', 'share_pct', 'cif_value'), [
    [null, null, null, null],
  ]);
});

test('a share is relative to the published total, if there is one', async (t) => {
  t.deepEqual(await sums('reporter=NZL&commodity=0101', 'share_pct'), [[15]]);
  t.deepEqual(await sums('reporter=NZL&partner=world', 'share_pct', 'is_aggregate', 'level'), [
    [100, true, 0],
  ]);
});

test('every filter restricts the rows, and filters combine', async (t) => {
  const cases: [query: string, rows: number][] = [
    ['reporter=pak', 7],
    ['flow=re_export', 1],
    ['period=2025-01', 5],
    ['period=2025', 6],
    ['from=2025-02', 1],
    ['to=2024-01', 1],
    ['frequency=A', 7],
    ['partner=aus', 5],
    ['partner=world', 1],
    ['commodity=01', 2],
    ['commodity=total', 3],
    ['commodity=01&level=4', 2],
    ['level=6', 7],
    ['classification=sitc', 0],
    ['basis=bop', 0],
    ['currency=NZD', 7],
    ['reporter=PAK&flow=import&partner=CHN', 1],
    ['updated_after=2999-01-01', 0],
  ];
  for (const [query, rows] of cases) t.is((await service.list(`/v1/trade?${query}`)).count, rows, query);
});

test('rows come newest first, sort by value, and page without gaps', async (t) => {
  t.is((await column('', 'period'))[0], '2025-02');
  t.deepEqual(await service.readPages('/v1/trade?reporter=PAK', 'id', 2), await column('reporter=PAK', 'id'));
  t.deepEqual(await service.readPages('/v1/trade?reporter=PAK&sort=-value', 'value', 3), [
    300,
    150.5,
    100,
    80,
    50,
    10,
    null,
  ]);
});

test('sums are separate for the fields named in aggregate_by, and add up the rest', async (t) => {
  t.deepEqual(
    await sums(
      'reporter=PAK&period=2025-01&flow=export&aggregate_by=partner&sort=-value',
      'partner_code',
      'commodity_code',
      'value',
      'is_aggregate',
    ),
    [
      ['CHN', 'TOTAL', 450.5, true],
      ['USA', 'TOTAL', 50, true],
    ],
  );
  t.deepEqual(
    await sums(
      'reporter=PAK&period=2025-01&flow=export&aggregate_by=commodity&sort=-value',
      'partner_code',
      'commodity_code',
      'commodity_name',
      'value',
      'quantity',
      'quantity_unit',
      'share_pct',
      'yoy_pct',
    ),
    [
      ['WLD', '100630', 'Rice', 300, null, null, 59.94005994, null],
      ['WLD', '010121', 'Horses', 200.5, 12, 'NMB', 40.05994006, 100.5],
    ],
  );
  t.deepEqual(
    await sums(
      'reporter=PAK&period=2025-01&flow=export&aggregate_by=commodity&level=2&sort=-value',
      'commodity_code',
      'level',
      'value',
    ),
    [
      ['10', 2, 300],
      ['01', 2, 200.5],
    ],
  );
  t.deepEqual(
    await sums(
      'reporter=PAK&period=2025-01&flow=export&aggregate_by=partner&commodity=0101',
      'partner_code',
      'commodity_code',
      'value',
    ),
    [
      ['USA', '0101', 50],
      ['CHN', '0101', 150.5],
    ],
  );
  t.deepEqual(
    await sums('reporter=PAK&from=2025&flow=export&aggregate_by=period&sort=date', 'period', 'value'),
    [
      ['2025-01', 500.5],
      ['2025-02', 10],
    ],
  );
});

test('nothing is counted twice if totals are published together with their parts', async (t) => {
  const nzl = 'reporter=NZL&flow=export&period=2024&aggregate_by=';
  t.deepEqual(await sums(`${nzl}period`, 'value'), [[1000]]);
  t.deepEqual(await sums(`${nzl}partner&sort=-value`, 'partner_code', 'value'), [
    ['AUS', 600],
    ['CHN', 390],
  ]);
  t.deepEqual(await sums(`${nzl}commodity&sort=-value`, 'commodity_code', 'value'), [
    ['0101', 150],
    ['0102', 45],
  ]);
  t.deepEqual(await sums(`${nzl}commodity&level=2`, 'commodity_code', 'commodity_name', 'value'), [
    ['01', 'Animals', 200],
  ]);
  t.deepEqual(await sums(`${nzl}partner`, 'status'), [['provisional'], ['provisional']]);
  const pak = 'reporter=PAK&from=2025&flow=export&aggregate_by=period';
  t.deepEqual(await sums(pak, 'status'), [['final'], ['final']], 'a sum is final where all its parts are');
});

test('a balance is exports less imports, and null rows do not make one', async (t) => {
  t.deepEqual(
    await sums(
      'reporter=PAK&period=2025-01&flow=balance&aggregate_by=partner',
      'flow',
      'partner_code',
      'value',
      'valuation',
      'share_pct',
    ),
    [
      ['balance', 'USA', 50, null, null],
      ['balance', 'CHN', 370.5, null, null],
    ],
  );
  t.deepEqual(
    await sums(
      'reporter=PAK&period=2025-01&flow=balance&commodity=100630',
      'partner_code',
      'commodity_code',
      'value',
    ),
    [['CHN', '100630', 220]],
  );
  // Only exports of New Zealand are known, so there is no balance.
  t.deepEqual(await sums('reporter=NZL&period=2024&flow=balance', 'value'), []);
});

test('the world is the sum of all partners where no total is published for it', async (t) => {
  const world = await sums(
    'reporter=PAK&flow=export&period=2025-01&partner=world&aggregate_by=commodity',
    'partner_code',
    'commodity_code',
    'value',
  );
  t.deepEqual(world, [
    ['WLD', '100630', 300],
    ['WLD', '010121', 200.5],
  ]);
  t.deepEqual(await sums('reporter=NZL&flow=export&period=2024&partner=world&aggregate_by=period', 'value'), [
    [1000],
  ]);
  t.deepEqual(
    await sums(
      'reporter=PAK&flow=balance&period=2025-01&partner=world&commodity=100630',
      'partner_code',
      'value',
    ),
    [['WLD', 220]],
  );
});

test('a commodity without a name of its own has that of the classification, in rows and in sums', async (t) => {
  const names = async (query: string) =>
    (
      await sums(
        `reporter=NZL&period=2024&flow=export&sort=value&${query}`,
        'commodity_code',
        'commodity_name',
      )
    ).slice(0, 2);
  t.deepEqual(await names('partner=AUS&fields=commodity_code,commodity_name'), [
    ['0102', 'Cattle'],
    ['0101', 'Horses'],
  ]);
  t.deepEqual(
    await sums(
      'reporter=PAK&flow=import&period=2025-01&aggregate_by=commodity&level=2',
      'commodity_code',
      'commodity_name',
    ),
    [
      ['27', 'Mineral fuels'],
      ['10', null],
    ],
  );
});

test('count_only answers with the number of rows, and no rows', async (t) => {
  const count = async (query: string) => (await service.call(`/v1/trade?count_only=true&${query}`)).json;
  const counted = (count: number) => ({
    success: true,
    data: [],
    count,
    pagination: { next_cursor: null, count: 0 },
  });
  t.deepEqual(await count('reporter=PAK'), counted(7));
  t.deepEqual(await count('reporter=PAK&flow=export&limit=1'), counted(5));
  t.deepEqual(await count('reporter=PAK&flow=export&from=2025-01&aggregate_by=period'), counted(2));
  const first = await service.call('/v1/trade?count_only=true');
  const again = await service.call('/v1/trade?count_only=true', {
    headers: { 'if-none-match': first.headers.get('etag') ?? '' },
  });
  t.is(again.status, 304);
  t.is((await service.list('/v1/trade?count_only=true&format=csv')).error.param, 'format');
});

test('sums page and come as CSV like rows', async (t) => {
  const query =
    '/v1/trade?reporter=PAK&from=2024&aggregate_by=partner,commodity,period&fields=period,flow,partner_code,value';
  const whole = await service.column(query, 'value');
  t.is(whole.length, 7);
  t.deepEqual(await service.readPages(query, 'value', 2), whole);
  const { header, lines } = csvLines(await service.call(`${query}&format=csv&flow=import&partner=CHN`));
  t.is(header, 'period,flow,partner_code,value');
  t.deepEqual(lines, ['2025-01,import,CHN,80']);
});

test('what is not allowed is a 400 that names the parameter', async (t) => {
  const cases: [query: string, param: string][] = [
    ['flow=exports', 'flow'],
    ['period=2025-13', 'period'],
    ['period=2025&from=2025', 'period'],
    ['reporter=Pakistan', 'reporter'],
    ['partner=a%20b', 'partner'],
    ['commodity=01%25', 'commodity'],
    ['level=3', 'level'],
    ['frequency=Q', 'frequency'],
    ['aggregate_by=flow', 'aggregate_by'],
    ['aggregate_by=partner', 'period'],
    ['aggregate_by=year,quarter&from=2024', 'aggregate_by'],
    ['aggregate_by=period,fiscal_year&fiscal_year_end=06-30&from=2024', 'aggregate_by'],
    ['aggregate_by=fiscal_year&from=2024', 'fiscal_year_end'],
    ['aggregate_by=year&fiscal_year_end=06-30&from=2024', 'fiscal_year_end'],
    ['aggregate_by=fiscal_year&fiscal_year_end=04-05&from=2024', 'fiscal_year_end'],
    ['fiscal_year_end=06-30', 'fiscal_year_end'],
    ['aggregate_by=quarter&frequency=A&from=2024', 'frequency'],
    ['aggregate_by=fiscal_year&fiscal_year_end=06-30&frequency=A&from=2024', 'frequency'],
    ['flow=balance&to=2025', 'period'],
    ['aggregate_by=partner&period=2025&sort=-id', 'sort'],
    ['basis=both', 'basis'],
  ];
  for (const [query, param] of cases) {
    const { status, json } = await service.call(`/v1/trade?${query}`);
    t.is(status, 400, query);
    t.is((json as { error: { param: string } }).error.param, param, query);
  }
});

test('a cursor of one sum opens no other, and a load changes the ETag', async (t) => {
  const first = await service.list('/v1/trade?reporter=PAK&from=2024&aggregate_by=partner&limit=1');
  const cursor = first.pagination.next_cursor;
  t.truthy(cursor);
  const other = await service.list(
    `/v1/trade?reporter=PAK&from=2024&aggregate_by=commodity&limit=1&cursor=${cursor}`,
  );
  t.is(other.error.code, 'invalid_cursor');
  const path = '/v1/trade?reporter=NZL&flow=re_export';
  const etag = (await service.call(path)).headers.get('etag') ?? '';
  t.is((await service.call(path, { headers: { 'if-none-match': etag } })).status, 304);
});

test('sums from the first day of the calendar hold all years', async (t) => {
  const from = (year: string) =>
    sums(`reporter=PAK&flow=export&aggregate_by=period&sort=date&from=${year}`, 'period', 'value');
  const all = await from('0001');
  t.deepEqual(all.slice(-2), await from('2025'));
});
