// The watched folder: what is taken and when, where it goes, what its reports say, and that nothing is loaded twice.
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { tryLockInbox } from '../../ingest/publisher/inbox/inbox.sql.ts';
import { attemptsMax } from '../../ingest/publisher/inbox/load-file.ts';
import { describeInbox } from '../../ingest/publisher/inbox/standing.ts';
import { stillMs } from '../../ingest/publisher/inbox/sightings.ts';
import { InboxWatch } from '../../ingest/publisher/inbox/watch.ts';
import type { Database } from '../../kernel/database.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { published, seriesRow } from './loading.ts';
import { csv, monthlySeries, startWatching, type WatchedFolder } from './watching.ts';

const testDatabase = await createTestDatabase();
const { database, publisher, clock, folder } = startWatching(test, testDatabase.url, '2026-11-23T10:15:00Z');
test.after.always(() => testDatabase.drop());
const almanac = commandLine(settingsOf(testDatabase.url));

const loadsOf = (sourceName: string) =>
  database.query<{ load: number }>(
    'select load_no as load from data.loads where source_name = $1 order by 1',
    [sourceName],
  );
const valuesOf = async (id: string) => Object.values(await published(database, id));
const reportOf = (inbox: WatchedFolder, name: string) => inbox.read(`rejected/${name}.report.txt`);
const never = new AbortController().signal;

/** Of another process that watches the folder. */
const watchOf = ({ directory }: WatchedFolder) =>
  new InboxWatch({ database: publisher, clock, log: silentLog, directory, seriesTimeZone: 'UTC' });

/** The publisher's database; before each statement of that text `act` is called with its values, and may fail it. */
function onStatement(statement: RegExp, act: (values: readonly unknown[]) => void): Database {
  return {
    ...publisher,
    transaction: (work) =>
      publisher.transaction((on) =>
        work({
          ...on,
          async query(text, values, name) {
            if (statement.test(text)) act(values ?? []);
            return on.query(text, values, name);
          },
        }),
      ),
  };
}

const sure = (title: string, value: number) =>
  [
    'DATAFLOW,FREQ,CURRENCY,TIME_PERIOD,OBS_VALUE,OBS_STATUS,UNIT_MEASURE',
    `ECB:${title}(1.0),M,USD,2024-01,${value},A,EUR`,
    `ECB:${title}(1.0),M,USD,2024-02,1.08,P,EUR`,
    `ECB:${title}(1.0),M,GBP,2024-01,0.86,A,EUR`,
  ].join('\n');

test.serial(
  'a file that fits an entry is loaded once it is complete, and moved to done under a name with the instant',
  async (t) => {
    const inbox = folder(monthlySeries('plain', 'rates-*.csv', 'PLAIN'));
    inbox.put('rates-a.csv', csv(1, 2));
    await inbox.look();
    clock.advance(stillMs - 1);
    await inbox.look();
    t.deepEqual(inbox.names(), ['rates-a.csv'], 'it may still be written to');
    clock.advance(1);
    await inbox.look();
    t.deepEqual(inbox.names(), []);
    t.deepEqual(inbox.names('done'), ['rates-a.2026-11-23T101510Z.csv']);
    t.deepEqual(inbox.names('rejected'), []);
    t.deepEqual(inbox.names('.taken'), []);
    t.deepEqual(await published(database, 'PLAIN'), { '2024-01-31': '1', '2024-02-29': '2' });
    t.deepEqual(await inbox.watch.standing(), { waiting: 0, oldestSeconds: 0, rejected: 0 });
    t.like(inbox.watch.counts, { loaded: 1, rejected: 0 });
  },
);

test.serial('a file that grows is taken only when it has stopped, however long that lasts', async (t) => {
  const inbox = folder(monthlySeries('growing', 'growing.csv', 'GROWING'));
  inbox.put('growing.csv', 'Date,Value\n2024-01,1');
  for (let month = 2; month <= 6; month += 1) {
    await inbox.look();
    clock.advance(stillMs - 1);
    appendFileSync(path.join(inbox.directory, 'growing.csv'), `\n2024-0${month},${month}`);
  }
  t.like(await inbox.watch.standing(), { waiting: 1, oldestSeconds: (5 * (stillMs - 1)) / 1000 });
  await inbox.settle();
  t.deepEqual(await valuesOf('GROWING'), ['1', '2', '3', '4', '5', '6']);
});

