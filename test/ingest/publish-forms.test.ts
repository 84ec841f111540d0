// The forms of tables that almanac publish reads, with a real PostgreSQL: periods across the columns, flags, workbooks, vintages in file names, URLs;
// and the refused ones.
import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { utils, write, type WorkSheet } from '@e965/xlsx';
import test from 'ava';
import { fetchFile } from '../../ingest/read/fetch-url.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { failureOf, published, seriesRow } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});
const almanac = commandLine(settingsOf(testDatabase.url));

function folderOf(name: string, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  mkdirSync(folder);
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(folder, file), content);
  return folder;
}

const publish = (folder: string, ...flags: string[]) =>
  almanac(['publish', folder, '--set', 'source=Tests', '--set', 'unit=Index', ...flags]);

const statuses = async (seriesId: string): Promise<unknown> =>
  Object.fromEntries(
    (
      await database.query<{ date: string; status: string | null }>(
        `select date, status from data.observations join data.series_dims using (line_no) join data.series using (series_no)
         where series_id = $1 and superseded_on = 'infinity' order by date`,
        [seriesId],
      )
    ).map(({ date, status }) => [date, status]),
  );

test('years across the columns become points; empty cells and marks of missing state nothing; notes below are left out', async (t) => {
  const rows = [
    'Data Source,World Development Indicators,,,,,',
    '',
    'Country Name,Country Code,Indicator Name,Indicator Code,2020,2021 [YR2021],2022',
    'Chad,TCD,"Growth (annual %)",NY.GROWTH,1.5,..,-2',
    'Peru,PER,"Growth (annual %)",NY.GROWTH,,3.25,4',
    '',
    'Last updated: 2024-01-31',
  ];
  const ran = await publish(folderOf('across', { 'across.csv': rows.join('\n') }));
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'NY.GROWTH'), {
    '2020-12-31 TCD': '1.5',
    '2022-12-31 TCD': '-2',
    '2021-12-31 PER': '3.25',
    '2022-12-31 PER': '4',
  });
  t.like(await seriesRow(database, 'NY.GROWTH'), { name: 'Growth (annual %)', frequency: 'annual' });
});

test('periods after the same words in each title, as PxWeb writes them, become points once confirmed; the words are in the name', async (t) => {
  const rows = [
    '"region","sex","Population 2021","Population 2022"',
    ...[
      '"North","men",1200,1210',
      '"North","women",1300,..',
      '"South","men",2200,2210',
      '"South","women",2300,2310',
    ],
  ];
  const folder = folderOf('px', { 'px.csv': `${rows.join('\r\n')}\r\n` });
  const asked = await publish(folder);
  t.is(asked.code, 1);
  t.regex(asked.stderr, /guess +date: \{ across: columns, after: Population \}/);
  t.is((await publish(folder, '--yes')).code, 0);
  t.like(await published(database, 'px'), {
    '2021-12-31 North men': '1200',
    '2022-12-31 South women': '2310',
  });
  t.is(Object.keys(await published(database, 'px')).length, 7);
  t.like(await seriesRow(database, 'px'), { name: 'px, Population', frequency: 'annual' });
  writeFileSync(path.join(folder, 'px.csv'), `${rows[0]},"Deaths 2023"\n"North","men",1200,1210,5\n`);
  t.is(
    (await publish(folder)).code,
    1,
    'a period after other words is a column that the entry does not mention',
  );
});

