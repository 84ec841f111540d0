import test from 'ava';
import { screenedFigureNames } from './list-filters.ts';
import { statedBases } from '../../domain/funds/returns.ts';
import { textOf } from './list-filters.ts';
import { csvLines, startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
  await service.load('amcs', [
    'amc_id,name,rating,source',
    'alpha,Alpha Asset Management,AM1,Register',
    'beta,Beta Investments,,Register',
  ]);
  await service.load('funds', [
    'fund_id,name,symbol,isin,isin_payout,amc_id,category,asset_class,structure,shariah_compliant,risk_profile,plan,option,currency,launch_date,status,merged_into,rating,rating_agency,dealing_days,fund_managers,front_end_load_pct,back_end_load_pct,source',
    'alpha-cash,Alpha Cash Fund,ACF,INF209K01KU4,INF174K01EK4,alpha,Money market,money_market,open_end,false,low,,growth,PKR,2024-01-01,active,,AA+(f),Rater,Mon-Thu 16:00;Friday 12:00,A. One;B. Two,0,0,Register',
    'alpha-share,Alpha Share Fund,,,,alpha,Equity,equity,open_end,true,high,direct,,PKR,2024-01-01,active,,,,,,2.5,1,Register',
    'beta-share,=Beta Share 100%,,,,beta,Equity,equity,closed_end,false,high,,,PKR,2024-01-01,,,A(f),,,,,,Register',
    'beta-old,Beta Old Fund,,,,beta,Equity,equity,open_end,,,,,PKR,,merged,beta-share,,,,,,,Register',
    'gamma,Gamma,,,,,,,,,,,,USD,,,,,,,,,,Elsewhere',
  ]);
  await service.load('expenses', [
    'fund,period_end,period_type,ter_pct',
    'alpha-cash,2025-12-31,ytd,0.90',
    'beta-share,2025-12-31,ytd,3.10',
  ]);
  await service.load('nav', [
    'fund,date,nav,aum',
    ...navs('alpha-cash', 10, 0.0004),
    ...navs('alpha-share', 100, 0.001),
    ...navs('beta-share', 50, 0.0007),
    'beta-old,2024-03-28,20,',
    'beta-old,2024-04-30,40,',
  ]);
});

test.after.always(() => service.close());

/** Two years of working days until 2025-12-31 that grow by a rate, a little more on even days. */
function navs(fund: string, first: number, rate: number): string[] {
  const lines: string[] = [];
  let nav = first;
  for (let day = Date.UTC(2024, 0, 1); day <= Date.UTC(2025, 11, 31); day += 86_400_000) {
    const date = new Date(day);
    if (date.getUTCDay() % 6 === 0) continue;
    nav *= 1 + rate * (date.getUTCDate() % 2 === 0 ? 1.5 : 0.5);
    const iso = date.toISOString().slice(0, 10);
    lines.push(`${fund},${iso},${nav.toFixed(4)},${iso === '2025-12-30' ? first * 1_000_000 : ''}`);
  }
  return lines;
}

const ids = (query: string) => service.column(`/v1/funds?${query}`, 'id');
const screened = (query: string) => service.column(`/v1/funds/screener?${query}`, 'id');

test.serial('a fund shows every fact of the list in the list envelope, unknown ones as null', async (t) => {
  const answer = await service.list('/v1/funds');
  t.true(answer.success);
  t.is(answer.count, 5);
  t.deepEqual(answer.pagination, { next_cursor: null, count: 5 });
  const [cash] = answer.data;
  t.deepEqual(Object.keys(cash ?? {}), [
    'id',
    'symbol',
    'isin',
    'source_code',
    'name',
    'short_name',
    'amc_id',
    'amc_name',
    'category',
    'asset_class',
    'structure',
    'shariah_compliant',
    'risk_profile',
    'benchmark',
    'plan',
    'option',
    'currency',
    'launch_date',
    'status',
    'merged_into',
    'nav',
    'nav_date',
    'aum',
    'aum_date',
    'ter_pct',
    'return_ytd_pct',
    'return_1y_pct',
    'as_of',
    'source',
    'last_updated',
  ]);
  t.like(cash, {
    id: 'alpha-cash',
    amc_name: 'Alpha Asset Management',
    nav_date: '2025-12-31',
    aum: 10_000_000,
    aum_date: '2025-12-30',
    ter_pct: 0.9,
    merged_into: null,
  });
  t.like(answer.data.at(-1), { id: 'gamma', amc_name: null, nav: null, return_1y_pct: null });
});

