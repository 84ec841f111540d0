// Every flag of `almanac ingest`, given on the command line: what is stored with it, and without it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { datasets } from '../../ingest/datasets/datasets.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { published, rowCounts } from '../ingest/loading.ts';
import { commandLine, declaredCommands, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const almanac = commandLine(settingsOf(testDatabase.url));
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));

type Stored = Record<string, string | null>;
interface Change {
  /** `<id>` stands for a series of this run alone, here and in the words. */
  file: string | Buffer;
  /** Loaded before the file, as of the first of January. */
  before?: string;
  /** The words beside the dataset, the file and the flag; without them, those that make a daily series. */
  words?: readonly string[];
  flag: readonly string[];
  /** The points of <id>, or of `series`, with the flag. */
  stores: Stored;
  series?: string;
  /** The vintage that is looked at; the newest unless given. */
  at?: string;
  /** The points without the flag, or what is said where nothing is stored. */
  otherwise: Stored | RegExp;
}

const made = ['--create', '--set', 'frequency=daily,unit=One,source=Tests'];
const report = path.join(folder, 'rejects.csv');
let files = 0;

function write(content: string | Buffer, name = `${++files}.csv`): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** What the flag changes: the same file loaded with it and without it, each into a series of its own. */
function changes({ file, before, words = made, flag, stores, series = '<id>', at, otherwise }: Change) {
  return async (t: ExecutionContext, name: string): Promise<void> => {
    for (const [id, given, outcome] of [
      [`${name}.without`, [], otherwise],
      [`${name}.with`, flag, stores],
    ] as const) {
      const named = (text: string) => text.replaceAll('<id>', id);
      const load = (input: string, rest: readonly string[]) =>
        almanac(['ingest', 'observations', input, '--report', report, ...rest].map(named));
      if (before !== undefined)
        t.is((await load(write(named(before)), [...words, '--vintage', '2024-01-01'])).code, 0);
      const input = typeof file === 'string' ? named(file) : file;
      const { code, stderr } = await load(isPath(input) ? input : write(input), [...words, ...given]);
      const stored = await published(database, named(series), at);
      if (outcome instanceof RegExp) {
        t.regex(stderr, outcome);
        t.true(code > 0);
        t.deepEqual(stored, {});
      } else {
        t.is(code, 0, stderr);
        t.deepEqual(stored, outcome, given.join(' '));
      }
    }
  };
}

function isPath(input: string | Buffer): input is string {
  return typeof input === 'string' && path.isAbsolute(input);
}

const fields = ['series_id', 'date', 'value'].map((name) => ({ name }));
const resources = ['resource.without', 'resource.with'].map((name) => ({
  name,
  path: path.basename(write(`series_id,date,value\n${name},2024-01-01,1`, `${name}.csv`)),
  schema: { fields },
}));
const dataPackage = write(JSON.stringify({ name: 'p', resources }), 'datapackage.json');

