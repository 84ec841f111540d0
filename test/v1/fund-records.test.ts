// NAVs, payouts, expenses, returns, analytics and portfolios of one fund.
import test from 'ava';
import { fundFiles } from '../../ingest/demo/demo-funds.ts';
import { addDays } from '../../kernel/dates.ts';
import { csvLines, startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
  for (const { dataset, lines } of fundFiles('2024-06-28')) await service.load(dataset, [...lines()]);
  await service.load('funds', [
    'fund_id,name,currency,category,asset_class,front_end_load_pct,back_end_load_pct,source',
    'worked,Worked by hand,PKR,By hand,equity,2,1.5,Register',
    'empty,Without anything,PKR,By hand,equity,,,Register',
    'late,First NAV after a payout,PKR,By hand,equity,,,Register',
  ]);
  await service.load('payouts', [
    'fund,ex_date,type,announcement_date,financial_year,payout_per_unit,payout_pct_of_par,ex_nav,cum_nav',
    'worked,2024-02-01,cash,2024-01-25,2023-24,10.00,100.00,90.00,100.00',
    'worked,2024-03-02,cash,,,3,,,',
    'worked,2024-03-02,bonus,,,6,,,',
    'late,2024-02-01,cash,,,10,,,',
  ]);
  await service.load('expenses', [
    'fund,period_end,period_type,ter_pct,ter_excl_levies_pct,government_levies_pct',
    'worked,2024-01-31,mtd,2.10,1.80,0.30',
    'worked,2024-01-31,ytd,2.00,1.75,0.25',
    'worked,2023-12-31,ytd,1.90,,',
  ]);
  await service.load('nav', [
    'fund,date,nav,offer_price,aum',
    'worked,2023-12-29,100.00,,',
    'worked,2024-01-15,0,,1000000',
    'worked,2024-01-31,100.50,103.00,2000000',
    'worked,2024-02-01,90.00,,',
    'worked,2024-02-29,90.90,,',
    'worked,2024-03-04,90.0,,',
    'worked,2024-03-29,99.00,,',
    'late,2024-03-01,50.00,,',
    'late,2024-03-04,51.00,,',
  ]);
  await service.load('portfolio', [
    'fund,as_of,section,rank,name,type,sector,rating,pct_net_assets,quantity,market_value,disclosure_scope,cash_pct',
    'worked,2024-02-29,holding,1,Bill,tbill,Government,AAA,55.50,100,1000.50,,',
    'worked,2024-02-29,holding,2,Share,equity,Banks,,44.50,,,,',
    'worked,2024-02-29,summary,1,,,,,,,,full,0.00',
    'worked,2024-03-31,holding,1,Share,equity,Banks,,60.25,10,5.5,,',
    'worked,2024-03-31,asset_class,1,equity,,,,70.00,,,,',
    'worked,2024-03-31,asset_class,2,tbill,,,,30.00,,,,',
    'worked,2024-03-31,summary,1,,,,,,,,top10,2.5',
  ]);
});

test.after.always(() => service.close());

const record = async (path: string) =>
  ((await service.call(path)).json as { data: Record<string, unknown> }).data;

const rounded = (value: number) => Number(value.toPrecision(10));

test('NAVs keep their digits and are adjusted for payouts; a zero is not a NAV', async (t) => {
  const { data } = await service.list('/v1/funds/worked/nav?fields=date,nav,nav_adjusted');
  // Units: 1 + 10/90 on 1 February; on 2 March (3 + 6)/90.0 more, at the first NAV after it.
  const units = 1 + 10 / 90;
  t.deepEqual(
    data.map(({ date, nav, nav_adjusted: adjusted }) => [date, nav, adjusted]),
    [
      ['2023-12-29', 100, 100],
      ['2024-01-15', null, null],
      ['2024-01-31', 100.5, 100.5],
      ['2024-02-01', 90, 90 * units],
      ['2024-02-29', 90.9, 90.9 * units],
      ['2024-03-04', 90, 90 * (units * (1 + 9 / 90))],
      ['2024-03-29', 99, 99 * (units * (1 + 9 / 90))],
    ],
  );
  t.regex((await service.call('/v1/funds/worked/nav')).text, /"nav":100\.50,/);
});

