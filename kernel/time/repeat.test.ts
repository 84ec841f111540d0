import test from 'ava';
import { repeat, type Repeated } from './repeat.ts';

/** Runs often next to others, so that its count measures time. @returns resolves after this many turns. */
function turns(count: number): { passed: Promise<void>; ticking: Repeated } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  const ticking = repeat(() => Promise.resolve((left -= 1) > 0 || resolve()), {
    everyMs: 1,
    onError: () => undefined,
  });
  return { passed: promise, ticking };
}

async function passTurns(count: number): Promise<void> {
  const { passed, ticking } = turns(count);
  await passed;
  await ticking.close();
}

test('no run begins while the previous one is running', async (t) => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let runs = 0;
  const repeated = repeat(
    () => {
      runs += 1;
      if (runs === 1) return first.promise;
      second.resolve();
      return Promise.resolve();
    },
    { everyMs: 1, onError: () => t.fail() },
  );
  await passTurns(20);
  t.is(runs, 1);
  first.resolve();
  await second.promise;
  await repeated.close();
  t.true(runs >= 2);
});

test('an error of a run is passed on, and the next run still begins', async (t) => {
  const errors: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const repeated = repeat(
    () => {
      throw new Error(`run ${errors.length}`);
    },
    {
      everyMs: 1,
      onError(error) {
        errors.push(error);
        if (errors.length === 2) resolve();
      },
    },
  );
  await promise;
  await repeated.close();
  t.deepEqual(
    errors.slice(0, 2).map((error) => (error as Error).message),
    ['run 0', 'run 1'],
  );
});

test('close waits for the current run, and none begins after it', async (t) => {
  const running = Promise.withResolvers<void>();
  let [runs, ended] = [0, false];
  const repeated = repeat(
    async () => {
      runs += 1;
      await running.promise;
      ended = true;
    },
    { everyMs: 1, atOnce: true, onError: () => t.fail() },
  );
  await passTurns(2);
  const closed = repeated.close();
  running.resolve();
  await closed;
  t.true(ended);
  await passTurns(5);
  t.is(runs, 1);
});
