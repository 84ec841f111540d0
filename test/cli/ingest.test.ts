// Every flag of `almanac ingest`, given on the command line: the stored data with it and without it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { datasets } from '../../ingest/datasets/datasets.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { published, rowCounts } from '../ingest/loading.ts';
import { changes, made, write, type Change } from './ingest-changes.ts';
import { commandLine, declaredCommands, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const almanac = commandLine(settingsOf(testDatabase.url));

const report = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'rejects.csv');
/** The effect of the flag: the same file loaded with it and without it, each into its own series. */
function changesBy({
  file,
  before,
  words = made,
  flag,
  stores,
  series = '<id>',
  at,
  otherwise,
  name: fileName,
}: Omit<Change, 'key'>) {
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
      const { code, stderr } = await load(isPath(input) ? input : write(input, fileName), [
        ...words,
        ...given,
      ]);
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

const flags: Record<string, (t: ExecutionContext, name: string) => Promise<void>> = {
  ...Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, changesBy(change)])),
  'dry-run': async (t) => {
    const words = ['ingest', 'observations', write('series_id,date,value\nDRY,2024-01-01,1'), ...made];
    const before = await allRows();
    const dry = await almanac([...words, '--dry-run']);
    t.is(dry.code, 0);
    t.regex(dry.stdout, /^nothing stored \(--dry-run\): 1 row read: 1 new/);
    t.like(JSON.parse((await almanac([...words, '--dry-run', '--json'])).stdout), {
      dry_run: true,
      points_new: 1,
    });
    t.deepEqual(await allRows(), before);
    t.regex((await almanac(words)).stdout, /^1 row read: 1 new/);
    t.deepEqual(await published(database, 'DRY'), { '2024-01-01': '1' });
  },
  // Their later states are tested in releases.test.ts.
  'release-at': changesBy({
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
    await changesBy({ file, flag: ['--release-with', 'r'], stores: {}, otherwise })(t, name);
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

/** How many rows are in the tables that a load writes, and the newest load. */
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

test.serial('options that matched nothing are reported on standard error', async (t) => {
  const input = write('series_id,date,value\nVAIN,2024-01-01,1');
  await almanac(['ingest', 'observations', input, ...made]);
  const again = await almanac(['ingest', 'observations', input, ...made, '--set', 'geography=Lahore']);
  t.is(again.code, 0);
  t.regex(
    again.stderr,
    /^note: VAIN exists, so --set geography=Lahore changed nothing: its geography is empty\./m,
  );
});

test.serial('FISCAL_YEAR_FIRST_MONTH is the first month of fytd for a load', async (t) => {
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
