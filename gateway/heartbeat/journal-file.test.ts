import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import { systemClock } from '../../kernel/clock.ts';
import type { Batch, UsageRow } from '../../kernel/heartbeat/message.ts';
import { silentLog } from '../../test/services/harness.ts';
import { createJournal, type Journal } from './journal.ts';
import { openJournalFile } from './journal-file.ts';
import { within } from '../../test/run/until.ts';

const lives = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

const call: UsageRow = {
  account_id: 'a',
  key_id: 'k',
  day: '2026-11-20',
  endpoint: 'series',
  status_class: 2,
  calls: 1,
  billed: 1,
};

const directories = mkdtempSync(path.join(tmpdir(), 'almanac-journal-'));
const processes: Journal[] = [];
test.after.always(async () => {
  for (const journal of processes) await journal.close(); // stops the timers of the "killed" ones
  rmSync(directories, { recursive: true });
});
const newDirectory = () => mkdtempSync(path.join(directories, 'of-'));

/** A process of a gateway. One that is never closed has been killed. */
function startJournal(directory: string, send: (batch: Batch) => Promise<void>, log = silentLog): Journal {
  const journal = createJournal({
    send,
    end: async () => undefined,
    flushEveryMs: 60_000, // only close() flushes
    closeWithinMs: 0,
    clock: systemClock,
    log,
  });
  processes.push(journal);
  journal.persistIn(directory);
  return journal;
}

const never = () => Promise.reject(new Error('accounts-api is away'));

/** The batches that the next process in the directory sends. */
async function handedOverBy(directory: string): Promise<Batch[]> {
  const sent: Batch[] = [];
  await startJournal(directory, async (batch) => void sent.push(batch)).close();
  return sent;
}

test('a restarted gateway sends everything that it had not sent before it was killed, including calls just before the kill', async (t) => {
  const directory = newDirectory();
  const killed = startJournal(directory, never);
  for (let i = 0; i < 3; i += 1) killed.record(call);
  killed.spent('a', '2026-11-01', lives[0], 3, 2);
  await Promise.resolve(); // still in the same turn of the event loop
  const [batch, ...others] = await handedOverBy(directory);
  t.like(batch?.usage, [{ account_id: 'a', calls: 3, billed: 3 }]);
  t.like(batch?.spent, [{ life: lives[0], calls: 3, returned: 2 }]);
  t.deepEqual(others, []);
});

test('the journal of a killed gateway is sent at once, even without new calls', async (t) => {
  const directory = newDirectory();
  startJournal(directory, never).record(call);
  await turnOfTheLoop();
  const sent = new Promise<Batch>((resolve) => {
    startJournal(directory, async (batch) => resolve(batch));
  });
  const batch = await within('the batch that was left is sent', sent);
  t.like(batch.usage, [{ account_id: 'a', calls: 1, billed: 1 }]);
});

test('a batch that was sent but not acknowledged before a kill is sent again under its old id', async (t) => {
  const directory = newDirectory();
  const tried: Batch[] = [];
  const killed = startJournal(directory, async (batch) => {
    tried.push(batch);
    throw new Error('the answer was lost');
  });
  killed.record(call);
  await killed.close();
  const [again] = await handedOverBy(directory);
  t.deepEqual(again, tried[0]);
});

test('mergeable calls of one turn are one line, written when the turn ends, whatever came before', async (t) => {
  const directory = newDirectory();
  const journal = startJournal(directory, never);
  const written = () =>
    readdirSync(directory).flatMap((name) =>
      readFileSync(path.join(directory, name), 'utf8').trimEnd().split('\n'),
    );
  for (const turn of [1, 2, 3]) {
    const before = written();
    for (let i = 0; i < turn; i += 1) {
      journal.record(call);
      journal.spent('a', '2026-11-01', lives[0], 1, 0);
    }
    t.deepEqual(written(), before, 'serving a call waits for no disk');
    await turnOfTheLoop();
    const [usage = '', spent = '', ...more] = written().slice(before.length);
    t.like(JSON.parse(usage), { list: 'usage', row: { calls: turn, billed: turn } });
    t.like(JSON.parse(spent), { list: 'spent', row: { life: lives[0], calls: turn, returned: 0 } });
    t.deepEqual(more, []);
  }
  t.is(readdirSync(directory).length, 1);
});

test('calls of one turn from several lives are each sent under their own life', async (t) => {
  const directory = newDirectory();
  const killed = startJournal(directory, never);
  const [p, q] = lives;
  for (const life of [p, q, q, p]) killed.spent('a', '2026-11-01', life, 1, 2);
  await turnOfTheLoop();
  const [batch] = await handedOverBy(directory);
  t.deepEqual(
    batch?.spent.map(({ life, calls, returned }) => [life, calls, returned]),
    [
      [p, 2, 4],
      [q, 2, 4],
    ],
  );
});

