// The watched folder: which files are claimed and when, where they are moved, their reports, and that nothing is loaded twice.
import { appendFileSync, renameSync, truncateSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { utils, write } from '@e965/xlsx';
import test from 'ava';
import { parse } from 'yaml';
import { describeInbox } from '../../ingest/publisher/inbox/inbox-health.ts';
import { stillMs } from '../../ingest/publisher/inbox/complete-files.ts';
import { bytesMaxUsual } from '../../ingest/read/fetch-url.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { createTestDatabase } from '../services/harness.ts';
import { published, seriesRow } from './loading.ts';
import { csv, monthlySeries, startWatching, sure } from './watching.ts';

const testDatabase = await createTestDatabase();
const watching = startWatching(test, testDatabase.url, '2026-11-23T10:15:00Z');
const { database, publisher, clock, folder, values, loadsOf } = watching;
test.after.always(() => testDatabase.drop());
const almanac = commandLine(settingsOf(testDatabase.url));

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
    t.deepEqual(await inbox.watch.figures(), { waiting: 0, oldestSeconds: 0, rejected: 0 });
    t.like(inbox.watch.counts, { loaded: 1, rejected: 0 });
  },
);

test.serial('a growing file is claimed only once it stops growing, however long that takes', async (t) => {
  const inbox = folder(monthlySeries('growing', 'growing.csv', 'GROWING'));
  inbox.put('growing.csv', 'Date,Value\n2024-01,1');
  for (let month = 2; month <= 6; month += 1) {
    await inbox.look();
    clock.advance(stillMs - 1);
    appendFileSync(path.join(inbox.directory, 'growing.csv'), `\n2024-0${month},${month}`);
  }
  t.like(await inbox.watch.figures(), { waiting: 1, oldestSeconds: (5 * (stillMs - 1)) / 1000 });
  await inbox.processAll();
  t.deepEqual(await values('GROWING'), ['1', '2', '3', '4', '5', '6']);
});

test.serial(
  'hidden files, files that programs have not finished yet, and almanac.yml are not touched',
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
    await inbox.processAll();
    for (const name of [...names, 'almanac.yml']) t.true(inbox.has(name), name);
    t.is(await seriesRow(database, 'UNFINISHED'), undefined);
    t.like(await inbox.watch.figures(), { waiting: 0 });
    renameSync(path.join(inbox.directory, 'a.csv.part'), path.join(inbox.directory, 'a.csv'));
    await inbox.processAll();
    t.deepEqual(await values('UNFINISHED'), ['1']);
  },
);

test.serial(
  'a file with bad rows is rejected with a report of each cell, stores nothing, and delays no other',
  async (t) => {
    const inbox = folder(monthlySeries('bad', '*.csv', '{file}'));
    inbox.put('first-bad.csv', csv(1, ...Array.from({ length: 11 }, () => 'x')));
    inbox.put('good-one.csv', csv(3));
    const time = new Date('2026-11-23T09:00:00Z');
    utimesSync(path.join(inbox.directory, 'first-bad.csv'), time, time);
    await inbox.processAll();
    t.deepEqual(inbox.names(), []);
    t.deepEqual(inbox.names('rejected'), ['first-bad.csv', 'first-bad.csv.report.txt']);
    const report = inbox.report('first-bad.csv');
    t.regex(
      report,
      /^first-bad\.csv was not loaded at 2026-11-23T\d\d:\d\d:\d\dZ, and nothing of it is stored\.\n\n11 rows are not valid/,
    );
    t.regex(report, /\n {2}line 3, Value: "x", expected a number[^]*\n {2}line 13, /);
    t.true(report.includes(`mv ${inbox.directory}/rejected/first-bad.csv ${inbox.directory}/first-bad.csv`));
    t.notRegex(report, /\.taken/);
    t.is(await seriesRow(database, 'first-bad'), undefined);
    t.deepEqual(await values('good-one'), ['3']);
    t.like(await inbox.watch.figures(), { waiting: 0, rejected: 1 });
    t.deepEqual(await describeInbox(inbox.directory), {
      detail: `${inbox.directory}: 1 entry; 0 files wait; 1 rejected: each has a report beside it`,
      needsAttention: true,
    });
  },
);