test('a payout before the first NAV of its fund has no effect, whatever NAVs other funds have', async (t) => {
  t.is((await service.column('/v1/funds/worked/nav', 'date'))[0], '2023-12-29');
  t.deepEqual(await service.column('/v1/funds/late/nav', 'nav_adjusted'), [50, 51]);
});

test('no page, order or window changes an adjusted NAV', async (t) => {
  const whole = await service.column('/v1/funds/worked/nav', 'nav_adjusted');
  for (const limit of [1, 3])
    t.deepEqual(await service.readPages('/v1/funds/worked/nav', 'nav_adjusted', limit), whole);
  t.deepEqual(await service.column('/v1/funds/worked/nav?sort=-date', 'nav_adjusted'), whole.toReversed());
  t.deepEqual(await service.column('/v1/funds/worked/nav?from=2024-03', 'nav_adjusted'), whole.slice(-2));
  t.deepEqual(await service.column('/v1/funds/worked/nav?fields=nav_adjusted', 'nav_adjusted'), whole);
  t.deepEqual(
    await service.column('/v1/funds/worked/nav?adjusted=false', 'nav_adjusted'),
    whole.map(() => null),
  );
});

test('offer and repurchase prices are as published, otherwise the NAV with the loads', async (t) => {
  const { text } = await service.call(
    '/v1/funds/worked/nav?from=2024-01-31&to=2024-02-01&fields=offer_price,repurchase_price',
  );
  t.regex(
    text,
    /\{"offer_price":103\.00,"repurchase_price":98\.9925\},\{"offer_price":91\.8000,"repurchase_price":88\.6500\}/,
  );
});

test('a frequency shows the last NAV of each period', async (t) => {
  const dates = (frequency: string) => service.column(`/v1/funds/worked/nav?frequency=${frequency}`, 'date');
  t.deepEqual(await dates('monthly'), ['2023-12-29', '2024-01-31', '2024-02-29', '2024-03-29']);
  t.deepEqual(await dates('quarterly'), ['2023-12-29', '2024-03-29']);
  t.deepEqual(await dates('annual'), ['2023-12-29', '2024-03-29']);
  t.deepEqual((await dates('weekly')).length, 5);
});

test('payouts and expenses are lists with windows, filters and CSV', async (t) => {
  const { data } = await service.list('/v1/funds/worked/payouts');
  t.like(data[0], {
    announcement_date: '2024-01-25',
    ex_date: '2024-02-01',
    payment_date: null,
    financial_year: '2023-24',
    payout_per_unit: 10,
    payout_pct_of_par: 100,
    type: 'cash',
    kind: 'regular',
    record_date: null,
    split_ratio: null,
    ex_nav: 90,
    cum_nav: 100,
    source: 'Register',
  });
  t.deepEqual(await service.column('/v1/funds/worked/payouts?type=bonus', 'ex_date'), ['2024-03-02']);
  t.deepEqual(await service.column('/v1/funds/worked/payouts?to=2024-02', 'ex_date'), ['2024-02-01']);
  t.deepEqual(await service.readPages('/v1/funds/worked/payouts?sort=-ex_date', 'type', 1), [
    'cash',
    'bonus',
    'cash',
  ]);
  const csv = await service.call(
    '/v1/funds/worked/expenses?format=csv&fields=period_end,period_type,ter_pct&from=2024',
  );
  t.deepEqual(csvLines(csv), {
    header: 'period_end,period_type,ter_pct',
    lines: ['2024-01-31,mtd,2.10', '2024-01-31,ytd,2.00'],
  });
  t.deepEqual(await service.column('/v1/funds/worked/expenses?period_type=ytd', 'ter_pct'), [1.9, 2]);
});

