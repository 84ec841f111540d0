import test from 'ava';
import type { Database } from '../../kernel/database.ts';
import type { Dependencies } from '../dependencies.ts';
import { cachedUntilChanged } from './cached-list.ts';

/** A list that counts its computations; `state` sets the replies of the database and the clock. */
function counted(untilMs: (nowMs: number) => number = () => Infinity) {
  const state = { version: 1, nowMs: 1_000, computed: 0, fails: false };
  const database = {
    query: () => Promise.resolve([{ version: state.version, changedAt: new Date(state.version) }]),
  } as unknown as Database;
  const clock = { now: () => new Date(state.nowMs) };
  const cached = cachedUntilChanged(['series'], (_dependencies, now) => {
    state.computed += 1;
    if (state.fails) return Promise.reject(new Error('no connection'));
    return Promise.resolve({ value: state.computed, untilMs: untilMs(now.getTime()) });
  });
  const server = () => ({ database, clock, asOf: null }) as unknown as Dependencies;
  const own = server();
  return { state, read: () => cached(own), readOther: () => cached(server()) };
}

test('a list is computed once, until a load changes it', async (t) => {
  const { state, read } = counted();
  t.like(await read(), { value: 1, changedAt: new Date(1) });
  t.is((await read()).value, 1);
  await Promise.all([read(), read()]);
  t.is(state.computed, 1);
  state.version = 2;
  t.like(await read(), { value: 2, changedAt: new Date(2) });
  t.is((await read()).value, 2);
});

test('calls during the computation share it', async (t) => {
  const { state, read } = counted();
  const answers = await Promise.all([read(), read(), read()]);
  t.deepEqual(
    answers.map(({ value }) => value),
    [1, 1, 1],
  );
  t.is(state.computed, 1);
});

test('a list is recomputed from the millisecond at which the clock changes it, and when the clock is set back', async (t) => {
  const { state, read } = counted((nowMs) => nowMs + 500);
  t.is((await read()).value, 1);
  state.nowMs = 1_499;
  t.is((await read()).value, 1);
  state.nowMs = 1_500;
  t.is((await read()).value, 2);
  state.nowMs = 1_499;
  t.is((await read()).value, 3);
});

test('a failure is not kept', async (t) => {
  const { state, read } = counted();
  state.fails = true;
  await t.throwsAsync(read, { message: 'no connection' });
  state.fails = false;
  t.is((await read()).value, 2);
});

test('two servers do not share their cached lists', async (t) => {
  const { read, readOther } = counted();
  t.is((await read()).value, 1);
  t.is((await readOther()).value, 2);
  t.is((await read()).value, 1);
});