test.serial(
  'a corrected file that is put back is loaded, and a second rejected file with the same name overwrites none',
  async (t) => {
    const inbox = folder(monthlySeries('again', 'again.csv', 'AGAIN'));
    for (const text of [csv('x'), csv('y')]) {
      inbox.put('again.csv', text);
      await inbox.processAll();
    }
    const rejected = inbox.names('rejected').filter((name) => !name.endsWith('.report.txt'));
    t.is(rejected.length, 2);
    t.deepEqual(rejected.map((name) => inbox.read(`rejected/${name}`)).sort(), [csv('x'), csv('y')].sort());
    for (const name of rejected)
      t.regex(inbox.report(name), new RegExp(`mv \\S*rejected/${RegExp.escape(name)} `));
    inbox.put('again.csv', csv(1));
    await inbox.processAll();
    t.deepEqual(await values('AGAIN'), ['1']);
  },
);

for (const [what, [name, content, reason]] of Object.entries<[string, string | Buffer | number, RegExp]>({
  'of another ending': ['a.pdf', 'x', /extension of its name must be one of \.csv, /],
  'that is empty': ['empty.csv', '', /The file is empty\./],
  'that is too large': ['large.csv', bytesMaxUsual + 1, /It is 1024\.1 MB; the limit is 1024 MB\./],
  'that is no workbook': [
    'broken.xlsx',
    'PK\u0003\u0004 but not more',
    /broken\.xlsx cannot be read as a workbook/,
  ],
  'whose gzip is cut short': ['cut.csv.gz', Buffer.from('1f8b0800', 'hex'), /damaged or cut short/],
}))
  test.serial(`a file ${what} is rejected, and its report names the allowed values`, async (t) => {
    const inbox = folder();
    inbox.put(name, typeof content === 'number' ? '' : content);
    if (typeof content === 'number') truncateSync(path.join(inbox.directory, name), content); // a sparse file
    await inbox.processAll();
    t.deepEqual(inbox.names('rejected'), [name, `${name}.report.txt`]);
    t.regex(inbox.report(name), reason);
    t.notRegex(inbox.report(name), /\.taken/);
    t.false(inbox.has('almanac.yml'), 'what was rejected is no part of the description');
  });

test.serial(
  'the report of a file without a table names what was found, and does not call an entry found',
  async (t) => {
    const inbox = folder();
    inbox.put('letter.csv', 'Dear Madam,\n\nthe figures of June 2024 are attached.\n\nKind regards\n');
    await inbox.processAll();
    const report = inbox.report('letter.csv');
    t.regex(
      report,
      /no table was found there: no line has a number: line \d has "Dear Madam"\. A table has a line of/,
    );
    t.regex(report, /\nSend a file with a table\. .*"skip".*\n"guessed", and make /);
    t.notRegex(report, /entry that was found/);
  },
);

test.serial(
  'an unambiguous file without an entry is loaded, and its entry is added to almanac.yml',
  async (t) => {
    const inbox = folder();
    inbox.put('exchange.csv', sure('EXA', 1.09));
    await inbox.processAll();
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
    await inbox.processAll();
    t.like(
      await published(database, 'EXA'),
      { '2024-01-31 USD': '1.1' },
      'the next file of the name is loaded by the entry',
    );
    t.is((parse(inbox.read('almanac.yml')) as { tables: unknown[] }).tables.length, 1);
  },
);

