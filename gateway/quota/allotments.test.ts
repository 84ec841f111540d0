// Takes from an allotment whose month is nearly used up: what a request cannot have is left to the next, and what a failed top-up
// leaves is put back.
import test from 'ava';
import { fakeClock, silentLog } from '../../test/services/harness.ts';
import { Failure } from '../../kernel/errors.ts';
import type { AllotmentState } from '../accounts.ts';
import { createAllotments } from './allotments.ts';
import { createProcessAllotments } from './process-allotments.ts';

/** An allotment, while accounts-api answers the top-ups in turn, the last one again and again; null: not at all. */
function setUp(answers: readonly (Partial<AllotmentState> | null)[]) {
  let asked = 0;
  const journal = { spent() {}, flush: () => Promise.resolve() };
  const accounts = {
    topUp() {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (answer === null) return Promise.reject(new Failure('unavailable', 'away'));
      return Promise.resolve({ granted: 0, elsewhere: 0, limit: 10, closed: false, held: false, ...answer });
    },
    renew: () => Promise.resolve(new Set<string>()),
  };
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const inProcess = createProcessAllotments({ journal, accounts, log: silentLog });
  const allotments = createAllotments(inProcess, { accounts, clock });
  return {
    async take(...wanted: number[]) {
      const { holds, mayCome, used } = await allotments.take('acct_a', wanted, 10);
      return { given: holds.map((hold) => hold !== null), holds, mayCome, used };
    },
    asked: () => asked,
    close: () => inProcess.close(),
  };
}

test('a month that is used up is asked about once, and nothing may come if nobody holds calls of it', async (t) => {
  const { take, asked, close } = setUp([{ granted: 0 }]);
  t.teardown(close);
  t.like(await take(3), { given: [false], mayCome: false });
  t.is(asked(), 1);
});

test('calls may come if another gateway holds some, or one is under way here', async (t) => {
  const { take, close } = setUp([{ granted: 0, held: true }, { granted: 1 }]);
  t.teardown(close);
  t.like(await take(1), { given: [false], mayCome: true });
  const { holds } = await take(1);
  t.like(await take(1), { given: [false], mayCome: true });
  holds[0]?.end(true);
  t.like(await take(1), { given: [false], mayCome: false });
});

test('a request gets all its calls or none: what is too little for it is left to the next, and counts as used by nobody', async (t) => {
  const { take, close } = setUp([{ granted: 2 }, { granted: 7 }, { granted: 7 }]);
  t.teardown(close);
  t.like(await take(8, 3, 5, 2), { given: [false, true, false, true], used: 5 });
  t.like(await take(2), { given: [true], used: 7 });
});

test('what was taken before a top-up failed is put back', async (t) => {
  const { take, close } = setUp([{ granted: 4 }, null]);
  t.teardown(close);
  t.like(await take(1), { given: [true] });
  await t.throwsAsync(take(1, 5), { instanceOf: Failure });
  t.like(await take(3), { given: [true], used: 4 });
});
