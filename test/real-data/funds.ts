// Funds as published: AMFI's NAVs and costs, MUFAP's NAVs and returns, UTI's payouts, a portfolio of HDFC, each by
// its converter in examples/funds. Counts and values are those of the raw files, or read from them here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';
import { parse } from 'csv-parse/sync';
import { readFirstSheet } from '../../examples/converters/xlsx.ts';
import { ingest, json } from './answers.ts';
import { rowsOf } from './published-files.ts';
import type { Check } from './run.ts';

const amfiNavs = 1_308_906;
/** On a machine that does nothing else. */
const amfiSecondsMax = 60;

interface List {
  data: Record<string, unknown>[];
  count: number;
}

/** MUFAP's table of a day. */
interface PublishedReturns {
  data: { fund: string; returns: Record<string, number | null> }[];
}

export async function checkFunds(check: Check): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-funds-'));
  try {
    await checkAmfi(check, directory);
    await checkMufap(check, directory);
    await checkExpenses(check, directory);
    await checkPayouts(check, directory);
    await checkPortfolio(check, directory);
    await checkAssets(check, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Runs a converter of examples/funds. @returns the folder of its output. */
function convert(directory: string, name: string, ...files: readonly string[]): string {
  const out = path.join(directory, name);
  const script = path.join(projectRoot, 'examples/funds', `${name}.ts`);
  const { status, stderr } = spawnSync(process.execPath, [script, out, ...files], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return out;
}

async function checkAmfi({ instance, folder, seen }: Check, directory: string): Promise<void> {
  const files = path.join(folder, '08_amfi_nav_india');
  const out = convert(
    directory,
    'amfi',
    path.join(files, 'scheme_index.csv.gz'),
    path.join(files, 'nav_history_code_mod16_eq3.tar.gz'),
  );
  const load = (dataset: string, set: Record<string, string>) =>
    ingest(instance, dataset, path.join(out, `${dataset}.csv`), { set });
  assert.equal((await load('amcs', { source: 'AMFI' })).points_new, 51);
  assert.equal((await load('funds', { source: 'AMFI', currency: 'INR' })).points_new, 14_229);
  const started = performance.now();
  const loaded = await load('nav', {});
  const seconds = (performance.now() - started) / 1000;
  assert.deepEqual([loaded.rows_read, loaded.points_new, loaded.rows_rejected], [amfiNavs, amfiNavs, 0]);
  // Where others wait for the cores too, each gets its share of them.
  const waiting = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
  assert.ok(
    seconds < amfiSecondsMax * waiting,
    `the NAVs took ${seconds.toFixed(1)} s at a load of ${waiting.toFixed(1)} a core`,
  );
  seen(
    `${amfiNavs} NAVs of 877 of AMFI's 14229 schemes load in ${seconds.toFixed(1)} s, at a load of ${waiting.toFixed(1)} a core`,
  );

  const navs = Map.groupBy(
    readFileSync(path.join(out, 'nav.csv'), 'utf8').trim().split('\n').slice(1),
    (line) => line.slice(0, line.indexOf(',')),
  );
  assert.equal(navs.size, 877);
  let compared = 0;
  for (const code of [...navs.keys()].filter((_, i) => i % 40 === 0)) {
    const published = (navs.get(code) ?? [])
      .map((line) => line.split(',').slice(1))
      .filter(([, nav]) => Number(nav) > 0)
      .map(([date, nav]) => `${date},${nav}`);
    const answer = await instance.get(`/v1/funds/${code}/nav?format=csv&fields=date,nav`);
    const served = (await answer.text()).trim().split('\r\n').slice(1);
    assert.deepEqual(served, published, code);
    compared += served.length;
  }
  seen(`all ${compared} NAVs of 22 schemes are served with their digits, without the zeros`);

  const [last] = ((await json(instance, '/v1/funds/148707/nav?sort=-date&limit=1')) as List).data;
  assert.deepEqual([last?.['date'], last?.['nav']], ['2026-01-30', 10.1277]);
  seen('the NAV of scheme 148707 on 2026-01-30 is 10.12770');
  const again = await load('nav', {});
  assert.deepEqual([again.points_new, again.points_revised, again.points_deleted], [0, 0, 0]);
  seen('loading the NAVs a second time changes nothing');
  const found = (await json(instance, '/v1/search?q=INF209K01KU4&type=fund')) as List;
  assert.equal(found.data[0]?.['id'], '100051');
  const { data: fund } = (await json(instance, '/v1/funds/INF209K01KU4')) as {
    data: Record<string, unknown>;
  };
  assert.equal(fund['amc_name'], 'Aditya Birla Sun Life Mutual Fund');
  seen('a scheme is found by its ISIN, in search and by URL');
}

async function checkMufap({ instance, folder, seen }: Check, directory: string): Promise<void> {
  const file = (name: string) => path.join(folder, '09_mufap_funds_pakistan', name);
  const out = convert(
    directory,
    'mufap',
    file('navs.db.gz'),
    file('performance_summary_2026-01-02.csv'),
    file('navs.json'),
  );
  const set = { source: 'MUFAP', currency: 'PKR' };
  // 576 names, less the 28 that pension funds share among their sub-funds.
  assert.equal((await ingest(instance, 'funds', path.join(out, 'funds.csv'), { set })).points_new, 548);
  assert.equal((await ingest(instance, 'nav', path.join(out, 'nav.csv'), {})).points_new, 34_746);
  seen("34746 NAVs of 548 of MUFAP's funds load; names that mean several funds are left out");

  const { data } = JSON.parse(readFileSync(file('returns_2026-07-24.json'), 'utf8')) as PublishedReturns;
  const screener = async (basis: string) => {
    const screened = await instance.get(
      `/v1/funds/screener?format=csv&currency=PKR&as_of_min=2026-07-20&basis=${basis}&fields=id,name,category,asset_class,return_1d_pct,return_15d_pct`,
    );
    return parse<Record<string, string>>(await screened.text(), { columns: true });
  };
  // MUFAP annualises those of income and money-market funds by the simple method.
  const isAnnualised = (row: Record<string, string>) =>
    /^(?:income|money_market)$/.test(row['asset_class'] ?? '');
  const [asQuoted, byLength] = [await screener('annualized_simple'), await screener('by_length')];
  const ours = new Map(
    [...asQuoted.filter(isAnnualised), ...byLength.filter((row) => !isAnnualised(row))].map((row) => [
      row['name'],
      row,
    ]),
  );
  const agreed: Record<string, [close: number, all: number]> = { '1d': [0, 0], '15d': [0, 0] };
  for (const { fund, returns } of data) {
    const own = ours.get(fund);
    if (own === undefined || own['category'] === '') continue; // no category: not known how it is quoted
    for (const [period, counts] of Object.entries(agreed)) {
      const [published, value] = [returns[period] ?? null, own[`return_${period}_pct`] ?? ''];
      if (published === null || value === '') continue;
      counts[1] += 1;
      if (Math.abs(published - Number(value)) <= 0.02) counts[0] += 1;
    }
  }
  for (const [period, [close, all]] of Object.entries(agreed)) {
    assert.ok(all > 250 && close / all > 0.8, `${period}: ${close} of ${all}`);
    seen(
      `${close} of ${all} returns over ${period} are MUFAP's own to 0.02 points (docs/funds.md on the others)`,
    );
  }
  await checkRanks({ instance, folder, seen }, byLength);
  await checkMonthEnds({ instance, folder, seen }, ours);
}

/** Ranks and averages of a category, against those of the plain quotients of the published NAVs; nothing was paid out on these days. */
async function checkRanks(
  { instance, seen }: Check,
  funds: readonly Record<string, string>[],
): Promise<void> {
  const byCategory = Map.groupBy(
    funds.filter(({ category }) => category !== ''),
    ({ category }) => category,
  );
  const [category, members = []] = [...byCategory].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const records = await Promise.all(
    members.map(async ({ id = '' }) => {
      const { data } = (await json(instance, `/v1/funds/${id}/returns`)) as {
        data: { as_of: string; periods: Record<string, string | number | null>[] };
      };
      return { id, asOf: data.as_of, of15Days: data.periods.find(({ period }) => period === '15d') ?? {} };
    }),
  );
  const days = new Set(records.map(({ asOf }) => asOf));
  const known = records.filter(({ of15Days }) => of15Days['nav_from'] !== null);
  const returns = known.map(({ of15Days }) => Number(of15Days['nav_to']) / Number(of15Days['nav_from']) - 1);
  const average = (100 * returns.reduce((sum, value) => sum + value, 0)) / returns.length;
  const bases = new Set(known.map(({ of15Days }) => of15Days['basis']));
  for (const [i, { id, of15Days }] of known.entries()) {
    const better = returns.filter((value) => value > (returns[i] ?? 0) + 1e-11).length;
    assert.equal(of15Days['rank'], 1 + better, id);
    assert.equal(of15Days['category_basis'], 'absolute');
    assert.ok(Math.abs(Number(of15Days['category_avg_pct']) - average) < 1e-8, id);
  }
  assert.ok(known.length > 20, `${known.length} funds of ${category} as of ${days.size} days`);
  seen(
    `${known.length} funds of ${category}, which quote returns as ${[...bases].join(' and ')}, rank by what their NAVs have gained`,
  );
}

/** Of a sixth of the funds, the returns over 15 days in MUFAP's tables of two month ends, which go to the last working day before. */
async function checkMonthEnds(
  { instance, folder, seen }: Check,
  ours: ReadonlyMap<string | undefined, Record<string, string>>,
): Promise<void> {
  const sample = [...ours.values()].filter(({ category }, i) => category !== '' && i % 6 === 0);
  for (const [table, day] of [
    ['2026-04-30', '2026-04-29'],
    ['2026-05-31', '2026-05-29'],
  ] as const) {
    const file = path.join(folder, '09_mufap_funds_pakistan', `returns_${table}.json`);
    const published = new Map(
      (JSON.parse(readFileSync(file, 'utf8')) as PublishedReturns).data.map(({ fund, returns }) => [
        fund,
        returns['15d'],
      ]),
    );
    let [close, all] = [0, 0];
    for (const { id, name = '' } of sample) {
      const { data } = (await json(instance, `/v1/funds/${id}/returns?as_of=${day}`)) as {
        data: { periods: { period: string; value_pct: number | null }[] };
      };
      const value = data.periods.find(({ period }) => period === '15d')?.value_pct ?? null;
      const theirs = published.get(name) ?? null;
      if (value === null || theirs === null) continue;
      all += 1;
      if (Math.abs(theirs - value) <= 0.02) close += 1;
    }
    assert.ok(all > 30 && close / all > 0.55, `${day}: ${close} of ${all}`);
    seen(`${close} of ${all} returns over 15 days to ${day} are MUFAP's own to 0.02 points`);
  }
}

async function checkExpenses({ instance, folder, seen }: Check, directory: string): Promise<void> {
  const files = path.join(folder, '11_ter_expenses_india');
  const days = readdirSync(files).filter((name) => name.startsWith('ter_'));
  assert.equal(days.length, 12);
  const out = convert(directory, 'amfi-expenses', ...days.map((name) => path.join(files, name)));
  const set = { source: 'AMFI', currency: 'INR' };
  const funds = await ingest(instance, 'funds', path.join(out, 'funds.csv'), { set });
  const expenses = await ingest(instance, 'expenses', path.join(out, 'expenses.csv'), {
    set: { period_type: 'day' },
  });
  assert.deepEqual([funds.points_new, expenses.points_new], [3_094, 32_148]);
  seen(`${expenses.points_new} expense ratios of ${funds.points_new} plans load`);
  const path360 = '/v1/funds/360-one-balanced-hybrid-fund-regular/expenses?sort=-period_end&limit=1';
  const [newest] = ((await json(instance, path360)) as List).data;
  const raw = rowsOf(path.join(files, 'ter_2024-03-29.csv')).find(
    (row) => row['Scheme Name'] === '360 One Balanced Hybrid Fund',
  );
  assert.deepEqual(
    [newest?.['period_end'], newest?.['ter_pct'], newest?.['government_levies_pct']],
    ['2024-03-29', Number(raw?.['Regular Plan - Total TER (%)']), Number(raw?.['Regular Plan - GST (%)'])],
  );
  assert.equal(newest?.['ter_pct'], 2.01);
  seen('the regular plan of 360 One Balanced Hybrid costs 2.01 % on 2024-03-29');
}

async function checkPayouts({ instance, folder, seen }: Check, directory: string): Promise<void> {
  const file = path.join(folder, '12_payouts/Divmast asof-01-Apr-2025-15-Sep-2025_FINAL.xls');
  const out = convert(directory, 'uti-payouts', file);
  const set = { source: 'UTI', currency: 'INR' };
  const funds = await ingest(instance, 'funds', path.join(out, 'funds.csv'), { set });
  const payouts = await ingest(instance, 'payouts', path.join(out, 'payouts.csv'), {
    set: { source: 'UTI' },
  });
  assert.deepEqual([funds.points_new, payouts.points_new], [46, 1_026]);
  const { data } = (await json(instance, '/v1/funds/066-DIR/payouts')) as List;
  assert.deepEqual(
    data.map((row) => [row['ex_date'], row['payout_per_unit'], row['type']]),
    [
      ['2025-05-22', 0.85, 'cash'],
      ['2025-08-07', 0.9, 'cash'],
    ],
  );
  seen('1026 payouts of 46 plans of UTI load; 066-DIR paid 0.85 and 0.9');

  // The 0.9 of August as two payouts of one ex-date, as files of exchange-traded funds state them.
  const parts = path.join(directory, 'parts.csv');
  writeFileSync(
    parts,
    [
      'fund,ex_date,type,kind,payout_per_unit',
      '066-DIR,2025-08-07,cash,regular,0.5',
      '066-DIR,2025-08-07,cash,long-term gain,0.4',
    ].join('\n'),
  );
  const split = await ingest(instance, 'payouts', parts, {});
  assert.deepEqual([split.points_new, split.points_revised], [1, 1]);
  const paid = (await json(instance, '/v1/funds/066-DIR/payouts?from=2025-08-07&to=2025-08-07')) as List;
  assert.deepEqual(
    paid.data.map((row) => [row['kind'], row['payout_per_unit']]),
    [
      ['long-term-gain', 0.4],
      ['regular', 0.5],
    ],
  );
  seen('a payout of 066-DIR in two parts on one ex-date is two payouts, 0.4 and 0.5');
}

async function checkPortfolio({ instance, folder, seen }: Check, directory: string): Promise<void> {
  const file = path.join(folder, '13_portfolios/Monthly HDFC Corporate Bond Fund - 31 July 2025.xlsx');
  const out = convert(directory, 'hdfc-portfolio', file);
  const set = { source: 'HDFC', currency: 'INR' };
  await ingest(instance, 'funds', path.join(out, 'funds.csv'), { set });
  const lines = await ingest(instance, 'portfolio', path.join(out, 'portfolio.csv'), {
    set: { source: 'HDFC' },
  });
  assert.equal(lines.points_new, 240);
  const { data } = (await json(instance, '/v1/funds/hdfc-corporate-bond-fund/portfolio')) as {
    data: Record<string, unknown> & { holdings: Record<string, unknown>[]; asset_allocation: unknown[] };
  };
  assert.equal(data['as_of'], '2025-07-31');
  assert.equal(data.holdings.length, 230);
  const [first] = data.holdings;
  assert.deepEqual(
    [
      first?.['isin'],
      first?.['quantity'],
      first?.['market_value'],
      first?.['pct_net_assets'],
      first?.['ytm_pct'],
    ],
    ['IN0020240134', 235_000_000, 23_972_656_000, 6.66, 6.8098],
  );
  const total = data.holdings.reduce((sum, line) => sum + Number(line['market_value']), 0);
  assert.equal(Math.round(total / 1_000), 359_681_638); // the sheet's grand total, 3596816.38 lakh
  assert.deepEqual(data.asset_allocation[0], { asset_class: 'Credit Exposure', pct: 74.78, prev_pct: null });
  assert.deepEqual([data['portfolio_ytm_pct'], data['weighted_avg_maturity_days']], [6.88, 2474.65]);
  seen('the 230 holdings of HDFC Corporate Bond on 2025-07-31 come to the total of the sheet');
}

async function checkAssets({ instance, folder, seen }: Check, directory: string): Promise<void> {
  const files = path.join(folder, '14_amc_aum');
  const workbooks = readdirSync(files).map((name) => path.join(files, name));
  const out = convert(directory, 'sebi-aum', ...workbooks);
  await ingest(instance, 'amcs', path.join(out, 'amcs.csv'), { set: { source: 'SEBI' } });
  const set = { source: 'SEBI', currency: 'INR' };
  const funds = await ingest(instance, 'funds', path.join(out, 'funds.csv'), { set });
  const assets = await ingest(instance, 'nav', path.join(out, 'nav.csv'), {});
  assert.deepEqual([funds.points_new, assets.points_new], [107, 902]);
  const { data } = (await json(instance, '/v1/amcs/kotak-mahindra-mutual-fund')) as {
    data: { aum_total: number; aum_date: string; aum_history: { date: string; aum: number }[] };
  };
  const crores = new Map(data.aum_history.map(({ date, aum }) => [date, (aum / 1e7).toFixed(2)]));
  for (const workbook of workbooks.filter((name) => name.endsWith('.xlsx'))) {
    const rows = readFirstSheet(workbook);
    const total = rows.find((row) => row[1]?.startsWith('GRAND TOTAL'))?.findLast((cell) => cell !== '');
    const [, month = '', day = ''] = /as on (\w+) (\d+), 2014/.exec(workbook) ?? [];
    const date = new Date(`${month} ${day}, 2014 UTC`).toISOString().slice(0, 10);
    assert.equal(crores.get(date), Number(total).toFixed(2), date);
  }
  assert.deepEqual([data.aum_history.length, data.aum_date], [10, '2014-12-31']);
  seen(
    'what Kotak managed in ten months of 2014, by 107 schemes, comes to the grand totals of its workbooks',
  );
}
