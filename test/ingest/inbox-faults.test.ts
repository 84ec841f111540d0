// Faults of the watched folder: links; faults of the disk, the database and the program; edits and writes during a load; several publishers.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { tryLockInbox } from '../../ingest/publisher/inbox/inbox.sql.ts';
import { attemptsMax } from '../../ingest/publisher/inbox/load-file.ts';
import { describeInbox } from '../../ingest/publisher/inbox/inbox-health.ts';
import { stillMs } from '../../ingest/publisher/inbox/complete-files.ts';
import type { Database } from '../../kernel/database.ts';
import { createTestDatabase } from '../services/harness.ts';
import { seriesRow } from './loading.ts';
import { csv, monthlySeries, never, startWatching, sure, type WatchedFolder } from './watching.ts';

const testDatabase = await createTestDatabase();
const watching = startWatching(test, testDatabase.url, '2026-11-23T10:15:00Z');
const { database, publisher, clock, folder, values, loadsOf, onStatement } = watching;
test.after.always(() => testDatabase.drop());

test.serial('links, pipes and folders are neither followed nor moved', async (t) => {
  const inbox = folder(monthlySeries('links', '*', 'LINKS'));
  const elsewhere = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'secret.csv');
  writeFileSync(elsewhere, csv(1));
  symlinkSync(elsewhere, path.join(inbox.directory, 'link.csv'));
  symlinkSync('/nowhere', path.join(inbox.directory, 'dangling.csv'));
  mkdirSync(path.join(inbox.directory, 'folder.csv'));
  writeFileSync(path.join(inbox.directory, 'folder.csv/inner.csv'), csv(1));
  execFileSync('mkfifo', [path.join(inbox.directory, 'pipe.csv')]);
  await inbox.processAll();
  t.deepEqual(inbox.names(), ['dangling.csv', 'folder.csv', 'link.csv', 'pipe.csv']);
  t.is(await seriesRow(database, 'LINKS'), undefined);
  t.regex((await describeInbox(inbox.directory)).detail, /; 0 files wait; 4 are not taken, such as /);
});

test.serial('a file that is replaced by a link after it was seen is not followed', async (t) => {
  const inbox = folder(monthlySeries('swapped', '*', 'SWAPPED'));
  const elsewhere = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'secret.csv');
  writeFileSync(elsewhere, csv(1));
  inbox.put('swapped.csv', csv(2));
  await inbox.look();
  // As if it were replaced at the moment of being claimed.
  mkdirSync(path.join(inbox.directory, '.taken/2026-11-23T101500Z-00000000.0'));
  symlinkSync(
    elsewhere,
    path.join(inbox.directory, '.taken/2026-11-23T101500Z-00000000.0/swapped-later.csv'),
  );
  await inbox.processAll();
  t.deepEqual(inbox.names('rejected'), ['swapped-later.csv', 'swapped-later.csv.report.txt']);
  t.regex(inbox.report('swapped-later.csv'), /It cannot be loaded: it is a symbolic link\./);
  t.deepEqual(await values('SWAPPED'), ['2'], 'and the others are loaded');
});

test.serial('a folder whose `done` is a link is not processed', async (t) => {
  const inbox = folder(monthlySeries('linked', '*', 'LINKED'));
  symlinkSync(tmpdir(), path.join(inbox.directory, 'done'));
  inbox.put('a.csv', csv(1));
  await t.throwsAsync(inbox.processAll(), { message: /done must be a folder, and not a link to one/ });
  t.true(inbox.has('a.csv'));
  t.is(await seriesRow(database, 'LINKED'), undefined);
});

test.serial('an edit of almanac.yml during a load is kept when an entry is added', async (t) => {
  const ours = monthlySeries('edited', 'ours.csv', 'OURS');
  const inbox: WatchedFolder = folder(undefined, {
    database: onStatement(/insert into data\.published_files/, () => inbox.put('almanac.yml', ours)),
  });
  inbox.put('exchange.csv', sure('EXC', 1.09));
  await inbox.processAll();
  t.true(inbox.read('almanac.yml').startsWith(ours));
  const { tables } = parse(inbox.read('almanac.yml')) as { tables: { file: string }[] };
  t.deepEqual(
    tables.map(({ file }) => file),
    ['ours.csv', 'exchange.csv'],
  );
});

