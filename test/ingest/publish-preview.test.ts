// The preview of almanac publish: rows as they will be served, omitted parts, and guesses that are settled by picking a reading.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import iconv from 'iconv-lite';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { published, seriesRow } from './loading.ts';

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
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  return folder;
}
const descriptionOf = (folder: string) => readFileSync(path.join(folder, 'almanac.yml'), 'utf8');
/** Replaces an existing part of almanac.yml. */
function edit(folder: string, from: string | RegExp, to: string): void {
  const text = descriptionOf(folder);
  const edited = text.replace(from, to);
  if (edited === text) throw new Error(`almanac.yml has no ${String(from)}:\n${text}`);
  writeFileSync(path.join(folder, 'almanac.yml'), edited);
}
const facts = ['--set', 'source=Tests', '--set', 'unit=Dollars'];
/** Ambiguous dates: the first of twelve months, or the first twelve days of January. */
const twelve = (title: string) =>
  `Date,${title}\n${Array.from({ length: 12 }, (_, at) => `01/${String(at + 1).padStart(2, '0')}/2023,${at + 1}\n`).join('')}`;

/** The rows of the preview as tables: a heading, then cells. */
function rowsShown(stderr: string): string[][] {
  const lines = stderr.split('\n');
  const from = lines.findLastIndex((line) => /^ {2}as it will be served/.test(line));
  const rows: string[][] = [];
  for (const line of lines.slice(from + 1)) {
    if (!line.startsWith('    ')) break;
    rows.push(line.trim().split(/ {2,}/));
  }
  return rows;
}

test('the preview shows the first, middle and last points with their lines, as they will be served', async (t) => {
  const months = Array.from(
    { length: 24 },
    (_, at) => `${2020 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`,
  );
  const rows = months.map((month, at) => `${month},"${at + 1},234.5",${at === 23 ? 'p' : ''}\n`).join('');
  const folder = folderOf('served', { 'served.csv': `Month,Price,Status\n${rows}` });
  const ran = await almanac(['publish', folder, ...facts]);
  t.is(ran.code, 0, ran.stderr);
  const [heading, ...shown] = rowsShown(ran.stderr);
  t.deepEqual(heading, ['line', 'series', 'date', 'value', 'status']);
  t.deepEqual(shown[0], ['2', 'served', '2020-01-31', '1234.5']);
  t.deepEqual(shown.at(-1), ['25', 'served', '2021-12-31', '24234.5', 'p']);
  t.deepEqual(
    shown.map(([line]) => line),
    ['2', '3', '4', '14', '15', '23', '24', '25'],
  );
  const served = await published(database, 'served');
  for (const [, , date = '', value] of shown) t.is(served[date], value);
});

test('the preview names the omitted rows and columns, and the cells that will be refused, with their lines', async (t) => {
  const years = Array.from(
    { length: 12 },
    (_, at) => `${2010 + at},Chile,CL,${at}\n${2010 + at},Peru,PE,${at === 1 ? 'x9x' : at}\n`,
  );
  const folder = folderOf('left', {
    'left.csv': `Date,Country,Code,Price\n${years.join('')}Total,,,17\nSource: Office,,,\n`,
  });
  const ran = await almanac(['publish', folder, '--dry-run', ...facts]);
  t.regex(ran.stderr, /left out: 1 row, its text in Date is left out \(leave_out\); line 26: Total, 17\n/);
  t.regex(ran.stderr, /left out: 1 row, it has no number: a heading or a note; line 27: Source: Office\n/);
  t.regex(ran.stderr, /not loaded: the column Country, it follows from Code\n/);
  t.regex(ran.stderr, /refused: line 5, Price: "x9x", expected a number/);
  t.deepEqual(rowsShown(ran.stderr)[1], ['2', 'left', 'CL', '2010-12-31', '0']);
});

