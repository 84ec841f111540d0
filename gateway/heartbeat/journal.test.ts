import test from 'ava';
import fc from 'fast-check';
import { systemClock } from '../../kernel/clock.ts';
import { createLog } from '../../kernel/log/log.ts';
import type { Batch, UsageRow } from '../../kernel/heartbeat/message.ts';
import { fakeClock, silentLog } from '../../test/services/harness.ts';
import { until } from '../../test/run/until.ts';
import { BatchRefused, createJournal } from './journal.ts';

const call: UsageRow = {
  account_id: 'a',
  key_id: 'k',
  day: '2026-11-20',
  endpoint: 'series',
  status_class: 2,
  calls: 1,
  billed: 1,
};

function journalTo(send: (batch: Batch) => Promise<void>, closeWithinMs = 10_000) {
  const clock = fakeClock('2026-11-20T12:00:00Z');
  const journal = createJournal({
    send,
    end: async () => undefined,
    flushEveryMs: 60_000, // only close() flushes
    closeWithinMs,
    clock,
    log: silentLog,
  });
  return { journal, clock };
}

test('entries of one key, day, endpoint and status class are summed, and closing sends them', async (t) => {
  const sent: Batch[] = [];
  const { journal } = journalTo(async (batch) => void sent.push(batch));
  for (let i = 0; i < 3; i += 1) journal.record(call);
  journal.record({ ...call, status_class: 4, billed: 0 });
  journal.charge('a', '2026-11-01', 2);
  journal.charge('a', '2026-11-01', 1);
  await journal.close();
  t.is(sent.length, 1);
  t.like(sent[0]?.usage, [
    { status_class: 2, calls: 3, billed: 3 },
    { status_class: 4, calls: 1, billed: 0 },
  ]);
  t.deepEqual(sent[0]?.charges, [{ account_id: 'a', month: '2026-11-01', calls: 3 }]);
});

test('every entry is reported once, summed only with entries of the same account, key, day, endpoint and class', async (t) => {
  const entry = fc.record({
    account_id: fc.constantFrom('a', 'b'),
    key_id: fc.constantFrom('k', 'l'),
    day: fc.constantFrom('2026-11-20', '2026-11-21'),
    endpoint: fc.constantFrom('series', 'funds'),
    status_class: fc.constantFrom(2, 4),
    calls: fc.integer({ min: 1, max: 100 }),
    billed: fc.integer({ min: 0, max: 1 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 60 }), async (entries) => {
      const reported: Record<string, { calls: number; billed: number }> = {};
      const { journal } = journalTo(async ({ usage }) => {
        for (const { account_id, key_id, day, endpoint, status_class, calls, billed } of usage) {
          const of = [account_id, key_id, day, endpoint, status_class].join(' ');
          t.false(of in reported, 'one entry of each kind');
          reported[of] = { calls, billed };
        }
      });
      const expected: Record<string, { calls: number; billed: number }> = {};
      for (const each of entries) {
        journal.record(each);
        const of = [each.account_id, each.key_id, each.day, each.endpoint, each.status_class].join(' ');
        const sum = (expected[of] ??= { calls: 0, billed: 0 });
        sum.calls += each.calls;
        sum.billed += each.billed;
      }
      await journal.close();
      t.deepEqual(reported, expected);
    }),
  );
});

test('the calls of a life that were served or returned are reported as sums per life', async (t) => {
  const sent: Batch[] = [];
  const { journal } = journalTo(async (batch) => void sent.push(batch));
  for (const [life, calls, returned] of [
    ['p', 3, 2],
    ['q', 7, 0],
    ['p', 0, 9],
  ] as const) {
    journal.spent('a', '2026-11-01', life, calls, returned);
  }
  await journal.close();
  const of = { account_id: 'a', month: '2026-11-01' };
  t.deepEqual(sent[0]?.spent, [
    { ...of, life: 'p', calls: 3, returned: 11 },
    { ...of, life: 'q', calls: 7, returned: 0 },
  ]);
});

test('a flush sends everything recorded before it, even while another batch is in flight', async (t) => {
  const sent: Batch[] = [];
  const answers: (() => void)[] = [];
  const { journal } = journalTo((batch) => {
    sent.push(batch);
    return new Promise((resolve) => answers.push(resolve));
  });
  journal.record(call);
  const first = journal.flush();
  journal.spent('a', '2026-11-01', 'p', 0, 1);
  const second = journal.flush();
  await until('the first is sent', () => answers.length === 1);
  answers[0]?.();
  await first;
  await until('the second is sent', () => answers.length === 2);
  t.is(sent[1]?.spent.length, 1);
  answers[1]?.();
  await second;
  t.is(journal.backlog().entries, 0);
  await journal.close();
});

