import test from 'ava';
import { adjustNavs } from '../../domain/funds/adjusted-nav.ts';
import { periodReturns } from '../../domain/funds/returns.ts';
import { loadCsv, openIngestDatabase, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);

const load = (dataset: string, lines: readonly string[], skipInvalid = false) =>
  loadCsv(database, lines, { dataset, skipInvalid });

const rows = (sql: string) => database.query<Record<string, unknown>>(sql);
const navsOf = async (fundId: string) =>
  Object.fromEntries(
    (
      await rows(
        `select date, nav from data.navs join data.funds using (fund_no) where fund_id = '${fundId}' order by date`,
      )
    ).map(({ date, nav }) => [date, nav]),
  );

const fundHeader = 'fund_id,name,source_code,isin,isin_payout,amc_id,currency,source';

test.before(async () => {
  await load('amcs', ['amc_id,name,source', 'Alpha Asset Management,Alpha Asset Management,Register']);
  await load('funds', [
    fundHeader,
    '101,Alpha Cash Fund,F-101,INF209K01KU4,INF174K01EK4,Alpha Asset Management,INR,Register',
    '102,Alpha Share Fund,F-102,,,alpha-asset-management,INR,Register',
    '103,Alpha Share Fund,F-TWICE,,,alpha-asset-management,INR,Register',
    '104,Alpha Bond Fund,F-TWICE,,,,INR,Register',
  ]);
});

test.serial('a company is named by its id or by its name, and two funds may share a name', async (t) => {
  t.deepEqual(
    await rows("select fund_id, amc_id from data.funds where name = 'Alpha Share Fund' order by 1"),
    [
      { fund_id: '102', amc_id: 'alpha-asset-management' },
      { fund_id: '103', amc_id: 'alpha-asset-management' },
    ],
  );
});

test.serial('a NAV finds its fund by id, by either ISIN and by its source code', async (t) => {
  const lines = [
    'fund,date,nav',
    '101,2024-01-01,10.10',
    'INF209K01KU4,2024-01-02,10.20',
    'inf174k01ek4,2024-01-03,10.30',
    'F-101,2024-01-04,10.40',
  ];
  t.like(await load('nav', lines), { rowsRead: 4, pointsNew: 4 });
  t.deepEqual(await navsOf('101'), {
    '2024-01-01': '10.10',
    '2024-01-02': '10.20',
    '2024-01-03': '10.30',
    '2024-01-04': '10.40',
  });
  t.like(await load('nav', lines), { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 4 });
});

test.serial('a fund that does not exist, and a code that two funds have, are refused by line', async (t) => {
  const lines = ['fund,date,nav', '999,2024-01-01,1', 'F-TWICE,2024-01-01,1', '102,2024-01-01,1'];
  t.deepEqual(await rejectsOf(load('nav', lines)), [
    [2, 'fund', '999'],
    [3, 'fund', 'F-TWICE'],
  ]);
  t.deepEqual(await navsOf('102'), {});
  t.like(await load('nav', lines, true), { pointsNew: 1, rowsRejected: 2 });
});

test.serial('one fund and day twice in a file is refused, also under two names of the fund', async (t) => {
  const lines = ['fund,date,nav', '102,2024-02-01,1', 'F-102,2024-02-01,2'];
  t.deepEqual(await rejectsOf(load('nav', lines)), [[3, 'fund, date', '102, 2024-02-01']]);
});

test.serial('a zero, negative or missing NAV is no NAV, and takes back one that stood there', async (t) => {
  await load('nav', [
    'fund,date,nav',
    '103,2024-01-01,5',
    '103,2024-01-02,0.0000',
    '103,2024-01-03,',
    '103,2024-01-04,-1',
  ]);
  const none = { '2024-01-02': null, '2024-01-03': null, '2024-01-04': null };
  t.deepEqual(await navsOf('103'), { '2024-01-01': '5', ...none });
  t.like(await load('nav', ['fund,date,nav', '103,2024-01-01,0']), { pointsRevised: 1 });
  t.deepEqual(await navsOf('103'), { '2024-01-01': null, ...none });
});

test.serial('what is loaded last holds, and a column that the file lacks stays as it is', async (t) => {
  await load('nav', ['fund,date,nav,aum', '104,2024-01-01,7.0,1000']);
  t.like(await load('nav', ['fund,date,nav', '104,2024-01-01,7.5']), { pointsRevised: 1 });
  t.deepEqual(
    await rows("select nav, aum from data.navs join data.funds using (fund_no) where fund_id = '104'"),
    [{ nav: '7.5', aum: '1000' }],
  );
});

test.serial('a cell that is not of its column is refused with what is expected', async (t) => {
  const bad = ['fund,date,nav', '101,2024-13-01,1', '101,2024-01-09,1e5', '101,,1', ',2024-01-09,1'];
  t.deepEqual(
    (await rejectsOf(load('nav', bad))).map(([line, column]) => [line, column]),
    [
      [2, 'date'],
      [3, 'nav'],
      [4, 'date'],
      [5, 'fund'],
    ],
  );
  t.deepEqual(await rejectsOf(load('payouts', ['fund,ex_date,type', '101,2024-01-01,shares'])), [
    [2, 'type', 'shares'],
  ]);
  t.deepEqual(await rejectsOf(load('funds', ['fund_id,isin', '101,INF209K01KU5'])), [
    [2, 'isin', 'INF209K01KU5'],
  ]);
  t.deepEqual(await rejectsOf(load('funds', ['fund_id,amc_id', '101,Nobody'])), [[2, 'amc_id', 'nobody']]);
  t.deepEqual(await rejectsOf(load('funds', ['fund_id,merged_into', '101,200'])), [
    [2, 'merged_into', '200'],
  ]);
});

