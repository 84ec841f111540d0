import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { xlsOf, xlsxOf, zipOf } from './workbooks.ts';

interface Conversion {
  folder: string;
  status: number | null;
  stderr: string;
  printed: string;
  /** The files that it wrote, by their names. */
  written: Record<string, string>;
}

/** Runs a converter in a folder with some files; `OUT` is an output folder that does not exist, `IN` the folder of the files. */
function convert(
  t: ExecutionContext,
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
  ...words: string[]
): Conversion {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(folder, file), content);
  const out = path.join(folder, 'out');
  const run = spawnSync(
    process.execPath,
    [
      path.join(projectRoot, 'examples', name),
      ...words.map((word) => (word === 'OUT' ? out : word === 'IN' ? folder : path.join(folder, word))),
    ],
    { encoding: 'utf8' },
  );
  const written = Object.fromEntries(
    (existsSync(out) ? readdirSync(out) : []).map((file) => [
      file,
      readFileSync(path.join(out, file), 'utf8'),
    ]),
  );
  return { folder, status: run.status, stderr: run.stderr, printed: run.stdout, written };
}

/** The conversion fails and has written nothing; it names each thing in a line of its own. */
function refused(
  t: ExecutionContext,
  { status, stderr, written }: Conversion,
  named: readonly (string | RegExp)[],
): void {
  t.is(status, 1, stderr);
  t.deepEqual(written, {});
  const lines = stderr
    .split('\n')
    .slice(1)
    .filter((line) => line !== '');
  t.is(lines.length, named.length, stderr);
  named.forEach((name, i) =>
    t.true(
      typeof name === 'string' ? lines[i]?.includes(name) : name.test(lines[i] ?? ''),
      `${String(name)} in ${stderr}`,
    ),
  );
}

const tesouroSheet = (matures: string) => [
  ['Vencimento', matures],
  ['Dia', 'Taxa Compra', 'Taxa Venda', 'PU Compra', 'PU Venda'],
  ['02/01/2020', 0.1, 0.11, 905, 900],
];

test('a sheet of a bond that the Tesouro converter does not know becomes no other bond', (t) => {
  const known = xlsOf({
    'LTN 010123': tesouroSheet('01/01/2023'),
    'NTN-F 010125': tesouroSheet('01/01/2025'),
  });
  const others = xlsOf({
    'LTN 010124': tesouroSheet('01/01/2024'),
    'NTN-B 150824': tesouroSheet('15/08/2024'),
    'NTN-B Princ 150535': tesouroSheet('15/05/2035'),
    'LFT 010323': tesouroSheet('01/03/2023'),
    'NTN-F 010127': tesouroSheet('soon'),
  });
  const converted = convert(t, 'markets/tesouro-direto.ts', { 'known.xls': known }, 'IN', 'OUT');
  t.is(converted.status, 0, converted.stderr);
  t.is(
    converted.written['tesouro-securities.csv'],
    'code,name,maturity_date,coupon_type,coupon_pct\nLTN 2023-01-01,LTN 2023-01-01,2023-01-01,zero,\nNTN-F 2025-01-01,NTN-F 2025-01-01,2025-01-01,fixed,10\n',
  );
  t.is(
    converted.written['tesouro-prices.csv'],
    'code,date,price,dirty_price,yield_pct\nLTN 2023-01-01,2020-01-02,90,90,11\nNTN-F 2025-01-01,2020-01-02,,90,11\n',
  );
  const mixed = { 'known.xls': known, 'others.xls': others };
  refused(t, convert(t, 'markets/tesouro-direto.ts', mixed, 'IN', 'OUT'), [
    'others.xls, sheet "NTN-B 150824": a bond that is neither LTN nor NTN-F',
    'sheet "NTN-B Princ 150535"',
    'sheet "LFT 010323"',
    'sheet "NTN-F 010127": no maturity',
  ]);
  refused(t, convert(t, 'markets/tesouro-direto.ts', {}, 'IN', 'OUT'), ['there is no .xls file']);
});

const nzHeader =
  'month,hs,hs_desc,uom,country,Export_FOB,Export_Qty,Re_export_FOB,Re_export_Qty,total_export_FOB,total_export_qty,status';
const nzRow = (country: string) => `202501,0101210015,Horses,NMB,${country},5,1,0,0,5,1,Final`;

