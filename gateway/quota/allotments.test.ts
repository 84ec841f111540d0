// Takes from an allotment whose month is used up, while other gateways may return calls.
import test from 'ava';
import { fakeClock } from '../../test/services/harness.ts';
import type { AllotmentState } from '../accounts.ts';
import { createAllotments } from './allotments.ts';
import { createProcessAllotments } from './process-allotments.ts';

/** Takes three calls, while accounts-api answers the top-ups in turn, the last one again and again. */
async function take(answers: readonly Partial<AllotmentState>[]) {
  let asked = 0;
  const refunds: number[] = [];
  const journal = {
    drawn() {},
    flush() {},
    refund: (_account: string, _month: string, calls: number) => void refunds.push(calls),
  };
  const accounts = {
    topUp() {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      return Promise.resolve({ granted: 0, elsewhere: 0, limit: 10, closed: false, held: false, ...answer });
    },
  };
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const inProcess = createProcessAllotments({ journal });
  const { granted } = await createAllotments(inProcess, { accounts, journal, clock }).take('acct_a', 3, 10);
  inProcess.close();
  return { granted, asked, refunds };
}

test('a month that is used up is asked about once, if no gateway holds calls of it', async (t) => {
  t.deepEqual(await take([{ granted: 0 }]), { granted: 0, asked: 1, refunds: [] });
});

test('if gateways hold calls of a month, it is asked about again, and what they return is taken', async (t) => {
  t.deepEqual(await take([{ held: true }, { granted: 2, held: true }, { granted: 3 }]), {
    ...{ granted: 3, asked: 3, refunds: [] },
  });
});

test('if gateways hold calls and return none, what there is is granted after some tries', async (t) => {
  const { granted, asked } = await take([{ granted: 1, held: true }]);
  t.is(granted, 1);
  t.true(asked >= 2 && asked < 10, `asked ${asked} times`);
});
