import test from 'ava';
import fc from 'fast-check';
import { addDays } from '../../kernel/dates.ts';
import { adjustNavs, inceptionNav, navOnOrAfter, navOnOrBefore } from './adjusted-nav.ts';

const navText = fc.integer({ min: 1, max: 99_999_999 }).map((units) => (units / 10_000).toFixed(4));
const date = fc.integer({ min: 0, max: 4000 }).map((days) => addDays('2014-01-01', days));
const points = fc.uniqueArray(fc.record({ date, nav: navText }), {
  selector: (point) => point.date,
  maxLength: 60,
});
const payouts = fc.array(fc.record({ ex_date: date, payout_per_unit: navText, ex_nav: fc.option(navText) }), {
  maxLength: 8,
});

test('each payout buys units at its ex-NAV, worked by hand', (t) => {
  // 1 unit; 2 / 98 more on 3 January; 1 / 50 of all on the 6th, at the ex-NAV stated with the payout.
  const navs = adjustNavs(
    [
      { date: '2024-01-02', nav: '100.00' },
      { date: '2024-01-03', nav: '98.0' },
      { date: '2024-01-08', nav: '99' },
    ],
    [
      { ex_date: '2024-01-03', payout_per_unit: '2' },
      { ex_date: '2024-01-06', payout_per_unit: '1', ex_nav: '50' },
    ],
  );
  t.deepEqual(
    navs.map(({ date, nav }) => [date, nav]),
    [
      ['2024-01-02', '100.00'],
      ['2024-01-03', '98.0'],
      ['2024-01-08', '99'],
    ],
  );
  near(t.true, navs[1]?.adjusted, 100);
  near(t.true, navs[2]?.adjusted, 99 * (100 / 98) * 1.02);
});

test('payouts of one ex-date are added up, and one on a day without NAV is reinvested at the next NAV', (t) => {
  const navs = adjustNavs(
    [
      { date: '2024-01-05', nav: '10' },
      { date: '2024-01-08', nav: '8' },
    ],
    [
      { ex_date: '2024-01-06', payout_per_unit: '1' },
      { ex_date: '2024-01-06', payout_per_unit: '1' },
    ],
  );
  t.is(navs[1]?.adjusted, 10);
});

test('a split changes the units and not the value, and a payout of its day is paid on the units held before', (t) => {
  const points = [
    { date: '2024-01-05', nav: '100' },
    { date: '2024-01-08', nav: '10' }, // ten for one, without a gain
    { date: '2024-01-09', nav: '5' },
  ];
  const split = { ex_date: '2024-01-08', payout_per_unit: null, split_ratio: '10' };
  near(t.true, adjustNavs(points, [split])[1]?.adjusted, 100);
  const merger = { ex_date: '2024-01-09', payout_per_unit: null, split_ratio: '0.5' };
  near(t.true, adjustNavs(points, [split, merger])[2]?.adjusted, 25);
  // 20 a unit held before buys 2 more units at 10.
  const paid = { ex_date: '2024-01-08', payout_per_unit: '20' };
  for (const both of [
    [split, paid],
    [paid, split],
  ])
    near(t.true, adjustNavs(points, both)[1]?.adjusted, 120);
});

test('a payout on or before the day of the first NAV, without an amount, or after the last NAV has no effect', (t) => {
  const navs = adjustNavs(
    [
      { date: '2024-01-05', nav: '10' },
      { date: '2024-01-08', nav: '8' },
    ],
    [
      { ex_date: '2023-12-01', payout_per_unit: '1' },
      { ex_date: '2024-01-05', payout_per_unit: '1' },
      { ex_date: '2024-01-08', payout_per_unit: null },
      { ex_date: '2024-01-08', payout_per_unit: '0' },
      { ex_date: '2024-01-09', payout_per_unit: '1' },
    ],
  );
  t.deepEqual(
    navs.map((nav) => nav.adjusted),
    [10, 8],
  );
});

test('a zero or missing NAV is no NAV, and a zero ex-NAV is no ex-NAV', (t) => {
  const navs = adjustNavs(
    [
      { date: '2024-01-01', nav: '0.0000' },
      { date: '2024-01-02', nav: '10' },
      { date: '2024-01-03', nav: null },
      { date: '2024-01-04', nav: '-1' },
      { date: '2024-01-05', nav: '' },
      { date: '2024-01-06', nav: '5' },
    ],
    [{ ex_date: '2024-01-06', payout_per_unit: '5', ex_nav: '0' }],
  );
  t.deepEqual(navs, [
    { date: '2024-01-02', nav: '10', adjusted: 10 },
    { date: '2024-01-06', nav: '5', adjusted: 10 },
  ]);
});

