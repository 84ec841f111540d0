import test from 'ava';
import { rememberedFor } from './remembered.ts';

function asking(ms: number) {
  const clock = { now: 0 };
  const answers: { resolve(value: number): void; reject(error: Error): void }[] = [];
  const ask = rememberedFor(
    ms,
    () => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      answers.push({ resolve, reject });
      return promise;
    },
    () => clock.now,
  );
  return { ask, answers, clock };
}

test('callers share one request while it runs, and its answer for a while', async (t) => {
  const { ask, answers, clock } = asking(10);
  const both = [ask(), ask()];
  clock.now = 1_000;
  both.push(ask());
  answers[0]?.resolve(1);
  t.deepEqual(await Promise.all(both), [1, 1, 1]);
  clock.now += 9;
  t.is(await ask(), 1);
  t.is(answers.length, 1);
  clock.now += 1;
  const next = ask();
  answers[1]?.resolve(2);
  t.is(await next, 2);
});

test('a failure reaches all waiting callers, and is not cached', async (t) => {
  const { ask, answers } = asking(10);
  const both = [ask(), ask()];
  answers[0]?.reject(new Error('away'));
  for (const each of both) await t.throwsAsync(each, { message: 'away' });
  const next = ask();
  answers[1]?.resolve(2);
  t.is(await next, 2);
});
