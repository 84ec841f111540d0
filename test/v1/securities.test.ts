import test from 'ava';
import { csvLines, startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
  await service.load('securities', [
    'code,isin,name,issuer,type,currency,source,rating,issue_date,maturity_date,shariah_compliant,status,coupon_pct,former_codes,former_names',
    'HBL/TFC/190216,PK0009200129,Habib TFC,Habib Bank,tfc,PKR,Exchange,AA+,2016-02-19,2026-02-19,false,active,8.50,HBL-TFC-OLD,Habib notes',
    'KEL/SUKUK/170615,,K-Electric Sukuk,K-Electric,sukuk,PKR,Exchange,AA,2015-06-17,2022-06-17,true,matured,,,',
    'GIS 2030,,Ijara Sukuk,Government,gis,PKR,State bank,,2025-01-10,2030-01-10,true,active,0,,',
    'US-1,,US note,Treasury,government_bond,USD,Treasury,AAA,2024-01-31,,,,4.125,,',
    'CP 7,,Paper 100%,Habib Metro,commercial_paper,PKR,Exchange,A1+,2026-01-01,2026-07-01,,,,,',
  ]);
  await service.load('security-prices', [
    'code,date,price,dirty_price,yield_pct,traded,method,valid_from,valid_to',
    'HBL/TFC/190216,2026-01-02,99.50,101.25,9.10,true,trade,,',
    'HBL/TFC/190216,2026-01-05,99.60,,9.05,false,matrix,2026-01-05,2026-01-19',
    'HBL/TFC/190216,2026-02-02,,,,,,,',
    'GIS 2030,2026-01-02,100.00,,,true,,,',
  ]);
  await service.load('security-trades', [
    'trade_id,trade_date,trade_time,code,side,price,amount,venue,status,as_of,trades_count',
    'T3,2026-01-05,15:00,HBL/TFC/190216,sell,99.60,5000000,PSX,corrected,true,1',
    'T1,2026-01-02,10:30:05,HBL/TFC/190216,buy,99.50,1000000.50,PSX,new,false,1',
    'T2,2026-01-02,,GIS 2030,,100,250000000,OTC,,,12',
  ]);
});

test.after.always(() => service.close());

const codes = (query: string) => service.column(`/v1/securities?${query}`, 'code');
const trades = (query: string) => service.column(`/v1/securities/trades?${query}`, 'trade_id');

test.serial('a security shows every fact in the list envelope, unknown ones as null', async (t) => {
  const answer = await service.list('/v1/securities?limit=2&sort=-code');
  t.true(answer.success);
  t.is(answer.count, 2);
  const { data } = await service.list('/v1/securities?issuer=habib%20bank');
  t.deepEqual(
    { ...data[0], last_updated: null },
    {
      code: 'HBL-TFC-190216',
      source_code: 'HBL/TFC/190216',
      isin: 'PK0009200129',
      name: 'Habib TFC',
      issuer: 'Habib Bank',
      type: 'tfc',
      government_guaranteed: null,
      shariah_compliant: false,
      secured: null,
      rating: 'AA+',
      rating_agency: null,
      rating_date: null,
      issue_date: '2016-02-19',
      maturity_date: '2026-02-19',
      tenor_years: 10,
      issue_size: null,
      currency: 'PKR',
      par: null,
      coupon_type: null,
      coupon_pct: 8.5,
      base_rate: null,
      spread_bps: null,
      floor_pct: null,
      cap_pct: null,
      coupon_frequency: null,
      day_count: null,
      amortising: null,
      callable: null,
      puttable: null,
      listing: null,
      status: 'active',
      last_price: 99.6,
      last_yield_pct: 9.05,
      last_price_date: '2026-01-05',
      traded: false,
      merged_into: null,
      former_names: ['Habib notes'],
      former_codes: ['HBL-TFC-OLD'],
      as_of: '2026-01-05',
      source: 'Exchange',
      last_updated: null,
    },
  );
  t.regex(String(data[0]?.['last_updated']), /^\d{4}-\d{2}-\d{2}$/);
});

test.serial('numbers keep the digits that were published', async (t) => {
  const { text } = await service.call('/v1/securities?fields=code,coupon_pct,last_price&type=tfc');
  t.true(text.includes('{"code":"HBL-TFC-190216","coupon_pct":8.50,"last_price":99.60}'), text);
});

