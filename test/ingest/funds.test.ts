import test from 'ava';
import { adjustNavs } from '../../domain/funds/adjusted-nav.ts';
import { periodReturns, returnBases, statedBases } from '../../domain/funds/returns.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { failureOf, loadCsv, openIngestDatabase, rejectsOf } from './loading.ts';

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

test.serial('an unknown fund, and a code of two funds, are refused by line', async (t) => {
  const lines = ['fund,date,nav', '999,2024-01-01,1', 'F-TWICE,2024-01-01,1', '102,2024-01-01,1'];
  t.deepEqual(await rejectsOf(load('nav', lines)), [
    [2, 'fund', '999'],
    [3, 'fund', 'F-TWICE'],
  ]);
  t.deepEqual(await navsOf('102'), {});
  t.like(await load('nav', lines, true), { pointsNew: 1, rowsRejected: 2 });
});

test.serial('a fund whose successor is in the file, but left out, is left out too', async (t) => {
  const lines = [
    'fund_id,name,currency,source,merged_into,benchmark_series',
    'first,First,INR,Register,second,',
    'second,Second,INR,Register,third,',
    'third,Third,INR,Register,,NO.SUCH.SERIES',
    'fourth,Fourth,INR,Register,fifth,',
    'fifth,Fifth,INR,Register,,',
  ];
  t.deepEqual(await rejectsOf(load('funds', lines)), [
    [4, 'benchmark_series', 'NO.SUCH.SERIES'],
    [3, 'merged_into', 'third'],
    [2, 'merged_into', 'second'],
  ]);
  t.like(await load('funds', lines, true), { pointsNew: 2, rowsRejected: 3 });
});

test.serial('a duplicate fund and day in a file is refused, even under two names of the fund', async (t) => {
  const lines = ['fund,date,nav', '102,2024-02-01,1', 'F-102,2024-02-01,2'];
  t.deepEqual(await rejectsOf(load('nav', lines)), [[3, 'fund, date', '102, 2024-02-01']]);
});

test.serial('a zero, negative or missing NAV counts as no NAV, and removes an existing one', async (t) => {
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
  const bad = ['fund,date,nav', '101,2024-13-01,1', '101,2024-01-09,1f5', '101,,1', ',2024-01-09,1'];
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
  for (const name of ['Alpha Cash Fund', 'Alpha Liquid Fund'])
    await load('funds', ['fund_id,name', `101,${name}`]);
  t.deepEqual(
    await rows("select former_names from data.funds where fund_id = '101'"),
    [{ former_names: ['Alpha Cash Fund', 'Alpha Liquid Fund'] }],
    'each once, however often it was the name',
  );
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
  const sinceInception = async () =>
    (
      await rows(
        "select return_since_inception_pct as value from data.fund_returns join data.funds using (fund_no) where fund_id = '102' and basis = 'absolute'",
      )
    )[0]?.['value'];
  t.is(await sinceInception(), 12.2); // 1.02 · 1.1
  await load('funds', ['fund_id,launch_date', '102,2020-01-01']);
  t.is(await sinceInception(), null, 'the beginning of the history is missing');
  await load('nav', ['fund,date,nav', '102,2024-02-29,']);
  t.is(await figure('as_of'), '2024-01-31');
  t.deepEqual(await rows('select * from data.fund_figures_due'), []);
});

test.serial(
  'a fund that becomes stale by a NAV of another one counts as updated, and no other fund does',
  async (t) => {
    const ids = ['201', '202', '203'];
    await load('funds', [
      'fund_id,name,category,currency,source',
      ...ids.map((id) => `${id},F,Stale,USD,Register`),
    ]);
    await load('nav', ['fund,date,nav', '201,2024-01-01,1', '202,2024-01-20,1', '203,2024-01-20,1']);
    await rows("update data.fund_figures set updated_on = '2000-01-01'");
    await load('nav', ['fund,date,nav', '203,2024-02-01,1']);
    t.deepEqual(
      await rows(
        `select fund_id, is_stale, updated_on > '2000-01-01' as updated from data.fund_figures
       where updated_on > '2000-01-01' or fund_id in ('201', '202') order by 1`,
      ),
      [
        { fund_id: '201', is_stale: true, updated: true },
        { fund_id: '202', is_stale: false, updated: false },
        { fund_id: '203', is_stale: false, updated: true },
      ],
    );
  },
);