test('a year and a month in two columns, or in titles, are combined into the dates of the points', async (t) => {
  const folder = folderOf('divided', {
    'divided-long.csv': 'Year,Month,Value\n2023,11,1.5\n2023,12,2.5\n2024,1,3.5\n2024,2,4.5\n',
    'divided-across.csv': 'Year,Jan,Feb,Mar,Average\n2023,1,2,3,2\n2024,4,,6,5\n',
  });
  const ran = await publish(folder, '--yes');
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'divided-long'), {
    '2023-11-30': '1.5',
    '2023-12-31': '2.5',
    '2024-01-31': '3.5',
    '2024-02-29': '4.5',
  });
  t.deepEqual(await published(database, 'divided-across'), {
    '2023-01-31': '1',
    '2023-02-28': '2',
    '2023-03-31': '3',
    '2024-01-31': '4',
    '2024-03-31': '6',
  });
  writeFileSync(path.join(folder, 'divided-long.csv'), 'Year,Month,Value\n2023,11,1.5\n,12,2.5\n');
  const blank = await publish(folder);
  t.is(blank.code, 1);
  t.regex(blank.stderr, /line 3, Year Month: "12", expected a date of the form YYYY\/M/);
});

test('a quarterly or yearly column in a monthly table is a guess of its own frequency, and its values are dated to the ends of their periods', async (t) => {
  const months = Array.from({ length: 36 }, (_, at) => {
    const [year, month] = [2021 + Math.floor(at / 12), (at % 12) + 1];
    const quarter = month % 3 === 1 ? `${month}.5` : '';
    return `${year}-${String(month).padStart(2, '0')},${at + 100},${quarter},${month === 12 ? at : ''}`;
  });
  const rows = ['Month,Prices,Growth,Population', ...months];
  const folder = folderOf('mixed', { 'mixed.csv': rows.join('\n') });
  const asked = await publish(folder);
  t.is(asked.code, 1);
  t.regex(
    asked.stderr,
    /guess +columns: .*Growth has a value only once a quarter; Population has a value only once a year/,
  );
  t.is((await publish(folder, '--yes')).code, 0);
  t.like(await seriesRow(database, 'mixed.Prices'), { frequency: 'monthly' });
  t.like(await seriesRow(database, 'mixed.Growth'), { frequency: 'quarterly' });
  t.like(await seriesRow(database, 'mixed.Population'), { frequency: 'annual' });
  t.deepEqual(Object.entries(await published(database, 'mixed.Growth')).slice(0, 2), [
    ['2021-03-31', '1.5'],
    ['2021-06-30', '4.5'],
  ]);
  t.is(Object.keys(await published(database, 'mixed.Growth')).length, 12);
  t.deepEqual(await published(database, 'mixed.Population'), {
    '2021-12-31': '11',
    '2022-12-31': '23',
    '2023-12-31': '35',
  });
});

test('a row with a date of another length is left out once confirmed; a note with a number is not a row', async (t) => {
  const mixed = 'Period,Rate\n2022,10\n2023 Q1,3\n2023 Q2,3\n2023 Q3,3\n2023 Q4,3\n2024 Q1,4\n2024 Q2,4\n';
  const folder = folderOf('odd', { 'odd.csv': mixed });
  const asked = await publish(folder);
  t.is(asked.code, 1);
  t.regex(asked.stderr, /guess {2}leave_out: \{ Period: \[ "2022" \] \}/);
  t.is((await publish(folder, '--yes')).code, 0);
  t.is(Object.keys(await published(database, 'odd')).length, 6);
  const noted = mixed.replace('2022,10\n', '') + '\n1) revised in 2024\nSource: the bank\n';
  const ran = await publish(folderOf('noted', { 'noted.csv': noted }), '--yes');
  t.is(ran.code, 0, ran.stderr);
  t.is(Object.keys(await published(database, 'noted')).length, 6);
});

