// The facts of series created by almanac publish: names from titles, files and columns; metadata next to the data. Missing facts are asked for and
// never invented.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { seriesRow } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});
const almanac = commandLine(settingsOf(testDatabase.url));

/** A folder of its own with the files. */
function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return folder;
}

const descriptionOf = (folder: string) => readFileSync(path.join(folder, 'almanac.yml'), 'utf8');
const two = 'Date,Level,Index\n2024-01-01,1,100\n2024-02-01,2,101\n2024-03-01,3,102\n';
const one = 'Date,Price\n2024-01-01,10.5\n2024-02-01,11\n2024-03-01,12.25\n';

test('an unstated unit and source are null, and the name is made of the file and the column', async (t) => {
  const ran = await almanac(['publish', folderOf('office-folder', { 'gdp-us__quarter.csv': two })]);
  t.is(ran.code, 0, ran.stderr);
  t.like(await seriesRow(database, 'gdp-us__quarter.Level'), {
    name: 'gdp us quarter, Level',
    unit: null,
    source: null,
  });
  t.regex(
    ran.stderr,
    /missing {2}columns\.Level\.unit: The unit of "Level" is not given in the file or its metadata/,
  );
  t.regex(ran.stderr, /missing {2}series\.source: /);
});

test('a line above the data is the title of the table; an uninformative file name is combined with that of the folder', async (t) => {
  const folder = folderOf('gold-prices', {
    'titled.csv': `Consumer prices of the capital,,\n${two}`,
    'annual.csv': one,
  });
  t.is((await almanac(['publish', folder])).code, 0);
  t.like(await seriesRow(database, 'titled.Index'), { name: 'Consumer prices of the capital, Index' });
  t.like(await seriesRow(database, 'annual'), { name: 'gold prices, annual' });
});

test('a file named only by a date has the title of its folder, without the folder’s sort number', async (t) => {
  const folder = folderOf('02_vintages_of_output', { '2024-05.csv': two.replaceAll('Level', 'OUTPUT') });
  t.is((await almanac(['publish', folder, '--yes'])).code, 0);
  t.regex(descriptionOf(folder), /name: vintages of output, \{column\}$/m);
});

test('a terminal asks for each missing fact, and the answers are facts of the column, of the table and of all tables', async (t) => {
  const folder = folderOf('asked', { 'asked-two.csv': two, 'data.csv': one });
  const stdin = ['USD', '2020 = 100', 'Office', 'EUR', 'Gold'].map((line) => `${line}\n`).join('');
  const ran = await almanac(['publish', folder], { stdin, isTerminal: true });
  t.is(ran.code, 0, ran.stderr);
  t.notRegex(ran.stderr, /Load \d+ table/, 'nothing is guessed');
  const rows = await Promise.all(
    ['asked-two.Level', 'asked-two.Index', 'data'].map((id) => seriesRow(database, id)),
  );
  t.like(rows[0], { unit: 'USD', source: 'Office' });
  t.like(rows[1], { unit: '2020 = 100', source: 'Office' });
  t.like(rows[2], { unit: 'EUR', source: 'Office', name: 'Gold' });
});

const datapackage = JSON.stringify({
  title: 'Gross domestic product',
  sources: [{ title: 'Statistics Office' }],
  licenses: [{ name: 'CC-BY-4.0', path: 'https://creativecommons.org/licenses/by/4.0/' }],
  resources: [
    { name: 'other', path: 'data/other.csv' },
    {
      name: 'gdp',
      path: 'data/meta-gdp.csv',
      description: 'Of the whole country.',
      schema: { fields: [{ name: 'Date' }, { name: 'Level', title: 'Current prices', unit: 'USD billion' }] },
    },
  ],
});