test('countries without a code are named all at once, over all files', (t) => {
  const file = (...countries: string[]) => [nzHeader, ...countries.map(nzRow)].join('\n');
  const files = {
    'jan.csv': file('Australia', 'Atlantis', 'Atlantis', 'Cuba'),
    'feb.csv': file('Lemuria'),
    'old.csv': nzHeader.replace('country', 'Country') + `\n${nzRow('Australia')}`,
    'empty.csv': nzHeader,
  };
  const known = convert(
    t,
    'markets/nz-exports.ts',
    { 'jan.csv': file('Australia', 'Cuba') },
    'OUT',
    'jan.csv',
  );
  t.is(known.status, 0, known.stderr);
  t.deepEqual(
    known.written['nz-exports.csv']?.split('\n').map((line) => line.split(',')[2]),
    ['partner_code', 'AUS', 'CUB', undefined],
  );
  refused(t, convert(t, 'markets/nz-exports.ts', files, 'OUT', 'jan.csv', 'feb.csv'), [
    '"Atlantis": add a line for it to nz-partners.csv',
    '"Lemuria"',
  ]);
  refused(t, convert(t, 'markets/nz-exports.ts', files, 'OUT', 'old.csv', 'empty.csv'), [
    'empty.csv: there are no rows',
    'old.csv: there is no column "country"',
    'the country ""',
  ]);
});

test('a country has one name and one code in the list of partners', (t) => {
  const [header, ...lines] = readFileSync(path.join(projectRoot, 'examples/markets/nz-partners.csv'), 'utf8')
    .trimEnd()
    .split('\n');
  t.is(header, 'name,code');
  const pairs = lines.map((line) => /^(.+),([A-Z]{3}|_[A-Z]+)$/.exec(line)?.slice(1));
  for (const at of [0, 1]) t.is(new Set(pairs.map((pair) => pair?.[at])).size, lines.length);
});

test('a workbook of SEBI whose title is of another form gives no company without a name', (t) => {
  const sheet = (title: string) =>
    xlsxOf([
      [title],
      [''],
      [''],
      [''],
      [''],
      ['A', 'INCOME'],
      ['(i)', 'Liquid'],
      ['', 'Demo Liquid Fund', '2.5'],
    ]);
  const kotak =
    'Scheme Name Demo Mutual Fund: Monthly Average Assets Under Management (AUM) as on 30-Apr-2014 (All figures in Rs. Crore)';
  const files = {
    'known.xlsx': sheet(kotak),
    'other.xlsx': sheet('Harbour AMC Ltd - Average AUM for April 2014 (Rs. in Crore)'),
    'month.xlsx': sheet(kotak.replace('Apr', 'Xyz')),
    'lakhs.xlsx': sheet(kotak.replace('Crore', 'Lakhs')),
  };
  const known = convert(t, 'funds/sebi-aum.ts', files, 'OUT', 'known.xlsx');
  t.is(known.status, 0, known.stderr);
  t.is(known.written['amcs.csv'], 'amc_id,name\ndemo-mutual-fund,Demo Mutual Fund\n');
  t.is(known.written['nav.csv'], 'fund,date,aum\ndemo-liquid-fund,2014-04-30,25000000\n');
  refused(t, convert(t, 'funds/sebi-aum.ts', files, 'OUT', ...Object.keys(files)), [
    'other.xlsx: the title "Harbour AMC Ltd - Average AUM for April 2014 (Rs. in Crore)" is not',
    'month.xlsx',
    'lakhs.xlsx',
  ]);
});

test('a portfolio of another layout becomes no portfolio without a scheme or a day', (t) => {
  const other = xlsxOf([
    ['', 'Harbour Mutual Fund'],
    ['', 'Portfolio as on Jun 30,2025'],
    ['', 'Name', 'ISIN'],
  ]);
  refused(t, convert(t, 'funds/hdfc-portfolio.ts', { 'other.xlsx': other }, 'OUT', 'other.xlsx'), [
    'the scheme',
    'the day: cell A2 is ""',
    'the columns',
  ]);
});

test('payouts without a known sheet, column or day are refused', (t) => {
  const header = ['code', 'scheme_name', 'class_name', 'class', 'record_date', 'gross_dividend'];
  const rows = (date: string) => [header, ['001', 'Demo', 'Direct Plan - IDCW', 'D', date, 1.5]];
  const files = {
    'known.xls': xlsOf({
      Sheet0: [...rows('15/04/2025 00:00:00'), ['002', 'Demo', 'Flexi IDCW', 'F', '15/04/2025', 2]],
    }),
    'day.xls': xlsOf({ Sheet0: rows('2025-04-15') }),
    'sheet.xls': xlsOf({ Sheet1: rows('15/04/2025') }),
    'column.xls': xlsOf({ Sheet0: rows('15/04/2025').map((row) => row.slice(0, 5)) }),
  };
  const known = convert(t, 'funds/uti-payouts.ts', files, 'OUT', 'known.xls');
  t.is(known.status, 0, known.stderr);
  t.is(
    known.written['funds.csv'],
    'fund_id,source_code,name,plan,option\nuti-001-d,001-D,Demo - Direct Plan - IDCW,direct,income\nuti-002-f,002-F,Demo - Flexi IDCW,,income\n',
  );
  refused(t, convert(t, 'funds/uti-payouts.ts', files, 'OUT', 'day.xls'), [
    'the record date "2025-04-15" of 001-D',
  ]);
  refused(t, convert(t, 'funds/uti-payouts.ts', files, 'OUT', 'sheet.xls'), ['there is no sheet "Sheet0"']);
  refused(t, convert(t, 'funds/uti-payouts.ts', files, 'OUT', 'column.xls'), ['no column "gross_dividend"']);
});