test.serial('a fund with a new name and code is still found by its former ones', async (t) => {
  await load('funds', ['fund_id,name,source_code', '101,Alpha Liquid Fund,F-201']);
  t.deepEqual(await rows("select name, former_names, former_codes from data.funds where fund_id = '101'"), [
    { name: 'Alpha Liquid Fund', former_names: ['Alpha Cash Fund'], former_codes: ['F-101'] },
  ]);
  t.like(await load('nav', ['fund,date,nav', 'F-101,2024-01-05,10.5', 'F-201,2024-01-06,10.6']), {
    pointsNew: 2,
  });
  const [entry] = await rows(
    "select name, facts from data.search_entries where type = 'fund' and id = '101'",
  );
  t.is(entry?.['name'], 'Alpha Liquid Fund');
  t.regex(String(entry?.['facts']), /F-101 Alpha Cash Fund/);
});

test.serial('a fund that went into another keeps its history', async (t) => {
  await load('funds', ['fund_id,status,merged_into', '103,merged,102']);
  t.deepEqual(await rows("select status, merged_into from data.funds where fund_id = '103'"), [
    { status: 'merged', merged_into: '102' },
  ]);
  t.is(Object.keys(await navsOf('103')).length, 4);
});

test.serial('figures follow every load that touches them: NAVs, payouts, expenses, the launch', async (t) => {
  const figure = async (name: string) =>
    (await rows(`select ${name} as value from data.fund_figures where fund_id = '102'`))[0]?.['value'];
  await load('nav', [
    'fund,date,nav,aum',
    '102,2024-01-01,100,',
    '102,2024-01-31,101,5000',
    '102,2024-02-29,102,',
  ]);
  t.is(await figure('as_of'), '2024-02-29');
  t.is(await figure('nav'), '102');
  t.deepEqual([await figure('aum'), await figure('aum_date')], ['5000', '2024-01-31']);
  t.is(await figure('return_mtd_pct'), 0.9900990099); // 102 / 101
  await load('payouts', ['fund,ex_date,type,payout_per_unit,ex_nav', '102,2024-02-15,cash,10,100']);
  t.is(await figure('return_mtd_pct'), 11.08910891); // 102 · 1.1 / 101
  await load('expenses', [
    'fund,period_end,period_type,ter_pct',
    '102,2024-01-31,ytd,2.50',
    '102,2024-01-31,mtd,3',
  ]);
  t.deepEqual([await figure('ter_pct'), await figure('ter_date')], ['2.50', '2024-01-31']);
  t.is(await figure('return_since_inception_pct'), 12.2); // 1.02 · 1.1
  await load('funds', ['fund_id,launch_date', '102,2020-01-01']);
  t.is(await figure('return_since_inception_pct'), null, 'the beginning of the history is missing');
  await load('nav', ['fund,date,nav', '102,2024-02-29,']);
  t.is(await figure('as_of'), '2024-01-31');
  t.deepEqual(await rows('select * from data.fund_figures_due'), []);
});

test.serial('figures from the NAVs that they need equal those from the whole history', async (t) => {
  const lines = ['fund,date,nav'];
  for (let day = 0; day < 4_100; day += 1) {
    const date = new Date(Date.UTC(2013, 0, 1 + day));
    if (date.getUTCDay() % 6 === 0 || day % 97 === 5) continue;
    lines.push(`104,${date.toISOString().slice(0, 10)},${(10 + Math.sin(day / 50) + day / 400).toFixed(4)}`);
  }
  await load('payouts', [
    'fund,ex_date,type,payout_per_unit',
    '104,2014-06-30,cash,0.5',
    '104,2019-06-30,cash,0.25',
    '104,2023-12-30,cash,0.4',
  ]);
  await load('nav', lines);
  const navs = await database.query<{ date: string; nav: string | null }>(
    "select date, nav from data.navs join data.funds using (fund_no) where fund_id = '104'",
  );
  const payouts = await database.query<{ ex_date: string; payout_per_unit: string }>(
    "select ex_date, payout_per_unit from data.payouts join data.funds using (fund_no) where fund_id = '104'",
  );
  const [figures] = await rows("select * from data.fund_figures where fund_id = '104'");
  const whole = periodReturns(adjustNavs(navs, payouts), {
    asOf: String(figures?.['as_of']),
    basis: 'auto',
    shortBasis: 'absolute',
    inception: null,
  });
  for (const { period, value_pct: value } of whole) {
    t.not(value, null, period);
    t.true(Math.abs(Number(figures?.[`return_${period}_pct`]) - Number(value)) < 1e-9, period);
  }
});

test.serial('a portfolio is stated whole: what the next file of its day leaves out goes', async (t) => {
  const header = 'fund,as_of,section,rank,name,pct_net_assets';
  const lines = [
    '101,2024-06-30,holding,1,Bill,60',
    '101,2024-06-30,holding,2,Bond,40',
    '101,2024-03-31,holding,1,Bill,100',
  ];
  t.like(await load('portfolio', [header, ...lines]), { pointsNew: 3 });
  t.like(await load('portfolio', [header, ...lines]), { pointsUnchanged: 3, pointsDeleted: 0 });
  t.like(await load('portfolio', [header, '101,2024-06-30,holding,1,Note,100']), {
    pointsNew: 0,
    pointsRevised: 1,
    pointsDeleted: 1,
  });
  t.deepEqual(await rows('select as_of, rank, name from data.portfolio_lines order by as_of, rank'), [
    { as_of: '2024-03-31', rank: 1, name: 'Bill' },
    { as_of: '2024-06-30', rank: 1, name: 'Note' },
  ]);
});