test('a workbook whose formulas have no stored results is not loaded as if these cells were empty', async (t) => {
  const sheet = utils.aoa_to_sheet([
    ['Month', 'A', 'B'],
    ['2024-01', 1, 2],
    ['2024-02', 3, 4],
    ['2024-03', 5, 6],
  ]);
  const formulas = { 'formulas.xlsx': workbookOf({ Sheet1: sheet }, 'xlsx') };
  const folder = folderOf('formulas', formulas);
  const first = await publish(folder, '--yes');
  t.is(first.code, 0, first.stderr);
  t.is(Object.keys(await published(database, 'formulas.B')).length, 3);
  sheet['C3'] = { t: 'z', f: 'B3+1' };
  const uncomputed = workbookOf({ Sheet1: sheet }, 'xlsx');
  writeFileSync(path.join(folder, 'formulas.xlsx'), uncomputed);
  const again = await publish(folder);
  t.is(again.code, 1);
  const reason =
    /the formula in C3 has no stored result: open the workbook in Excel or LibreOffice and save it/;
  t.regex(again.stderr, reason);
  const fresh = await publish(folderOf('uncomputed', { 'uncomputed.xlsx': uncomputed }), '--yes');
  t.is(fresh.code, 1);
  t.regex(fresh.stderr, reason);
});

test('flags after numbers become statuses, with decimal commas, in latin-1 with semicolons', async (t) => {
  const rows = [
    'Monat;Export',
    '2024-01;131,0 p',
    '2024-02;12 e',
    '2024-03;:',
    '2024-04;1.250,5',
    '2024-05;7,5p',
  ];
  const file = Buffer.from(`Ausfuhr f\u00fcr Th\u00fcringen\n\n${rows.join('\n')}\n`, 'latin1');
  const ran = await publish(folderOf('flags', { 'flags.csv': file }));
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'flags'), {
    '2024-01-31': '131.0',
    '2024-02-29': '12',
    '2024-03-31': null,
    '2024-04-30': '1250.5',
    '2024-05-31': '7.5',
  });
  t.deepEqual(await statuses('flags'), {
    '2024-01-31': 'p',
    '2024-02-29': 'e',
    '2024-03-31': null,
    '2024-04-30': null,
    '2024-05-31': 'p',
  });
});

function workbookOf(sheets: Readonly<Record<string, WorkSheet>>, type: 'xlsx' | 'xls'): Buffer {
  const workbook = utils.book_new();
  for (const [name, sheet] of Object.entries(sheets)) utils.book_append_sheet(workbook, sheet, name);
  return write(workbook, { type: 'buffer', bookType: type }) as Buffer;
}

const monthsOf2024 = Array.from({ length: 8 }, (_, at) => `2024-0${at + 1}`);

test('a text among the numbers of a workbook that may be a thousand is a guess; stored numbers keep their point', async (t) => {
  const sheetOf = (cells: readonly (number | string)[]) =>
    utils.aoa_to_sheet([['Month', 'A'], ...monthsOf2024.map((month, at) => [month, cells[at] ?? at + 0.5])]);
  for (const text of ['1.201', '1,201', '(1.201)', '-1,201 p']) {
    const files = { 'texts.xlsx': workbookOf({ Data: sheetOf([12.5, text]) }, 'xlsx') };
    const asked = await publish(folderOf('texts', files), '--dry-run');
    t.regex(
      asked.stderr,
      /guess {2}values: A .*B3 is the text ".*1[.,]201.*" in a column of numbers: .*1201/,
    );
  }
  const known = { 'texts.xlsx': workbookOf({ Data: sheetOf([12.5, '1,201.5', '0.125']) }, 'xlsx') };
  t.notRegex((await publish(folderOf('texts', known), '--dry-run')).stderr, /is the text/);
  const thirds = {
    'thirds.xlsx': workbookOf({ Data: sheetOf([1.201, 2.345, ...Array(6).fill(3)]) }, 'xlsx'),
  };
  const ran = await publish(folderOf('thirds', thirds));
  t.is(ran.code, 0, ran.stderr);
  t.like(await published(database, 'thirds'), { '2024-01-31': '1.201', '2024-02-29': '2.345' });
  const both = { 'both.xlsx': workbookOf({ Data: sheetOf([1.201, '12,5', ...Array(6).fill(3)]) }, 'xlsx') };
  t.regex((await publish(folderOf('both', both), '--yes')).stderr, /line 3, A: "12,5", expected/);
});

