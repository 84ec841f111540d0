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