const flags: Record<string, (t: ExecutionContext, name: string) => Promise<void>> = {
  map: changes({
    file: 'Series,date,Price\n<id>,2024-01-01,1',
    flag: ['--map', 'value=Price,series_id=Series'],
    stores: { '2024-01-01': '1' },
    otherwise: /no column series_id/,
  }),
  set: changes({
    file: 'date,value\n2024-01-01,1',
    flag: ['--set', 'series_id=<id>,side=buy, to keep'],
    stores: { '2024-01-01 buy, to keep': '1' },
    otherwise: /no column series_id/,
  }),
  ignore: changes({
    file: 'series_id,date,value,note,more\n<id>,2024-01-01,1,a,b',
    flag: ['--ignore', 'note,more'],
    stores: { '2024-01-01': '1' },
    otherwise: { '2024-01-01 b a': '1' },
  }),
  create: changes({
    file: 'series_id,date,value,frequency,unit,source\n<id>,2024-01-01,1,daily,One,Tests',
    words: [],
    flag: ['--create'],
    stores: { '2024-01-01': '1' },
    otherwise: /line 2, series_id: "create.without"/,
  }),
  wide: changes({
    file: 'date,<id>\n2024-01-01,1',
    flag: ['--wide'],
    stores: { '2024-01-01': '1' },
    otherwise: /would be a dimension/,
  }),
  full: changes({
    before: 'series_id,date,value\n<id>,2024-01-01,1\n<id>,2024-01-02,2',
    file: 'series_id,date,value\n<id>,2024-01-01,1',
    flag: ['--full'],
    stores: { '2024-01-01': '1' },
    otherwise: { '2024-01-01': '1', '2024-01-02': '2' },
  }),
  'dry-run': async (t) => {
    const words = ['ingest', 'observations', write('series_id,date,value\nDRY,2024-01-01,1'), ...made];
    const before = await allRows();
    const dry = await almanac([...words, '--dry-run']);
    t.is(dry.code, 0);
    t.regex(dry.stdout, /^nothing kept \(--dry-run\): 1 rows read: 1 new/);
    t.like(JSON.parse((await almanac([...words, '--dry-run', '--json'])).stdout), {
      dry_run: true,
      points_new: 1,
    });
    t.deepEqual(await allRows(), before);
    t.regex((await almanac(words)).stdout, /^1 rows read: 1 new/);
    t.deepEqual(await published(database, 'DRY'), { '2024-01-01': '1' });
  },
  'skip-invalid': changes({
    file: 'series_id,date,value\n<id>,2024-01-01,1\n<id>,2024-01-02,x',
    flag: ['--skip-invalid'],
    stores: { '2024-01-01': '1' },
    otherwise: /line 3, value: "x"/,
  }),
  'skip-rows': changes({
    file: 'series_id,date,value\nunit,of,each\nand,its,source\n<id>,2024-01-01,1',
    flag: ['--skip-rows', '2'],
    stores: { '2024-01-01': '1' },
    otherwise: /line 2/,
  }),
  'skip-where': changes({
    file: 'series_id,date,value\n<id>,2024-01-01,1\n<id>,2024-01-02,"n/k, see below"',
    flag: ['--skip-where', 'value=n/k, see below'],
    stores: { '2024-01-01': '1' },
    otherwise: /line 3/,
  }),
  'map-value': changes({
    file: 'series_id,date,value\n<id>,2024-01-01,one',
    flag: ['--map-value', 'value=one=1'],
    stores: { '2024-01-01': '1' },
    otherwise: /line 2, value: "one"/,
  }),
  'date-format': changes({
    file: 'series_id,date,value\n<id>,03/02/2024,1',
    flag: ['--date-format', 'DD/MM/YYYY'],
    stores: { '2024-02-03': '1' },
    otherwise: /line 2, date: "03\/02\/2024"/,
  }),
  missing: changes({
    file: 'series_id,date,value\n<id>,2024-01-01,n/a\n<id>,2024-01-02,..',
    flag: ['--missing', 'n/a', '--missing', '..'],
    stores: { '2024-01-01': null, '2024-01-02': null },
    otherwise: /line 2, value: "n\/a"/,
  }),
  decimal: changes({
    file: 'series_id,date,value\n<id>,2024-01-01,"1,5"',
    flag: ['--decimal', ','],
    stores: { '2024-01-01': '1.5' },
    otherwise: /line 2, value: "1,5"/,
  }),
  multiply: changes({
    file: 'series_id,date,value\n<id>,2024-01-01,1.5',
    flag: ['--multiply', 'value=1000'],
    stores: { '2024-01-01': '1500' },
    otherwise: { '2024-01-01': '1.5' },
  }),
  thousands: changes({
    file: "series_id,date,value\n<id>,2024-01-01,1'234.5",
    flag: ['--thousands', "'"],
    stores: { '2024-01-01': '1234.5' },
    otherwise: /line 2, value: "1'234.5"/,
  }),
  prefix: changes({
    file: 'date,X\n2024-01-01,1',
    words: [...made, '--wide'],
    flag: ['--prefix', '<id>.'],
    series: '<id>.X',
    stores: { '2024-01-01': '1' },
    otherwise: {},
  }),
  resource: changes({
    file: dataPackage,
    flag: ['--resource', 'resource.with'],
    stores: { '2024-01-01': '1' },
    otherwise: /choose one by --resource/,
  }),
  delimiter: changes({
    file: 'series_id,date,value,Side; of\n<id>,2024-01-01,1,a; b',
    words: [...made, '--map', 'side=Side; of'],
    flag: ['--delimiter', ','],
    stores: { '2024-01-01 a; b': '1' },
    otherwise: /no column "Side; of"/,
  }),
  encoding: changes({
    file: 'series_id,date,value,side\n<id>,2024-01-01,1,é',
    flag: ['--encoding', 'windows-1252'],
    stores: { '2024-01-01 Ã©': '1' },
    otherwise: { '2024-01-01 é': '1' },
  }),
  'header-line': changes({
    file: 'A title\n\nseries_id,date,value\n<id>,2024-01-01,1',
    flag: ['--header-line', '3'],
    stores: { '2024-01-01': '1' },
    otherwise: /would be a dimension/,
  }),
  vintage: changes({
    file: 'series_id,date,value\n<id>,2024-01-01,1',
    flag: ['--vintage', '2024-02-01'],
    at: '2024-02-01',
    stores: { '2024-01-01': '1' },
    otherwise: {},
  }),
  // What becomes of them: releases.test.ts.
  'release-at': changes({
    file: 'series_id,date,value\n<id>,2024-01-01,1',
    flag: ['--release-at', '2199-12-16T10:00:00Z'],
    stores: {},
    otherwise: { '2024-01-01': '1' },
  }),
  'release-with': async (t, name) => {
    const entry = 'release_id,title,source,release_at,time_zone\nr,R,Tests,2199-12-16T10:00Z,UTC';
    t.is((await almanac(['ingest', 'calendar', write(entry)])).code, 0);
    const file = 'series_id,date,value\n<id>,2024-01-01,1';
    const otherwise = { '2024-01-01': '1' };
    await changes({ file, flag: ['--release-with', 'r'], stores: {}, otherwise })(t, name);
  },
  report: async (t) => {
    const input = write('series_id,date,value\nREPORT,2024-01-01,x');
    const { code } = await almanac(['ingest', 'observations', input, '--report', report, ...made]);
    t.is(code, 1);
    t.regex(readFileSync(report, 'utf8'), /^line,column,value,expected\n2,value,x,/);
  },
  describe: async (t) => {
    const { stdout, code } = await almanac(['ingest', '--describe', 'commodity-cities']);
    t.is(code, 0);
    const described = JSON.parse(stdout) as { key: string[]; columns: Record<string, unknown>[] };
    t.deepEqual(described.key, ['city_id']);
    t.deepEqual(described.columns[3], {
      name: 'latitude',
      type: 'number',
      required: false,
      meaning: 'degrees, north positive',
      expected: 'a number from -90 to 90',
    });
  },
  json: async (t) => {
    const input = write('series_id,date,value\nJSON,2024-01-01,1\nJSON,2024-01-02,\nJSON,2024-01-03,x');
    const words = ['ingest', 'observations', input, ...made, '--skip-invalid', '--report', report, '--json'];
    const { stdout, code } = await almanac(words);
    t.is(code, 0);
    const { seconds, rows_per_second, ...counts } = JSON.parse(stdout) as Record<string, unknown>;
    t.deepEqual(counts as object, {
      dry_run: false,
      rows_read: 3,
      points_new: 2,
      points_revised: 0,
      points_unchanged: 0,
      points_deleted: 0,
      rows_rejected: 1,
      rows_skipped: 0,
      notes: [],
    });
    t.is(typeof seconds, 'number');
    t.is(typeof rows_per_second, 'number');
  },
};