test('returns are those of the adjusted NAV, each with its days, NAVs, basis and method', async (t) => {
  const data = await record('/v1/funds/worked/returns');
  t.like(data, { fund: 'worked', as_of: '2024-03-29', basis: 'auto', benchmark: null });
  const periods = data['periods'] as Record<string, unknown>[];
  t.deepEqual(
    periods.map(({ period }) => period),
    [
      '1d',
      '7d',
      '15d',
      '1m',
      '3m',
      '6m',
      '1y',
      '2y',
      '3y',
      '5y',
      '10y',
      'mtd',
      'ytd',
      'fytd',
      'since_inception',
    ],
  );
  const ytd = periods.find(({ period }) => period === 'ytd');
  t.like(ytd, {
    from: '2023-12-29',
    to: '2024-03-29',
    nav_from: 100,
    nav_to: 99,
    days: 91,
    basis: 'absolute',
    benchmark_pct: null,
    rank: 1,
    rank_of: 1,
    category_basis: 'absolute',
  });
  const growth = (99 * ((1 + 10 / 90) * 1.1)) / 100;
  t.is(ytd?.['value_pct'], rounded((growth - 1) * 100));
  t.true(periods.every(({ method }) => typeof method === 'string'));
  t.is(periods.find(({ period }) => period === '1y')?.['value_pct'], null);
  const simple = await record('/v1/funds/worked/returns?basis=annualized_simple');
  const [, , , , , , , , , , , , ytdSimple] = simple['periods'] as Record<string, unknown>[];
  t.is(ytdSimple?.['value_pct'], rounded(((growth - 1) * 100 * 365) / 91));
  t.like(ytdSimple, { rank: 1, category_basis: 'absolute', category_avg_pct: ytd?.['value_pct'] });
});

test('returns as of an earlier day ignore all later data', async (t) => {
  const data = await record('/v1/funds/worked/returns?as_of=2024-02-29');
  t.is(data['as_of'], '2024-02-29');
  const periods = data['periods'] as Record<string, unknown>[];
  t.true(periods.every(({ to }) => to === '2024-02-29'));
  t.true(periods.every(({ rank }) => rank === null));
  const gone = await record('/v1/funds/worked/returns?as_of=2024-06-28');
  t.true((gone['periods'] as Record<string, unknown>[]).every(({ value_pct: value }) => value === null));
});

test('an as_of before the first NAV or after today is 400, with the valid span', async (t) => {
  const [first] = await service.column('/v1/funds/worked/nav?limit=1', 'date');
  const today = service.clock.now().toISOString().slice(0, 10);
  const cases: [fund: string, asOf: string, span: string | null][] = [
    [
      'worked',
      addDays(String(first), -1),
      `from ${String(first)}, the day of the first NAV, to ${today}, today`,
    ],
    ['worked', '1990-01-01', `from ${String(first)}, `],
    ['worked', String(first), null],
    ['worked', today, null],
    ['worked', addDays(today, 1), `to ${today}, today (UTC).`],
    ['worked', '9999-12-31', `to ${today}, today (UTC).`],
    ['empty', today, null],
    ['empty', '1990-01-01', null],
    ['empty', addDays(today, 1), `must be on or before ${today}, today`],
  ];
  for (const path of ['returns', 'analytics']) {
    for (const [fund, asOf, span] of cases) {
      const answer = await service.call(`/v1/funds/${fund}/${path}?as_of=${asOf}`);
      t.is(answer.status, span === null ? 200 : 400, `${fund} ${path} ${asOf}`);
      if (span === null) continue;
      const { error } = answer.json as { error: { code: string; param: string; message: string } };
      t.deepEqual([error.code, error.param], ['invalid_parameter', 'as_of']);
      t.true(error.message.includes(span), error.message);
    }
  }
});

test('a fund without NAVs has null returns and figures, and an empty list of NAVs', async (t) => {
  t.deepEqual((await service.list('/v1/funds/empty/nav')).data, []);
  const returns = await record('/v1/funds/empty/returns');
  t.is(returns['as_of'], null);
  t.true((returns['periods'] as Record<string, unknown>[]).every(({ value_pct: value }) => value === null));
  t.like(await record('/v1/funds/empty/analytics'), { as_of: null, n_obs: 0, sharpe: null, beta: null });
});

test('a fund is ranked among those of its category with the average of all', async (t) => {
  const ranks: unknown[] = [];
  const averages = new Set<unknown>();
  const values: number[] = [];
  for (const id of ['harbour-equity', 'summit-equity', 'old-mill-islamic-equity', 'old-mill-growth']) {
    const periods = (await record(`/v1/funds/${id}/returns`))['periods'] as Record<string, unknown>[];
    const year = periods.find(({ period }) => period === '1y');
    t.is(year?.['rank_of'], 4);
    t.not(year?.['benchmark_pct'], null);
    ranks.push(year?.['rank']);
    averages.add(year?.['category_avg_pct']);
    values.push(Number(year?.['value_pct']));
  }
  t.deepEqual(ranks.toSorted(), [1, 2, 3, 4]);
  t.is(averages.size, 1);
  t.is(values[ranks.indexOf(1)], Math.max(...values));
  const average = values.reduce((sum, value) => sum + value, 0) / 4;
  t.true(Math.abs(Number([...averages][0]) / average - 1) < 1e-9);
});