test.serial(
  'hidden files, those that programs have not finished, and almanac.yml are left alone',
  async (t) => {
    const inbox = folder(monthlySeries('unfinished', '*', 'UNFINISHED'));
    const names = [
      '.a.csv',
      'a.csv.part',
      'a.tmp',
      'a.csv.filepart',
      'A.CSV.CRDOWNLOAD',
      '~$a.xlsx',
      'almanac.yml~',
    ];
    for (const name of names) inbox.put(name, csv(1));
    await inbox.settle();
    for (const name of [...names, 'almanac.yml']) t.true(inbox.has(name), name);
    t.is(await seriesRow(database, 'UNFINISHED'), undefined);
    t.like(await inbox.watch.standing(), { waiting: 0 });
    renameSync(path.join(inbox.directory, 'a.csv.part'), path.join(inbox.directory, 'a.csv'));
    await inbox.settle();
    t.deepEqual(await valuesOf('UNFINISHED'), ['1']);
  },
);

test.serial('links, pipes and folders are neither followed nor moved', async (t) => {
  const inbox = folder(monthlySeries('links', '*', 'LINKS'));
  const elsewhere = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'secret.csv');
  writeFileSync(elsewhere, csv(1));
  symlinkSync(elsewhere, path.join(inbox.directory, 'link.csv'));
  symlinkSync('/nowhere', path.join(inbox.directory, 'dangling.csv'));
  mkdirSync(path.join(inbox.directory, 'folder.csv'));
  writeFileSync(path.join(inbox.directory, 'folder.csv/inner.csv'), csv(1));
  execFileSync('mkfifo', [path.join(inbox.directory, 'pipe.csv')]);
  await inbox.settle();
  t.deepEqual(inbox.names(), ['dangling.csv', 'folder.csv', 'link.csv', 'pipe.csv']);
  t.is(await seriesRow(database, 'LINKS'), undefined);
  t.regex((await describeInbox(inbox.directory)).detail, /; 0 files wait; 4 are not taken, such as /);
});

test.serial('a file that becomes a link after it was seen is not followed', async (t) => {
  const inbox = folder(monthlySeries('swapped', '*', 'SWAPPED'));
  const elsewhere = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'secret.csv');
  writeFileSync(elsewhere, csv(1));
  inbox.put('swapped.csv', csv(2));
  await inbox.look();
  // As if it were exchanged in the moment in which it is taken.
  mkdirSync(path.join(inbox.directory, '.taken/2026-11-23T101500Z-00000000.0'));
  symlinkSync(
    elsewhere,
    path.join(inbox.directory, '.taken/2026-11-23T101500Z-00000000.0/swapped-later.csv'),
  );
  await inbox.settle();
  t.deepEqual(inbox.names('rejected'), ['swapped-later.csv', 'swapped-later.csv.report.txt']);
  t.regex(reportOf(inbox, 'swapped-later.csv'), /It cannot be taken: it is a symbolic link\./);
  t.deepEqual(await valuesOf('SWAPPED'), ['2'], 'and the others are loaded');
});

test.serial('a folder whose done is a link elsewhere is not worked on', async (t) => {
  const inbox = folder(monthlySeries('linked', '*', 'LINKED'));
  symlinkSync(tmpdir(), path.join(inbox.directory, 'done'));
  inbox.put('a.csv', csv(1));
  await t.throwsAsync(inbox.settle(), { message: /done must be a folder, and no link to one/ });
  t.true(inbox.has('a.csv'));
  t.is(await seriesRow(database, 'LINKED'), undefined);
});

test.serial(
  'a file with bad rows is rejected with a report of each cell, stores nothing, and delays no other',
  async (t) => {
    const inbox = folder(monthlySeries('bad', '*.csv', '{file}'));
    inbox.put('first-bad.csv', csv(1, ...Array.from({ length: 11 }, () => 'x')));
    inbox.put('good-one.csv', csv(3));
    const time = new Date('2026-11-23T09:00:00Z');
    utimesSync(path.join(inbox.directory, 'first-bad.csv'), time, time);
    await inbox.settle();
    t.deepEqual(inbox.names(), []);
    t.deepEqual(inbox.names('rejected'), ['first-bad.csv', 'first-bad.csv.report.txt']);
    const report = reportOf(inbox, 'first-bad.csv');
    t.regex(
      report,
      /^first-bad\.csv was not loaded at 2026-11-23T\d\d:\d\d:\d\dZ, and nothing of it is stored\.\n\n11 rows are not valid/,
    );
    t.regex(report, /\n {2}line 3, Value: "x", expected a number[^]*\n {2}line 13, /);
    t.true(report.includes(`mv ${inbox.directory}/rejected/first-bad.csv ${inbox.directory}/first-bad.csv`));
    t.notRegex(report, /\.taken/);
    t.is(await seriesRow(database, 'first-bad'), undefined);
    t.deepEqual(await valuesOf('good-one'), ['3']);
    t.like(await inbox.watch.standing(), { waiting: 0, rejected: 1 });
    t.deepEqual(await describeInbox(inbox.directory), {
      detail: `${inbox.directory}: 1 entries; 0 files wait; 1 rejected: each has a report beside it`,
      needsSomebody: true,
    });
  },
);