test('a second reading of dates is offered with an example, and picking it on a terminal loads that reading', async (t) => {
  const folder = folderOf('picked', { 'picked.csv': twelve('Rate') });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '7\n2\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.regex(
    ran.stderr,
    /date: "01\/02\/2023" in Date is:\n {2}1 {2}2 January 2023 \(M\/D\/YYYY\)\n {2}2 {2}1 February 2023 \(D\/M\/YYYY\): monthly\n/,
  );
  t.regex(ran.stderr, /"7" is not a number from 1 to 2\. Type one of them/);
  t.deepEqual(
    rowsShown(ran.stderr)[2],
    ['3', 'picked', '2023-02-28', '2'],
    'the rows are shown again as settled',
  );
  t.is((await published(database, 'picked'))['2023-12-31'], '12');
  t.like(await seriesRow(database, 'picked'), { frequency: 'monthly' });
  t.notRegex(descriptionOf(folder), /guessed:/);
  t.regex(descriptionOf(folder), /format: D\/M\/YYYY/);
});

test('Enter accepts the first reading; answering no to the last question keeps the picks and asks again in the next run', async (t) => {
  const folder = folderOf('kept', { 'kept.csv': twelve('Rate') });
  const refused = await almanac(['publish', folder, ...facts], { stdin: '2\nn\n', isTerminal: true });
  t.is(refused.code, 1);
  t.regex(refused.stderr, /almanac\.yml/);
  t.is(await seriesRow(database, 'kept'), undefined);
  t.regex(descriptionOf(folder), /format: D\/M\/YYYY/);
  t.regex(descriptionOf(folder), /guessed: \[ date \]/);
  const ran = await almanac(['publish', folder], { stdin: '\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.regex(ran.stderr, / 1 {2}1 February 2023 \(D\/M\/YYYY\)\n {2}2 {2}2 January 2023 \(M\/D\/YYYY\): daily/);
  t.is((await published(database, 'kept'))['2023-12-31'], '12');
});

test('without a terminal each reading is listed with its line for almanac.yml, and that line works', async (t) => {
  const folder = folderOf('lines', { 'lines.csv': twelve('Rate') });
  const ran = await almanac(['publish', folder, ...facts]);
  t.is(ran.code, 1);
  const [, line = ''] =
    /write in almanac\.yml {2}(date: \{.*\}); frequency: monthly under series/.exec(ran.stderr) ?? [];
  t.is(line, 'date: { column: Date, format: D/M/YYYY }');
  t.regex(
    descriptionOf(folder),
    /# guess: .*\n {4}# or date: \{ column: Date, format: D\/M\/YYYY \}; frequency: monthly under series -- if 1 February 2023 \(D\/M\/YYYY\): monthly\n {4}date: /,
  );
  edit(folder, /^ {4}date: .*$/m, `    ${line}`);
  edit(folder, /frequency: daily$/m, 'frequency: monthly');
  edit(folder, /\n.*\n {4}guessed: .*/, '');
  const again = await almanac(['publish', folder]);
  t.is(again.code, 0, again.stderr);
  t.is((await published(database, 'lines'))['2023-12-31'], '12');
});

test('a question that several tables share is asked once, and the answer is for all of them', async (t) => {
  const monthly = (title: string) => `Month,${title}\n2024-01,1\n2024-02,2\n2024-03,3\n`;
  const folder = folderOf('shared', {
    'rice.csv': monthly('Price'),
    'wheat.csv': monthly('Price'),
    'maize.csv': twelve('Price'),
  });
  const ran = await almanac(['publish', folder], {
    stdin: '1\nIndex, 2015 = 100\nOffice\nEUR\nUSD\ny\n',
    isTerminal: true,
  });
  t.is(ran.code, 0, ran.stderr);
  t.is(ran.stderr.match(/^series\.source: /gm)?.length, 1);
  t.is(ran.stderr.match(/^series\.unit: /gm)?.length, 3, 'a unit is of one table');
  t.regex(
    ran.stderr,
    /maize\.csv and 2 more: asked once for 3 tables\nseries\.source: The publisher of the values is not given/,
  );
  const units = [['maize', 'Index, 2015 = 100'], ['rice', 'EUR'], ['wheat', 'USD']] as const; // prettier-ignore
  for (const [id, unit] of units) t.like(await seriesRow(database, id), { unit, source: 'Office' });
});

test('tables with the same readings share a question, whatever cell shows the difference in each', async (t) => {
  const folder = folderOf('alike', {
    'alike-rice.csv': twelve('Rice'),
    'alike-wheat.csv': twelve('Wheat').replaceAll('/2023', '/2022'),
  });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '2\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.is(ran.stderr.match(/^date: "/gm)?.length, 1);
  t.is((await published(database, 'alike-rice'))['2023-12-31'], '12');
  t.is((await published(database, 'alike-wheat'))['2022-12-31'], '12');
});

test('a point before three digits is a guess whose readings show the resulting number', async (t) => {
  const folder = folderOf('marks', {
    'marks.csv': 'Month;Price\n2024-01;45.512\n2024-02;46.1\n2024-03;47.001\n'.replace('46.1\n', '46.100\n'),
  });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '2\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.regex(
    ran.stderr,
    /"45\.512" in Price is:\n {2}1 {2}45512: the point divides groups of digits\n {2}2 {2}45\.512: the point is the decimal mark\n/,
  );
  t.is((await published(database, 'marks'))['2024-01-31'], '45.512');
});

test('the day on which fiscal years end is picked or typed', async (t) => {
  const file = 'Fiscal year,GDP\n2017/18,1\n2018/19,2\n2019/20,3\n2020/21,4\n';
  const folder = folderOf('fiscal', {
    'fiscal-a.csv': file,
    'other.csv': file.replace('GDP', 'GNP').replaceAll('/', '-'),
  });
  const picked = await almanac(['publish', path.join(folder, 'fiscal-a.csv'), ...facts], {
    stdin: '2\ny\n',
    isTerminal: true,
  });
  t.is(picked.code, 0, picked.stderr);
  t.regex(
    picked.stderr,
    /The year "2017\/18" ends on:\n {2}1 {2}30 June 2018\n {2}2 {2}31 March 2018\n {2}3 {2}30 September 2018\n/,
  );
  t.is((await published(database, 'fiscal-a'))['2018-03-31'], '1');
  const typed = await almanac(['publish', path.join(folder, 'other.csv'), ...facts], {
    stdin: '04-05\ny\n',
    isTerminal: true,
  });
  t.is(typed.code, 0, typed.stderr);
  t.is((await published(database, 'other'))['2018-04-05'], '1');
});

test('annual values of a day in mid-year are of calendar years, or of the years that end on that day, as picked', async (t) => {
  const file = 'Date,Price\n2020-06-30,1\n2021-06-30,2\n2022-06-30,3\n2023-06-30,4\n';
  const folder = folderOf('midyear', { 'mid-year.csv': file });
  const picked = await almanac(['publish', folder, ...facts], { stdin: '2\ny\n', isTerminal: true });
  t.is(picked.code, 0, picked.stderr);
  t.regex(
    picked.stderr,
    /The year "2020-06-30" ends on:\n {2}1 {2}31 December 2020\n {2}2 {2}30 June 2020\n {2}3 {2}31 March 2021\n/,
  );
  t.is((await published(database, 'mid-year'))['2020-06-30'], '1');
});

test('omitted rows can be made to stop the load', async (t) => {
  const folder = folderOf('stop', { 'stop.csv': 'Year,Price\n2020,1\n2021,2\n2022,3\nTotal,6\n' });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '2\ny\n', isTerminal: true });
  t.is(ran.code, 1);
  t.regex(
    ran.stderr,
    /leave_out: Rows such as line 5, with "Total" in Year:\n {2}1 {2}they are left out\n {2}2 {2}the load stops at them\n/,
  );
  t.regex(
    ran.stderr,
    /as you have answered it\n(?:.*\n)* {2}refused: line 5, Year: "Total", expected a date/,
  );
  t.is(await seriesRow(database, 'stop'), undefined);
});

