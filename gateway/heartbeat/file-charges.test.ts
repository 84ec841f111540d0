// Concurrent ranges of a file share one reserved call.
import test from 'ava';
import { calendarMonth } from './calendar-month.ts';
import { createFileCharges, type Range } from './file-charges.ts';
import type { Reservation } from './month-quota.ts';

const reader = { accountId: 'a', keyId: 'k', day: '2026-11-29', file: '/v1/bulk/prices.parquet' };
const month = calendarMonth('2026-11-01');

/** A month with calls left; it records how each call ended. */
function start() {
  const ended: boolean[] = [];
  let reserved = 0;
  const fileCharges = createFileCharges({
    async reserve(): Promise<Reservation> {
      reserved += 1;
      const charge = {
        ...{ calls: 1, month: month.month, isValid: true },
        end: (served: boolean) => void ended.push(served),
      };
      return { calls: 1, charge, limit: 10, used: 1, month, resetSeconds: 1 };
    },
  });
  const begin = async () => (await fileCharges.begin(reader)) as Range;
  return { begin, ended, reserved: () => reserved };
}

test('ranges that begin before the call is reserved share it, and the first served one pays', async (t) => {
  const { begin, ended, reserved } = start();
  const ranges = await Promise.all([begin(), begin(), begin()]);
  t.is(reserved(), 1);
  t.deepEqual(
    ranges.map((range, i) => range.end(i > 0)),
    [0, 1, 0],
  );
  t.deepEqual(ended, [true]);
  t.is((await begin()).end(true), 0);
  t.is(reserved(), 1);
});

test('a range that waited for the call still has it if the first range ends at once, unserved', async (t) => {
  const { begin, ended, reserved } = start();
  const first = begin().then((range) => range.end(false));
  const second = begin();
  t.is(await first, 0);
  t.is((await second).end(true), 1);
  t.is(reserved(), 1);
  t.deepEqual(ended, [true]);
});

/** A range: it begins before or some microtasks after the call is reserved, and ends some microtasks after it has begun. */
interface Course {
  beginsAt: number;
  lasts: number;
  isServed: boolean;
}

const microtask = Promise.resolve();
const reservedAt = 1;
/** The microtasks between the reservation and the last range that awaits it, and two more. */
const microtasks = 7;
const courses: readonly Course[] = Array.from({ length: reservedAt + microtasks }, (_, beginsAt) =>
  [0, 1, 3].flatMap((lasts) => [true, false].map((isServed) => ({ beginsAt, lasts, isServed }))),
).flat();

/** Runs courses, each of a file of its own. */
function startCourses() {
  let calls: boolean[][] = [];
  let isReserved = Promise.resolve();
  let files = 0;
  const fileCharges = createFileCharges({
    async reserve(): Promise<Reservation> {
      const ends: boolean[] = [];
      calls.push(ends);
      await isReserved;
      const end = (served: boolean) => void ends.push(served);
      const charge = { calls: 1, month: month.month, isValid: true, end };
      return { calls: 1, charge, limit: 10, used: 1, month, resetSeconds: 1 };
    },
  });
  /** @returns how each reserved call was ended, and the number of calls that the ranges report as charged. */
  return async function run(ranges: readonly Course[]) {
    const reservation = Promise.withResolvers<void>();
    [calls, isReserved, files] = [[], reservation.promise, files + 1];
    const file = `/v1/bulk/${files}.parquet`;
    let charged = 0;
    async function read({ lasts, isServed }: Course): Promise<void> {
      const range = (await fileCharges.begin({ ...reader, file })) as Range;
      for (let passed = 0; passed < lasts; passed += 1) await microtask;
      charged += range.end(isServed);
    }
    const running: Promise<void>[] = [];
    for (let at = 0; at < reservedAt + microtasks; at += 1) {
      if (at === reservedAt) reservation.resolve();
      for (const range of ranges) if (range.beginsAt === at) running.push(read(range));
      await microtask;
    }
    await Promise.all(running);
    return { calls, charged };
  };
}

test('a served file is charged once and an unserved one never, in every order of three ranges around the reservation', async (t) => {
  const run = startCourses();
  for (const first of courses)
    for (const second of courses)
      for (const third of courses) {
        if (first.beginsAt > second.beginsAt || second.beginsAt > third.beginsAt) continue; // the same by symmetry
        const ranges = [first, second, third];
        const { calls, charged } = await run(ranges);
        const expected = ranges.some(({ isServed }) => isServed) ? 1 : 0;
        const isRight =
          charged === expected &&
          calls.flat().filter((served) => served).length === expected &&
          calls.every((ends) => ends.length === 1);
        if (!isRight) return void t.fail(JSON.stringify({ ranges, calls, charged }));
      }
  return void t.pass();
});