for (const type of ['xlsx', 'xls'] as const)
  test(`a workbook (.${type}) is read with its dates, percentages, titles above, merged cells and several sheets`, async (t) => {
    const rates = utils.aoa_to_sheet([
      ['Interest rates', null, null, null],
      [null, 'Banks', null, 'Bonds'],
      [null, 'Buy', 'Sell', 'Buy'],
      ...[1, 2, 3, 4].map((month) => [
        new Date(Date.UTC(2024, month - 1, 1)),
        month + 0.1,
        month + 0.2,
        month / 100,
      ]),
    ]);
    rates['!merges'] = [utils.decode_range('B2:C2')];
    for (const row of [4, 5, 6, 7]) {
      rates[`A${row}`] = { t: 'n', v: 45_292 + [0, 31, 60, 91][row - 4]!, z: 'yyyy-mm-dd' };
      rates[`D${row}`] = { t: 'n', v: (row - 3) / 100, z: '0.00%' };
    }
    const jobs = utils.aoa_to_sheet([
      ['Month', 'Jobs'],
      ['2024-01', 5],
      ['2024-02', 6.5],
      ['2024-03', 7],
    ]);
    const notes = utils.aoa_to_sheet([['These are notes.'], ['They have no table.']]);
    const name = `book-${type}`;
    const folder = folderOf(name, {
      [`${name}.${type}`]: workbookOf(
        { Rates: rates, Jobs: jobs, Notes: notes, Sheet4: utils.aoa_to_sheet([[]]) },
        type,
      ),
    });
    const ran = await publish(folder, '--yes');
    t.is(ran.code, 0, ran.stderr);
    t.deepEqual(await published(database, `${name}_Rates.Banks_Sell`), {
      '2024-01-31': '1.2',
      '2024-02-29': '2.2',
      '2024-03-31': '3.2',
      '2024-04-30': '4.2',
    });
    t.deepEqual(Object.values(await published(database, `${name}_Rates.Bonds_Buy`)), ['1', '2', '3', '4']);
    t.deepEqual(Object.values(await published(database, `${name}_Jobs`)), ['5', '6.5', '7']);
    t.regex(ran.stdout, /2 tables loaded, 0 unchanged, 1 left out/);
    const description = readFileSync(path.join(folder, 'almanac.yml'), 'utf8');
    t.regex(description, /sheet: Notes\n +skip: a sheet of text\n/);
    t.notRegex(description, /Sheet4|guessed:/, 'an empty sheet leaves nothing out');
  });

test('files whose names differ in their date are vintages of one table, and a later file of that name joins them', async (t) => {
  const file = (values: number[]) =>
    ['Date,GDPX', ...values.map((value, at) => `${2020 + at},${value}`)].join('\n');
  const folder = folderOf('vintages', {
    '2024-01-31 gdp.csv': file([1, 2, 3]),
    '2024-02-29 gdp.csv.gz': gzipSync(file([1, 2, 3.5])),
  });
  const ran = await publish(folder, '--yes');
  t.is(ran.code, 0, ran.stderr);
  t.is((await published(database, 'gdp', '2024-02-01'))['2022-12-31'], '3');
  writeFileSync(path.join(folder, '2024-03-31 gdp.csv'), file([1, 2, 4, 5]));
  const again = await publish(folder);
  t.regex(again.stdout, /^2024-03-31 gdp\.csv: 1 series, 1 new, 1 revised, 2 unchanged/);
  t.is((await published(database, 'gdp', '2024-03-01'))['2022-12-31'], '3.5');
  t.is((await published(database, 'gdp'))['2022-12-31'], '4');
});

test('two texts that would become one series are refused, and both are named', async (t) => {
  const rows = [
    'Date,Series Key,Value',
    '2024-01-01,A B,1',
    '2024-01-01,A+B,2',
    '2024-02-01,A B,1',
    '2024-02-01,A+B,2',
    '2024-03-01,A B,1',
  ];
  const ran = await publish(folderOf('shared', { 'shared.csv': rows.join('\n') }));
  t.is(ran.code, 1);
  t.regex(ran.stderr, /"A B" and "A\+B" \(line 3\) both give the series id A_B/);
  t.is(await seriesRow(database, 'A_B'), undefined);
});