test.serial('every filter narrows the securities, and they combine', async (t) => {
  const cases: [query: string, codes: string[]][] = [
    ['type=sukuk', ['KEL-SUKUK-170615']],
    ['issuer=HABIB', ['CP-7', 'HBL-TFC-190216']],
    ['issuer=%25', []],
    ['rating_min=AA+', ['HBL-TFC-190216', 'US-1']],
    ['rating_min=aa%2B', ['HBL-TFC-190216', 'US-1']],
    ['rating_min=D', ['HBL-TFC-190216', 'KEL-SUKUK-170615', 'US-1']],
    ['maturity_from=2026', ['CP-7', 'GIS-2030', 'HBL-TFC-190216']],
    ['maturity_from=2026&maturity_to=2026-02', ['HBL-TFC-190216']],
    ['shariah=true', ['GIS-2030', 'KEL-SUKUK-170615']],
    ['traded=true', ['GIS-2030']],
    ['traded=false', ['HBL-TFC-190216']],
    ['status=matured', ['KEL-SUKUK-170615']],
    ['currency=usd', ['US-1']],
    ['shariah=true&status=active', ['GIS-2030']],
    ['updated_after=2000-01-01&type=tfc', ['HBL-TFC-190216']],
    ['updated_after=2999-01-01', []],
  ];
  for (const [query, expected] of cases) t.deepEqual(await codes(query), expected, query);
});

test.serial(
  'securities sort by a field in either direction, unknown values last, and page without gaps',
  async (t) => {
    const ascending = ['KEL-SUKUK-170615', 'HBL-TFC-190216', 'CP-7', 'GIS-2030', 'US-1'];
    t.deepEqual(await codes('sort=maturity_date'), ascending);
    t.deepEqual(await codes('sort=-maturity_date'), [
      'GIS-2030',
      'CP-7',
      'HBL-TFC-190216',
      'KEL-SUKUK-170615',
      'US-1',
    ]);
    t.deepEqual(await service.readPages('/v1/securities?sort=maturity_date', 'code', 2), ascending);
    t.deepEqual(
      await service.readPages('/v1/securities?sort=-coupon_pct', 'code', 1),
      await codes('sort=-coupon_pct'),
    );
  },
);

test.serial('prices are found by code with slashes or hyphens, by ISIN and by a former code', async (t) => {
  const names = [
    'HBL-TFC-190216',
    'hbl-tfc-190216',
    'HBL%2FTFC%2F190216',
    'HBL%2fTFC%2f190216',
    'PK0009200129',
    'HBL-TFC-OLD',
  ];
  for (const name of names) {
    t.deepEqual(
      await service.column(`/v1/securities/${name}/prices`, 'date'),
      ['2026-01-02', '2026-01-05', '2026-02-02'],
      name,
    );
  }
  const missing = await service.call('/v1/securities/HBL-TFC-190217/prices');
  t.is(missing.status, 404);
  const { error } = missing.json as { error: Record<string, string> };
  t.like(error, { code: 'not_found', param: 'code' });
  t.regex(error['message'] ?? '', /Did you mean "HBL-TFC-190216"\?/);
});

test.serial(
  'a price names its basis; the accrued interest is derived from its clean and dirty price',
  async (t) => {
    const { data } = await service.list('/v1/securities/HBL-TFC-190216/prices?from=2026-01&to=2026-01-02');
    t.deepEqual(
      data.map((row) => ({ ...row, last_updated: null })),
      [
        {
          date: '2026-01-02',
          code: 'HBL-TFC-190216',
          price: 99.5,
          dirty_price: 101.25,
          accrued: 1.75,
          yield_pct: 9.1,
          modified_duration: null,
          spread_bps: null,
          traded: true,
          method: 'trade',
          valid_from: null,
          valid_to: null,
          currency: 'PKR',
          as_of: '2026-01-02',
          source: 'Exchange',
          last_updated: null,
        },
      ],
    );
    t.deepEqual(await service.column('/v1/securities/HBL-TFC-190216/prices?sort=-date&limit=1', 'date'), [
      '2026-02-02',
    ]);
    t.deepEqual(await service.column('/v1/securities/HBL-TFC-190216/prices?from=2027', 'date'), []);
  },
);

