import fc from 'fast-check';
import test from 'ava';
import { Failure } from '../errors.ts';
import { createByteBudget, type ByteReservation } from './byte-budget.ts';

/** Bodies that share one budget, and the names of those that were cut. */
function bodiesOf(bytesMax: number, ofHolderMax?: number) {
  const budget = createByteBudget(bytesMax, ofHolderMax);
  const cut: string[] = [];
  return {
    budget,
    cut,
    begin(name: string, sender = name.slice(0, 1)): ByteReservation {
      return budget.reserve(sender, (why) => cut.push(`${name} ${why.code}`));
    },
  };
}

const codeOf = (work: () => void): string => {
  try {
    work();
    return 'held';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code;
  }
};

test('the oldest body of the sender with the most unfinished bytes is cut off', (t) => {
  const { begin, cut, budget } = bodiesOf(100, 100);
  begin('a1').grow(40);
  begin('a2').grow(40);
  begin('b1').grow(20);
  begin('c1').grow(10);
  t.deepEqual(cut, ['a1 rate_limited']);
  t.is(budget.bytes, 70);
});

test('a sender is limited to its own share, beyond which its own oldest body is cut off', (t) => {
  const { begin, cut } = bodiesOf(100);
  begin('a1').grow(30);
  const second = begin('a2');
  second.grow(20);
  begin('a3').grow(10);
  t.deepEqual(cut, ['a1 rate_limited']);
  t.is(
    codeOf(() => second.grow(31)),
    'rate_limited',
    'more than the share at once',
  );
});

test('a complete body is never cut off: a new body without space is refused', (t) => {
  const { begin, cut } = bodiesOf(100, 100);
  const whole = begin('a1');
  whole.grow(90);
  whole.arrived();
  t.is(
    codeOf(() => begin('b1').grow(11)),
    'unavailable',
  );
  whole.release();
  whole.release();
  t.is(
    codeOf(() => begin('b2').grow(100)),
    'held',
  );
  t.deepEqual(cut, []);
});

test('reserved bytes never exceed the budget or the share, are the sum of the bodies, and are all returned', (t) => {
  const bytesMax = 50;
  const step = fc.record({
    do: fc.constantFrom('begin', 'grow', 'grow', 'arrived', 'release', 'shrink'),
    at: fc.nat(9),
    bytes: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const budget = createByteBudget(bytesMax);
      const bodies = new Map<ByteReservation, { sender: string; bytes: number }>();
      for (const { do: what, at, bytes } of steps) {
        const [body, own] = [...bodies][at % Math.max(1, bodies.size)] ?? [];
        if (what === 'begin' || body === undefined || own === undefined) {
          const sender = `${at % 3}`;
          const reservation: ByteReservation = budget.reserve(sender, () => bodies.delete(reservation));
          bodies.set(reservation, { sender, bytes: 0 });
        } else if (what === 'grow') {
          if (codeOf(() => body.grow(bytes)) === 'held') own.bytes += bytes;
        } else if (what === 'shrink') {
          body.shrink(Math.min(bytes, own.bytes));
          own.bytes -= Math.min(bytes, own.bytes);
        } else if (what === 'arrived') body.arrived();
        else {
          body.release();
          bodies.delete(body);
        }
        const all = [...bodies.values()];
        const sum = (reserved: typeof all) => reserved.reduce((total, { bytes: some }) => total + some, 0);
        if (budget.bytes !== sum(all) || budget.bytes > bytesMax) return false;
        if (['0', '1', '2'].some((name) => sum(all.filter(({ sender }) => sender === name)) > bytesMax / 2))
          return false;
      }
      for (const body of bodies.keys()) body.release();
      return budget.bytes === 0;
    }),
  );
  t.pass();
});