test('a bad cell stops only its file, with line and column, and the next run loads the corrected file', async (t) => {
  const good = 'Date,Fine\n2024-01-01,1\n2024-02-01,2\n2024-03-01,3\n';
  const bad = [
    'Date,Exports,Imports',
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
      (month) => `2024-0${month}-01,${month},${month === 4 ? 'oops' : month}`,
    ),
    ...[10, 11, 12].map((month) => `2024-${month}-01,1,2`),
  ];
  const folder = folderOf('mended', { 'a-good.csv': good, 'b-bad.csv': bad.join('\n') });
  const ran = await publish(folder);
  t.is(ran.code, 1);
  t.regex(
    ran.stderr,
    /b-bad\.csv: not loaded\. 1 row is not valid; nothing was stored\.\n {2}line 5, Imports: "oops"/,
  );
  t.is(await seriesRow(database, 'b-bad.Exports'), undefined);
  writeFileSync(path.join(folder, 'b-bad.csv'), bad.join('\n').replace('oops', '4'));
  const again = await publish(folder);
  t.regex(again.stdout, /1 table loaded, 1 unchanged\n/);
});

test('a file without a table fails the run, even with --yes, until it is skipped on purpose', async (t) => {
  const folder = folderOf('left-out', {
    'left-good.csv': 'Date,Rate\n2024-01-01,1\n2024-02-01,2\n2024-03-01,3\n',
    'left-names.csv': 'Name,Town\nAda,London\nPaul,Bern\n',
  });
  for (const flags of [['--yes'], ['--yes'], []]) {
    const ran = await publish(folder, ...flags);
    t.is(ran.code, 1);
    t.regex(ran.stderr, /No table was found in left-names\.csv\. Describe .*"guessed"/);
  }
  t.is(Object.keys(await published(database, 'left-good')).length, 3);
  const alone = await publish(path.join(folderOf('nothing', { 'nothing.csv': '' }), 'nothing.csv'));
  t.regex(alone.stderr, /\n[^\n]*1 table was not loaded\.\n/);
  const description = path.join(folder, 'almanac.yml');
  const text = readFileSync(description, 'utf8');
  const reason = /skip: '?(no line has a number: line 1 has "Name", "Town"\. A table has .*?)'?\n/.exec(
    text,
  )?.[1];
  t.truthy(reason, text);
  writeFileSync(description, text.replace(/^ *guessed: .*\n/m, ''));
  const ran = await publish(folder, '--json');
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual((JSON.parse(ran.stdout) as { left_out: unknown }).left_out, [
    { path: 'left-names.csv', sheet: null, reason, on_purpose: true },
  ]);
});

test('an unrecognised sheet with numbers next to a recognised one fails the run until it is confirmed', async (t) => {
  const sheet = (...rows: (string | number)[][]) => utils.aoa_to_sheet(rows);
  const jobs = sheet(['Month', 'Jobs'], ['2024-01', 5], ['2024-02', 6.5], ['2024-03', 7]);
  const weights = sheet(['Group', 'Weight'], ['Food', 40], ['Rent', 35], ['Other', 25]);
  const folder = folderOf('sheets', { 'sheets.xlsx': workbookOf({ Jobs: jobs, Weights: weights }, 'xlsx') });
  for (const flags of [['--yes'], ['--yes'], []]) {
    const ran = await publish(folder, ...flags);
    t.is(ran.code, 1);
    t.regex(ran.stderr, /No table was found in sheets\.xlsx, sheet Weights\. Describe /);
  }
  t.deepEqual(Object.values(await published(database, 'sheets')), ['5', '6.5', '7'], 'the other is loaded');
  const description = path.join(folder, 'almanac.yml');
  writeFileSync(description, readFileSync(description, 'utf8').replace(/^ *guessed: .*\n/m, ''));
  const ran = await publish(folder, '--json');
  t.is(ran.code, 0, ran.stderr);
  t.like(JSON.parse(ran.stdout), {
    unchanged: 1,
    left_out: [{ path: 'sheets.xlsx', sheet: 'Weights', on_purpose: true }],
  });
});