test.serial(
  'a file that is replaced while it is loaded is loaded in its old form, and then in its new one',
  async (t) => {
    let isReplaced = false;
    const inbox: WatchedFolder = folder(monthlySeries('replaced', 'replaced.csv', 'REPLACED'), {
      database: onStatement(/insert into data\.published_files/, () => {
        if (!isReplaced) inbox.put('replaced.csv', csv(2));
        isReplaced = true;
      }),
    });
    inbox.put('replaced.csv', csv(1));
    await inbox.processAll();
    t.deepEqual(inbox.names(), ['replaced.csv']);
    t.deepEqual(await values('REPLACED'), ['1']);
    await inbox.processAll();
    t.deepEqual(await values('REPLACED'), ['2']);
    t.is(inbox.names('done').length, 2);
  },
);

test.serial(
  'while almanac.yml is invalid, or the folder is unavailable, files stay; they are claimed once this is fixed',
  async (t) => {
    const inbox = folder('version: 1\nname: faulty\ntabels: []\n');
    inbox.put('a.csv', csv(1));
    await t.throwsAsync(inbox.processAll(), {
      message: /almanac\.yml cannot be used:\n[^]* +line 3, tabels: is not a key here/,
    });
    t.deepEqual(inbox.names(), ['a.csv']);
    await t.throwsAsync(describeInbox(inbox.directory), { message: /line 3, tabels/ });
    inbox.put('almanac.yml', monthlySeries('faulty', 'a.csv', 'MENDED'));
    await inbox.look();
    t.deepEqual(await values('MENDED'), ['1']);

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

test.serial('while the database is unavailable a file stays, and nothing of it is lost', async (t) => {
  const away: Database = {
    ...publisher,
    transaction: () =>
      Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
  };
  const inbox = folder(monthlySeries('away', '*.csv', 'AWAY'), { database: away });
  inbox.put('a.csv', csv(1));
  await t.throwsAsync(inbox.processAll(), { message: /ECONNREFUSED/ });
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
    t.deepEqual(await values('b-two'), ['2']);
    t.like(await inbox.watch.figures(), { waiting: 1, rejected: 0 });
    for (let attempt = 0; attempt <= attemptsMax; attempt += 1) {
      clock.advance(60_000);
      await t.throwsAsync(inbox.look(), { message: /out of shared memory/ });
    }
    isBroken = false;
    clock.advance(60_000);
    await inbox.look();
    t.deepEqual(await values('a-one'), ['1'], 'however often it failed in one process');
  },
);

test.serial('a fault within the program rejects the file, and delays no other', async (t) => {
  const failing = onStatement(/insert into data\.published_files/, ([, file]) => {
    if (file === 'a-odd.csv') throw new TypeError('x is undefined');
  });
  const inbox = folder(monthlySeries('odd', '*.csv', '{file}'), { database: failing });
  inbox.put('a-odd.csv', csv(1));
  inbox.put('b-even.csv', csv(2));
  await inbox.processAll();
  t.regex(inbox.report('a-odd.csv'), /a fault in Almanac: x is undefined/);
  t.is(await seriesRow(database, 'a-odd'), undefined);
  t.deepEqual(await values('b-even'), ['2']);
});

test.serial(
  'a file that is written to during its load is not stored, and is loaded in its final form',
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
    linkSync(path.join(inbox.directory, 'written.csv'), writer); // like a program that has it open
    await inbox.processAll();
    t.true(isWritten);
    t.is(await seriesRow(database, 'WRITTEN'), undefined);
    clock.advance(60_000);
    await inbox.look();
    t.deepEqual(await values('WRITTEN'), ['1', '2']);
  },
);

test.serial('a file that too many processes have begun but not finished is rejected', async (t) => {
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
  t.regex(inbox.report('killer.csv'), /3 processes that read it exited/);
  t.deepEqual(await values('survivor'), ['1']);
});

test.serial('two publishers that watch one folder load each file once', async (t) => {
  const inbox = folder(monthlySeries('shared', '*.csv', '{file}'));
  const second = inbox.another();
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

/** Statements of a publisher that has seen a claimed file: before and after it counts its attempt to read it. */
const looks = { seen: /pg_try_advisory_xact_lock/, counted: /^savepoint/ };
for (const [state, statement] of Object.entries(looks))
  test.serial(`a file that another publisher moves once this one has ${state} it is no fault`, async (t) => {
    const name = `${state}.csv`;
    const inbox = folder(monthlySeries(state, '*.csv', '{file}'), {
      database: onStatement(statement, () => {
        const claimed = path.join(inbox.directory, '.taken');
        for (const place of readdirSync(claimed)) {
          renameSync(path.join(claimed, place, name), path.join(inbox.directory, 'done', name));
          rmdirSync(path.join(claimed, place));
        }
      }),
    });
    const place = path.join(inbox.directory, '.taken/2026-11-23T101500Z-0123abcd.1');
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, name), csv(1));
    await inbox.look();
    t.deepEqual([inbox.names('done'), inbox.names('rejected')], [[name], []]);
  });

test.serial(
  'a load is reported by the publisher that made it, also if another one then moves the file',
  async (t) => {
    const inbox: WatchedFolder = folder(monthlySeries('overtaken', '*.csv', 'OVERTAKEN'), {
      database: {
        ...publisher,
        async transaction(work) {
          const answer = await publisher.transaction(work);
          await second.look(never);
          return answer;
        },
      },
    });
    const second = inbox.another();
    inbox.put('overtaken.csv', csv(1));
    await inbox.processAll();
    t.deepEqual(await values('OVERTAKEN'), ['1']);
    t.is(inbox.names('done').length, 1);
    t.like(inbox.watch.counts, { loaded: 1, unchanged: 0 });
    t.like(second.counts, { loaded: 0, unchanged: 1 });
  },
);

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
  t.deepEqual(await values('LOCKED'), ['1']);
});

