// Bond prices of Pakistan and Brazil, trades of Brazil, auctions of the US Treasury, exports of New Zealand: loaded by the
// converters of examples/markets and the command line alone, compared with the published files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { projectRoot } from '../../kernel/project.ts';
import { json, points, type Instance } from './answers.ts';
import { rowsOf } from './published-files.ts';
import type { Check } from './run.ts';

type Row = Record<string, unknown>;

export async function checkSecurities(check: Check): Promise<void> {
  const out = mkdtempSync(path.join(tmpdir(), 'almanac-real-data-'));
  try {
    await checkPakistan(check, out);
    await checkTesouro(check, out);
    await checkTrades(check, out);
    await checkAuctions(check, out);
    await checkExports(check, out);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Runs a converter. */
function convert(name: string, ...words: string[]): void {
  execFileSync(process.execPath, [path.join(projectRoot, 'examples/markets', name), ...words]);
}

/** Loads a file twice; the second time changes nothing. @returns how many rows were new. */
async function ingest(
  instance: Instance,
  dataset: string,
  file: string,
  ...flags: string[]
): Promise<number> {
  const load = async () =>
    JSON.parse(await instance.almanac('ingest', dataset, file, ...flags, '--json')) as Record<string, number>;
  const first = await load();
  const again = await load();
  assert.deepEqual([again['points_new'], again['points_revised'], again['points_deleted']], [0, 0, 0], file);
  return first['points_new'] ?? 0;
}

/** All rows of a list, by cursor. */
async function rows(instance: Instance, target: string): Promise<Row[]> {
  const all: Row[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? '' : `&cursor=${cursor}`;
    const response = await instance.get(`${target}${target.includes('?') ? '&' : '?'}limit=1000${next}`);
    const text = await response.text();
    assert.equal(response.status, 200, `${target}: ${text.slice(0, 300)}`);
    const body = JSON.parse(text) as { data: Row[]; pagination: { next_cursor: string | null } };
    all.push(...body.data);
    cursor = body.pagination.next_cursor;
  } while (cursor !== null);
  return all;
}

async function checkPakistan({ instance, folder, seen }: Check, out: string): Promise<void> {
  const archive = path.join(folder, '15_mufap_securities_pakistan/mufap_pkrv_pkfrv_pkisrv_2020_2024.tar.gz');
  const files = path.join(out, 'mufap');
  mkdirSync(files);
  execFileSync('tar', ['xzf', archive, '-C', files]);
  convert('mufap.ts', files, '2022', out);
  const facts = 'series_id=PKRV,name=PKR revaluation rates,frequency=daily,unit=Percent,source=MUFAP';
  const constants = 'currency=PKR,issuer=Government of Pakistan,government_guaranteed=true,source=MUFAP';
  const load = async () => [
    await ingest(instance, 'observations', path.join(out, 'mufap-curve.csv'), '--create', '--set', facts),
    await ingest(instance, 'securities', path.join(out, 'mufap-securities.csv'), '--set', constants),
    await ingest(instance, 'security-prices', path.join(out, 'mufap-prices.csv'), '--set', 'method=quote'),
  ];
  const [curvePoints, bonds, priceCount] = await load();
  assert.deepEqual([curvePoints, bonds, priceCount], [4_840, 41, 8_866]);

  // A whole year: each day that has a report has its rates or prices.
  const published = Map.groupBy(
    readdirSync(files, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
      const [, kind = '', day, month] = /(PKRV|PKFRV|PKISRV)(\d\d)(\d\d)0?2022\D*\d*\.csv$/.exec(file) ?? [];
      return day === undefined ? [] : [{ kind, day: `2022-${month}-${day}` }];
    }),
    ({ kind }) => kind,
  );
  const stored = {
    PKRV: (await points(instance, '/v1/series/PKRV?from=2022&to=2022&dims=tenor:10Y')).map(
      ({ date }) => date,
    ),
    PKFRV: await priceDays(instance, 'PIBFR10YS2028-05-31'),
    PKISRV: await priceDays(instance, 'GOPISV-29-07-2025'),
  };
  for (const [kind, days] of Object.entries(stored)) {
    const reported = new Set(published.get(kind)?.map(({ day }) => day));
    const without = [...reported.difference(new Set(days))].sort();
    assert.deepEqual(without, withoutQuotes[kind], kind);
    seen(`${kind}: all ${reported.size} days of 2022 that have a report are there, but ${without.length}`);
  }

  // The plain reports of the curve, read here without the converter.
  let compared = 0;
  for (const name of readdirSync(path.join(files, 'PKRV'))) {
    const [, day, month] = /^PKRV(\d\d)(\d\d)2022\d+\.csv$/.exec(name) ?? [];
    if (day === undefined || month === undefined || Number(day) > 7) continue;
    const text = readFileSync(path.join(files, 'PKRV', name), 'utf8');
    const rate = /^10Y,([\d.]+),/m.exec(text)?.[1];
    if (rate === undefined) continue;
    const date = `2022-${month}-${day}`;
    const [point] = await points(instance, `/v1/series/PKRV?from=${date}&to=${date}&dims=tenor:10Y`);
    assert.equal(point?.value, Number(rate), `${date} 10Y`);
    compared += 1;
  }
  assert.ok(compared > 40);
  seen(
    `the PKRV curve of 2022 loads in ${curvePoints} points; ${compared} ten-year rates are as their reports say`,
  );

  const spots: [code: string, date: string, price: number][] = [
    ['PIBFR10YS2028-05-31', '2022-05-18', 99.24],
    ['PIBFR10YS2028-05-31', '2022-02-14', 99.24], // called GOPFB-31-05-2028 that day
    ['PIBFR10YS2028-08-09', '2022-12-15', 98.66],
    ['PIBFR10YS2028-05-31', '2022-11-30', 97.81], // an Excel workbook named .csv
    ['GOPIS-30-04-2025', '2022-02-01', 96.43],
    ['GOPISV-29-07-2025', '2022-08-30', 101.22],
  ];
  for (const [code, date, price] of spots) {
    const [row] = await rows(instance, `/v1/securities/${code}/prices?from=${date}&to=${date}`);
    assert.deepEqual([row?.['price'], row?.['method']], [price, 'quote'], `${code} on ${date}`);
  }
  seen(
    `${priceCount} prices of ${bonds} bonds and sukuk load; ${spots.length} of them are as their reports say`,
  );
  const [bond] = await rows(
    instance,
    '/v1/securities?type=pib&maturity_from=2028-05-31&maturity_to=2028-05-31',
  );
  assert.deepEqual(
    [bond?.['code'], bond?.['issue_date'], bond?.['tenor_years']],
    ['PIBFR10YS2028-05-31', '2018-05-31', 10],
  );
  seen('a bond that reports number differently from year to year is one, found by its maturity');

  convert('mufap.ts', files, '2024', out);
  const [, , later] = await load();
  const [last] = await rows(instance, '/v1/securities/PIBFR10YS2028-05-31/prices?from=2024-12-31');
  assert.deepEqual([last?.['date'], last?.['price']], ['2024-12-31', 98.53]);
  const odd = (await rows(instance, '/v1/securities?type=gis&fields=last_price')).filter(
    ({ last_price: price }) => Number(price) < 80 || Number(price) > 120,
  );
  assert.deepEqual(odd, []);
  seen(`2024 with its newer layouts loads in ${later} prices; the last one is of 31 December, 98.53`);
}

/** Days of 2022 whose report has no such quotes: interbank rates instead of the curve, or an empty file. */
const withoutQuotes: Readonly<Record<string, readonly string[]>> = {
  PKRV: ['2022-04-14', '2022-04-15', '2022-04-16', '2022-04-23', '2022-04-26', '2022-04-27', '2022-07-04'],
  PKFRV: [],
  PKISRV: ['2022-10-04'],
};

async function priceDays(instance: Instance, code: string): Promise<string[]> {
  const prices = await rows(instance, `/v1/securities/${code}/prices?from=2022&to=2022&fields=date`);
  return prices.map(({ date }) => String(date));
}

async function checkTesouro({ instance, folder, seen }: Check, out: string): Promise<void> {
  convert('tesouro-direto.ts', path.join(folder, '16_tesouro_direto_prices'), out);
  const constants =
    'type=government_bond,currency=BRL,par=1000,issuer=Tesouro Nacional,government_guaranteed=true,source=Tesouro Direto';
  const file = (name: string) => path.join(out, name);
  assert.equal(await ingest(instance, 'securities', file('tesouro-securities.csv'), '--set', constants), 23);
  const prices = file('tesouro-prices.csv');
  assert.equal(await ingest(instance, 'security-prices', prices, '--set', 'method=quote'), 20_512);
  const facts = 'frequency=daily,unit=As published,source=Tesouro Direto';
  const sides = await ingest(instance, 'observations', file('tesouro-sides.csv'), '--create', '--set', facts);
  assert.equal(sides, 82_048);
  seen('20,512 prices of 23 Brazilian bonds load from their workbooks, and both sides as series');

  const price = async (code: string, date: string) =>
    (await rows(instance, `/v1/securities/${code}/prices?from=${date}&to=${date}`))[0];
  const first = await price('LTN-2013-01-01', '2012-01-02');
  assert.deepEqual([first?.['price'], first?.['dirty_price'], first?.['yield_pct']], [90.863, 90.863, 10.14]);
  const coupon = await price('NTN-F-2023-01-01', '2021-01-04');
  assert.deepEqual([coupon?.['price'], coupon?.['dirty_price'], coupon?.['yield_pct']], [null, 110.37, 4.37]);
  const bothSides = await points(
    instance,
    '/v1/series/TESOURO.PRICE?from=2012-01-03&to=2012-01-03&dims=bond:LTN 2013-01-01',
  );
  assert.deepEqual(
    bothSides.map(({ value, dims }) => [dims['side'], value]),
    [
      ['buy', 909.46],
      ['sell', 909.14],
    ],
  );
  seen('the first LTN, an NTN-F of 2021 and the two sides of a day are as their sheets say');
}

async function checkTrades({ instance, folder, seen }: Check, out: string): Promise<void> {
  const archives = ['202501', '202606'].map((month) =>
    path.join(folder, '17_bond_trades_brazil', `tpf_mensal_${month}.zip`),
  );
  convert('selic-trades.ts', out, ...archives);
  const constants =
    'type=government_bond,currency=BRL,par=1000,issuer=Tesouro Nacional,government_guaranteed=true,source=Banco Central do Brasil';
  const securities = path.join(out, 'selic-securities.csv');
  const loaded = await ingest(instance, 'securities', securities, '--set', constants);
  assert.equal(await ingest(instance, 'security-trades', path.join(out, 'selic-trades.csv')), 3_878);

  const all = await rows(instance, '/v1/securities/trades?from=2025&fields=trades_count,venue,source');
  const selic = all.filter((row) => row['source'] === 'Banco Central do Brasil');
  const trades = selic.reduce((total, row) => total + Number(row['trades_count']), 0);
  assert.deepEqual([selic.length, trades], [3_878, 279_750]);
  seen(`3,878 rows of 279,750 trades of ${loaded} Brazilian bonds load`);

  const [row] = await rows(instance, '/v1/securities/trades?code=BRSTNCLF1RF7&from=2026-06-01&to=2026-06-01');
  assert.deepEqual(
    ['code', 'trades_count', 'price', 'price_low', 'yield_pct', 'face_amount', 'venue'].map(
      (name) => row?.[name],
    ),
    ['LFT-210100-01092026', 100, 1912.0441348, 1910.9504889, -0.0077, 18_392_000, 'Selic'],
  );
  seen('the LFT of September 2026 traded 100 times on 1 June 2026, at the prices of the file');
}

async function checkAuctions({ instance, folder, seen }: Check, out: string): Promise<void> {
  const published = path.join(folder, '18_auctions_us_treasury/data.csv.gz');
  convert('us-auctions.ts', published, out);
  const constants = 'status=held,format=competitive,currency=USD,source=US Treasury';
  const file = path.join(out, 'us-auctions.csv');
  assert.equal(await ingest(instance, 'auctions', file, '--set', constants), 1_657);

  const text = new TextDecoder('utf-16le').decode(gunzipSync(readFileSync(published)));
  const raw = parse<Record<string, string>>(text.slice(text.indexOf('\n') + 1), { columns: true });
  const served = (await rows(instance, '/v1/fixed-income/auctions')).filter(
    (row) => row['source'] === 'US Treasury',
  );
  assert.equal(served.length, raw.length);
  const byKey = new Map(
    served.map((row) => [`${String(row['auction_id'])} ${String(row['auction_date'])}`, row]),
  );
  let nearPublished = 0;
  for (const row of raw) {
    const auction = byKey.get(`${row['cusip']} ${row['auctionDate']?.slice(0, 10)}`);
    const cutoff = row['highYield'] || row['highInvestmentRate'] || null; // floating rate notes have a margin instead
    assert.equal(auction?.['cutoff_yield_pct'], cutoff === null ? null : Number(cutoff));
    assert.equal(auction?.['accepted_total'], Number(row['totalAccepted']));
    const ratio = Number(auction?.['bid_to_cover']);
    if (Math.abs(ratio / Number(row['bidToCoverRatio']) - 1) < 0.1) nearPublished += 1;
  }
  seen(`all ${raw.length} auctions of the US Treasury are served with the totals and cut-offs of the file`);
  seen(
    `bid_to_cover, of competitive bids only, is within a tenth of the published ratio in ${nearPublished} of them`,
  );
  assert.ok(nearPublished > 0.9 * raw.length);

  const ids = Map.groupBy(served, (row) => row['auction_id']);
  const reopened = [...ids.values()].filter((auctions) => auctions.length > 1);
  assert.equal(ids.size, 1_186);
  assert.ok(reopened.every((auctions) => auctions.some((row) => row['reopening'] === true)));
  seen(`${reopened.length} securities were reopened, under the id they had`);
  const [note] = await rows(
    instance,
    '/v1/fixed-income/auctions?instrument=note&tenor=3Y&from=2022-08-09&to=2022-08-09',
  );
  const [before] = await rows(
    instance,
    '/v1/fixed-income/auctions?instrument=note&tenor=3Y&from=2022-07&to=2022-07',
  );
  assert.equal(note?.['previous_cutoff_yield_pct'], before?.['cutoff_yield_pct']);
  assert.equal(note?.['change_bps'], Math.round((3.202 - Number(before?.['cutoff_yield_pct'])) * 1e4) / 100);
  seen(
    `the three-year note of August 2022 changed by ${String(note?.['change_bps'])} basis points on that of July`,
  );
}

async function checkExports({ instance, folder, seen }: Check, out: string): Promise<void> {
  const files = ['Jan', 'Feb'].map((month) =>
    path.join(folder, '19_external_trade', `nz__${month}_2025_Exports_HS10_by_Country.csv.gz`),
  );
  convert('nz-exports.ts', out, ...files);
  const constants =
    'reporter=NZL,classification=hs,classification_version=HS 2022,basis=customs,currency=NZD,valuation=fob,source=Stats NZ';
  const raw = files.flatMap((file) => rowsOf(file));
  const reExports = raw.filter((row) => Number(row['Re_export_FOB']) > 0).length;
  const count = await ingest(instance, 'trade', path.join(out, 'nz-exports.csv'), '--set', constants);
  assert.deepEqual([raw.length, count], [38_852, 38_852 + reExports]);
  seen(`${raw.length} exports of New Zealand load, and ${reExports} re-exports`);
  const names = path.join(folder, '19_external_trade/harmonized-system.csv');
  const columns = ['--map', 'commodity_code=hscode,name=description', '--ignore', 'section,parent,level'];
  const facts = ['--set', 'classification=hs,source=UN Comtrade'];
  const loaded = await ingest(instance, 'trade-commodities', names, ...columns, ...facts);
  assert.equal(loaded, rowsOf(names).length);

  const horses = await rows(
    instance,
    '/v1/trade?reporter=NZL&flow=export&commodity=0101290010&period=2025-02&partner=AUS',
  );
  assert.deepEqual(
    horses.map((row) => [
      row['commodity_code'],
      row['level'],
      row['value'],
      row['quantity'],
      row['unit_value'],
    ]),
    [['0101290010', 10, 6_470_422, 38, 170_274.263158]],
  );
  seen('a code keeps its leading zero: 38 horses to Australia in February 2025, at 170,274.26 each');

  const sumOf = (month: string, keep: (row: Record<string, string>) => boolean) =>
    raw
      .filter((row) => row['month'] === month && keep(row))
      .reduce((total, row) => total + Number(row['total_export_FOB']), 0);
  for (const [period, month] of [
    ['2025-01', '202501'],
    ['2025-02', '202502'],
  ] as const) {
    const ask = `/v1/trade?reporter=NZL&flow=export&period=${period}&aggregate_by=`;
    const [all] = await rows(instance, `${ask}period`);
    assert.deepEqual([all?.['value'], all?.['share_pct']], [sumOf(month, () => true), 100]);
    const partners = await rows(instance, `${ask}partner&sort=-value`);
    const china = partners.find((row) => row['partner_code'] === 'CHN');
    assert.equal(
      china?.['value'],
      sumOf(month, (row) => row['country']?.startsWith('China') === true),
    );
    const dairy = await rows(instance, `${ask}commodity&level=2&commodity=04`);
    const dairyName = rowsOf(names).find((row) => row['hscode'] === '04')?.['description'];
    assert.deepEqual(
      dairy.map((row) => [row['commodity_code'], row['commodity_name'], row['value']]),
      [['04', dairyName, sumOf(month, (row) => row['hs']?.startsWith('04') === true)]],
    );
    const counted = (await json(
      instance,
      `/v1/trade?reporter=NZL&flow=export&period=${period}&count_only=true`,
    )) as {
      count: number;
    };
    assert.equal(counted.count, raw.filter((row) => row['month'] === month).length);
  }
  seen(
    'sums by month, by partner and by two digits are those of the files, and count_only counts their rows',
  );
  seen(`${loaded} names of the Harmonized System load, and are beside the sums of its chapters`);
  await checkSumsOverMonths(instance, raw);
  seen(
    'what aggregate_by does not name is added up over both months, by partner and by chapter, as the files say',
  );
  const unknown = raw.filter((row) => row['uom'] === '').length;
  const served = await rows(instance, '/v1/trade?reporter=NZL&flow=export&fields=quantity,unit_value');
  assert.equal(
    served.filter((row) => row['quantity'] === null && row['unit_value'] === null).length,
    unknown,
  );
  seen(`${unknown} rows without a unit have neither quantity nor unit value`);
}

/** Sums over the two months: every partner and every chapter, in the window, its year, quarter and fiscal year. */
async function checkSumsOverMonths(
  instance: Instance,
  raw: readonly Record<string, string>[],
): Promise<void> {
  const codes = parse<Record<string, string>>(
    readFileSync(path.join(projectRoot, 'examples/markets/nz-partners.csv')),
    { columns: true },
  );
  const codeOf = new Map(codes.map(({ name = '', code = '' }) => [name, code]));
  const added = (keyOf: (row: Record<string, string>) => string) => {
    const totals = new Map<string, number>();
    for (const row of raw)
      totals.set(keyOf(row), (totals.get(keyOf(row)) ?? 0) + Number(row['total_export_FOB']));
    return Object.fromEntries([...totals].sort());
  };
  const byPartner = added((row) => codeOf.get(row['country'] ?? '') ?? '');
  const byChapter = added((row) => row['hs']?.slice(0, 2) ?? '');
  const groups = {
    '': '2025-01..2025-02',
    ',year': '2025',
    ',quarter': '2025-Q1',
    ',fiscal_year&fiscal_year_end=06-30': '2024/25',
  };
  for (const [group, period] of Object.entries(groups)) {
    const ask = `/v1/trade?reporter=NZL&flow=export&from=2025-01&to=2025-02&aggregate_by=`;
    for (const [query, field, expected] of [
      [`partner${group}`, 'partner_code', byPartner],
      [`commodity${group}&level=2`, 'commodity_code', byChapter],
    ] as const) {
      const sums = await rows(instance, ask + query);
      const served = sums.map((row): [string, unknown] => [String(row[field]), row['value']]);
      assert.equal(served.length, Object.keys(expected).length, query);
      assert.deepEqual(Object.fromEntries(served), expected, query);
      for (const row of sums) assert.deepEqual([row['period'], row['periods_published']], [period, 2], query);
    }
  }
}