test.serial('adding an entry does not change the text of others in almanac.yml', async (t) => {
  const inbox = folder(`# ours\n${monthlySeries('mine', 'mine.csv', 'MINE')}`);
  inbox.put('exchange.csv', sure('EXB', 1.09));
  await inbox.processAll();
  const text = inbox.read('almanac.yml');
  t.regex(text, /^# ours\nversion: 1\nname: mine\n/);
  t.deepEqual(
    (parse(text) as { tables: { file: string }[] }).tables.map(({ file }) => file),
    ['mine.csv', 'exchange.csv'],
  );
});

test.serial(
  'a file that needs a guess is rejected with the entry; once that is confirmed, it and later files of its form are loaded',
  async (t) => {
    const inbox = folder();
    inbox.put('gold 2026-09.csv', 'Date,Yield\n2024-01-01,2063.73\n2024-02-01,2054.30\n2024-03-01,2214.35\n');
    await inbox.processAll();
    t.is(await seriesRow(database, 'gold'), undefined);
    t.false(inbox.has('almanac.yml'));
    const report = inbox.report('gold 2026-09.csv');
    t.regex(report, /\nalmanac\.yml has no entry for it, and some of what was found there is guessed\.\n/);
    t.regex(report, /# guess: words of a title or a name\n +unit: "?%/);
    t.true(
      report.includes(
        `mv '${inbox.directory}/rejected/gold 2026-09.csv' '${inbox.directory}/gold 2026-09.csv'\n`,
      ),
    );
    t.true(report.includes(`"guessed", and make ${inbox.directory}/almanac.yml of these lines.\n`));
    const description = report.slice(report.indexOf('# How the tables'));
    t.like(parse(description), { tables: [{ file: 'gold *.csv*' }] });

    inbox.put('almanac.yml', description);
    inbox.put('silver.csv', 'Date,Yield\n2024-01-01,23.1\n2024-02-01,22.9\n');
    await inbox.processAll();
    t.true(
      inbox
        .report('silver.csv')
        .includes(`add the lines below "tables:" to ${inbox.directory}/almanac.yml.\n`),
    );
    const back = () =>
      renameSync(
        path.join(inbox.directory, 'rejected/gold 2026-09.csv'),
        path.join(inbox.directory, 'gold 2026-09.csv'),
      );
    back();
    await inbox.processAll();
    t.regex(inbox.report('gold 2026-09.csv'), /has unconfirmed guesses: .*series\.unit/);
    t.is(await seriesRow(database, 'gold'), undefined);

    inbox.put('almanac.yml', description.replace(/ +guessed:[^]*?\](\n|$)/, ''));
    back();
    await inbox.processAll();
    t.deepEqual(await values('gold'), ['2063.73', '2054.30', '2214.35']);
    inbox.put('gold 2026-10.csv', 'Date,Yield\n2024-04-01,2300.00\n');
    await inbox.processAll();
    t.is((await values('gold')).length, 4);
  },
);

/** A workbook of these sheets, each with the columns Date and Value. */
function workbook(sheets: Readonly<Record<string, readonly (number | string)[]>>, title = 'Value'): Buffer {
  const book = utils.book_new();
  for (const [name, values] of Object.entries(sheets)) {
    const rows = values.map((value, at) => [`2024-0${at + 1}`, value]);
    utils.book_append_sheet(book, utils.aoa_to_sheet([['Date', title], ...rows]), name);
  }
  return write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}

test.serial('all sheets of a workbook are loaded, or none', async (t) => {
  const ofSheet = (sheet: string) =>
    monthlySeries('sheets', 'sheets.xlsx', `SHEET.${sheet}`, `sheet: ${sheet}`).split('tables:\n')[1];
  const inbox = folder(`version: 1\nname: sheets\ntables:\n${ofSheet('A')}${ofSheet('B')}`);
  inbox.put('sheets.xlsx', workbook({ A: [1, 2], B: [3, 'x'] }));
  await inbox.processAll();
  t.regex(inbox.report('sheets.xlsx'), /line 3, Value: "x", expected a number/);
  t.is(await seriesRow(database, 'SHEET.A'), undefined);
  inbox.put('sheets.xlsx', workbook({ A: [1, 2], B: [3, 4] }));
  await inbox.processAll();
  t.deepEqual(
    [await values('SHEET.A'), await values('SHEET.B')],
    [
      ['1', '2'],
      ['3', '4'],
    ],
  );
  t.is(inbox.watch.counts.loaded, 1);
});

test.serial(
  'an added sheet of a workbook is loaded if it is unambiguous, and otherwise named in the report',
  async (t) => {
    const entry = monthlySeries('grown', 'grown.xlsx', 'GROWN', 'sheet: A');
    const sure = folder(entry);
    const facts = [['UNIT_MEASURE', 'PC'], ['FREQ', 'M']]; // prettier-ignore
    const sdmx = [
      ['DATAFLOW', 'TIME_PERIOD', 'OBS_VALUE', ...facts.map(([name]) => name)],
      ...['2024-01', '2024-02', '2024-03'].map((month, at) => ['ABC:GROWN_FLOW(1.0)', month, at, ...facts.map(([, value]) => value)]), // prettier-ignore
    ];
    const book = utils.book_new();
    utils.book_append_sheet(book, utils.aoa_to_sheet([['Date', 'Value'], ['2024-01', 1]]), 'A'); // prettier-ignore
    utils.book_append_sheet(book, utils.aoa_to_sheet(sdmx), 'B');
    sure.put('grown.xlsx', write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer);
    await sure.processAll();
    t.is(
      sure.watch.counts.loaded,
      1,
      sure
        .names('rejected')
        .map((name) => sure.read(`rejected/${name}`))
        .join(),
    );
    t.regex(sure.read('almanac.yml'), / +sheet: B\n/);

    const guessed = folder(entry);
    guessed.put('grown.xlsx', workbook({ A: [1], B: [3, 4, 5] }, 'Yield'));
    await guessed.processAll();
    t.regex(
      guessed.report('grown.xlsx'),
      /\nalmanac\.yml has no entry for its sheet B, and some of what was found there is guessed\.\n[^]*\n +sheet: B\n/,
    );
  },
);

test.serial('a file whose content was loaded already is moved to done without another load', async (t) => {
  const inbox = folder(monthlySeries('twice', 'twice.csv', 'TWICE'));
  for (const text of [csv(1, 2), csv(1, 2), csv(1, 3), csv(1, 2)]) {
    inbox.put('twice.csv', text);
    await inbox.processAll();
  }
  t.deepEqual(inbox.watch.counts, { loaded: 3, unchanged: 1, 'left out': 0, rejected: 0 });
  t.is((await loadsOf('twice.csv')).length, 3);
  t.deepEqual(await values('TWICE'), ['1', '2'], 'an earlier content that comes again is loaded again');
  t.is(inbox.names('done').length, 4);
});

test.serial('files of the same name that arrive within one second are both kept in `done`', async (t) => {
  const inbox = folder(monthlySeries('rapid', 'rapid.csv.gz', 'RAPID'));
  const begin = (await clock.now(publisher)).toISOString();
  for (const value of [1, 2, 3]) {
    clock.set(begin);
    inbox.put('rapid.csv.gz', csv(value));
    await inbox.processAll();
  }
  t.is(inbox.names('done').length, 3);
  t.regex(inbox.names('done').join(), /^rapid\.(\S+Z)\.2\.csv\.gz,rapid\.\1\.3\.csv\.gz,rapid\.\1\.csv\.gz$/);
});

test.serial('a name of the maximum length can be moved to `done` and to `rejected`', async (t) => {
  const long = (text: string) => `${text}${'é'.repeat(120)}`.slice(0, 125);
  const inbox = folder(monthlySeries('long', 'g*.csv', 'LONG'));
  inbox.put(`${long('g')}.csv`, csv(1));
  inbox.put(`${long('b')}.pdf`, 'x');
  await inbox.processAll();
  t.deepEqual(inbox.names(), []);
  t.deepEqual(await values('LONG'), ['1']);
  t.is(inbox.names('done').length, 1);
  t.is(inbox.names('rejected').filter((name) => name.endsWith('.report.txt')).length, 1);
  t.is(inbox.names('rejected').length, 2);
});

test.serial(
  'a load by the folder can be retracted, and the file is loaded again when it is put back',
  async (t) => {
    const inbox = folder(monthlySeries('undone', 'undone.csv', 'UNDONE'));
    inbox.put('undone.csv', csv(1));
    await inbox.processAll();
    const [load] = await loadsOf('undone.csv');
    const retracted = await almanac(['loads', 'retract', String(load)]);
    t.is(retracted.code, 0, retracted.stderr);
    t.deepEqual(await values('UNDONE'), []);
    inbox.put('undone.csv', csv(1));
    await inbox.processAll();
    t.deepEqual(await values('UNDONE'), ['1']);
  },
);

test.serial('an entry with skip moves the file to done, and nothing is loaded', async (t) => {
  const inbox = folder('version: 1\nname: skipping\ntables:\n  - { file: notes.csv, skip: not ours }\n');
  inbox.put('notes.csv', csv(1));
  await inbox.processAll();
  t.is(inbox.names('done').length, 1);
  t.like(inbox.watch.counts, { 'left out': 1, loaded: 0 });
  t.deepEqual(await loadsOf('notes.csv'), []);
});

test.serial('a file whose load is running at midnight is dated by the new day', async (t) => {
  const inbox = folder(monthlySeries('midnight', 'midnight.csv', 'MIDNIGHT'));
  inbox.put('midnight.csv', csv(1, 2));
  clock.set('2026-12-24T23:59:49.900Z');
  await inbox.look();
  clock.set('2026-12-24T23:59:59.900Z');
  await inbox.look();
  t.deepEqual(await published(database, 'MIDNIGHT', '2026-12-24'), {});
  t.deepEqual(await published(database, 'MIDNIGHT', '2026-12-25'), { '2024-01-31': '1', '2024-02-29': '2' });
});