test.serial('a publisher that is stopping takes no other file, and the next one loads that', async (t) => {
  const stopping = new AbortController();
  const inbox = folder(monthlySeries('stopped', '*.csv', '{file}'), {
    database: onStatement(/from data\.published_files/, () => stopping.abort()),
  });
  inbox.put('stopped-a.csv', csv(1));
  inbox.put('stopped-b.csv', csv(2));
  await inbox.look();
  clock.advance(stillMs);
  await inbox.watch.look(stopping.signal);
  t.deepEqual(inbox.names(), ['stopped-b.csv']);
  t.is(await seriesRow(database, 'stopped-b'), undefined);
  await inbox.watch.look(never);
  t.deepEqual(await values('stopped-b'), ['2']);
});

test.serial(
  'a file whose load was committed but that was not moved is moved without another load',
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
    await t.throwsAsync(inbox.processAll(), { message: /killed here/ });
    t.deepEqual(await values('COMMITTED'), ['1']);
    t.deepEqual([inbox.names(), inbox.names('done')], [[], []]);
    const next = inbox.another();
    await next.look(never);
    t.is(inbox.names('done').length, 1);
    t.like(next.counts, { loaded: 0, unchanged: 1 });
    t.is((await loadsOf('committed.csv')).length, 1);
  },
);

test.serial(
  'a complete file that is written to while other files are loaded is not claimed too early',
  async (t) => {
    const inbox: WatchedFolder = folder(monthlySeries('later', '*.csv', '{file}'), {
      database: onStatement(/insert into data\.published_files/, ([, file]) => {
        if (file === 'a-first.csv') appendFileSync(path.join(inbox.directory, 'b-second.csv'), '2024-02,2\n');
      }),
    });
    inbox.put('a-first.csv', csv(1));
    inbox.put('b-second.csv', csv(1));
    await inbox.processAll();
    t.deepEqual(inbox.names(), ['b-second.csv']);
    await inbox.processAll();
    t.deepEqual(await values('b-second'), ['1', '2']);
    t.is((await loadsOf('b-second.csv')).length, 1);
  },
);

test.serial(
  'a file whose connection to the database breaks while it is loaded stays, and is loaded later',
  async (t) => {
    let isBroken = true;
    const inbox = folder(monthlySeries('broken', '*.csv', 'BROKEN'), {
      database: onStatement(/insert into data\.published_files/, async () => {
        if (!isBroken) return;
        isBroken = false;
        const ended = await database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and usename = 'almanac_publisher' and state = 'idle in transaction'`,
        );
        t.is(ended.length, 1);
      }),
    });
    inbox.put('broken.csv', csv(1));
    await t.throwsAsync(inbox.processAll());
    t.deepEqual(await values('BROKEN'), []);
    t.deepEqual([inbox.names(), inbox.names('done'), inbox.names('rejected')], [[], [], []]);
    const { waiting, oldestSeconds } = await inbox.watch.figures();
    t.is(waiting, 1);
    t.true(oldestSeconds >= 0 && oldestSeconds < 60, String(oldestSeconds));
    clock.advance(60_000);
    t.true((await inbox.watch.figures()).oldestSeconds >= 60);
    await inbox.look();
    t.deepEqual(await values('BROKEN'), ['1']);
  },
);
