// Takes from an allotment. Of a month that is nearly used up what a request cannot have is left to the next, and what a failed top-up
// leaves is put back; while most of it is left, calls do not wait for top-ups.
import test from 'ava';
import { until } from '../../test/run/until.ts';
import { fakeClock, silentLog } from '../../test/services/harness.ts';
import { Failure } from '../../kernel/errors.ts';
import type { AllotmentState } from '../accounts.ts';
import { createAllotments } from './allotments.ts';
import { createProcessAllotments } from './process-allotments.ts';

type TopUp = Parameters<Parameters<typeof createAllotments>[1]['accounts']['topUp']>[0];

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
  const nowMs = () => clock.now().getTime();
  const inProcess = createProcessAllotments({ journal, accounts, log: silentLog, nowMs });
  const allotments = createAllotments(inProcess, { accounts, clock, log: silentLog, nowMs });
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
  const { take, close } = setUp([{ granted: 4, elsewhere: 5 }, null]);
  t.teardown(close);
  t.like(await take(1), { given: [true] });
  await t.throwsAsync(take(1, 5), { instanceOf: Failure });
  t.like(await take(3), { given: [true], used: 9 });
});

/** An unlimited month, of which a first request has taken one of a hundred calls. Each top-up is answered when the test says so. */
async function setUpUnlimited() {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const nowMs = () => clock.now().getTime();
  const journal = { spent() {}, flush: () => Promise.resolve() };
  const asked: { topUp: TopUp; answer: (granted: number) => void; fail: () => void }[] = [];
  const accounts = {
    topUp(topUp: TopUp) {
      const { promise, resolve, reject } = Promise.withResolvers<AllotmentState>();
      const state = { elsewhere: 0, limit: null, closed: false, held: false };
      const fail = () => reject(new Failure('unavailable', 'away'));
      asked.push({ topUp, answer: (granted) => resolve({ granted, ...state }), fail });
      return promise;
    },
    renew: () => Promise.resolve(new Set<string>()),
  };
  const inProcess = createProcessAllotments({ journal, accounts, log: silentLog, nowMs });
  const allotments = createAllotments(inProcess, { accounts, clock, nowMs, log: silentLog });
  const take = (calls: number) => allotments.take('acct_a', [calls], null);
  const first = take(1);
  await until('the first request asks', () => asked.length === 1);
  asked[0]?.answer(100);
  await first;
  clock.advance(20);
  return { take, asked, allToppedUp: () => allotments.allToppedUp(), close: () => inProcess.close() };
}

test('while most of the month is left it is topped up before calls are lacking, once, and no call waits for it', async (t) => {
  const { take, asked, allToppedUp, close } = await setUpUnlimited();
  t.teardown(close);
  await take(29); // 30 calls in 20 ms: the 70 that are left are fewer than a quarter of a second brings
  await take(1);
  t.deepEqual(
    asked.map(({ topUp: { seen, calls, ahead } }) => ({ seen, calls, ahead })),
    [
      { seen: 0, calls: 1, ahead: 1 },
      { seen: 100, calls: 1, ahead: 1_500 },
    ],
  );
  asked[1]?.answer(1_600);
  await allToppedUp();
  const { holds } = await take(1_569);
  t.is(holds[0]?.calls, 1_569, 'all that is left, without another top-up');
});

test('a request that lacks calls waits for the top-up under way instead of asking for another', async (t) => {
  const { take, asked, close } = await setUpUnlimited();
  t.teardown(close);
  await take(29);
  const lacking = take(500);
  asked[1]?.answer(1_000);
  t.is((await lacking).holds[0]?.calls, 500);
  t.is(asked.length, 2);
});

test('an early top-up that fails is not repeated early; the first request that lacks calls asks again', async (t) => {
  const { take, asked, allToppedUp, close } = await setUpUnlimited();
  t.teardown(close);
  await take(29);
  asked[1]?.fail();
  await allToppedUp();
  await take(70);
  t.is(asked.length, 2);
  const lacking = take(1);
  await until('it asks', () => asked.length === 3);
  asked[2]?.answer(101);
  t.is((await lacking).holds[0]?.calls, 1);
});

test('whoever closes can wait for an early top-up, whose calls are then returned', async (t) => {
  const { take, asked, allToppedUp, close } = await setUpUnlimited();
  t.teardown(close);
  await take(29);
  let isToppedUp = false;
  const all = allToppedUp().then(() => (isToppedUp = true));
  await new Promise(setImmediate);
  t.false(isToppedUp);
  asked[1]?.answer(1_000);
  t.true(await all);
});
