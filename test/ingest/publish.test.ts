// almanac publish with a real PostgreSQL: the tables it detects in folders of files, the tables it loads, and the effect of a second run.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
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

/** A new folder with the files. Its name is that of the publication. */
function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  return folder;
}

const descriptionOf = (folder: string) => readFileSync(path.join(folder, 'almanac.yml'), 'utf8');
const gold = 'Date,Price\n2024-01-01,10.5\n2024-02-01,11\n2024-03-01,12.25\n2024-04-01,\n';
const facts = ['--set', 'source=Tests', '--set', 'unit=Dollars'];

test('a folder without guesses is loaded at once, and its series are named', async (t) => {
  const folder = folderOf('plain', { 'plain-gold.csv': gold });
  const ran = await almanac(['publish', folder, ...facts]);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'plain-gold'), {
    '2024-01-31': '10.5',
    '2024-02-29': '11',
    '2024-03-31': '12.25',
    '2024-04-30': null,
  });
  t.like(await seriesRow(database, 'plain-gold'), { frequency: 'monthly', unit: 'Dollars', source: 'Tests' });
  t.regex(ran.stdout, /^Stored: plain-gold\. .*GET \/v1\/series\/plain-gold\)/m);
  t.notRegex(descriptionOf(folder), /guessed:/);
});

test('guesses are refused without a terminal, facts beside them are loaded, and --yes accepts and confirms the guesses', async (t) => {
  const folder = folderOf('guessing', { 'guessed-gold.csv': gold.replace('Price', 'Yield') });
  const refused = await almanac(['publish', folder]);
  t.is(refused.code, 1);
  t.regex(refused.stderr, /guess {2}series\.unit: "?%"? {2}\(words of a title or a name\)/);
  t.regex(refused.stderr, /sure {3}series\.frequency: monthly/);
  t.is(await seriesRow(database, 'guessed-gold'), undefined);
  t.regex(descriptionOf(folder), /guessed: \[ series\.unit \]/);
  const again = await almanac(['publish', folder]);
  t.is(again.code, 1, 'what was guessed in an earlier run is still a guess');
  const accepted = await almanac(['publish', folder, '--yes']);
  t.is(accepted.code, 0, accepted.stderr);
  t.notRegex(descriptionOf(folder), /guessed:/);
  t.is(Object.keys(await published(database, 'guessed-gold')).length, 4);
});

test('a second run loads only what has changed, also from another machine', async (t) => {
  const files = { 'again-a.csv': gold, 'again-b.csv': gold };
  const folder = folderOf('again', files);
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  t.regex((await almanac(['publish', folder])).stdout, /^0 tables loaded, 2 unchanged\n/);
  const elsewhere = folderOf('again', {
    ...files,
    'almanac.yml': descriptionOf(folder),
    'again-b.csv': gold.replace('12.25', '13'),
  });
  const ran = JSON.parse((await almanac(['publish', elsewhere, '--json'])).stdout) as {
    loaded: object[];
    unchanged: number;
  };
  t.like(ran, { unchanged: 1, loaded: [{ path: 'again-b.csv', points_revised: 1, points_unchanged: 3 }] });
});

test('an edited fact of one column changes its series, and facts that the entry does not state stay', async (t) => {
  const wide = 'Month,Alpha,Beta\n2024-01,1,2\n2024-02,3,4\n2024-03,5,6\n2024-04,7,8\n';
  const folder = folderOf('kept', { 'kept.csv': wide });
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  const edited = (text: string) => {
    const others = descriptionOf(folder).replace(/^ +columns: .*\n/m, '');
    const columns = `columns: { Alpha: { description: ${text} } }`;
    writeFileSync(path.join(folder, 'almanac.yml'), others.replace(/^( +)series:/m, `$1${columns}\n$&`));
    return almanac(['publish', folder]);
  };
  t.is((await edited('First')).code, 0);
  t.is((await almanac(['series', 'set', 'kept.Beta', 'description=By hand'])).code, 0);
  const ran = await edited('Second');
  t.is(ran.code, 0, ran.stderr);
  t.like(await seriesRow(database, 'kept.Alpha'), { description: 'Second' });
  t.like(await seriesRow(database, 'kept.Beta'), { description: 'By hand' });
});

test('a data package is loaded again when the file that it names has changed', async (t) => {
  const resources = [{ name: 'packed-oil', path: 'packed-oil.csv' }];
  const tables = [
    {
      file: 'datapackage.json',
      dataset: 'observations',
      create: true,
      set: { frequency: 'daily', unit: 'Dollars', source: 'Tests' },
    },
    { file: 'packed-oil.csv', skip: 'the package names it' },
  ];
  const folder = folderOf('packed', {
    'datapackage.json': JSON.stringify({ resources }),
    'packed-oil.csv': 'date,value\n2024-01-02,75\n',
    'almanac.yml': JSON.stringify({ version: 1, name: 'packed', tables }), // JSON is YAML
  });
  const first = await almanac(['publish', folder]);
  t.is(first.code, 0, first.stderr);
  t.deepEqual(await published(database, 'packed-oil'), { '2024-01-02': '75' });
  t.regex((await almanac(['publish', folder])).stdout, /^0 tables loaded, 1 unchanged/);
  writeFileSync(path.join(folder, 'packed-oil.csv'), 'date,value\n2024-01-02,76\n');
  t.is((await almanac(['publish', folder])).code, 0);
  t.deepEqual(await published(database, 'packed-oil'), { '2024-01-02': '76' });
});

test('an edit of the description is reported before it is loaded, and changes the facts of the series', async (t) => {
  const folder = folderOf('edited', { 'edited-gold.csv': gold });
  t.is((await almanac(['publish', folder, ...facts])).code, 0);
  writeFileSync(
    path.join(folder, 'almanac.yml'),
    descriptionOf(folder).replace('unit: Dollars', 'unit: Euros'),
  );
  const ran = await almanac(['publish', folder]);
  t.is(ran.code, 0, ran.stderr);
  t.regex(
    ran.stderr,
    /edited-gold\.csv: its entry was edited since it was loaded\n {2}series\.unit: Dollars → Euros/,
  );
  t.like(await seriesRow(database, 'edited-gold'), { unit: 'Euros' });
});