test('two NAVs of one day are refused', (t) => {
  const twice = [
    { date: '2024-01-01', nav: '1' },
    { date: '2024-01-01', nav: '2' },
  ];
  t.throws(() => adjustNavs(twice, []), { instanceOf: RangeError, message: /2024-01-01/ });
});

test('without payouts the adjusted NAV is the NAV', (t) => {
  fc.assert(
    fc.property(points, (points) => {
      for (const { nav, adjusted } of adjustNavs(points, [])) t.is(adjusted, Number(nav));
    }),
  );
  t.pass();
});

test('the order of NAVs and payouts does not matter', (t) => {
  const shuffled = fc
    .tuple(points, payouts)
    .chain(([points, payouts]) =>
      fc.tuple(
        fc.constant([points, payouts] as const),
        fc.shuffledSubarray(points, { minLength: points.length }),
        fc.shuffledSubarray(payouts, { minLength: payouts.length }),
      ),
    );
  fc.assert(
    fc.property(shuffled, ([[points, payouts], otherPoints, otherPayouts]) => {
      t.deepEqual(adjustNavs(otherPoints, otherPayouts), adjustNavs(points, payouts));
    }),
  );
});

test('reinvesting: an investor who buys units with each payout owns exactly the adjusted NAV', (t) => {
  // NAVs of consecutive days with a payout each, followed as a holding in units and not by the formula.
  const daily = fc.array(fc.tuple(navText, fc.integer({ min: 0, max: 50_000 })), {
    minLength: 2,
    maxLength: 30,
  });
  fc.assert(
    fc.property(daily, (rows) => {
      const dated = rows.map(([nav, cents], i) => ({
        date: addDays('2024-01-01', i),
        nav,
        paid: cents / 100,
      }));
      const navs = adjustNavs(
        dated,
        dated.map(({ date, paid }) => ({ ex_date: date, payout_per_unit: String(paid) })),
      );
      let unitCount = 1;
      dated.forEach(({ nav, paid }, i) => {
        const cash = i === 0 ? 0 : unitCount * paid;
        unitCount += cash / Number(nav);
        near(t.true, navs[i]?.adjusted, unitCount * Number(nav));
      });
    }),
  );
});

test('a NAV is searched for at most seven days away', (t) => {
  const navs = adjustNavs([{ date: '2024-01-10', nav: '10' }], []);
  t.is(navOnOrBefore(navs, '2024-01-10'), navs[0] ?? null);
  t.is(navOnOrBefore(navs, '2024-01-17'), navs[0] ?? null);
  t.is(navOnOrBefore(navs, '2024-01-18'), null);
  t.is(navOnOrBefore(navs, '2024-01-09'), null);
  t.is(navOnOrAfter(navs, '2024-01-10'), navs[0] ?? null);
  t.is(navOnOrAfter(navs, '2024-01-03'), navs[0] ?? null);
  t.is(navOnOrAfter(navs, '2024-01-02'), null);
  t.is(navOnOrAfter(navs, '2024-01-11'), null);
  t.is(navOnOrBefore([], '2024-01-11'), null);
});

test('a history that begins more than seven days before or after the inception has no inception NAV', (t) => {
  const navs = adjustNavs([{ date: '2024-01-10', nav: '10' }], []);
  t.is(inceptionNav(navs, null), navs[0] ?? null);
  t.is(inceptionNav(navs, '2024-01-03'), navs[0] ?? null);
  t.is(inceptionNav(navs, '2024-01-02'), null);
  t.is(inceptionNav(navs, '2024-01-17'), navs[0] ?? null);
  t.is(inceptionNav(navs, '2024-01-18'), null);
  t.is(inceptionNav([], null), null);
});

function near(
  isTrue: (value: boolean, message?: string) => void,
  actual: number | undefined,
  expected: number,
): void {
  const isNear = actual !== undefined && Math.abs(actual - expected) <= 1e-11 * Math.abs(expected);
  isTrue(isNear, `${actual}, not ${expected}`);
}