test('a data package in a parent folder states title, source, licence and columns; options override it', async (t) => {
  const folder = folderOf('packaged', { 'datapackage.json': datapackage, 'data/meta-gdp.csv': two });
  const ran = await almanac(['publish', folder, '--set', 'geography=Utopia', '--set', 'licence=Ours']);
  t.is(ran.code, 0, ran.stderr);
  t.like(await seriesRow(database, 'meta-gdp.Level'), {
    ...{ name: 'Gross domestic product, gdp, Current prices', unit: 'USD billion' },
    ...{ source: 'Statistics Office', licence: 'Ours', geography: 'Utopia' },
    ...{ licence_url: 'https://creativecommons.org/licenses/by/4.0/', description: 'Of the whole country.' },
  });
  t.like(await seriesRow(database, 'meta-gdp.Index'), {
    name: 'Gross domestic product, gdp, Index',
    unit: null,
  });
  t.regex(descriptionOf(folder), /# stated by datapackage\.json\n +source: Statistics Office/);
});

test('a licence that a data package names by words joined by _ is served in words', async (t) => {
  const folder = folderOf('licensed', {
    'datapackage.json': JSON.stringify({
      licenses: [{ name: 'public_domain_dedication_and_license' }],
      resources: [{ path: 'licensed-gold.csv' }],
    }),
    'licensed-gold.csv': one,
  });
  t.is((await almanac(['publish', folder])).code, 0);
  t.like(await seriesRow(database, 'licensed-gold'), { licence: 'Public domain dedication and license' });
});

test('CSV on the Web overrides the front matter of a README, which overrides detected facts', async (t) => {
  const csvw = {
    '@context': 'http://www.w3.org/ns/csvw',
    url: 'web.csv',
    'dc:title': 'Prices on the Web',
    tableSchema: { columns: [{ titles: 'Date' }, { titles: ['Yield'], unit: 'Percent a year' }] },
  };
  const readme = '---\ntitle: Other\nsource: Readme Office\nlicence: CC0\n---\n# Data\n';
  const folder = folderOf('web', {
    'web.csv': one.replace('Price', 'Yield'),
    'web.csv-metadata.json': JSON.stringify(csvw),
    'README.md': readme,
  });
  const ran = await almanac(['publish', folder]);
  t.is(ran.code, 0, `the unit that is stated is no guess: ${ran.stderr}`);
  t.like(await seriesRow(database, 'web'), {
    ...{ name: 'Prices on the Web, Yield', unit: 'Percent a year', source: 'Readme Office', licence: 'CC0' },
  });
});

for (const [name, text, reason] of [
  ['datapackage.json', '{"resources":', /datapackage\.json: it is not valid JSON/],
  ['datapackage.json', '{"resources":{}}', /datapackage\.json: it is not a data package \(resources: /],
  ['csv-metadata.json', '[]', /csv-metadata\.json: it is not metadata of CSV on the Web/],
  ['README.md', '---\ntitle: [\n---\n', /README\.md: its front matter is not valid YAML/],
  ['README.md', '---\nunit: {a: 1}\n---\n', /README\.md: in its front matter, unit: /],
  [
    'README.md',
    `---\nunit: ${'x'.repeat(300)}\n---\n`,
    /README\.md: the front matter, unit is "x+": expected text/,
  ],
  [
    'README.md',
    `---\na: &a [${'1,'.repeat(99)}1]\nb: &b [${'*a,'.repeat(99)}*a]\nc: [${'*b,'.repeat(99)}*b]\n---\n`,
    /README\.md: its front matter is not valid YAML/,
  ],
  ['datapackage.json', ' '.repeat(4_000_001), /datapackage\.json: it is larger than 4 MB/],
] as const)
  test(`unreadable metadata is named, and its data is not loaded: ${name}, ${text.slice(0, 30)}`, async (t) => {
    const ran = await almanac(['publish', folderOf('hostile', { 'hostile.csv': one, [name]: text })]);
    t.is(ran.code, 1);
    t.regex(ran.stderr, reason);
    t.is(await seriesRow(database, 'hostile'), undefined);
  });

test('placeholders in metadata are text', async (t) => {
  const folder = folderOf('braces', {
    'braces.csv': one,
    'README.md': '---\ntitle: "{Price} of {file}"\n---\n',
  });
  t.is((await almanac(['publish', folder])).code, 0);
  t.like(await seriesRow(database, 'braces'), { name: '(Price) of (file)' });
});