test('files, kinds and columns that the other converters do not know are named, and nothing is written', (t) => {
  const auctions =
    'cusip,type,term\n912796XX1,Bill,13-Week\n912796XX2,Perpetual,100-Year\n912796XX3,Annuity,1-Year';
  const refusedAuctions = convert(t, 'markets/us-auctions.ts', { 'data.csv': auctions }, 'data.csv', 'OUT');
  t.is(refusedAuctions.status, 1);
  t.deepEqual(refusedAuctions.written, {});
  for (const name of [
    'type "Perpetual"',
    'type "Annuity"',
    'no column "auctionDate"',
    'no column "cashManagementBillCMB"',
  ])
    t.true(refusedAuctions.stderr.includes(name), name);

  const archive = zipOf({ 'NegX202501.CSV': 'a;b\n1;2\n', 'README.txt': 'a;b\n' });
  refused(t, convert(t, 'markets/selic-trades.ts', { 'a.zip': archive }, 'OUT', 'a.zip'), [
    'NegX202501.CSV',
    'README.txt',
  ]);

  const expenses = { 'ter_today.csv': 'Scheme Name\nDemo\n' };
  const refusedExpenses = convert(t, 'funds/amfi-expenses.ts', expenses, 'OUT', 'ter_today.csv');
  t.is(refusedExpenses.status, 1);
  t.deepEqual(refusedExpenses.written, {});
  t.regex(refusedExpenses.stderr, /ter_today\.csv: the day.*\n.*no column "Regular Plan - Base TER/);

  const index = { 'index.csv': 'SchemeCode,Name\n1,Demo\n', 'history.tar': Buffer.alloc(1024) };
  const refusedIndex = convert(t, 'funds/amfi.ts', index, 'OUT', 'index.csv', 'history.tar');
  t.is(refusedIndex.status, 1);
  t.deepEqual(refusedIndex.written, {});
  t.regex(refusedIndex.stderr, /no column "SchemeName"\n.*no column "ISIN"/);

  const summary = {
    'summary.csv': 'Fund Name,Category\nDemo,Equity\nSample,Equity\n',
    'navs.db': '',
    'navs.json': '{"data":[]}',
  };
  refused(t, convert(t, 'funds/mufap.ts', summary, 'OUT', 'navs.db', 'summary.csv', 'navs.json'), [
    'no column "Fund Name"', // a title must be above the header
    'no column "Category"',
    'no column "Sector"',
    'no column "Rating"',
  ]);
});

test('an auction of the US Treasury keeps the months of its term', (t) => {
  const known: Record<string, string> = {
    cusip: '91282CEP2',
    cashManagementBillCMB: 'No',
    type: 'Note',
    term: '9-Year 10-Month',
    reopening: 'Yes',
    auctionDate: '2022-07-13T00:00:00',
  };
  const others =
    'highDiscountMargin,announcementDate,issueDate,maturityDate,offeringAmount,competitiveTendered,competitiveAccepted,noncompetitiveAccepted,totalAccepted,highYield,highInvestmentRate,highPrice,lowYield,lowInvestmentRate,interestRate,bidToCoverRatio';
  const columns = [...Object.keys(known), ...others.split(',')];
  const csv = [columns, columns.map((column) => known[column] ?? '')].map((row) => row.join()).join('\n');
  const { status, stderr, written } = convert(
    t,
    'markets/us-auctions.ts',
    { 'data.csv': csv },
    'data.csv',
    'OUT',
  );
  t.is(status, 0, stderr);
  t.regex(written['us-auctions.csv'] ?? '', /\n91282CEP2,note,9-Year 10-Month,2022-07-13,/);
});

test('a matrix of vintages names every title and period that it cannot read', (t) => {
  const matrix = (...titles: string[]) =>
    xlsxOf([
      ['DATE', ...titles],
      ['1947:Q1', '1', '2'],
      ['1947:13', '3', '4'],
    ]);
  const run = convert(
    t,
    'converters/vintage-matrix.ts',
    { 'm.xlsx': matrix('ROUTPUT65Q4', 'ROUTPUT66Q5') },
    'm.xlsx',
  );
  t.deepEqual([run.status, run.printed], [1, '']);
  t.regex(run.stderr, /"ROUTPUT66Q5", "1947:13"/);
});