test.serial('trades come newest first, with the facts of their security', async (t) => {
  t.deepEqual(await trades(''), ['T3', 'T2', 'T1']);
  t.deepEqual(await trades('sort=trade_date'), ['T1', 'T2', 'T3']);
  const { data } = await service.list('/v1/securities/trades?code=hbl/tfc/190216&to=2026-01-02');
  t.deepEqual(
    data.map((row) => ({ ...row, last_updated: null })),
    [
      {
        trade_id: 'T1',
        trade_date: '2026-01-02',
        trade_time: '10:30:05',
        settlement_date: null,
        code: 'HBL-TFC-190216',
        isin: 'PK0009200129',
        type: 'tfc',
        side: 'buy',
        price: 99.5,
        price_low: null,
        price_high: null,
        yield_pct: null,
        yield_low_pct: null,
        yield_high_pct: null,
        face_amount: null,
        amount: 1000000.5,
        currency: 'PKR',
        trades_count: 1,
        venue: 'PSX',
        counterparty_type: null,
        status: 'new',
        original_trade_id: null,
        as_of: false,
        source: 'Exchange',
        last_updated: null,
      },
    ],
  );
});

test.serial('every filter narrows the trades', async (t) => {
  const cases: [query: string, ids: string[]][] = [
    ['code=PK0009200129', ['T3', 'T1']],
    ['code=UNKNOWN', []],
    ['from=2026-01-03', ['T3']],
    ['to=2026-01-02', ['T2', 'T1']],
    ['type=gis', ['T2']],
    ['venue=PSX', ['T3', 'T1']],
    ['min_amount=1000000.50', ['T3', 'T2', 'T1']],
    ['min_amount=1000000.51', ['T3', 'T2']],
    ['venue=PSX&min_amount=2000000', ['T3']],
  ];
  for (const [query, expected] of cases) t.deepEqual(await trades(query), expected, query);
  t.deepEqual(await service.readPages('/v1/securities/trades', 'trade_id', 1), ['T3', 'T2', 'T1']);
});

test.serial('what is not allowed is a 400 that names the parameter', async (t) => {
  const cases: [path: string, param: string][] = [
    ['/v1/securities?type=share', 'type'],
    ['/v1/securities?rating_min=AAAA', 'rating_min'],
    ['/v1/securities?maturity_from=2026&maturity_to=2025', 'maturity_from'],
    ['/v1/securities?traded=1', 'traded'],
    ['/v1/securities?sort=isin', 'sort'],
    ['/v1/securities?fields=code,price', 'fields'],
    ['/v1/securities?limit=1001', 'limit'],
    ['/v1/securities?isuer=x', 'isuer'],
    ['/v1/securities/GIS-2030/prices?from=2026-02&to=2026-01', 'from'],
    ['/v1/securities/trades?min_amount=-1', 'min_amount'],
    ['/v1/securities/trades?min_amount=1e9', 'min_amount'],
    ['/v1/securities/trades?from=2026-02-30', 'from'],
  ];
  for (const [path, param] of cases) {
    const { status, json } = await service.call(path);
    t.is(status, 400, path);
    t.like((json as { error: object }).error, { code: 'invalid_parameter', param }, path);
  }
});

// Not serial, so it runs last: its load changes the data of the others.
test('the lists come as CSV, and are validated by ETag until a load changes them', async (t) => {
  const csv = csvLines(
    await service.call('/v1/securities?format=csv&fields=code,name,former_names&type=tfc'),
  );
  t.is(csv.header, 'code,name,former_names');
  t.deepEqual(csv.lines, ['HBL-TFC-190216,Habib TFC,"[""Habib notes""]"']);
  const path = '/v1/securities/GIS-2030/prices';
  const first = await service.call(path);
  const etag = first.headers.get('etag') ?? '';
  t.truthy(first.headers.get('last-modified'));
  t.is((await service.call(path, { headers: { 'if-none-match': etag } })).status, 304);
  await service.load('security-prices', ['code,date,price', 'GIS 2030,2026-01-03,100.10']);
  const after = await service.call(path, { headers: { 'if-none-match': etag } });
  t.is(after.status, 200);
  t.deepEqual(await service.column(path, 'price'), [100, 100.1]);
});

test.serial(
  'a security is found by search: by its code, its ISIN, its issuer and the names it had',
  async (t) => {
    for (const q of ['HBL/TFC/190216', 'PK0009200129', 'habib bank', 'habib notes', 'HBL-TFC-OLD']) {
      const { data } = await service.list(`/v1/search?type=security&q=${encodeURIComponent(q)}`);
      t.like(data[0], { type: 'security', id: 'HBL-TFC-190216', name: 'Habib TFC', category: 'tfc' }, q);
    }
  },
);
