// The questions of an almanac publish run, and its behaviour after a retraction; full tables, factors, SDMX-CSV and URLs, by the command.
import { createServer } from 'node:http';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { endChildren, startChild } from '../run/processes.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { published, seriesRow } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await endChildren();
  await database.close();
  await testDatabase.drop();
});
const settings = settingsOf(testDatabase.url);
const almanac = commandLine(settings);

function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  return folder;
}

const facts = ['--set', 'source=Tests', '--set', 'unit=Index'];
const monthly = (title: string, ...values: (number | string)[]) =>
  [`Date,${title}`, ...values.map((value, at) => `2024-0${at + 1}-01,${value}`)].join('\n');
const descriptionOf = (folder: string) => path.join(folder, 'almanac.yml');

/** Adds lines to the only entry of the description. */
function describe(folder: string, ...lines: string[]): void {
  const text = readFileSync(descriptionOf(folder), 'utf8').trimEnd();
  writeFileSync(descriptionOf(folder), [text, ...lines.map((line) => `    ${line}`), ''].join('\n'));
}

test('an entry that names no file of its folder is reported, by the whole folder alone; one that leaves a file out is not', async (t) => {
  const folder = folderOf('renamed', { 'renamed.csv': monthly('Yield', 1, 2, 3) });
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  const text = readFileSync(descriptionOf(folder), 'utf8');
  const entry = text.slice(text.indexOf('  - file:'));
  const other = (name: string, ...lines: string[]) =>
    [entry.replace('renamed.csv', name).trimEnd(), ...lines, ''].join('\n');
  writeFileSync(descriptionOf(folder), text + other('renamde-*.csv') + other('old.csv', '    skip: old'));
  const ran = await almanac(['publish', folder]);
  t.is(ran.code, 0, ran.stderr);
  t.regex(
    ran.stderr,
    /no file that is read \(.*\.csv.*\) is named renamde-\*\.csv: its entry loads nothing\. Correct/,
  );
  t.notRegex(ran.stderr, /old\.csv/);
  const { stdout } = await almanac(['publish', folder, '--json']);
  t.deepEqual(JSON.parse(stdout).entries_without_file, [['renamde-*.csv']]);
  t.notRegex((await almanac(['publish', path.join(folder, 'renamed.csv')])).stderr, /renamde/);
});

test('links to files are followed, links to folders are not: one that leads elsewhere is reported, and so are links that lead nowhere; the other files are loaded', async (t) => {
  const elsewhere = folderOf('elsewhere', { 'linked.csv': monthly('Yield', 1, 2, 3) });
  const folder = folderOf('circle', {});
  mkdirSync(path.join(folder, '2024'));
  writeFileSync(path.join(folder, '2024/here.csv'), monthly('Yield', 4, 5, 6));
  symlinkSync(path.join(elsewhere, 'linked.csv'), path.join(folder, 'linked.csv'));
  // A listing that follows these links never ends.
  for (let at = 0; at < 10; at += 1) symlinkSync('..', path.join(folder, `2024/again-${at}`));
  symlinkSync('2024', path.join(folder, 'latest'));
  const words = ['publish', folder, ...facts, '--json'];
  const ran = await almanac(words);
  t.is(ran.code, 0, ran.stderr);
  const paths = (stdout: string) =>
    (JSON.parse(stdout) as { loaded: { path: string }[] }).loaded.map((each) => each.path).sort();
  t.deepEqual(paths(ran.stdout), ['2024/here.csv', 'linked.csv']);

  const onlyLink = folderOf('only', {});
  for (const each of [folder, onlyLink]) symlinkSync(elsewhere, path.join(each, 'archive'));
  t.regex(
    (await almanac(['publish', onlyLink])).stderr,
    /has no CSV file.*archive: It is a link to a folder/,
  );
  symlinkSync('/nowhere', path.join(folder, 'dangling.csv'));
  symlinkSync('circle.csv', path.join(folder, 'circle.csv'));
  const refused = await almanac([...words, folder]);
  t.is(refused.code, 1);
  const { failed, unchanged } = JSON.parse(refused.stdout) as {
    failed: { path: string; reason: string }[];
    unchanged: number;
  };
  t.deepEqual([unchanged, failed.length], [2, 3], 'a folder that is named twice is published once');
  const reasons = Object.fromEntries(failed.map((each) => [each.path, each.reason]));
  t.deepEqual(Object.keys(reasons).sort(), ['archive', 'circle.csv', 'dangling.csv']);
  t.regex(reasons['archive'] ?? '', /a link to a folder elsewhere.*publish that folder itself/);
  t.regex(reasons['circle.csv'] ?? '', /It is a link that leads back to itself\. Delete or mend/);
  t.regex(reasons['dangling.csv'] ?? '', /It does not exist: it is a link that leads nowhere/);
});

