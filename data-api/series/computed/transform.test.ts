import test from 'ava';
import fc from 'fast-check';
import { addDays, addMonths, dayNumber } from '../../../kernel/dates.ts';
import { frequencies, periodEnd, type Frequency } from '../../../domain/periods.ts';
import { decimal, plus, zero, type Decimal } from '../../decimal.ts';
import { noMoments, withValue } from '../../logarithms.ts';
import { segmentNo, type Columns } from './legs.ts';
import { lookBack, lookBackEnd, transformValues } from './transform.ts';
import { isApplicable, transforms, type Transform } from '../../../domain/transforms.ts';

const nothing: Columns = { dates: [], values: [], lineNos: [] };

function columns(points: readonly (readonly [date: string, value: string, lineNo?: number])[]): Columns {
  return {
    dates: points.map(([date]) => date),
    values: points.map(([, value]) => value),
    lineNos: points.map(([, , lineNo = 0]) => lineNo),
  };
}

/** date → transformed value of one combination. */
function apply(
  transform: Transform,
  frequency: Frequency,
  points: Record<string, string>,
  base?: string,
): Record<string, string> {
  const bases = new Map(base === undefined ? [] : [[0, decimal(base)]]);
  const block = columns(Object.entries(points));
  const values = transformValues({ transform, frequency, bases }, nothing, block);
  return Object.fromEntries(
    block.dates.map((date, i) => [date, values[i] ?? '']).filter(([, value]) => value !== ''),
  );
}

test('pct_change compares with the previous period, and there is no value after a gap', (t) => {
  const monthly = { '2024-01-31': '100', '2024-02-29': '110', '2024-04-30': '120', '2024-05-31': '90' };
  t.deepEqual(apply('pct_change', 'monthly', monthly), { '2024-02-29': '10', '2024-05-31': '-25' });
  const quarterly = { '2023-12-31': '200', '2024-03-31': '202', '2024-09-30': '1' };
  t.deepEqual(apply('pct_change', 'quarterly', quarterly), { '2024-03-31': '1' });
  const annual = { '2022-06-30': '50', '2023-06-30': '51', '2025-06-30': '1' };
  t.deepEqual(apply('pct_change', 'annual', annual), { '2023-06-30': '2' });
});

test('daily, weekly: the previous observation is the previous period, over weekends and holidays but no further', (t) => {
  const daily = { '2024-05-03': '100', '2024-05-06': '101', '2024-05-13': '202', '2024-05-21': '1' };
  t.deepEqual(apply('pct_change', 'daily', daily), { '2024-05-06': '1', '2024-05-13': '100' });
  const weekly = { '2024-05-02': '100', '2024-05-09': '101', '2024-05-19': '202', '2024-05-30': '1' };
  t.deepEqual(apply('pct_change', 'weekly', weekly), { '2024-05-09': '1', '2024-05-19': '100' });
  t.deepEqual(apply('pct_change', 'irregular', { '2001-01-01': '2', '2024-01-01': '3' }), {
    '2024-01-01': '50',
  });
});

test('yoy compares with the same period one year earlier, never with a fixed number of rows back', (t) => {
  // April 2023 is missing: twelve rows back would be March.
  const months = Array.from({ length: 25 }, (_, i) => periodEnd(addMonths('2022-12-31', i + 1), 'monthly'));
  const points = Object.fromEntries(
    months.filter((date) => date !== '2023-04-30').map((date) => [date, date < '2024' ? '100' : '105']),
  );
  const changes = apply('yoy', 'monthly', points);
  t.is(changes['2024-03-31'], '5');
  t.is(changes['2024-04-30'], undefined);
  t.is(changes['2024-05-31'], '5');
  t.deepEqual(apply('yoy', 'quarterly', { '2023-03-31': '4', '2024-03-31': '5' }), { '2024-03-31': '25' });
  t.deepEqual(apply('yoy', 'semiannual', { '2023-06-30': '4', '2023-12-31': '9', '2024-06-30': '5' }), {
    '2024-06-30': '25',
  });
});

test('daily yoy: the last observation on or before the same date, at most seven days back; 29 Feb is compared with 28 Feb', (t) => {
  const yoy = (points: Record<string, string>) => apply('yoy', 'daily', points);
  t.deepEqual(yoy({ '2023-02-28': '100', '2023-03-01': '50', '2024-02-29': '120' }), { '2024-02-29': '20' });
  t.deepEqual(yoy({ '2023-05-05': '100', '2023-05-08': '50', '2024-05-07': '120' }), { '2024-05-07': '20' });
  t.deepEqual(yoy({ '2023-04-30': '100', '2024-05-07': '120' }), { '2024-05-07': '20' }, 'seven days');
  t.deepEqual(yoy({ '2023-04-29': '100', '2024-05-07': '120' }), {}, 'eight days');
  t.deepEqual(yoy({ '2023-05-08': '100', '2024-05-07': '120' }), {}, 'never a later one');
});