/** How many rows stand in the tables that a load writes, and the newest load. */
async function allRows(): Promise<object> {
  const loads = await database.query<object>('select load_no, dataset from data.loads order by load_no');
  return { ...(await rowCounts(database)), loads };
}

for (const [name, exercise] of Object.entries(flags))
  test.serial(`almanac ingest --${name} has the effect that its usage states`, (t) => exercise(t, name));

test('every flag of almanac ingest is exercised here', async (t) => {
  const declared = (await declaredCommands()).find(({ path }) => path.join() === 'ingest');
  const names = Object.keys(flags).map((name) => `--${name}`);
  t.deepEqual(names.sort(), declared?.flags.toSorted());
});

test('for an unknown dataset, an unknown flag and a missing file the message lists what exists, and the exit code is 2', async (t) => {
  for (const [words, message] of [
    [['--describe', 'navs'], new RegExp(datasets.map(({ name }) => name).join(', '))],
    [['observations', 'x.csv', '--wider'], /--wider/],
    [['observations'], /takes a dataset and a file/],
    [['observations', 'x.csv', 'y.csv'], /too many arguments for 'ingest'/],
    [['navs', 'x.csv'], new RegExp(`Allowed choices are ${datasets.map(({ name }) => name).join(', ')}`)],
    [['observations', 'x.csv', '--set', 'unit'], /--set takes name=value, not "unit"/],
    [['observations', 'x.csv', '--map', '=unit'], /--map takes name=value, not "=unit"/],
    [['observations', 'x.csv', '--skip-where', 'unit'], /--skip-where takes column=value, not "unit"/],
    [
      ['observations', 'x.csv', '--map-value', 'unit=a'],
      /--map-value takes column=value=other, not "unit=a"/,
    ],
    [['observations', 'x.csv', '--skip-rows', 'two'], /--skip-rows takes a whole number, not "two"/],
    [['observations', 'x.csv', '--header-line', '-1'], /--header-line/],
    [['observations', 'x.csv', '--header-line', '0'], /--header-line is the number of a line, 1 or more/],
  ] as const) {
    const { stderr, code } = await almanac(['ingest', ...words]);
    t.regex(stderr, message);
    t.is(code, 2, words.join(' '));
  }
});