test('a failed batch is sent again even if nothing more is recorded', async (t) => {
  let sends = 0;
  const journal = createJournal({
    async send() {
      sends += 1;
      if (sends === 1) throw new Error('away');
    },
    end: async () => undefined,
    flushEveryMs: 0,
    closeWithinMs: 10_000,
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(() => journal.close());
  journal.record(call);
  await until('it is sent again', () => sends === 2);
  await until('it is settled', () => journal.backlog().entries === 0);
  t.is(journal.backlog().batches, 0);
});

test('a failed batch is sent again unchanged, under the same id, before later entries', async (t) => {
  const sent: Batch[] = [];
  const { journal } = journalTo(async (batch) => {
    sent.push(structuredClone(batch));
    if (sent.length === 1) {
      journal.record({ ...call, status_class: 5 });
      throw new Error('the answer was lost');
    }
  });
  journal.record(call);
  await journal.close();
  t.is(sent.length, 3);
  t.deepEqual(sent[1], sent[0]);
  t.not(sent[2]?.batch_id, sent[0]?.batch_id);
  t.like(sent[2]?.usage, [{ status_class: 5 }]);
});

test('no batch exceeds the body limit of a service', async (t) => {
  const sent: Batch[] = [];
  const { journal } = journalTo(async (batch) => void sent.push(batch));
  const id = () => crypto.randomUUID().padEnd(64, '0');
  for (let i = 0; i < 1_000; i += 1) {
    journal.record({ ...call, account_id: id(), key_id: id(), endpoint: 'fixed-income', calls: 1_000_000 });
    journal.charge(id(), '2026-11-01', 1);
  }
  await journal.close();
  t.is(sent.flatMap(({ usage }) => usage).length, 1_000);
  t.is(sent.flatMap(({ charges }) => charges).length, 1_000);
  for (const batch of sent) t.true(JSON.stringify(batch).length < 64 * 1024);
});

test('a batch that can never be accepted does not delay the next', async (t) => {
  const sent: Batch[] = [];
  const { journal } = journalTo(async (batch) => {
    sent.push(batch);
    if (sent.length === 1) throw new BatchRefused('malformed');
  });
  journal.record(call);
  await journal.flush();
  journal.record({ ...call, status_class: 5 });
  await journal.close();
  t.is(sent.length, 2);
  t.like(sent[1]?.usage, [{ status_class: 5 }]);
});

test('entries recorded while a batch is in flight are sent after it, even if they became due meanwhile', async (t) => {
  const firstAnswer = Promise.withResolvers<void>();
  const secondSent = Promise.withResolvers<void>();
  let sends = 0;
  const journal = createJournal({
    async send() {
      sends += 1;
      if (sends === 2) return secondSent.resolve();
      journal.record(call);
      setTimeout(firstAnswer.resolve, 10); // well after the timer of the second entry
      return firstAnswer.promise;
    },
    end: async () => undefined,
    flushEveryMs: 0,
    closeWithinMs: 10_000,
    clock: systemClock,
    log: silentLog,
  });
  journal.record(call);
  await secondSent.promise;
  await journal.close();
  t.is(sends, 2);
});

test('entries recorded while a closing journal sends its rest are also sent', async (t) => {
  const sent: Batch[] = [];
  const { journal } = journalTo(async (batch) => {
    if (sent.push(batch) < 3) journal.charge('a', '2026-11-01', sent.length);
  });
  journal.record(call);
  await journal.close();
  t.deepEqual(
    sent.map(({ charges }) => charges.map(({ calls }) => calls)),
    [[], [1], [2]],
  );
});

test('the use of a key is reported at most once a minute', async (t) => {
  const sent: Batch[] = [];
  const { journal, clock } = journalTo(async (batch) => void sent.push(batch));
  journal.touch('k');
  clock.advance(59_999);
  journal.touch('k');
  journal.touch('other');
  await journal.flush();
  t.deepEqual(sent[0]?.last_used, [
    { key_id: 'k', at: '2026-11-20T12:00:00.000Z' },
    { key_id: 'other', at: '2026-11-20T12:00:59.999Z' },
  ]);
  clock.advance(1);
  journal.touch('k');
  await journal.close();
  t.deepEqual(sent[1]?.last_used, [{ key_id: 'k', at: '2026-11-20T12:01:00.000Z' }]);
});

test('entries that accounts-api never accepts are dropped on closing, and logged', async (t) => {
  const errors: unknown[] = [];
  const journal = createJournal({
    send: async () => Promise.reject(new Error('away')),
    end: async () => undefined,
    flushEveryMs: 60_000,
    closeWithinMs: 50,
    clock: systemClock,
    log: Object.assign(Object.create(silentLog) as typeof silentLog, {
      error: (entry: unknown) => void errors.push(entry),
    }),
  });
  journal.record(call);
  await journal.close();
  t.is(errors.length, 1);
  t.regex(JSON.stringify(errors[0]), /"calls":1/);
});

test.serial('entries recorded after closing are logged as lost, and keep no process alive', async (t) => {
  let logged = '';
  const log = createLog('gateway', 'info', { write: (line) => void (logged += line) });
  const journal = createJournal({
    send: () => Promise.reject(new Error('nobody is there')),
    end: async () => undefined,
    flushEveryMs: 60_000,
    closeWithinMs: 0,
    clock: fakeClock('2026-11-20T12:00:00Z'),
    log,
  });
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  await journal.close();
  journal.spent('a', '2026-11-01', 'b', 0, 7);
  await journal.flush();
  t.is(timers(), before);
  t.regex(logged, /"returned":7/);
});

test('a closing journal ends its life only if every entry was accepted, including late ones', async (t) => {
  const ended: (readonly string[])[] = [];
  const journal = createJournal({
    send: async () => journal.spent('a', '2026-11-01', 'p', 1, 0), // one more during each
    end: async (lives) => void ended.push(lives),
    flushEveryMs: 60_000,
    closeWithinMs: 0,
    clock: systemClock,
    log: silentLog,
  });
  journal.beginLife('p');
  journal.record(call);
  await journal.close();
  t.deepEqual(ended, []);
});