test('mom: daily and weekly by date, monthly as pct_change, not defined for lower frequencies', (t) => {
  t.deepEqual(apply('mom', 'daily', { '2024-02-29': '100', '2024-03-31': '110' }), { '2024-03-31': '10' });
  t.deepEqual(apply('mom', 'weekly', { '2024-04-04': '100', '2024-05-09': '110' }), { '2024-05-09': '10' });
  t.deepEqual(apply('mom', 'monthly', { '2024-02-29': '100', '2024-03-31': '110' }), { '2024-03-31': '10' });
  t.deepEqual(
    frequencies.filter((frequency) => !isApplicable('mom', frequency)),
    ['quarterly', 'semiannual', 'annual'],
  );
  t.true(
    frequencies.every((frequency) =>
      transforms.every(
        (name) => name === 'mom' || frequency === 'irregular' || isApplicable(name, frequency),
      ),
    ),
  );
  t.deepEqual(
    transforms.filter((name) => !isApplicable(name, 'irregular')),
    ['annualised', 'log_change_annualised'],
    'there is no number of periods in a year',
  );
});

test('3ma needs all three periods', (t) => {
  const monthly = {
    '2024-01-31': '1',
    '2024-02-29': '2',
    '2024-03-31': '6',
    '2024-05-31': '1',
    '2024-06-30': '1',
  };
  t.deepEqual(apply('3ma', 'monthly', monthly), { '2024-03-31': '3' });
  const daily = { '2024-05-02': '1', '2024-05-03': '2', '2024-05-06': '-6', '2024-05-20': '1' };
  t.deepEqual(apply('3ma', 'daily', daily), { '2024-05-06': '-1' });
});

test('a missing leg, a zero base and a negative base give no value; a mean accepts any sign', (t) => {
  const points = {
    '2024-01-31': '0',
    '2024-02-29': '5',
    '2024-03-31': '-5',
    '2024-04-30': '5',
    '2024-05-31': '',
  };
  t.deepEqual(apply('pct_change', 'monthly', points), { '2024-03-31': '-200' });
  t.deepEqual(apply('3ma', 'monthly', points), { '2024-03-31': '0', '2024-04-30': '1.6666666667' });
  t.deepEqual(apply('index', 'monthly', points, '-5'), {});
  t.deepEqual(apply('index', 'monthly', { '2024-01-31': '0', '2024-02-29': '-5' }, '5'), {
    '2024-01-31': '0',
    '2024-02-29': '-100',
  });
});

test('combinations do not affect each other', (t) => {
  const block = columns([
    ['2024-01-31', '100', 0],
    ['2024-01-31', '10', 1],
    ['2024-02-29', '110', 0],
    ['2024-02-29', '20', 1],
    ['2024-02-29', '7', 2],
  ]);
  const values = transformValues(
    { transform: 'pct_change', frequency: 'monthly', bases: new Map() },
    nothing,
    block,
  );
  t.deepEqual(values, ['', '', '10', '100', '']);
});

/** The dates of a series of this frequency, some of them left out. */
function datesOf(frequency: Frequency): fc.Arbitrary<string[]> {
  const step = { daily: 1, weekly: 7, irregular: 11 }[frequency as string];
  const start = '2019-12-31';
  return fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 60 }).map((gaps) => {
    let at = 0;
    return gaps.map((gap) => {
      at += gap;
      if (step !== undefined) return addDays(start, at * step);
      const months = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 }[frequency as string] ?? 1;
      return periodEnd(addMonths(start, at * months), frequency);
    });
  });
}

test('a value does not depend on where a block begins or ends, in both orders, with only the history from lookBack to lookBackEnd', (t) => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(...frequencies)
        .chain((frequency) => fc.tuple(fc.constant(frequency), datesOf(frequency))),
      fc.constantFrom(...transforms),
      fc.array(fc.integer({ min: -2, max: 9 }), { minLength: 60, maxLength: 60 }),
      fc.nat(59),
      fc.integer({ min: 1, max: 60 }),
      ([frequency, dates], transform, numbers, cutAt, length) => {
        fc.pre(isApplicable(transform, frequency));
        const points = dates.map((date, i) => [date, numbers[i] === -2 ? '' : `${numbers[i]}.5`] as const);
        const decimals = (some: readonly (readonly [string, string])[]) =>
          some.filter(([, value]) => value !== '').map(([, value]) => decimal(value));
        const moments = new Map([[0, decimals(points).reduce(withValue, noMoments)]]);
        const rule = { transform, frequency, bases: new Map([[0, decimal('3')]]), moments };
        const whole = transformValues(rule, nothing, columns(points));
        const backwards = transformValues(rule, nothing, columns(points.toReversed()));
        t.deepEqual(backwards.reverse(), whole);
        const cut = cutAt % dates.length;
        const end = cut + length;
        const from = lookBack(transform, frequency, dates[cut] ?? '');
        const to = lookBackEnd(transform, dates[Math.min(end, dates.length) - 1] ?? '');
        const isHistory = ([date, value]: readonly [string, string]) =>
          date >= from && date <= to && value !== '';
        const history = columns(points.slice(0, cut).filter(isHistory));
        const block = columns(points.slice(cut, end));
        const totals = new Map([[0, decimals(points.slice(0, cut)).reduce(plus, zero)]]);
        t.deepEqual(transformValues({ ...rule, totals }, history, block), whole.slice(cut, end));
      },
    ),
    { numRuns: 500 },
  );
});