test.serial('every filter narrows the list, and they combine', async (t) => {
  const cases: [query: string, ids: string[]][] = [
    ['amc=alpha', ['alpha-cash', 'alpha-share']],
    ['category=Equity', ['alpha-share', 'beta-old', 'beta-share']],
    ['asset_class=money_market', ['alpha-cash']],
    ['shariah=true', ['alpha-share']],
    ['shariah=false', ['alpha-cash', 'beta-share']],
    ['structure=closed_end', ['beta-share']],
    ['risk_profile=high', ['alpha-share', 'beta-share']],
    ['status=merged', ['beta-old']],
    ['currency=usd', ['gamma']],
    ['q=SHARE', ['alpha-share', 'beta-share']],
    ['q=100%25', ['beta-share']],
    ['q=inf174', ['alpha-cash']],
    ['q=_', []],
    ['amc=beta&category=Equity&status=merged', ['beta-old']],
    ['updated_after=2000-01-01&limit=1', ['alpha-cash']],
    ['updated_after=2999-01-01', []],
  ];
  for (const [query, expected] of cases) t.deepEqual(await ids(query), expected, query);
});

test.serial('any order can be paged by cursor without loss or repetition, unknown values last', async (t) => {
  const orders: [sort: string, ids: string[]][] = [
    ['id', ['alpha-cash', 'alpha-share', 'beta-old', 'beta-share', 'gamma']],
    ['-id', ['gamma', 'beta-share', 'beta-old', 'alpha-share', 'alpha-cash']],
    ['aum', ['alpha-cash', 'beta-share', 'alpha-share', 'beta-old', 'gamma']],
    ['-aum', ['alpha-share', 'beta-share', 'alpha-cash', 'gamma', 'beta-old']],
    ['-return_1y_pct', ['alpha-share', 'beta-share', 'alpha-cash', 'gamma', 'beta-old']],
  ];
  for (const [sort, expected] of orders) {
    for (const limit of [1, 2, 5]) {
      t.deepEqual(
        await service.readPages(`/v1/funds?sort=${sort}`, 'id', limit),
        expected,
        `${sort} by ${limit}`,
      );
    }
  }
});

test.serial(
  'fields choose what is shown, numbers keep the published digits, CSV is the whole list',
  async (t) => {
    const { text } = await service.call('/v1/funds?fields=ter_pct,id&category=Money%20market');
    t.regex(text, /"data":\[\{"id":"alpha-cash","ter_pct":0\.90\}\]/);
    const csv = await service.call('/v1/funds?fields=id,name,ter_pct&format=csv');
    t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    t.deepEqual(csvLines(csv), {
      header: 'id,name,ter_pct',
      lines: [
        'alpha-cash,Alpha Cash Fund,0.90',
        'alpha-share,Alpha Share Fund,',
        'beta-old,Beta Old Fund,',
        "beta-share,'=Beta Share 100%,3.10",
        'gamma,Gamma,',
      ],
    });
  },
);

test.serial('the profile of a fund has all its facts', async (t) => {
  const { json } = await service.call('/v1/funds/alpha-cash');
  const { data } = json as { data: Record<string, unknown> };
  t.like(data, {
    id: 'alpha-cash',
    isin: 'INF209K01KU4',
    isin_payout: 'INF174K01EK4',
    amc_rating: 'AM1',
    fund_managers: ['A. One', 'B. Two'],
    former_names: [],
    leverage: null,
    pricing_mechanism: null,
  });
  t.deepEqual(data['fund_rating'], { rating: 'AA+(f)', outlook: null, agency: 'Rater', date: null });
  t.deepEqual(data['dealing_days'], [
    { days: 'Mon-Thu', cut_off: '16:00' },
    { days: 'Friday', cut_off: '12:00' },
  ]);
});

test.serial(
  'a fund is found by its id and by each of its codes; another one is 404 with the nearest id',
  async (t) => {
    for (const name of ['alpha-cash', 'INF209K01KU4', 'inf174k01ek4', 'ACF']) {
      t.like(await service.list(`/v1/funds/${name}`), { data: { id: 'alpha-cash' } }, name);
    }
    const { error } = await service.list('/v1/funds/alpha-cush');
    t.is(error.code, 'not_found');
    t.regex(error.message, /Did you mean "alpha-cash"/);
    for (const path of ['nav', 'returns', 'payouts', 'expenses', 'portfolio', 'analytics']) {
      t.is((await service.call(`/v1/funds/nobody/${path}`)).status, 404, path);
    }
  },
);