test('two columns of one date are refused by their line, and nothing of the file is stored', async (t) => {
  const titles = [2023, 2022].flatMap((year) => [`March ${year}`, `January-March ${year}`]);
  const rows = ['Oil,100,310,90,280', 'Gas,200,610,190,580', 'Coal,50,155,60,175'];
  const folder = folderOf('columns', { 'columns.csv': [`Product,${titles.join()}`, ...rows].join('\n') });
  const ran = await almanac(['publish', folder, ...facts, '--yes']);
  t.is(ran.code, 1);
  t.regex(
    ran.stderr,
    /line 2, row: "columns, 2023-03-31, product Oil", expected one column per observation; another column of this line has the same series, date/,
  );
  t.is(await seriesRow(database, 'columns'), undefined);
});

test('a header that is not above the data is named, with the count of lines of the file', async (t) => {
  const folder = folderOf('headers', { 'headers.csv': monthly('Yield', 1, 2, 3) });
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  const text = readFileSync(descriptionOf(folder), 'utf8');
  const edited = async (...edits: readonly [string, string][]) => {
    writeFileSync(
      descriptionOf(folder),
      edits.reduce((now, [from, to]) => now.replace(from, to), text),
    );
    return (await almanac(['publish', folder, '--again'])).stderr;
  };
  const named =
    /headers\.csv, header: line (99|2) is not above line 2, the first line of data \(first\); headers\.csv has 4 lines/;
  t.regex(await edited(['header: 1', 'header: 99']), named);
  t.regex(await edited(['header: 1', 'header: [1, 2]']), named);
  t.regex(
    await edited(['header: 1', 'header: 99'], ['first: 2', 'first: 100']),
    /ends before line 100, .* \(first\): it has 4 lines/,
  );
});

test('on a terminal it asks whether the guesses are right, and loads them only after yes', async (t) => {
  const folder = folderOf('asked', { 'asked.csv': monthly('Yield', 1, 2, 3) });
  const ask = (stdin: string) => almanac(['publish', folder], { stdin, isTerminal: true });
  for (const answer of ['n\n', '\n', '', 'yesterday\n']) {
    const ran = await ask(`\n\n${answer}`); // the unit and the source stay unchanged
    t.is(ran.code, 1, JSON.stringify(answer));
    t.regex(ran.stderr, /Load 1 table\? \[y\/N\] /);
    t.is(await seriesRow(database, 'asked'), undefined);
  }
  const ran = await ask('\n\nYes\n');
  t.is(ran.code, 0, ran.stderr);
  t.is(Object.keys(await published(database, 'asked')).length, 3);
  t.notRegex(readFileSync(descriptionOf(folder), 'utf8'), /guessed:/);
  t.notRegex((await ask('')).stderr, /Load/, 'nothing is left to ask');
});