test('the date in the name of a file is the vintage, or the day of the load if that is picked', async (t) => {
  const folder = folderOf('named', {
    'named-2024-05-15.csv': 'Month,Price\n2024-01,1\n2024-02,2\n2024-03,3\n',
  });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '2\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(rowsShown(ran.stderr)[0], ['line', 'series', 'date', 'value']);
  t.regex(
    ran.stderr,
    /as it will be served.*\n {4}line {2}series {2}date {8}value {2}vintage\n.*2024-05-15\n/,
  );
  t.notRegex(descriptionOf(folder), /vintage: \{/);
});

/** Czech titles in windows-1250, whose few letters could also be French ones in windows-1252. */
const regions = iconv.encode(
  'Rok,Část,Počet\n2020,A,1\n2020,B,2\n2021,A,3\n2021,B,4\n2022,A,5\n2022,B,6\n',
  'windows-1250',
);

test('picking another encoding also converts the titles and texts of the entry', async (t) => {
  const folder = folderOf('encoded', { 'encoded.csv': regions });
  const first = await almanac(['publish', folder, ...facts]);
  t.is(first.code, 1, first.stderr);
  t.regex(descriptionOf(folder), /guessed: \[.*encoding.*\]/);
  const options = [...first.stderr.matchAll(/^ {4}(.*) \(([a-z0-9-]+)\): (?:it is so now|write in)/gm)];
  const at = options.findIndex(([, , name]) => name === 'windows-1250');
  t.true(at >= 0, first.stderr);
  const ran = await almanac(['publish', folder], { stdin: `${at + 1}\ny\n`, isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  const entry = descriptionOf(folder);
  t.regex(entry, /encoding: windows-1250/);
  t.regex(entry, /values: Počet/);
  t.regex(entry, /dimensions: \{ cast: Část \}|cast: Část/);
  t.is(Object.keys(await published(database, 'encoded')).length, 6);
});

test('an encoding edited by hand is refused with the resulting column names', async (t) => {
  const folder = folderOf('by-hand', { 'by-hand.csv': regions });
  const asked = await almanac(['publish', folder, ...facts]);
  t.is(asked.code, 1);
  t.regex(asked.stderr, /almanac\.yml/);
  edit(folder, /^( +(?:- )?)encoding: .*$/m, '$1encoding: macintosh');
  edit(folder, /guessed: .*/, '');
  const ran = await almanac(['publish', folder]);
  t.is(ran.code, 1);
  t.regex(
    ran.stderr,
    /the file has no column ".*".* Its columns are ".*"\. Their names depend on the encoding: after a change of "encoding"/,
  );
});

test('a table whose entry was edited is previewed by the edited entry before it is loaded', async (t) => {
  const folder = folderOf('reedited', { 'reedited.csv': 'Month,Price\n2024-01,1\n2024-02,2\n2024-03,3\n' });
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  edit(folder, 'first: 2', 'first: 3');
  const ran = await almanac(['publish', folder, '--dry-run']);
  t.regex(ran.stderr, /its entry was edited/);
  t.deepEqual(rowsShown(ran.stderr)[1], ['3', 'reedited', '2024-02-29', '2']);
  t.regex(ran.stderr, /not loaded|left out|as it will be served, of 2 points/);
});

test('an id that gets a number because another file has the same id is shown with the number', async (t) => {
  const file = 'Month,Price\n2024-01,1\n2024-02,2\n2024-03,3\n';
  const folder = folderOf('numbered', { 'twice.csv': file });
  mkdirSync(path.join(folder, 'below'));
  writeFileSync(path.join(folder, 'below', 'twice.csv'), file);
  const ran = await almanac(['publish', folder, ...facts]);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(rowsShown(ran.stderr)[1], ['2', 'twice.2', '2024-01-31', '1']);
  t.is((await published(database, 'twice.2'))['2024-01-31'], '1');
});

test('Enter keeps the id of an existing series, or another id can be typed', async (t) => {
  const file = 'Month,Price\n2024-01,1\n2024-02,2\n2024-03,3\n';
  t.is((await almanac(['publish', folderOf('first', { 'taken.csv': file }), ...facts])).code, 0);
  const folder = folderOf('second', { 'taken.csv': file.replaceAll(',1', ',9') });
  const ran = await almanac(['publish', folder, ...facts], { stdin: 'taken.other\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.regex(ran.stderr, /The series taken, "taken", exists, and would be revised:\n {2}1 {2}it is this series/);
  t.is((await published(database, 'taken'))['2024-01-31'], '1');
  t.is((await published(database, 'taken.other'))['2024-01-31'], '9');
});

test('files of one form share their choices and show the vintage of the first, by the date in its name', async (t) => {
  const file = (last: number) => `Month,Price\n2023-11,1\n2023-12,2\n2024-01,${last}\n`;
  const folder = folderOf('editions', { 'edition-2024-02.csv': file(3), 'edition-2024-03.csv': file(4) });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '1\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.is(ran.stderr.match(/vintage: The values/g)?.length, 1);
  t.deepEqual(rowsShown(ran.stderr)[1], ['2', 'edition', '2023-11-30', '1', '2024-02-29']);
  t.is((await published(database, 'edition'))['2024-01-31'], '4');
});

/** A year of monthly prices that ends with these. */
const priced = (...last: string[]) =>
  `Month,Price\n${[...Array.from({ length: 12 - last.length }, (_, at) => `${at + 1}.5`), ...last]
    .map((price, at) => `2024-${String(at + 1).padStart(2, '0')},${price}\n`)
    .join('')}`;

test('a lone sign in a cell means missing, is a status or stops the load, as picked', async (t) => {
  for (const [pick, name] of [
    ['2', 'signs-a'],
    ['3', 'signs-b'],
  ] as const) {
    const folder = folderOf(name, { [`${name}.csv`]: priced('@', '@') });
    const ran = await almanac(['publish', folder, ...facts], { stdin: `${pick}\ny\n`, isTerminal: true });
    t.regex(ran.stderr, /"@" alone in a cell, as in "@" in Price, line 12, means:\n {2}1 {2}missing\n/);
    if (pick === '3') {
      t.is(ran.code, 1);
      t.regex(ran.stderr, /refused: line 12, Price: "@", expected a number/);
      continue;
    }
    t.is(ran.code, 0, ran.stderr);
    t.deepEqual(rowsShown(ran.stderr).at(-1), ['13', name, '2024-12-31', 'missing', '@']);
    t.is((await published(database, name))['2024-12-31'], null);
  }
});

test('letters after numbers are a multiple, a status or a unit, as picked', async (t) => {
  const folder = folderOf('letters', { 'letters.csv': priced('1.5 M', '2.5 M') });
  const ran = await almanac(['publish', folder, ...facts], { stdin: '3\ny\n', isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.regex(
    ran.stderr,
    /"M" after a number, as in "1\.5 M" in Price, line 12:\n {2}1 {2}multiplies it: M is 1000000\n/,
  );
  t.is((await published(database, 'letters'))['2024-12-31'], '2.5');
});

test('if an edited entry cannot be loaded, the preview names the reason instead of rows; a month as vintage is its last day', async (t) => {
  const file = 'Month,Price\n2024-01,1\n2024-02,2\n2024-03,3\n';
  const folder = folderOf('odd', { 'odd-a.csv': file, 'odd-b.csv': file.replace('Price', 'Rate') });
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  const entry = descriptionOf(folder);
  for (const [line, shown] of [
    ['multiply: ten', /its rows cannot be shown: multiply: ten is not a factor/],
    ['vintage: "2024-13"', /its rows cannot be shown: The vintage 2024-13 is not a date/],
    ['vintage: 2024-05', /\n {4}2 {5}odd-b {3}2024-01-31 {2}1 {6}2024-05-31\n/],
  ] as const) {
    writeFileSync(
      path.join(folder, 'almanac.yml'),
      entry.replace(/^ {4}values: Rate$/m, `    values: Rate\n    ${line}`),
    );
    const ran = await almanac(['publish', folder, '--dry-run']);
    t.regex(ran.stderr, shown);
  }
  writeFileSync(
    path.join(folder, 'almanac.yml'),
    entry.replace(/^( +)id: odd-b$/m, '$1id: odd-b\n$1fiscal_year_end: 6-30'),
  );
  const ran = await almanac(['publish', folder, '--dry-run']);
  t.regex(
    ran.stderr,
    /its rows cannot be shown: series\.fiscal_year_end=6-30: a month and day, MM-DD is expected/,
  );
});