test.serial('the screener compares figures; an unknown figure passes no bound', async (t) => {
  const cases: [query: string, ids: string[]][] = [
    ['', ['alpha-share', 'beta-share', 'alpha-cash', 'gamma']],
    ['return_1y_pct_min=0', ['alpha-share', 'beta-share', 'alpha-cash']],
    ['return_1y_pct_max=15', ['alpha-cash']],
    ['ter_pct_max=1', ['alpha-cash']],
    ['ter_pct_min=-1&sort=ter_pct', ['alpha-cash', 'beta-share']],
    ['aum_min=50000000', ['alpha-share', 'beta-share']],
    ['aum_min=50000001', ['alpha-share']],
    ['age_years_min=2.1', []],
    ['max_drawdown_1y_pct_min=-1&category=Equity', ['alpha-share', 'beta-share']],
    ['return_5y_pct_min=-100', []],
    ['rating_min=AA', ['alpha-cash']],
    ['rating_min=BBB', ['beta-share', 'alpha-cash']],
    ['rating_max=A', ['beta-share']],
    ['status=merged', ['beta-old']],
    ['as_of_min=2025&return_1m_pct_min=0&sort=id', ['alpha-cash', 'alpha-share', 'beta-share']],
    ['shariah=true&structure=open_end&risk_profile=high&amc=alpha', ['alpha-share']],
  ];
  for (const [query, expected] of cases) t.deepEqual(await screened(query), expected, query);
  t.deepEqual(await service.readPages('/v1/funds/screener', 'id', 1), await screened(''));
});

test.serial(
  'every figure that the screener prints is accepted as a bound, and its fund is within',
  async (t) => {
    await service.load('expenses', [
      'fund,period_end,period_type,ter_pct',
      'gamma,2025-12-31,ytd,0.0000000123',
    ]);
    const { data: funds } = await service.list('/v1/funds/screener');
    let compared = 0;
    for (const { id, ...fund } of funds) {
      for (const name of screenedFigureNames) {
        if (fund[name] === null) continue;
        const figure = encodeURIComponent(JSON.stringify(fund[name]));
        t.true(
          (await screened(`${name}_min=${figure}&${name}_max=${figure}`)).includes(textOf(id)),
          `${name} ${figure}`,
        );
        compared += 1;
      }
    }
    t.true(compared > 30, `${compared} figures`);
  },
);

test.serial('each figure of the screener equals that of the fund itself, on each basis', async (t) => {
  const risk = await recordOf('/v1/funds/alpha-cash/analytics');
  let compared = 0;
  for (const basis of statedBases) {
    for (const row of (await service.list(`/v1/funds/screener?basis=${basis}`)).data) {
      t.is(row['returns_basis'], basis);
      const { periods } = await recordOf<Returns>(`/v1/funds/${textOf(row['id'])}/returns?basis=${basis}`);
      for (const { period, value_pct: value, basis: stated } of periods) {
        const isYoung = basis === 'by_length' && period === 'since_inception' && stated === 'absolute';
        t.is(row[`return_${period}_pct`], isYoung ? null : value, `${textOf(row['id'])} ${basis} ${period}`);
        compared += Number(value !== null);
      }
      if (row['id'] !== 'alpha-cash') continue;
      t.is(row['volatility_1y_pct'], risk['volatility_pct']);
      t.is(row['sharpe_1y'], risk['sharpe']);
      t.is(row['max_drawdown_1y_pct'], risk['max_drawdown_pct']);
    }
  }
  t.true(compared > 100, `${compared} returns`);
});

interface Returns {
  periods: {
    period: string;
    value_pct: number | null;
    basis: string;
    rank: number | null;
    rank_of: number | null;
    category_avg_pct: number | null;
    category_basis: string;
  }[];
}
async function recordOf<Data = Record<string, unknown>>(path: string): Promise<Data> {
  return ((await service.call(path)).json as { data: Data }).data;
}