test('a terminal shows one line for the whole run, and twenty tables at its end; a file gets a line for each table', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 22 }, (_, at) => [`many_${10 + at}.csv`, monthly('Rate', at, 2, 3)]),
  );
  const run = (isScreen: boolean) =>
    almanac(['publish', folderOf(isScreen ? 'screen' : 'pipe', files), ...facts, '--dry-run'], { isScreen });
  const seen = await run(true);
  t.is(seen.code, 0, seen.stderr);
  const shown = seen.stderr.split('\r\u001B[K');
  t.true(
    shown.some((line) => /^\S+ \d+ % {2}\d+ of 22 tables {2}\d+ points/.test(line)),
    seen.stderr,
  );
  t.is(shown.at(-1), '', 'the line is gone at the end');
  const tables = /^nothing stored \(--dry-run\): many_\d+\.csv: 1 series, 3 new/gm;
  t.is(seen.stdout.match(tables)?.length, 20);
  t.regex(seen.stdout, /^… and 2 tables more\n22 tables would be loaded, 0 unchanged\n/m);
  const logged = await run(false);
  t.is(logged.stdout.match(tables)?.length, 22);
  t.false(logged.stderr.includes('\r'));
});

test('a full table deletes the points that it omits, including those of empty columns', async (t) => {
  const table = (...rows: string[]) => ['Date,FULLA,FULLB', ...rows].join('\n');
  const folder = folderOf('whole', {
    'whole.csv': table('2024-01-01,1,10', '2024-02-01,2,20', '2024-03-01,3,30'),
  });
  const ran = await almanac(['publish', folder, ...facts, '--yes']);
  t.is(ran.code, 0, ran.stderr);
  describe(folder, 'full: true');
  writeFileSync(path.join(folder, 'whole.csv'), table('2024-01-01,1,', '2024-03-01,4,'));
  const again = await almanac(['publish', folder]);
  t.is(again.code, 0, again.stderr);
  t.deepEqual(await published(database, 'FULLA'), { '2024-01-31': '1', '2024-03-31': '4' });
  t.deepEqual(await published(database, 'FULLB'), {}, 'the file has the column, and no value in it');
});