test.serial(
  'two payouts of one type and ex-date are distinguished by their kind, and both are in the total return',
  async (t) => {
    await load('funds', [fundHeader, '105,Two payouts,105,,,,USD,Register']);
    await load('nav', ['fund,date,nav', '105,2024-01-31,100', '105,2024-02-15,80', '105,2024-02-29,88']);
    const header = 'fund,ex_date,type,kind,payout_per_unit,record_date';
    const both = [
      header,
      '105,2024-02-15,cash,Income,4,2024-02-16',
      '105,2024-02-15,cash,long-term gain,16,2024-02-16',
    ];
    t.like(await load('payouts', both), { pointsNew: 2 });
    t.like(await load('payouts', both), { pointsUnchanged: 2 });
    t.deepEqual(
      await rows(`select kind, payout_per_unit, record_date from data.payouts join data.funds using (fund_no)
      where fund_id = '105' order by kind`),
      [
        { kind: 'income', payout_per_unit: '4', record_date: '2024-02-16' },
        { kind: 'long-term-gain', payout_per_unit: '16', record_date: '2024-02-16' },
      ],
    );
    const totalReturn = async () =>
      (await rows("select return_mtd_pct as value from data.fund_figures where fund_id = '105'"))[0]?.[
        'value'
      ];
    t.is(await totalReturn(), 10); // 88 · (1 + (4 + 16) / 80) / 100 − 1
    // In separate files, in any order: the second adds to the first and does not replace it.
    await load('payouts', ['fund,ex_date,type,kind,payout_per_unit', '105,2024-02-15,cash,special,4']);
    t.is(await totalReturn(), 14.4);
    await load('payouts', ['fund,ex_date,type,payout_per_unit', '105,2024-02-15,cash,8']);
    t.is(await totalReturn(), 23.2);
    t.like(await load('payouts', ['fund,ex_date,type,kind,payout_per_unit', '105,2024-02-15,cash,,8']), {
      pointsUnchanged: 1,
    });

    const twice = ['fund,ex_date,type,payout_per_unit', '105,2024-03-15,cash,1', '105,2024-03-15,cash,2'];
    const { rejects } = await failureOf(load('payouts', twice));
    t.deepEqual(
      rejects.map(({ line, value }) => [line, value]),
      [[3, '105, 2024-03-15, cash, regular']],
    );
    t.regex(rejects[0]?.expected ?? '', /line 2 has the same \(distinguish them with kind\)/);
  },
);

test.serial('a split is a payout of new units for old ones, and needs its ratio', async (t) => {
  await load('funds', [fundHeader, '106,Split,106,,,,USD,Register']);
  await load('nav', ['fund,date,nav', '106,2024-01-31,100', '106,2024-02-15,10', '106,2024-02-29,11']);
  const header = 'fund,ex_date,type,split_ratio,payout_per_unit';
  t.deepEqual(
    await rejectsOf(load('payouts', [header, '106,2024-02-15,split,,', '106,2024-02-16,cash,2,1'])),
    [
      [2, 'split_ratio', ''],
      [3, 'split_ratio', '2'],
    ],
  );
  t.deepEqual(await rejectsOf(load('payouts', ['fund,ex_date,type', '106,2024-02-15,split'])), [
    [2, 'type', 'split'],
  ]);
  await load('payouts', [header, '106,2024-02-15,split,10,']);
  const [figures] = await rows("select return_mtd_pct as value from data.fund_figures where fund_id = '106'");
  t.is(figures?.['value'], 10); // 11 · 10 / 100 − 1
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
  const onOneBasis = await rows(
    "select r.* from data.fund_returns r join data.funds using (fund_no) where fund_id = '104'",
  );
  t.is(onOneBasis.length, returnBases.length);
  for (const basis of statedBases) {
    const stored = basis === 'by_length' ? figures : onOneBasis.find((row) => row['basis'] === basis);
    const asOf = String(figures?.['as_of']);
    const whole = periodReturns(adjustNavs(navs, payouts), { asOf, basis, inception: null });
    for (const { period, value_pct: value } of whole) {
      t.not(value, null, period);
      t.is(stored?.[`return_${period}_pct`], value, `${basis} ${period}`);
    }
  }
});