test.serial('funds of one category are compared on the same basis, whatever each one quotes', async (t) => {
  // 1.35 % in 31 days is 15.9 % a year by the simple method, by which a money-market fund quotes it; 3.36 % is more.
  await service.load('funds', [
    'fund_id,name,category,asset_class,currency,source',
    'calm,Calm,Mixed,money_market,EUR,Register',
    'bold,Bold,Mixed,equity,EUR,Register',
  ]);
  await service.load('nav', [
    'fund,date,nav',
    'calm,2025-11-30,100',
    'calm,2025-12-31,101.35',
    'bold,2024-12-31,80',
    'bold,2025-11-30,100',
    'bold,2025-12-31,103.36',
  ]);
  const [calm, bold] = await Promise.all(
    ['calm', 'bold'].map(async (id) => {
      const { periods } = await recordOf<Returns>(`/v1/funds/${id}/returns`);
      return new Map(periods.map((period) => [period.period, period]));
    }),
  );
  t.like(calm?.get('1m'), { value_pct: 15.89516129, basis: 'annualized_simple', rank: 2, rank_of: 2 });
  t.like(bold?.get('1m'), { value_pct: 3.36, basis: 'absolute', rank: 1, rank_of: 2 });
  for (const fund of [calm, bold]) {
    t.like(fund?.get('1m'), { category_avg_pct: 2.355, category_basis: 'absolute' });
  }
  t.deepEqual(await screened('currency=EUR&sort=-return_1m_pct'), ['bold', 'calm']);
  t.deepEqual(
    await service.column('/v1/funds/screener?currency=EUR&sort=-return_1m_pct', 'return_1m_pct'),
    [3.36, 1.35],
  );
  t.deepEqual(await screened('currency=EUR&return_1m_pct_min=2'), ['bold']);
  t.deepEqual(await screened('currency=EUR&basis=annualized_simple&return_1m_pct_min=15.8'), [
    'bold',
    'calm',
  ]);

  // Since inception, only annualised returns are compared, so the return of a month is not.
  t.like(calm?.get('since_inception'), { basis: 'annualized_simple', rank: null, category_avg_pct: null });
  t.like(bold?.get('since_inception'), { basis: 'annualized_compound', rank: 1, rank_of: 1 });
  t.deepEqual(await screened('currency=EUR&sort=-return_since_inception_pct'), ['bold', 'calm']);
  t.deepEqual(await screened('currency=EUR&return_since_inception_pct_min=-100'), ['bold']);
});

// Not serial, so it runs last: its load changes the data of the others.
test('an answer is valid until a load changes its data', async (t) => {
  const path = '/v1/funds?currency=USD';
  const first = await service.call(path);
  t.is(first.headers.get('cache-control'), 'private, no-cache');
  t.truthy(first.headers.get('last-modified'));
  const etag = first.headers.get('etag') ?? '';
  const again = async () => (await service.call(path, { headers: { 'if-none-match': etag } })).status;
  t.is(await again(), 304);
  await service.load('funds', ['fund_id,short_name', 'gamma,G']);
  t.is(await again(), 200);
});

test.serial('a bad parameter is 400 and named', async (t) => {
  for (const [path, param] of [
    ['/v1/funds?limit=1001', 'limit'],
    ['/v1/funds?sort=isin', 'sort'],
    ['/v1/funds?fields=id,colour', 'fields'],
    ['/v1/funds?structure=round', 'structure'],
    ['/v1/funds?shariah=maybe', 'shariah'],
    ['/v1/funds?nav_min=1', 'nav_min'],
    ['/v1/funds/screener?ter_pct_min=low', 'ter_pct_min'],
    ['/v1/funds/screener?rating_min=AM1', 'rating_min'],
    ['/v1/funds/screener?q=a', 'q'],
    ['/v1/funds/alpha-cash?fields=id', 'fields'],
    ['/v1/funds/alpha-cash/nav?from=2025&to=2024', 'from'],
    ['/v1/funds/alpha-cash/nav?frequency=hourly', 'frequency'],
    ['/v1/funds/alpha-cash/returns?basis=guess', 'basis'],
    ['/v1/funds/alpha-cash/returns?as_of=2024-02-30', 'as_of'],
    ['/v1/funds/alpha-cash/analytics?window=2y', 'window'],
    ['/v1/funds/alpha-cash/analytics?risk_free=NO.SUCH', 'risk_free'],
    ['/v1/funds/alpha-cash/payouts?type=shares', 'type'],
    ['/v1/funds/alpha-cash/portfolio?section=all', 'section'],
  ]) {
    const { error } = await service.list(path ?? '');
    t.deepEqual([error.code, error.param], ['invalid_parameter', param], path);
  }
  const { pagination } = await service.list('/v1/funds?limit=1');
  t.is(
    (await service.list(`/v1/funds?limit=1&amc=beta&cursor=${pagination.next_cursor}`)).error.code,
    'invalid_cursor',
  );
});

test.serial('search finds a fund by its words and codes', async (t) => {
  const found = async (q: string) =>
    (await service.list(`/v1/search?q=${q}`)).data.map(({ type, id }) => `${String(type)} ${String(id)}`);
  t.deepEqual(await found('alpha%20cash'), ['fund alpha-cash']);
  t.deepEqual(await found('INF174K01EK4'), ['fund alpha-cash']);
  t.true((await found('beta%20investments')).includes('amc beta'));
});