test('analytics follow the window, the frequency, the risk-free rate and the benchmark', async (t) => {
  const daily = await record('/v1/funds/harbour-equity/analytics');
  t.like(daily, { window: '1y', frequency: 'daily', benchmark: 'DEMO.SHARE-INDEX', risk_free: null });
  t.true(Number(daily['beta']) > 0.9 && Number(daily['beta']) < 1.2);
  t.true(Number(daily['r_squared']) > 0.8);
  t.regex(String(daily['method']), /252 a year; risk-free rate zero/);
  const monthly = await record('/v1/funds/harbour-equity/analytics?window=5y&frequency=monthly');
  t.is(monthly['n_obs'], 60);
  t.like(await record('/v1/funds/summit-cash/analytics'), { benchmark: null, beta: null, alpha_pct: null });
  await service.load('observations', ['series_id,date,value', 'RATE,2019-01-01,5'], {
    create: true,
    set: { frequency: 'irregular', unit: 'Percent', source: 'Test' },
  });
  const above = await record('/v1/funds/harbour-equity/analytics?risk_free=RATE');
  t.is(above['risk_free'], 'RATE');
  t.true(Number(above['sharpe']) < Number(daily['sharpe']));
  t.is(above['volatility_pct'], daily['volatility_pct']);
});

test('a portfolio shows holdings and shares: the published ones, or sums if all holdings are known', async (t) => {
  const newest = await record('/v1/funds/worked/portfolio');
  t.like(newest, {
    as_of: '2024-03-31',
    disclosure_scope: 'top10',
    cash_pct: 2.5,
    top10_pct: null,
    source: 'Register',
  });
  t.deepEqual(newest['asset_allocation'], [
    { asset_class: 'equity', pct: 70, prev_pct: 44.5 },
    { asset_class: 'tbill', pct: 30, prev_pct: 55.5 },
  ]);
  t.deepEqual(newest['sectors'], [], 'ten holdings do not show the sectors of the whole');
  const before = await record('/v1/funds/worked/portfolio?date=2024-03-30');
  t.is(before['as_of'], '2024-02-29');
  t.deepEqual(before['credit_quality'], [{ rating: 'AAA', pct: 55.5 }]);
  t.deepEqual(before['sectors'], [
    { sector: 'Government', pct: 55.5 },
    { sector: 'Banks', pct: 44.5 },
  ]);
  const only = await record('/v1/funds/worked/portfolio?section=holdings');
  t.is(only['asset_allocation'], null);
  t.is((only['holdings'] as unknown[]).length, 1);
  for (const [path, message] of [
    ['worked/portfolio?date=2023-01-01', 'There is no portfolio of the fund worked on or before 2023-01-01.'],
    ['old-mill-growth/portfolio', 'There is no portfolio of the fund old-mill-growth.'],
  ] as const) {
    t.like((await service.list(`/v1/funds/${path}`)).error, { code: 'not_found', message });
  }
  const csv = await service.call('/v1/funds/worked/portfolio?date=2024-02-29&format=csv');
  t.deepEqual(csvLines(csv).lines, [
    'worked,1,Bill,,,tbill,Government,AAA,100,1000.50,55.50,,,,',
    'worked,2,Share,,,equity,Banks,,,,44.50,,,,',
  ]);
});

test('every endpoint of every demo fund answers, and holds its ETag', async (t) => {
  const funds = (await service.column('/v1/funds?currency=DMD', 'id')) as string[];
  t.true(funds.length >= 8);
  for (const id of funds) {
    for (const path of ['', '/nav', '/returns', '/payouts', '/expenses', '/portfolio', '/analytics']) {
      if (id === 'old-mill-growth' && path === '/portfolio') continue; // the fund has ended and has no portfolio
      const target = `/v1/funds/${id}${path}`;
      const first = await service.call(target);
      t.is(first.status, 200, target);
      const again = await service.call(target, {
        headers: { 'if-none-match': first.headers.get('etag') ?? '' },
      });
      t.is(again.status, 304, target);
    }
  }
});