test.serial('a portfolio is complete: holdings that the day’s next file omits are deleted', async (t) => {
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

test.serial(
  'a wide file of NAVs equals its long file: one column per fund by any of its names; an empty cell states nothing',
  async (t) => {
    const wide = (lines: readonly string[], more: Partial<LoadOptions> = {}) =>
      loadCsv(database, lines, { dataset: 'nav', wide: true, ...more });
    await load('funds', [
      fundHeader,
      ...['251', '252', 'w-203'].map((id) => `${id},Wide ${id},SRC-${id},,,,INR,Register`),
    ]);
    const lines = ['NAV date;251;SRC-252;Third fund', '2/1/2024;1,5;2,25;-', ';;;', '3/1/2024;1.000,6;;0'];
    const options = {
      ...{ delimiter: ';', dateFormat: 'D/M/YYYY', decimal: ',', thousands: '.', missing: ['-'] },
      ...{ map: { 'w-203': 'Third fund' }, set: { aum: '5' }, multiply: { nav: '10' } },
    };
    t.like(await wide(lines, options), { rowsRead: 2, pointsNew: 4, pointsRevised: 0, rowsRejected: 0 });
    const stored = () =>
      rows(
        `select fund_id, date, nav, aum from data.navs join data.funds using (fund_no)
         where fund_id in ('251', '252', 'w-203') order by 1, 2`,
      );
    const loaded = await stored();
    t.deepEqual(loaded, [
      { fund_id: '251', date: '2024-01-02', nav: '15', aum: '5' },
      { fund_id: '251', date: '2024-01-03', nav: '10006', aum: '5' },
      { fund_id: '252', date: '2024-01-02', nav: '22.5', aum: '5' },
      { fund_id: 'w-203', date: '2024-01-03', nav: null, aum: '5' },
    ]);
    const long = [
      'fund,date,nav,aum',
      ...loaded.map((row) => [row['fund_id'], row['date'], row['nav'] ?? '', row['aum']].join(',')),
    ];
    t.like(await load('nav', long), { rowsRead: 4, pointsNew: 0, pointsRevised: 0, pointsUnchanged: 4 });
    t.like(await wide(lines, options), { rowsRead: 2, pointsNew: 0, pointsUnchanged: 4 });
    t.like(await wide(['date,203', '2024-01-04,7'], { prefix: 'w-' }), { rowsRead: 1, pointsNew: 1 });
    t.is((await navsOf('w-203'))['2024-01-04'], '7');
    const both = { map: { 251: 'Both', 252: 'Both' } };
    t.like(await wide(['date,Both', '2024-01-05,8'], both), { rowsRead: 1, pointsNew: 2 });
    t.deepEqual([(await navsOf('251'))['2024-01-05'], (await navsOf('252'))['2024-01-05']], ['8', '8']);
  },
);

test.serial(
  'faults of a wide file of NAVs are refused by line and column, and everything else is not',
  async (t) => {
    const wide = (lines: readonly string[], more: Partial<LoadOptions> = {}) =>
      loadCsv(database, lines, { dataset: 'nav', wide: true, ...more });
    const before = await rows('select count(*) from data.navs');
    const bad = [
      'date,251,nobody,252',
      '2024-02-01,1,2,3',
      '2024-02-02,one,2,3',
      'someday,1,2,3',
      '2024-02-01,4,,',
      '2024-12-31,4,5,6',
      '2024-02-05,4',
      '2024-02-06,,,6',
    ];
    const refused: [number, string, string][] = [
      [3, '251', 'one'],
      [4, 'date', 'someday'],
      [6, 'date', '2024-12-31'],
      [7, 'row', '2024-02-05,4'],
      [5, '251', '251, 2024-02-01'],
      [1, 'nobody', 'nobody'],
    ];
    t.deepEqual(await rejectsOf(wide(bad)), refused);
    t.deepEqual(await rows('select count(*) from data.navs'), before, 'and nothing is stored');
    t.like(await wide(bad, { skipInvalid: true }), {
      rowsRead: 7,
      pointsNew: 4,
      rowsRejected: refused.length,
    });
    t.like(await navsOf('251'), { '2024-02-01': '1' });
    t.like(await navsOf('252'), { '2024-02-01': '3', '2024-02-02': '3', '2024-02-06': '6' });

    const twice = await failureOf(wide(['date,251,SRC-251', '2024-03-01,1,2']));
    t.regex(
      twice.message,
      /line 2, SRC-251: "251, 2024-03-01", expected one row per key; line 2 has the same/,
    );
    for (const name of ['fund', 'date', 'nav'])
      t.is(
        (await failureOf(wide(['date,251', '2024-03-01,1'], { set: { [name]: '1' } }))).message,
        `--set ${name} cannot be used with a wide file.`,
      );
    t.regex((await failureOf(wide(['date', '2024-03-01']))).message, /names no fund besides the date/);
    for (const dataset of [
      'amcs',
      'funds',
      'payouts',
      'expenses',
      'portfolio',
      'security-prices',
      'calendar',
    ])
      t.is(
        (await failureOf(wide(['date,251', '2024-03-01,1'], { dataset }))).message,
        `--wide: not for ${dataset}, only for observations and nav.`,
      );
  },
);