test('the id of an existing series is a guess, unless the file was loaded before', async (t) => {
  const rates = (...rows: string[]) => monthly('Buy rate,Sell rate', ...rows);
  const first = folderOf('first', {
    'gdp.csv': monthly('Rate', 1, 2, 3),
    'rates.csv': rates('1,2', '3,4', '5,6'),
  });
  const ran = await almanac(['publish', first, ...facts]);
  t.is(ran.code, 0, ran.stdout);
  const other = folderOf('other', {
    'gdp.csv': monthly('Rate', 7, 8, 9),
    'rates.csv': rates('7,8', '9,10', '11,12'),
  });
  const refused = await almanac(['publish', other, ...facts]);
  t.is(refused.code, 1);
  const shown = refused.stdout + refused.stderr;
  t.regex(shown, /guess {2}series\.id: gdp {2}\(a series gdp exists, "[^"]*", and would be revised/);
  t.regex(shown, /guess {2}series\.id: [^\n]* \(a series rates\.Buy_rate exists/);
  t.deepEqual(Object.values(await published(database, 'gdp')), ['1', '2', '3']);
  rmSync(descriptionOf(first));
  const again = await almanac(['publish', first, ...facts]);
  t.is(again.code, 0, again.stdout);
  t.is((await almanac(['publish', other, '--yes'])).code, 0);
  t.deepEqual(Object.values(await published(database, 'gdp')), ['7', '8', '9']);
});

test('a folder of the same name is another publication, unless it contains unchanged files that were loaded', async (t) => {
  const nameOf = (folder: string) => /^name: (.*)$/m.exec(readFileSync(descriptionOf(folder), 'utf8'))?.[1];
  const publish = (folder: string) => almanac(['publish', folder, ...facts]);
  const first = folderOf('same name', { 'shared.csv': monthly('Rate', 1, 2, 3) });
  t.is((await publish(first)).code, 0);
  const other = folderOf('same name', {
    'shared.csv': monthly('Rate', 7, 8, 9),
    'only.csv': monthly('Rate', 4, 5, 6),
  });
  t.is((await publish(other)).code, 1, 'the id is taken, and the file is not the one that was loaded');
  t.deepEqual(Object.values(await published(database, 'shared')), ['1', '2', '3']);
  t.deepEqual(Object.values(await published(database, 'only')), ['4', '5', '6']);
  t.deepEqual([nameOf(first), nameOf(other)], ['same-name', 'same-name-2']);
  for (const folder of [first, other]) {
    const name = nameOf(folder);
    rmSync(descriptionOf(folder));
    await publish(folder);
    t.is(nameOf(folder), name, 'without its almanac.yml it is the same one');
  }
});

test('facts given later replace guesses, but not confirmed facts', async (t) => {
  const folder = folderOf('later', {
    'later.csv': monthly('Yield', 1, 2, 3),
    'other.csv': monthly('Yield', 4, 5, 6),
  });
  t.is((await almanac(['publish', folder, '--set', 'source=Tests'])).code, 1, 'the units are guesses');
  const unit = ['--set', 'unit=Percent'];
  t.is((await almanac(['publish', folder, ...unit, '--dry-run'])).code, 0);
  const description = path.join(folder, 'almanac.yml');
  t.notRegex(readFileSync(description, 'utf8'), /Percent/, 'a dry run writes nothing');
  const ran = await almanac(['publish', path.join(folder, 'later.csv'), ...unit]);
  t.is(ran.code, 0, ran.stderr);
  t.like(await seriesRow(database, 'later'), { unit: 'Percent', source: 'Tests' });
  const text = readFileSync(description, 'utf8');
  t.regex(text, /# the command line\n +unit: "?Percent"?\n/);
  t.is(text.match(/guessed: \[ series\.unit \]/g)?.length, 1, 'of the file that was not named');
  const next = await almanac(['publish', folder, '--set', 'unit=Index', '--yes']);
  t.is(next.code, 0, next.stderr);
  t.like(await seriesRow(database, 'other'), { unit: 'Index' });
  t.like(await seriesRow(database, 'later'), { unit: 'Percent' });
});

test('the values are multiplied by the factor of the entry', async (t) => {
  const folder = folderOf('factor', { 'factor.csv': monthly('Yield', 1.5, 2, 3) });
  t.is((await almanac(['publish', folder, ...facts, '--dry-run'])).code, 0);
  t.is((await almanac(['publish', folder, '--set', 'source=Tests'])).code, 1, 'it waits with a guess');
  describe(folder, 'multiply: 1000');
  const ran = await almanac(['publish', folder, '--yes']);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(Object.values(await published(database, 'factor')), ['1500', '2000', '3000']);
});

test('SDMX-CSV is loaded without a question: dataflow, frequency, unit, status and dimensions', async (t) => {
  const rows = [
    'DATAFLOW,FREQ,CURRENCY,TIME_PERIOD,OBS_VALUE,OBS_STATUS,UNIT_MEASURE',
    'ECB:EXR(1.0),M,USD,2024-01,1.09,A,EUR',
    'ECB:EXR(1.0),M,USD,2024-02,1.08,P,EUR',
    'ECB:EXR(1.0),M,GBP,2024-01,0.86,A,EUR',
  ];
  const ran = await almanac(['publish', folderOf('sdmx', { 'download.csv': rows.join('\n') })]);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'EXR'), {
    '2024-01-31 USD': '1.09',
    '2024-02-29 USD': '1.08',
    '2024-01-31 GBP': '0.86',
  });
  t.like(await seriesRow(database, 'EXR'), { frequency: 'monthly', unit: 'EUR', source: 'ECB' });
});

test('a file whose load was retracted is loaded again by the next run', async (t) => {
  const folder = folderOf('taken-back', {
    'back-a.csv': monthly('Rate', 1, 2, 3),
    'back-b.csv': monthly('Rate', 7, 8),
  });
  const run = () => almanac(['publish', folder, ...facts, '--yes']);
  t.is((await run()).code, 0);
  for (const flags of [[], ['--erase']]) {
    const [remembered] = await database.query<{ load: number }>(
      `select load_no as load from data.published_files where path = 'back-a.csv'`,
    );
    const retracted = await almanac(['loads', 'retract', String(remembered?.load), ...flags]);
    t.is(retracted.code, 0, retracted.stderr);
    t.deepEqual(await published(database, 'back-a'), {});
    const again = await run();
    t.is(again.code, 0, again.stderr);
    t.regex(again.stdout, /1 table loaded, 1 unchanged\n/);
    t.deepEqual(Object.values(await published(database, 'back-a')), ['1', '2', '3']);
  }
  t.regex((await run()).stdout, /^0 tables loaded, 2 unchanged\n/);
});

test('a run deletes only the remains of a run that was killed while writing almanac.yml', async (t) => {
  const folder = folderOf('drafts', { 'drafts.csv': monthly('Rate', 1, 2, 3) });
  const ended = startChild(process.execPath, ['--eval', ''], { name: 'nothing' });
  await ended.exit();
  const dead = `almanac.yml.${ended.process.pid}.tmp`;
  const isNew = `almanac.yml.${ended.process.pid ?? 0}0.tmp`;
  const kept = [isNew, `almanac.yml.${process.ppid}.tmp`, `mine.almanac.yml.${ended.process.pid}.tmp`, 'almanac.yml.x.tmp', 'almanac.yml.tmp']; // prettier-ignore
  for (const name of [dead, ...kept]) {
    writeFileSync(path.join(folder, name), '');
    if (name !== isNew) utimesSync(path.join(folder, name), 0, 0);
  }
  const names = () => readdirSync(folder).filter((name) => name.endsWith('.tmp'));
  t.is((await almanac(['publish', folder, ...facts, '--dry-run'])).code, 0);
  t.is(names().length, kept.length + 1);
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  t.deepEqual(names(), kept.toSorted());
  writeFileSync(path.join(folder, dead), '');
  utimesSync(path.join(folder, dead), 0, 0);
  t.is((await almanac(['publish', folder])).code, 0, 'nothing has changed');
  t.deepEqual(names(), kept.toSorted());
});

test('a URL is published by the command, and again only once its file has changed', async (t) => {
  let text = monthly('Rate', 1, 2, 3);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).end(text);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fetched_rates.csv?token=secret-of-the-url`;
  const cwd = folderOf('web', {});
  const publish = async (...flags: string[]) => {
    const program = path.join(projectRoot, 'almanac.js');
    const child = startChild(process.execPath, [program, 'publish', url, ...flags], {
      name: 'almanac publish',
      cwd,
      env: { ...process.env, ...settings },
    });
    t.is(await child.exit(), 0, child.output());
    return child.output();
  };
  t.regex(await publish(...facts), /^Stored: fetched_rates\./m);
  t.deepEqual(Object.values(await published(database, 'fetched_rates')), ['1', '2', '3']);
  t.true(readFileSync(descriptionOf(cwd), 'utf8').includes(`file: ${url}\n`), 'where the command was called');
  t.regex(await publish(), /^0 tables loaded, 1 unchanged$/m);
  text = monthly('Rate', 1, 2, 4);
  t.regex(await publish(), /1 series, 0 new, 1 revised, 2 unchanged/);
  const named = await database.query<{ name: string }>(
    `select source_name as name from data.loads where source_name like '%fetched_rates%'`,
  );
  t.deepEqual(
    new Set(named.map(({ name }) => name)),
    new Set([url.replace(/\?.*$/, '')]),
    'a token in a query is not recorded',
  );
});