test.serial('the command that is offered for columns that cannot be used is one that works', async (t) => {
  const input = write("date,value,Rank in '24,Note; of all\n2024-01-01,1,2,3", 'of two words.csv');
  const words = [
    'ingest',
    'observations',
    input,
    '--create',
    '--set',
    'series_id=OFFERED,frequency=daily,unit=One,source=Tests',
  ];
  const { stderr, code } = await almanac(words);
  t.is(code, 2);
  const [, offered = ''] = /can be used:\n {2}almanac (.*)\n/.exec(stderr) ?? [];
  const split = execFileSync('sh', ['-c', `printf '%s\\n' ${offered}`])
    .toString()
    .trimEnd()
    .split('\n');
  t.deepEqual(split.slice(0, words.length), words);
  t.is((await almanac(split)).code, 0);
  t.deepEqual(await published(database, 'OFFERED'), { '2024-01-01 3 2': '1' });
});

test.serial('what an option was given for in vain is said on standard error', async (t) => {
  const input = write('series_id,date,value\nVAIN,2024-01-01,1');
  await almanac(['ingest', 'observations', input, ...made]);
  const again = await almanac(['ingest', 'observations', input, ...made, '--set', 'geography=Lahore']);
  t.is(again.code, 0);
  t.regex(
    again.stderr,
    /^note: VAIN exists, so --set geography=Lahore changed nothing: its geography is empty\./m,
  );
});

test.serial('FISCAL_YEAR_FIRST_MONTH is the month from which a load counts fytd', async (t) => {
  const funds = write('fund_id,name,currency,source\nfiscal,Fiscal,PKR,Tests');
  const navs = write('fund,date,nav\nfiscal,2024-03-31,10\nfiscal,2024-05-31,11');
  t.is((await almanac(['ingest', 'funds', funds])).code, 0);
  for (const [month, from] of [
    ['4', '2024-04-01'],
    ['6', '2023-06-01'],
  ] as const) {
    const { code, stderr } = await almanac(['ingest', 'nav', navs], {
      env: { FISCAL_YEAR_FIRST_MONTH: month },
    });
    t.is(code, 0, stderr);
    t.deepEqual(await database.query('select fytd_from from data.fund_figures'), [{ fytd_from: from }]);
  }
});
