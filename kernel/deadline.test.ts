import test from 'ava';
import { createDeadline, TooLate } from './deadline.ts';

test('an answer in time is the answer, and a failure in time the failure', async (t) => {
  const deadline = createDeadline(10_000);
  t.is(await deadline.wait(Promise.resolve('yes'), t.fail), 'yes');
  await t.throwsAsync(deadline.wait(Promise.reject(new TypeError('no')), t.fail), { instanceOf: TypeError });
});

test('who waits is told at the deadline; what comes afterwards goes to who handles the late', async (t) => {
  const deadline = createDeadline(1);
  const work = Promise.withResolvers<string>();
  const late: string[] = [];
  await t.throwsAsync(
    deadline.wait(work.promise, (result) => late.push(result)),
    { instanceOf: TooLate, message: 'There was no answer for 1 ms.' },
  );
  t.deepEqual(late, []);
  work.resolve('done after all');
  await deadline.allEnded(10_000);
  t.deepEqual(late, ['done after all']);
});

test('work that fails after the deadline has ended too, and is no unhandled rejection', async (t) => {
  const deadline = createDeadline(1);
  const work = Promise.withResolvers<string>();
  await t.throwsAsync(deadline.wait(work.promise, t.fail), { instanceOf: TooLate });
  work.reject(new Error('broken'));
  await t.notThrowsAsync(deadline.allEnded(10_000));
});

test('what follows from the last answer is done when all has ended', async (t) => {
  const deadline = createDeadline(10_000);
  const work = Promise.withResolvers<void>();
  let followed = false;
  const waiter = deadline.wait(work.promise).then(async () => {
    for (let step = 0; step < 10; step += 1) await Promise.resolve();
    followed = true;
  });
  setImmediate(work.resolve);
  await deadline.allEnded(10_000);
  t.true(followed);
  await waiter;
});

test('the wait for all to end ends where one never does', async (t) => {
  const deadline = createDeadline(1);
  await t.throwsAsync(deadline.wait(new Promise(() => undefined)), { instanceOf: TooLate });
  await t.notThrowsAsync(deadline.allEnded(5));
});