test.serial(
  'a corrected file that is put in again is loaded, and a second rejected file of a name overwrites none',
  async (t) => {
    const inbox = folder(monthlySeries('again', 'again.csv', 'AGAIN'));
    for (const text of [csv('x'), csv('y')]) {
      inbox.put('again.csv', text);
      await inbox.settle();
    }
    const rejected = inbox.names('rejected').filter((name) => !name.endsWith('.report.txt'));
    t.is(rejected.length, 2);
    t.deepEqual(rejected.map((name) => inbox.read(`rejected/${name}`)).sort(), [csv('x'), csv('y')].sort());
    for (const name of rejected)
      t.regex(reportOf(inbox, name), new RegExp(`mv \\S*rejected/${RegExp.escape(name)} `));
    inbox.put('again.csv', csv(1));
    await inbox.settle();
    t.deepEqual(await valuesOf('AGAIN'), ['1']);
  },
);

for (const [what, [name, content, reason]] of Object.entries<[string, string | Buffer, RegExp]>({
  'of another ending': ['a.pdf', 'x', /ending of its name is none of \.csv, /],
  'that is empty': ['empty.csv', '', /The file is empty\./],
  'that is too large': [
    'large.csv',
    csv(...Array.from({ length: 12 }, () => '1'.repeat(400))),
    /It has \d+ MB; a file may have 0\.00390625\./,
  ],
  'that is no workbook': [
    'broken.xlsx',
    'PK\u0003\u0004 but not more',
    /broken\.xlsx cannot be read as an Excel workbook|no table was found/,
  ],
  'whose gzip is cut short': ['cut.csv.gz', Buffer.from('1f8b0800', 'hex'), /damaged or cut short/],
}))
  test.serial(`a file ${what} is rejected, and its report says what is allowed`, async (t) => {
    const inbox = folder(undefined, { bytesMax: 4096 });
    inbox.put(name, content);
    await inbox.settle();
    t.deepEqual(inbox.names('rejected'), [name, `${name}.report.txt`]);
    t.regex(reportOf(inbox, name), reason);
    t.notRegex(reportOf(inbox, name), /\.taken/);
    t.false(inbox.has('almanac.yml'), 'what was rejected is no part of the description');
  });

test.serial(
  'a file without an entry, of which all is sure, is loaded, and its entry is added to almanac.yml',
  async (t) => {
    const inbox = folder();
    inbox.put('exchange.csv', sure('EXA', 1.09));
    await inbox.settle();
    t.like(await published(database, 'EXA'), { '2024-01-31 USD': '1.09' });
    const { name, tables } = parse(inbox.read('almanac.yml')) as {
      name: string;
      tables: { file: string; guessed?: unknown }[];
    };
    t.is(name, path.basename(inbox.directory));
    t.deepEqual(
      tables.map(({ file, guessed }) => [file, guessed]),
      [['exchange.csv', undefined]],
    );
    inbox.put('exchange.csv', sure('EXA', 1.1));
    await inbox.settle();
    t.like(
      await published(database, 'EXA'),
      { '2024-01-31 USD': '1.1' },
      'the next file of the name is loaded by the entry',
    );
    t.is((parse(inbox.read('almanac.yml')) as { tables: unknown[] }).tables.length, 1);
  },
);