test('each stretch between two breaks has the same values as on its own, wherever a block begins', (t) => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(...frequencies)
        .chain((frequency) => fc.tuple(fc.constant(frequency), datesOf(frequency))),
      fc.constantFrom('yoy', 'mom', 'pct_change', '3ma', 'change', 'cumulative'),
      fc.array(fc.nat(59), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 60, maxLength: 60 }),
      fc.nat(59),
      ([frequency, dates], transform, breaksAt, combinations, cutAt) => {
        fc.pre(isApplicable(transform, frequency));
        // A break may be at a point or between two.
        const breaks = [
          ...new Set(breaksAt.map((at) => addDays(dates[at % dates.length] ?? '', -(at % 2)))),
        ].sort();
        const points = dates.map((date, i) => [date, String(i + 1), combinations[i] ?? 0] as const);
        const rule = { transform, frequency, bases: new Map() } as const;
        const alone = Map.groupBy(points, ([date]) => breaks.filter((each) => each <= date).length);
        const expected = [...alone.values()].flatMap((stretch) =>
          transformValues(rule, nothing, columns(stretch)),
        );
        const withBreaks = { ...rule, breaks };
        t.deepEqual(transformValues(withBreaks, nothing, columns(points)), expected);
        t.deepEqual(transformValues(withBreaks, nothing, columns(points.toReversed())).reverse(), expected);
        const cut = cutAt % dates.length;
        const from = lookBack(transform, frequency, dates[cut] ?? '');
        if (transform === 'cumulative') return;
        const history = points.slice(0, cut).filter(([date]) => date >= from);
        t.deepEqual(
          transformValues(withBreaks, columns(history), columns(points.slice(cut))),
          expected.slice(cut),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('an index has values only on the side of a break that contains its base', (t) => {
  const breaks = ['2024-02-01'];
  const block = columns([
    ['2024-01-31', '2'],
    ['2024-02-29', '3'],
    ['2024-03-31', '6'],
  ]);
  const indexed = (bases: ReadonlyMap<number, Decimal>) =>
    transformValues({ transform: 'index', frequency: 'monthly', breaks, bases }, nothing, block);
  t.deepEqual(indexed(new Map([[segmentNo(breaks, 0, '2024-02-29'), decimal('3')]])), ['', '100', '200']);
  t.deepEqual(indexed(new Map([[segmentNo(breaks, 0, '2024-01-31'), decimal('2')]])), ['100', '', '']);
});

test('the stretches between breaks of all combinations, including averages, have distinct numbers', (t) => {
  const breaks = ['2024-01-01', '2024-02-01'];
  const numbers = [-2, -1, 0, 1, 2].flatMap((lineNo) =>
    ['2023-12-31', '2024-01-01', '2024-01-31', '2024-02-01'].map((date) => segmentNo(breaks, lineNo, date)),
  );
  t.is(new Set(numbers).size, 5 * 3);
});

test('yoy and mom by date agree with a search through all observations', (t) => {
  fc.assert(
    fc.property(datesOf('daily'), fc.constantFrom('yoy', 'mom'), (spread, transform) => {
      const dates = spread.flatMap((date) => [date, addMonths(date, 1), addMonths(date, 12)]).sort();
      const points = Object.fromEntries([...new Set(dates)].map((date, i) => [date, String(i + 1)]));
      const expected: Record<string, string> = {};
      for (const [date, value] of Object.entries(points)) {
        const target = addMonths(date, transform === 'yoy' ? -12 : -1);
        const leg = Object.entries(points).findLast(
          ([other]) => other <= target && dayNumber(other) >= dayNumber(target) - 7,
        );
        if (leg !== undefined)
          expected[date] = String((100 * (Number(value) - Number(leg[1]))) / Number(leg[1]));
      }
      const computed = apply(transform, 'daily', points);
      t.deepEqual(Object.keys(computed), Object.keys(expected));
      for (const [date, value] of Object.entries(computed)) {
        t.true(
          Math.abs(Number(value) / Number(expected[date] ?? NaN) - 1) < 1e-9 || value === expected[date],
        );
      }
    }),
  );
});
