import test from 'ava';
import { createDeadline, TooLate } from './deadline.ts';

test('an answer in time is the answer, and a failure in time the failure', async (t) => {
  const deadline = createDeadline(10_000);
  t.is(await deadline.wait(Promise.resolve('yes'), t.fail), 'yes');
  await t.throwsAsync(deadline.wait(Promise.reject(new TypeError('no')), t.fail), { instanceOf: TypeError });
});

test('callers fail at the deadline; a later result goes to the handler of late results', async (t) => {
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

test('the wait for all to end ends with the last of several, and not before', async (t) => {
  const deadline = createDeadline(10_000);
  const works = Array.from({ length: 3 }, () => Promise.withResolvers<number>());
  const waits = works.map(({ promise }) => deadline.wait(promise));
  const told: string[] = [];
  const ended = deadline.allEnded(10_000).then(() => told.push('ended'));
  for (const [i, work] of works.entries()) {
    t.deepEqual(told, [], `${i} of 3`);
    if (i === 1) work.reject(new Error('one fails'));
    else work.resolve(i);
    await Promise.allSettled([waits[i]]);
    if (i < 2) await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
  await ended;
  t.deepEqual(told, ['ended']);
});

test.serial('an answer, or a failure, in time leaves no timer behind', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const deadline = createDeadline(30_000);
  const before = timers();
  await deadline.wait(Promise.resolve());
  await t.throwsAsync(deadline.wait(Promise.reject(new Error('no'))));
  t.is(timers(), before);
});

test('without outstanding results, waiting for them ends at once', async (t) => {
  const deadline = createDeadline(10_000);
  await deadline.allEnded(30_000);
  t.is(await deadline.wait(Promise.resolve('answer')), 'answer');
  await deadline.allEnded(30_000);
});

test('a thrown value that is not an Error is reported as one', async (t) => {
  // oxlint-disable-next-line prefer-promise-reject-errors
  await t.throwsAsync(createDeadline(10_000).wait(Promise.reject('a text')), { message: 'a text' });
});