test.serial('what others have written into almanac.yml stays as it is when an entry is added', async (t) => {
  const inbox = folder(`# ours\n${monthlySeries('mine', 'mine.csv', 'MINE')}`);
  inbox.put('exchange.csv', sure('EXB', 1.09));
  await inbox.settle();
  const text = inbox.read('almanac.yml');
  t.regex(text, /^# ours\nversion: 1\nname: mine\n/);
  t.deepEqual(
    (parse(text) as { tables: { file: string }[] }).tables.map(({ file }) => file),
    ['mine.csv', 'exchange.csv'],
  );
});

test.serial(
  'a file of which something is guessed is rejected with the entry; with that confirmed it is loaded, and the next of its form too',
  async (t) => {
    const inbox = folder();
    inbox.put('gold 2026-09.csv', 'Date,Price\n2024-01-01,2063.73\n2024-02-01,2054.30\n2024-03-01,2214.35\n');
    await inbox.settle();
    t.is(await seriesRow(database, 'gold'), undefined);
    t.false(inbox.has('almanac.yml'));
    const report = reportOf(inbox, 'gold 2026-09.csv');
    t.regex(report, /\nalmanac\.yml has no entry for it, and some of what was found in it is guessed\.\n/);
    t.regex(report, /# guess: no line of the file says it\n +unit: not stated/);
    t.true(
      report.includes(
        `mv '${inbox.directory}/rejected/gold 2026-09.csv' '${inbox.directory}/gold 2026-09.csv'\n`,
      ),
    );
    const description = report.slice(report.indexOf('# How the tables'));
    t.like(parse(description), { tables: [{ file: 'gold *.csv*' }] });

    inbox.put('almanac.yml', description);
    const back = () =>
      renameSync(
        path.join(inbox.directory, 'rejected/gold 2026-09.csv'),
        path.join(inbox.directory, 'gold 2026-09.csv'),
      );
    back();
    await inbox.settle();
    t.regex(reportOf(inbox, 'gold 2026-09.csv'), /has guesses that nobody has confirmed: .*series\.unit/);
    t.is(await seriesRow(database, 'gold'), undefined);

    inbox.put('almanac.yml', description.replace(/ +guessed:[^]*?\](\n|$)/, ''));
    back();
    await inbox.settle();
    t.deepEqual(await valuesOf('gold'), ['2063.73', '2054.30', '2214.35']);
    inbox.put('gold 2026-10.csv', 'Date,Price\n2024-04-01,2300.00\n');
    await inbox.settle();
    t.is((await valuesOf('gold')).length, 4);
  },
);

test.serial('a file whose content was loaded already is moved to done without another load', async (t) => {
  const inbox = folder(monthlySeries('twice', 'twice.csv', 'TWICE'));
  for (const text of [csv(1, 2), csv(1, 2), csv(1, 3), csv(1, 2)]) {
    inbox.put('twice.csv', text);
    await inbox.settle();
  }
  t.deepEqual(inbox.watch.counts, { loaded: 3, unchanged: 1, 'left out': 0, rejected: 0 });
  t.is((await loadsOf('twice.csv')).length, 3);
  t.deepEqual(await valuesOf('TWICE'), ['1', '2'], 'an earlier content that comes again is loaded again');
  t.is(inbox.names('done').length, 4);
});

test.serial('files of one name that come within one second lie in done side by side', async (t) => {
  const inbox = folder(monthlySeries('rapid', 'rapid.csv.gz', 'RAPID'));
  const begin = (await clock.now(publisher)).toISOString();
  for (const value of [1, 2, 3]) {
    clock.set(begin);
    inbox.put('rapid.csv.gz', csv(value));
    await inbox.settle();
  }
  t.is(inbox.names('done').length, 3);
  t.regex(inbox.names('done').join(), /^rapid\.(\S+Z)\.2\.csv\.gz,rapid\.\1\.3\.csv\.gz,rapid\.\1\.csv\.gz$/);
});

test.serial('a name of the greatest length gets a place in done and in rejected', async (t) => {
  const long = (text: string) => `${text}${'é'.repeat(120)}`.slice(0, 125);
  const inbox = folder(monthlySeries('long', 'g*.csv', 'LONG'));
  inbox.put(`${long('g')}.csv`, csv(1));
  inbox.put(`${long('b')}.pdf`, 'x');
  await inbox.settle();
  t.deepEqual(inbox.names(), []);
  t.deepEqual(await valuesOf('LONG'), ['1']);
  t.is(inbox.names('done').length, 1);
  t.is(inbox.names('rejected').filter((name) => name.endsWith('.report.txt')).length, 1);
  t.is(inbox.names('rejected').length, 2);
});

test.serial(
  'a load by the folder can be retracted, and the file is loaded again when it is put in again',
  async (t) => {
    const inbox = folder(monthlySeries('undone', 'undone.csv', 'UNDONE'));
    inbox.put('undone.csv', csv(1));
    await inbox.settle();
    const [load] = await loadsOf('undone.csv');
    const retracted = await almanac(['loads', 'retract', String(load?.load)]);
    t.is(retracted.code, 0, retracted.stderr);
    t.deepEqual(await valuesOf('UNDONE'), []);
    inbox.put('undone.csv', csv(1));
    await inbox.settle();
    t.deepEqual(await valuesOf('UNDONE'), ['1']);
  },
);

test.serial('an entry with skip moves the file to done, and nothing is loaded', async (t) => {
  const inbox = folder('version: 1\nname: skipping\ntables:\n  - { file: notes.csv, skip: not ours }\n');
  inbox.put('notes.csv', csv(1));
  await inbox.settle();
  t.is(inbox.names('done').length, 1);
  t.like(inbox.watch.counts, { 'left out': 1, loaded: 0 });
  t.deepEqual(await loadsOf('notes.csv'), []);
});

test.serial(
  'while almanac.yml has a fault, or the folder is away, files stay; they are taken when it is mended',
  async (t) => {
    const inbox = folder('version: 1\nname: faulty\ntabels: []\n');
    inbox.put('a.csv', csv(1));
    await t.throwsAsync(inbox.settle(), {
      message: /almanac\.yml cannot be used:\n[^]* +line 3, tabels: is not a key here/,
    });
    t.deepEqual(inbox.names(), ['a.csv']);
    await t.throwsAsync(describeInbox(inbox.directory), { message: /line 3, tabels/ });
    inbox.put('almanac.yml', monthlySeries('faulty', 'a.csv', 'MENDED'));
    await inbox.look();
    t.deepEqual(await valuesOf('MENDED'), ['1']);

    const away = `${inbox.directory}-away`;
    renameSync(inbox.directory, away);
    await t.throwsAsync(inbox.look(), { code: 'ENOENT' });
    await t.throwsAsync(describeInbox(inbox.directory), {
      message: `There is no folder ${inbox.directory}.`,
    });
    t.false(inbox.has('.'), 'it is not made: it may be a disk that is not mounted');
    renameSync(away, inbox.directory);
    await inbox.look();
  },
);

test.serial('while the database is away a file stays, and nothing of it is lost', async (t) => {
  const away: Database = {
    ...publisher,
    transaction: () =>
      Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
  };
  const inbox = folder(monthlySeries('away', '*.csv', 'AWAY'), { database: away });
  inbox.put('a.csv', csv(1));
  await t.throwsAsync(inbox.settle(), { message: /ECONNREFUSED/ });
  t.deepEqual(inbox.names(), ['a.csv']);
});

test.serial(
  'a fault that may pass while a file is loaded leaves it for later, and the others are not delayed',
  async (t) => {
    let isBroken = true;
    const failing = onStatement(/insert into data\.published_files/, ([, file]) => {
      if (isBroken && file === 'a-one.csv')
        throw Object.assign(new Error('out of shared memory'), { code: '53200' });
    });
    const inbox = folder(monthlySeries('passing', '*.csv', '{file}'), { database: failing });
    inbox.put('a-one.csv', csv(1));
    inbox.put('b-two.csv', csv(2));
    await inbox.look();
    clock.advance(stillMs);
    await t.throwsAsync(inbox.look(), { message: /out of shared memory/ });
    await inbox.look();
    t.is(await seriesRow(database, 'a-one'), undefined);
    t.deepEqual(await valuesOf('b-two'), ['2']);
    t.like(await inbox.watch.standing(), { waiting: 1, rejected: 0 });
    isBroken = false;
    clock.advance(60_000);
    await inbox.look();
    t.deepEqual(await valuesOf('a-one'), ['1']);
  },
);

test.serial('a fault within the program rejects the file, and delays no other', async (t) => {
  const failing = onStatement(/insert into data\.published_files/, ([, file]) => {
    if (file === 'a-odd.csv') throw new TypeError('x is undefined');
  });
  const inbox = folder(monthlySeries('odd', '*.csv', '{file}'), { database: failing });
  inbox.put('a-odd.csv', csv(1));
  inbox.put('b-even.csv', csv(2));
  await inbox.settle();
  t.regex(reportOf(inbox, 'a-odd.csv'), /a fault within Almanac: x is undefined/);
  t.is(await seriesRow(database, 'a-odd'), undefined);
  t.deepEqual(await valuesOf('b-even'), ['2']);
});

test.serial(
  'a file that is written to while it is loaded is not stored, and is loaded as it stays',
  async (t) => {
    let isWritten = false;
    const writer = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'held-open.csv');
    const inbox = folder(monthlySeries('written', 'written.csv', 'WRITTEN'), {
      database: onStatement(/insert into data\.published_files/, () => {
        if (!isWritten) appendFileSync(writer, '2024-02,2\n');
        isWritten = true;
      }),
    });
    inbox.put('written.csv', csv(1));
    linkSync(path.join(inbox.directory, 'written.csv'), writer); // as a program that has it open
    await inbox.settle();
    t.true(isWritten);
    t.is(await seriesRow(database, 'WRITTEN'), undefined);
    clock.advance(60_000);
    await inbox.look();
    t.deepEqual(await valuesOf('WRITTEN'), ['1', '2']);
  },
);

