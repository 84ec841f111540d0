import test from 'ava';
import { createDeadline, TooLate } from './deadline.ts';

test('an answer or a failure before the deadline is passed on', async (t) => {
  const deadline = createDeadline(10_000);
  t.is(await deadline.wait(Promise.resolve('yes')), 'yes');
  await t.throwsAsync(deadline.wait(Promise.reject(new TypeError('no'))), { instanceOf: TypeError });
});

test('callers fail at the deadline, and a later failure causes no unhandled rejection', async (t) => {
  const deadline = createDeadline(1);
  const work = Promise.withResolvers<string>();
  await t.throwsAsync(deadline.wait(work.promise), {
    instanceOf: TooLate,
    message: 'No answer within 1 ms.',
  });
  work.reject(new Error('broken'));
  await new Promise((resolve) => setImmediate(resolve));
});

test.serial('an answer or a failure before the deadline leaves no timer', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const deadline = createDeadline(30_000);
  const before = timers();
  await deadline.wait(Promise.resolve());
  await t.throwsAsync(deadline.wait(Promise.reject(new Error('no'))));
  t.is(timers(), before);
});

test('a thrown value that is not an Error is reported as one', async (t) => {
  // oxlint-disable-next-line prefer-promise-reject-errors
  await t.throwsAsync(createDeadline(10_000).wait(Promise.reject('a text')), { message: 'a text' });
});