const months = (...values: number[]) =>
  utils.aoa_to_sheet([['Month', 'Jobs'], ...values.map((value, at) => [`2024-0${at + 1}`, value])]);

test('a sheet that was added to a workbook gets an entry and is loaded; the others are unchanged', async (t) => {
  const notes = utils.aoa_to_sheet([['These are notes.'], ['They have no table.']]);
  const book = (sheets: Record<string, WorkSheet>) =>
    workbookOf({ Jobs: months(5, 6, 7), ...sheets }, 'xlsx');
  const folder = folderOf('grown', { 'grown.xlsx': book({ Notes: notes }) });
  t.is((await publish(folder)).code, 0);
  const grown = { Notes: notes, Wages: months(1, 2, 3), More: notes };
  writeFileSync(path.join(folder, 'grown.xlsx'), book(grown));
  const reported = await publish(folder, '--dry-run');
  t.regex(
    reported.stderr,
    /almanac\.yml: 2 new entries\n\ngrown\.xlsx, sheet Wages: 3 rows of data were read\n/,
  );
  t.regex(reported.stderr, /grown\.xlsx, sheet More: left out, a sheet of text\n/);
  const ran = await publish(folder);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(Object.values(await published(database, 'grown_Wages')), ['1', '2', '3']);
  t.deepEqual(Object.values(await published(database, 'grown')), ['5', '6', '7']);
  t.regex((await publish(folder)).stdout, /^0 tables loaded, 2 unchanged, 2 left out/m);

  const description = path.join(folder, 'almanac.yml');
  const name = readFileSync(description, 'utf8').replace(/^tables:[^]*/m, '');
  writeFileSync(description, `${name}tables:\n  - { file: grown.xlsx, skip: not ours }\n`);
  t.regex(
    (await publish(folder)).stdout,
    /^0 tables loaded, 0 unchanged, 1 left out/m,
    'with all its sheets',
  );
  const first = `{ sheet: Jobs, file: grown.xlsx, skip: not ours }`;
  writeFileSync(description, `${name}tables:\n  - ${first}\n`);
  const found = JSON.parse((await publish(folder, '--dry-run', '--json')).stdout) as object;
  t.like(found, { left_out: { length: 3 }, unchanged: 1 }, 'a sheet is named in its entry, also the first');
});

test('an entry for a sheet that only some workbooks of a form have applies only to these', async (t) => {
  const old = workbookOf({ Jobs: months(5, 6, 7) }, 'xlsx');
  const files = ['form_2024-04-05.xlsx', 'form_2024-05-05.xlsx', 'form_2024-06-05.xlsx'];
  const folder = folderOf('form', Object.fromEntries(files.map((file) => [file, old])));
  t.is((await publish(folder, '--yes')).code, 0);
  const description = path.join(folder, 'almanac.yml');
  t.regex(readFileSync(description, 'utf8'), /file: form_\*\.xls\*\n/);
  for (const [at, file] of files.slice(1).entries())
    writeFileSync(
      path.join(folder, file),
      workbookOf({ Jobs: months(5, 6, 7), Wages: months(1, 2, 3 + at) }, 'xlsx'),
    );
  const ran = await publish(folder, '--yes');
  t.is(ran.code, 0, ran.stderr);
  t.regex(readFileSync(description, 'utf8'), /file: \[ form_2024-05-05\.xlsx, form_2024-06-05\.xlsx \]\n/);
  t.deepEqual(Object.values(await published(database, 'form_Wages')), ['1', '2', '4']);
});

