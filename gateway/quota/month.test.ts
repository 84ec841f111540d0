// A call that the month has nothing left for: it waits as long as calls may come back, and no longer.
import test from 'ava';
import { fakeClock } from '../../test/services/harness.ts';
import type { Grant } from './allotments.ts';
import { Hold } from './hold.ts';
import { createMonth } from './month.ts';

/** A month whose allotment answers in turn, the last answer again and again. @returns what a call got, and how often it asked. */
async function takeOne(answers: readonly { hasCall: boolean; mayCome: boolean }[]) {
  let asked = 0;
  const source = { leasedUntilMs: Infinity, spend() {}, putBack() {} };
  const inProcess = {
    take(): Promise<Grant> {
      const { hasCall = false, mayCome = false } = answers[Math.min(asked, answers.length - 1)] ?? {};
      asked += 1;
      const holds = [hasCall ? new Hold(source, 1, () => 0) : null];
      return Promise.resolve({ holds, limit: 10, used: 10, resetsAt: '2026-12-01T00:00:00Z', mayCome });
    },
    allToppedUp: () => Promise.resolve(),
  };
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const journal = { charge() {} };
  const month = createMonth({ inRedis: undefined, inProcess, journal, outage: 'closed', clock });
  const { granted } = await month.take('acct_a', 1, 10);
  return { granted, asked };
}

test('a call for which nothing is left is refused at once, if no call is under way', async (t) => {
  t.deepEqual(await takeOne([{ hasCall: false, mayCome: false }]), { granted: false, asked: 1 });
});

test('a call that would be refused only because others are under way gets what one of them puts back', async (t) => {
  const none = { hasCall: false, mayCome: true };
  t.deepEqual(await takeOne([none, none, { hasCall: true, mayCome: true }]), { granted: true, asked: 3 });
  t.deepEqual(await takeOne([none, { hasCall: false, mayCome: false }]), { granted: false, asked: 2 });
});

test('a call is refused in the end, if those that are under way put nothing back', async (t) => {
  const { granted, asked } = await takeOne([{ hasCall: false, mayCome: true }]);
  t.false(granted);
  t.true(asked >= 2 && asked <= 12, `asked ${asked} times`);
});

test('a call is given no more than its own plan allows by another that still waits with the limit of before', async (t) => {
  const limits: (number | null)[] = [];
  const inProcess = {
    take(_accountId: string, wanted: readonly number[], limit: number | null): Promise<Grant> {
      limits.push(limit);
      const holds = wanted.map(() => null);
      return Promise.resolve({ holds, limit, used: 10, resetsAt: '2026-12-01T00:00:00Z', mayCome: false });
    },
    allToppedUp: () => Promise.resolve(),
  };
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const month = createMonth({ inRedis: undefined, inProcess, journal: { charge() {} }, outage: 'closed', clock });
  await Promise.all([10, 1_000].map((limit) => month.take('acct_a', 1, limit)));
  await Promise.all([null, 10].map((limit) => month.take('acct_a', 1, limit)));
  await Promise.all([10, null].map((limit) => month.take('acct_a', 1, limit)));
  await Promise.all([null, null].map((limit) => month.take('acct_a', 1, limit)));
  t.deepEqual(limits, [10, 10, 10, null]);
});