test.serial('a file that so many processes have begun and not ended is rejected', async (t) => {
  const inbox = folder(monthlySeries('killing', '*.csv', '{file}'));
  await inbox.look();
  const left = (name: string, attempts: number) => {
    const place = path.join(inbox.directory, `.taken/2026-11-23T10150${attempts}Z-0123abcd.${attempts}`);
    mkdirSync(place);
    writeFileSync(path.join(place, name), csv(1));
  };
  left('killer.csv', attemptsMax);
  left('survivor.csv', attemptsMax - 1);
  await inbox.look();
  t.regex(reportOf(inbox, 'killer.csv'), /5 processes have ended while they read it/);
  t.deepEqual(await valuesOf('survivor'), ['1']);
});

test.serial('two publishers that watch one folder load each file once', async (t) => {
  const inbox = folder(monthlySeries('shared', '*.csv', '{file}'));
  const second = watchOf(inbox);
  for (let number = 0; number < 12; number += 1) inbox.put(`shared-${number}x.csv`, csv(number));
  const bothLook = () => Promise.all([inbox.look(), second.look(never)]);
  await bothLook();
  clock.advance(stillMs);
  for (let turn = 0; turn < 14; turn += 1) await bothLook();
  t.deepEqual(inbox.names(), []);
  t.is(inbox.names('done').length, 12);
  t.deepEqual(inbox.names('rejected'), []);
  t.is(inbox.watch.counts.loaded + second.counts.loaded, 12);
  const [loads] = await database.query<{ count: number }>(
    `select count(*)::int as count from data.loads where source_name like 'shared-%'`,
  );
  t.is(loads?.count, 12);
});