test('sent batches leave no file', async (t) => {
  const directory = newDirectory();
  const journal = startJournal(directory, async () => undefined);
  journal.record(call);
  await turnOfTheLoop();
  t.is(readdirSync(directory).length, 1);
  await journal.close();
  t.deepEqual(readdirSync(directory), []);
  t.deepEqual(await handedOverBy(directory), []);
});

test('a last line that a kill has truncated is ignored, and all lines before it count', async (t) => {
  const directory = newDirectory();
  const killed = startJournal(directory, never);
  killed.record(call);
  await turnOfTheLoop();
  appendFileSync(path.join(directory, readdirSync(directory)[0] ?? ''), '{"list":"usage","row":{"accou');
  t.like(await handedOverBy(directory), [{ usage: [{ calls: 1 }] }]);
});

test('a line truncated by a full disk does not damage lines written once there is space again', (t) => {
  const directory = newDirectory();
  const room = { isFull: true };
  const journal = openJournalFile(directory, silentLog, (file, text) =>
    writeSync(file, room.isFull ? text.slice(0, 20) : text),
  );
  journal.append('b', [{ list: 'usage', row: call }]);
  room.isFull = false;
  journal.append('b', [{ list: 'usage', row: { ...call, endpoint: 'funds' } }]);
  const [left] = openJournalFile(directory, silentLog).left;
  t.deepEqual(
    left?.entries.map((entry) => entry.list === 'usage' && entry.row.endpoint),
    ['funds'],
  );
  journal.close();
});

test('if files cannot be written, that is logged, and calls are still recorded and sent', async (t) => {
  const directory = newDirectory();
  const errors: string[] = [];
  const sent: Batch[] = [];
  const journal = startJournal(
    directory,
    async (batch) => void sent.push(batch),
    Object.assign(Object.create(silentLog) as typeof silentLog, {
      error: (_: unknown, text: string) => void errors.push(text),
    }),
  );
  rmSync(directory, { recursive: true });
  for (let i = 0; i < 2; i += 1) {
    journal.record(call);
    await turnOfTheLoop();
  }
  await journal.close();
  t.deepEqual(
    [...new Set(errors)],
    ['The journal cannot be written to its files: if this process is killed, unreported usage is lost'],
  );
  t.like(sent, [{ usage: [{ calls: 2 }] }]);
});

test('entries are in the files before a flush sends them', async (t) => {
  const directory = newDirectory();
  let written = '';
  const journal = startJournal(directory, async ({ batch_id }) => {
    written = readFileSync(path.join(directory, `${batch_id}.jsonl`), 'utf8');
  });
  journal.record(call);
  await journal.flush();
  t.like(JSON.parse(written), { list: 'usage', row: { calls: 1 } });
});

test('a file that no journal wrote is refused with its name and line, and is not deleted', (t) => {
  const directory = newDirectory();
  const file = path.join(directory, 'f1b9b1a6-5d1f-4b44-a53b-2b8f0a5d6c11.jsonl');
  writeFileSync(file, '{"list":"rumour"}\n');
  t.throws(() => startJournal(directory, never), {
    message: `Line 1 of ${file} is not a journal entry: repair the file, or move it elsewhere.`,
  });
  t.deepEqual(readdirSync(directory), [path.basename(file)]);
});

test('over any number of processes and failures, each call is reported once', async (t) => {
  const step = fc.oneof(
    fc.record({ act: fc.constant('record'), calls: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ act: fc.constantFrom('kill', 'stop', 'stop while away'), calls: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const directory = newDirectory();
      const counted = new Map<string, number>(); // by batch, as accounts-api counts
      const away = { now: false };
      const send = async ({ batch_id, usage }: Batch) => {
        if (away.now) throw new Error('accounts-api is away');
        if (!counted.has(batch_id))
          counted.set(
            batch_id,
            usage.reduce((sum, { calls }) => sum + calls, 0),
          );
      };
      let recorded = 0;
      let journal = startJournal(directory, send);
      for (const { act, calls } of steps) {
        if (act === 'record') {
          journal.record({ ...call, calls, billed: calls });
          recorded += calls;
          continue;
        }
        away.now = act === 'stop while away';
        if (act === 'kill') await turnOfTheLoop();
        else await journal.close();
        away.now = false;
        journal = startJournal(directory, send);
      }
      await journal.close();
      t.is(
        [...counted.values()].reduce((sum, calls) => sum + calls, 0),
        recorded,
      );
      t.deepEqual(readdirSync(directory), []);
    }),
    { numRuns: 50 },
  );
});
