// Corrections of data on the command line: `almanac loads` and `almanac series`. Each action as text, and with --json as one document.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { createTestDatabase } from '../services/harness.ts';
import { commandLine, declaredCommands, documentOf, exercising, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
test.after.always(() => testDatabase.drop());

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const { almanac, exercised } = exercising(commandLine(settingsOf(testDatabase.url)));

test.serial('loads are listed, shown and retracted, as text and with --json as one document', async (t) => {
  const csv = path.join(folder, 'retracted.csv');
  writeFileSync(csv, 'date,value\n2024-01-01,1\n2024-01-02,2\n');
  const set = ['--create', '--set', 'series_id=RETRACTED,frequency=daily,unit=Index,source=Test'];
  documentOf(t, await almanac(['ingest', 'observations', csv, '--vintage', '2024-02-01', '--json', ...set]));
  const listed = documentOf(t, await almanac(['loads', 'list', '--limit', '1', '--json']));
  const [newest] = listed['loads'] as Record<string, unknown>[];
  t.like(newest, { dataset: 'observations', source_name: csv, points_new: 2, retracted_by: null });
  t.is(newest?.['not_retractable_because'], null);
  const load = String(newest?.['load_no']);
  t.like(documentOf(t, await almanac(['loads', 'show', load, '--json'])), {
    count: 1,
    series: ['RETRACTED'],
  });
  t.regex((await almanac(['loads', 'show', load])).stdout, /^points_new +2$[^]*^series +RETRACTED$/m);

  const tried = await almanac(['loads', 'retract', load, '--dry-run']);
  t.regex(
    tried.stdout,
    /^nothing stored \(--dry-run\): load \d+ retracted since [\d-]+: 0 points restored, 0 changed, 2 deleted/,
  );
  const done = documentOf(t, await almanac(['loads', 'retract', load, '--reason', 'a test', '--json']));
  t.like(done, { dry_run: false, effect: 'out_of_force', loads: [Number(load)], points_deleted: 2 });
  const { stdout } = await almanac(['loads', 'list', '--dataset', 'observations', '--limit', '2']);
  t.regex(stdout, new RegExp(`retracts ${load}\\n.*retracted by ${String(done['load'])}\\n$`));
  const older = await almanac(['loads', 'list', '--before', load, '--json']);
  t.true(
    (documentOf(t, older)['loads'] as { load_no: number }[]).every(({ load_no }) => load_no < Number(load)),
  );
  const again = await almanac(['loads', 'retract', load]);
  t.is(again.code, 1);
  t.regex(again.stderr, /is already retracted, by load \d+/);
  const { not_retractable_because: because } = documentOf(
    t,
    await almanac(['loads', 'show', load, '--json']),
  );
  t.true(again.stderr.includes(String(because)), again.stderr);
  const erased = await almanac(['loads', 'retract', load, '--erase']);
  t.regex(
    erased.stdout,
    /^load \d+ erased since 2024-02-01, by load \d+: 0 points restored, 2 changed, 0 deleted/,
  );
  t.regex(
    (await almanac(['loads', 'retract', 'all'])).stderr,
    /A load is a number, as in almanac loads list, not "all"/,
  );
});

test.serial('a series is renamed, as text and with --json as one document', async (t) => {
  const csv = path.join(folder, 'renamed.csv');
  writeFileSync(csv, 'date,value\n2024-01-01,1\n');
  const set = ['--create', '--set', 'series_id=BEFORE,frequency=daily,unit=Index,source=Test'];
  await almanac(['ingest', 'observations', csv, '--vintage', '2024-02-01', ...set]);
  const tried = await almanac(['series', 'rename', 'BEFORE', 'AFTER', '--dry-run']);
  t.is(tried.stdout, 'nothing stored (--dry-run): AFTER renamed from BEFORE\n');
  const done = documentOf(
    t,
    await almanac(['series', 'rename', 'BEFORE', 'AFTER', '--reason', 'a test', '--json']),
  );
  t.like(done, { dry_run: false, series: 'AFTER' });
  const load = documentOf(t, await almanac(['loads', 'show', String(done['load']), '--json']));
  t.like(load, { dataset: 'series', reason: 'a test' });
  for (const id of ['BEFORE', 'AFTER'])
    t.is((documentOf(t, await almanac(['vintages', id, '--json']))['vintages'] as unknown[]).length, 1, id);
  const again = await almanac(['series', 'rename', 'AFTER', 'BEFORE']);
  t.regex(again.stdout, /^BEFORE renamed from AFTER, by load \d+\n$/);
});

test.serial('facts of a series are set, as text and with --json as one document', async (t) => {
  const tried = await almanac(['series', 'set', 'BEFORE', 'name=A = B', 'decimals=1', '--dry-run']);
  t.is(
    tried.stdout,
    'nothing stored (--dry-run): BEFORE changed\nname: "BEFORE" → "A = B"\ndecimals: none → 1\n',
  );
  const done = documentOf(
    t,
    await almanac(['series', 'set', 'BEFORE', 'name=A = B', '--json', '--reason', 'a test']),
  );
  t.like(done, {
    dry_run: false,
    series: 'BEFORE',
    changes: [{ fact: 'name', from: 'BEFORE', to: 'A = B' }],
  });
  t.is(documentOf(t, await almanac(['loads', 'show', String(done['load']), '--json']))['dataset'], 'series');
  for (const [words, expected] of [
    [['name'], /A fact is given as name=value.*not "name"/],
    [['name=A', 'name=B'], /name is given twice/],
  ] as const) {
    const { code, stderr } = await almanac(['series', 'set', 'BEFORE', ...words]);
    t.is(code, 2);
    t.regex(stderr, expected);
  }
});

test.serial(
  'facts of many series are set from a file, as text and with --json as one document',
  async (t) => {
    const csv = path.join(folder, 'facts.csv');
    writeFileSync(csv, 'id,name,decimals\nBEFORE,Prices,1\n');
    const tried = await almanac(['series', 'set', '--from', csv, '--dry-run']);
    t.is(
      tried.stdout,
      'nothing stored (--dry-run): 1 series changed, 0 unchanged\nBEFORE name: "A = B" → "Prices"\nBEFORE decimals: none → 1\n',
    );
    const done = await almanac(['series', 'set', '--from', csv, '--reason', 'a test']);
    t.regex(done.stdout, /^1 series changed, 0 unchanged, by load \d+\nBEFORE name: /);
    const cleared = { stdin: 'id,decimals\nBEFORE,-\n' };
    t.like(documentOf(t, await almanac(['series', 'set', '--from', '-', '--json'], cleared)), {
      ...{ dry_run: false, series_changed: 1, series_unchanged: 0 },
      series: [{ series: 'BEFORE', changes: [{ fact: 'decimals', from: 1, to: null }] }],
    });
    const refused = await almanac(['series', 'set', '--from', '-'], { stdin: 'id,name\nNONE,N\n' });
    t.is(refused.code, 1);
    t.is(
      refused.stderr,
      'almanac: standard input has a fault; nothing was changed.\n  line 2: There is no series "NONE".\n',
    );
    for (const words of [[], ['BEFORE'], ['BEFORE', '--from', csv]])
      t.is((await almanac(['series', 'set', ...words])).code, 2, words.join(' '));
  },
);

test.serial('a series is merged into another, as text and with --json as one document', async (t) => {
  const csv = path.join(folder, 'merged.csv');
  writeFileSync(
    csv,
    'series_id,date,value\nMERGED,2024-01-01,1\nMERGED,2024-01-02,2\nGOES.ON,2024-01-01,3\n',
  );
  const set = ['--create', '--set', 'frequency=daily,unit=Index,source=Test'];
  await almanac(['ingest', 'observations', csv, '--vintage', '2024-02-01', ...set]);
  const merge = ['series', 'merge', 'MERGED', 'GOES.ON'];
  const refused = await almanac(merge);
  t.is(refused.code, 1);
  t.regex(
    refused.stderr,
    /different values of a point \(2024-01-01: 1 and 3\).*--prefer old or --prefer into/,
  );
  t.is((await almanac([...merge, '--prefer', 'both'])).code, 2);
  const tried = await almanac([...merge, '--prefer', 'old', '--dry-run']);
  t.is(
    tried.stdout,
    'nothing stored (--dry-run): GOES.ON has what was MERGED (1 point new, 1 revised, 1 in conflict)\n',
  );
  const done = documentOf(t, await almanac([...merge, '--prefer', 'into', '--json', '--reason', 'a test']));
  t.like(done, { dry_run: false, series: 'GOES.ON', points_new: 1, points_revised: 0, conflicts: 1 });
  const load = documentOf(t, await almanac(['loads', 'show', String(done['load']), '--json']));
  t.like(load, { dataset: 'observations', source_name: 'series.merged MERGED', series: ['GOES.ON'] });
  for (const id of ['MERGED', 'GOES.ON'])
    t.is((documentOf(t, await almanac(['vintages', id, '--json']))['vintages'] as unknown[]).length, 2, id);
  const back = await almanac(['series', 'restore', 'MERGED']);
  t.regex(back.stdout, /^MERGED restored, by load \d+\n$/);
});

test.serial('a break is declared and removed, as text and with --json as one document', async (t) => {
  const wish = ['series', 'break', 'GOES.ON', '--from', '2024-01-02'];
  const tried = await almanac([...wish, 'unit=Points', '--dry-run']);
  t.is(
    tried.stdout,
    'nothing stored (--dry-run): GOES.ON has a break at 2024-01-02\nunit: "Index" → "Points"\n',
  );
  const declared = [...wish, 'unit=Points', '--note', 'Rebased', '--reason', 'a test', '--json'];
  t.like(documentOf(t, await almanac(declared)), {
    ...{ dry_run: false, series: 'GOES.ON', changes: [{ fact: 'unit', from: 'Index', to: 'Points' }] },
  });
  t.is((await almanac([...wish, 'unit=X', '--remove'])).code, 2);
  t.is((await almanac(['series', 'break', 'GOES.ON', 'unit=X'])).code, 2);
  const removed = await almanac([...wish, '--remove']);
  t.regex(removed.stdout, /^GOES\.ON has no break at 2024-01-02 any more, by load \d+\n$/);
  t.is((await almanac([...wish, '--remove'])).code, 1);
});

test.serial('a series is continued by another one, as text and with --json as one document', async (t) => {
  const csv = path.join(folder, 'annual.csv');
  writeFileSync(csv, 'series_id,date,value\nANNUAL,2024,1\n');
  const set = ['--create', '--set', 'frequency=annual,unit=Index,source=Test'];
  await almanac(['ingest', 'observations', csv, '--vintage', '2024-02-01', ...set]);
  const wish = ['series', 'break', 'GOES.ON', '--from', '2030'];
  const other = ['--frequency', 'annual', '--continued-by', 'ANNUAL'];
  const tried = await almanac([...wish, ...other, '--dry-run']);
  t.is(tried.stdout, 'nothing stored (--dry-run): GOES.ON is continued by ANNUAL (annual) from 2030\n');
  t.like(documentOf(t, await almanac([...wish, ...other, '--note', 'Annual', '--json'])), {
    ...{ dry_run: false, series: 'GOES.ON', continued_by: 'ANNUAL' },
    changes: [{ fact: 'frequency', from: 'daily', to: 'annual' }],
  });
  t.is((await almanac([...wish, ...other])).code, 1);
  for (const words of [
    ['--frequency', 'annual'],
    other.slice(2),
    [...other, 'unit=X'],
    [...other, '--remove'],
  ])
    t.is((await almanac([...wish, ...words])).code, 2, words.join(' '));
  t.regex((await almanac([...wish, '--remove'])).stdout, /^GOES\.ON has no break at 2030 any more, by load/);
});

test.serial('a series is deleted and restored, as text and with --json as one document', async (t) => {
  for (const [action, what] of [
    ['delete', 'deleted'],
    ['restore', 'restored'],
  ] as const) {
    const tried = await almanac(['series', action, 'BEFORE', '--dry-run', '--reason', 'a test']);
    t.is(tried.stdout, `nothing stored (--dry-run): BEFORE ${what}\n`);
    const done = documentOf(t, await almanac(['series', action, 'BEFORE', '--json']));
    t.like(done, { dry_run: false, series: 'BEFORE' });
    const twice = await almanac(['series', action, 'BEFORE']);
    t.is(twice.code, 1);
  }
});

test.serial(
  'each flag of loads and series has been run in the tests above, and each subcommand',
  async (t) => {
    for (const { path, flags } of await declaredCommands()) {
      if (path[0] !== 'loads' && path[0] !== 'series') continue;
      const name = path.join(' ');
      t.deepEqual([...(exercised.get(name) ?? ['not run'])].sort(), flags.toSorted(), name);
    }
  },
);