test('of repeated rows the first is loaded and the others are reported; another bad row beside them stops the file', async (t) => {
  const months = Array.from({ length: 120 }, (_, at) =>
    new Date(Date.UTC(2010, at, 15)).toISOString().slice(0, 10),
  );
  const file = (last: string) => [
    'Date,Rate',
    ...months.map((month, at) => `${month},${at}`),
    '2012-03-16,999',
    `2020-01-15,${last}`,
  ];
  const folder = folderOf('twice', { 'twice.csv': file('oops').join('\n') });
  const refused = await publish(folder, '--yes');
  t.is(refused.code, 1);
  t.regex(refused.stderr, /1 row is not valid; nothing was stored\.\n {2}line 123, Rate: "oops"/);
  t.is(await seriesRow(database, 'twice'), undefined);
  writeFileSync(path.join(folder, 'twice.csv'), file('7').join('\n'));
  const ran = await publish(folder, '--yes');
  t.is(ran.code, 0, ran.stderr);
  t.regex(
    ran.stdout,
    /^twice\.csv: 1 series, 121 new, .*, 1 rejected\n {2}line 122, row: "twice, 2012-03-31", expected one row per observation/,
  );
  t.is((await published(database, 'twice'))['2012-03-31'], '26', 'the first');
});

test('a column that the entry does not name is reported, and not silently omitted', async (t) => {
  const long = (more: string) =>
    `Date,Country,Value${more}\n2024-01-01,Chad,1${more && ',x'}\n2024-01-01,Peru,2${more && ',y'}\n2024-02-01,Chad,3${more && ',z'}\n2024-02-01,Peru,3${more && ',z'}\n2024-03-01,Peru,3${more && ',z'}\n`;
  const folder = folderOf('unnamed', { 'unnamed.csv': long('') });
  t.is((await publish(folder)).code, 0);
  writeFileSync(path.join(folder, 'unnamed.csv'), long(',Region'));
  const ran = await publish(folder);
  t.is(ran.code, 1);
  t.regex(
    ran.stderr,
    /unnamed\.csv has "Region", which the entry does not mention: add it to values, dimensions or ignore/,
  );
});

test('--dry-run stores nothing and writes nothing', async (t) => {
  const folder = folderOf('dry', { 'dry.csv': 'Date,Rate\n2024-01-01,1\n2024-02-01,2\n2024-03-01,3\n' });
  const ran = await publish(folder, '--dry-run');
  t.is(ran.code, 0, ran.stderr);
  t.regex(ran.stdout, /^nothing stored \(--dry-run\): dry\.csv: 1 series, 3 new/);
  t.is(await seriesRow(database, 'dry'), undefined);
  t.throws(() => readFileSync(path.join(folder, 'almanac.yml')), { code: 'ENOENT' });
});

/** A server that answers with the text, or stops halfway. */
async function serverOf(text: string, { isCut = false } = {}): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] === '"1"') {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, { etag: '"1"', 'content-type': 'text/csv' });
    response.write(text);
    if (isCut) response.destroy();
    else response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rates.csv` };
}

test('a URL is fetched with limits, conditionally, and completely or not at all', async (t) => {
  const { server, url } = await serverOf('Date,Rate\n2024-01-01,1\n');
  const cut = await serverOf('Date,Rate\n', { isCut: true });
  t.teardown(() => {
    server.close();
    cut.server.close();
  });
  const fetched = await fetchFile(url);
  t.is(readFileSync(fetched?.file ?? '', 'utf8'), 'Date,Rate\n2024-01-01,1\n');
  t.is(fetched?.etag, '"1"');
  await fetched?.remove();
  t.is(await fetchFile(url, { etag: '"1"' }), null);
  t.regex((await failureOf(fetchFile(url, { bytesMax: 5 }))).message, /it is larger than 0 MB/);
  t.regex((await failureOf(fetchFile(cut.url))).message, /cannot be fetched: the server cannot be reached/);
  t.regex((await failureOf(fetchFile('ftp://example.org/a.csv'))).message, /http:\/\/ or https:\/\//);
  t.regex((await failureOf(fetchFile('https://user:secret@example.org/a.csv'))).message, /password/);
});