test.serial('a file stays while another publisher works', async (t) => {
  const inbox = folder(monthlySeries('locked', '*.csv', 'LOCKED'));
  inbox.put('locked.csv', csv(1));
  await inbox.look();
  clock.advance(stillMs);
  await publisher.transaction(async (on) => {
    t.true(await tryLockInbox(on));
    await inbox.look();
    t.deepEqual(inbox.names(), ['locked.csv']);
  });
  await inbox.look();
  t.deepEqual(await valuesOf('LOCKED'), ['1']);
});

test.serial(
  'a publisher that stops gives up what it has not stored, and the next one loads it',
  async (t) => {
    const stopping = new AbortController();
    const inbox = folder(monthlySeries('stopped', '*.csv', '{file}'), {
      database: onStatement(/from data\.published_files/, () => stopping.abort()),
    });
    inbox.put('stopped-a.csv', csv(1));
    inbox.put('stopped-b.csv', csv(2));
    await inbox.look();
    clock.advance(stillMs);
    await inbox.watch.look(stopping.signal);
    t.is(await seriesRow(database, 'stopped-a'), undefined);
    t.deepEqual(inbox.names(), ['stopped-b.csv'], 'and it takes no other');
    await watchOf(inbox).look(never);
    t.deepEqual(await valuesOf('stopped-a'), ['1']);
  },
);

test.serial(
  'a file whose load was committed, and which was not moved, is moved without another load',
  async (t) => {
    const inbox = folder(monthlySeries('committed', '*.csv', 'COMMITTED'), {
      database: {
        ...publisher,
        async transaction(work) {
          await publisher.transaction(work);
          throw Object.assign(new Error('the process was killed here'), { code: 'ECONNRESET' });
        },
      },
    });
    inbox.put('committed.csv', csv(1));
    await t.throwsAsync(inbox.settle(), { message: /killed here/ });
    t.deepEqual(await valuesOf('COMMITTED'), ['1']);
    t.deepEqual([inbox.names(), inbox.names('done')], [[], []]);
    const next = watchOf(inbox);
    await next.look(never);
    t.is(inbox.names('done').length, 1);
    t.like(next.counts, { loaded: 0, unchanged: 1 });
    t.is((await loadsOf('committed.csv')).length, 1);
  },
);
