// The pure parts of the comparison: its state in the URL, base and ratio.
import test from 'ava';
import fc from 'fast-check';
import { comparisonCsv, comparisonOf } from '../../dashboard/pages/compare/comparison-chart.ts';
import {
  comparedMax,
  leftOutOf,
  modes,
  queryOfState,
  stateOf,
  textOf,
  yearsOffered,
  type Compared,
} from '../../dashboard/pages/compare/compare-state.ts';
import type { Loaded } from '../../dashboard/pages/compare/load-compared.ts';
import { ratio, rebased, valueAt } from '../../domain/chart/comparison.ts';
import { periodEnd, type Frequency } from '../../domain/periods.ts';

const compared: fc.Arbitrary<Compared> = fc
  .record({
    id: fc.constantFrom('A', 'DEMO.CPI', 'x-1'),
    vintage: fc.option(fc.constantFrom('2024-01-31', '2026-09-15')),
    version: fc.option(fc.integer({ min: 0, max: 99_999 })),
    dims: fc.option(fc.constantFrom('side:buy', 'side:buy|sell,city:a@b')),
  })
  .map((each) => ({ ...each, version: each.vintage === null ? null : each.version }));

test('every comparison is in its URL, and comes back from it', (t) => {
  const state = fc.record({
    series: fc.uniqueArray(compared, { maxLength: comparedMax, selector: textOf }),
    mode: fc.constantFrom(...modes),
    base: fc.option(fc.constant('2024-02-29')),
    years: fc.option(fc.constantFrom(...yearsOffered)),
  });
  fc.assert(
    fc.property(state, (each) => {
      t.deepEqual(stateOf(new URLSearchParams(queryOfState(each).toString())), each);
    }),
  );
});

test('a URL of more than eight series, or of one twice, compares eight different ones', (t) => {
  const ids = ['A', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J'];
  const { series } = stateOf(new URLSearchParams(ids.map((id) => ['s', id])));
  t.deepEqual(
    series.map(({ id }) => id),
    ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'],
  );
  t.is(stateOf(new URLSearchParams('s=A@@7')).series[0]?.version, null, 'a version alone pins nothing');
  const absent = stateOf(new URLSearchParams('s=A@2024-02-30&base=2024-99-99'));
  t.deepEqual([absent.series[0]?.vintage, absent.base], [null, null], 'days that do not exist');
});

test('the series of a URL beyond the eighth are known, so that the page can name them', (t) => {
  const query = new URLSearchParams(
    ['A', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J'].map((id) => ['s', id]),
  );
  t.deepEqual(
    leftOutOf(query).map(({ id }) => id),
    ['I', 'J'],
  );
  t.deepEqual(leftOutOf(new URLSearchParams('s=A&s=B')), []);
});

const months = (values: readonly (number | null)[]) =>
  values.map((value, i) => ({
    date: ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30'][i] ?? '',
    value,
  }));

test('the base is the period that contains the day, and of days the last on or before it', (t) => {
  const monthly = months([1, 2, null, 4]);
  t.is(valueAt(monthly, '2024-02-01', 'monthly'), 2);
  t.is(valueAt(monthly, '2024-02-29', 'monthly'), 2);
  t.is(valueAt(monthly, '2024-03-31', 'monthly'), null, 'published as missing');
  t.is(valueAt(monthly, '2023-12-31', 'monthly'), null);
  t.is(valueAt(monthly, '2024-05-01', 'monthly'), null);
  t.is(valueAt(monthly, '2024-04-02', 'daily'), 2);
});

test('a rebased series is 100 at its base, and its ratios stay', (t) => {
  const values = fc.array(fc.double({ min: 0.5, max: 1e6, noNaN: true }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(values, (all) => {
      const points = rebased(months(all), '2024-02-29', 'monthly') ?? [];
      t.is(points[1]?.value, 100);
      const [first = 0, , , last = 0] = all;
      t.true(
        Math.abs((points[3]?.value ?? 0) / (points[0]?.value ?? 1) - last / first) < 1e-9 * (last / first),
      );
    }),
  );
  t.is(rebased(months([1, 0, 3, 4]), '2024-02-29', 'monthly'), null, 'nothing is a percentage of zero');
});

test('a ratio has no value where one of both has none, or the other is zero', (t) => {
  const other = months([2, 0, null]);
  t.deepEqual(
    ratio(months([1, 2, 3, 4]), other).map(({ value }) => value),
    [0.5, null, null],
  );
});

function loaded(
  id: string,
  frequency: Frequency,
  points: Loaded['points'],
  more: Partial<Compared> = {},
  breaks: readonly string[] = [],
): Loaded {
  const facts = { name: `Series ${id}`, unit: '%', frequency, breaks: breaks.map((date) => ({ date })) };
  return {
    compared: { id, vintage: null, version: null, dims: null, ...more },
    meta: facts as unknown as Loaded['meta'],
    combinations: [],
    dims: null,
    dimsName: null,
    points,
    isPreview: false,
  };
}

test('the same series at an older vintage has the same colour, dotted, and its day first in its name', (t) => {
  const points = months([1, 2, 3, 4]);
  const all = [
    loaded('A', 'monthly', points),
    loaded('B', 'monthly', points),
    loaded('A', 'monthly', points.slice(0, 2), { vintage: '2024-03-15' }),
  ];
  const { chart } = comparisonOf({ series: [], mode: 'rebased', base: null, years: null }, all);
  t.deepEqual(
    chart.lines.map(({ name, styleNo, isDotted }) => [name, styleNo, isDotted]),
    [
      ['Series A', 0, false],
      ['Series B', 1, false],
      ['15 Mar 2024, Series A', 0, true],
    ],
  );
  t.is(chart.base, 100);
});

test('lines are named by what distinguishes them: the parts with which all names begin are left out', (t) => {
  const named = (...names: string[]) => {
    const all = names.map((name, i) => {
      const one = loaded(String(i), 'monthly', months([1, 2]));
      return { ...one, meta: { ...one.meta, name } };
    });
    const { chart } = comparisonOf({ series: [], mode: 'ratio', base: null, years: null }, all);
    return [...chart.lines.map(({ name }) => name), chart.unit];
  };
  t.deepEqual(named('Prices, monthly, Lahore', 'Prices, monthly, Multan'), [
    'Lahore',
    'Multan',
    'Ratio to Prices, monthly, Lahore',
  ]);
  t.deepEqual(named('Prices, Lahore', 'Prices').slice(0, 2), ['Prices, Lahore', 'Prices']);
  t.deepEqual(named('Prices', 'Prices').slice(0, 2), ['Prices', 'Prices']);
  t.is(named('Prices, Lahore')[0], 'Prices, Lahore', 'alone');
  t.deepEqual(named(), ['Ratio to the first series'], 'none could be loaded');
});

test('series without a period in common are apart, unless they are shown as published', (t) => {
  const all = [
    loaded('A', 'monthly', months([1, 2])),
    loaded('B', 'monthly', months([null, null, 3, 4]).slice(2)),
  ];
  const of = (mode: 'rebased' | 'levels' | 'ratio', base: string | null = null) =>
    comparisonOf({ series: [], mode, base, years: null }, all);
  t.true(of('rebased').hasNoCommonPeriod);
  t.true(of('ratio').hasNoCommonPeriod);
  t.false(of('levels').hasNoCommonPeriod);
  t.false(of('rebased', '2024-01-31').hasNoCommonPeriod, 'the one that has a value at the base is drawn');
  t.deepEqual(
    of('rebased').rows.map(({ missing }) => missing),
    [null, null],
    'the page says it once',
  );
});

test('a base may be chosen where all series have a value, and a series without one there says so', (t) => {
  const all = [loaded('A', 'monthly', months([1, 2, 3, 4])), loaded('B', 'monthly', months([null, 0, 3, 4]))];
  const { bases } = comparisonOf({ series: [], mode: 'rebased', base: null, years: null }, all);
  t.deepEqual(bases, ['2024-03-31', '2024-04-30']);
  const { rows } = comparisonOf({ series: [], mode: 'rebased', base: '2024-01-31', years: null }, all);
  t.deepEqual(
    rows.map(({ missing }) => missing),
    [null, 'No value other than zero in January 2024'],
  );
});

test('values beyond a break are not compared with the base, and no line crosses it', (t) => {
  const all = [
    loaded('A', 'monthly', months([4, 8, 8, 16])),
    loaded('B', 'monthly', months([100, 200, 5, 6]), {}, ['2024-03-01']),
  ];
  const state = { series: [], base: '2024-01-31', years: null };
  const compared = (mode: 'rebased' | 'levels' | 'ratio', some = all, base = state.base) =>
    comparisonOf({ ...state, base, mode }, some).rows.map(({ line, change }) => [
      line.points.map(({ value }) => value),
      line.breaks,
      change?.percent ?? null,
    ]);
  t.deepEqual(compared('rebased')[1], [[100, 200, null, null], ['2024-03-01'], null]);
  t.deepEqual(compared('rebased', all, '2024-03-31')[1]?.[0], [null, null, 100, 120]);
  t.is(Number(compared('rebased', all, '2024-03-31')[1]?.[2]).toFixed(6), '20.000000');
  t.deepEqual(compared('levels')[1]?.slice(0, 2), [[100, 200, 5, 6], ['2024-03-01']]);
  t.deepEqual(compared('ratio', all.toReversed())[1]?.[1], ['2024-03-01'], 'of what it is divided by, too');
});

test('the CSV has the values on screen, one column per line', (t) => {
  const all = [loaded('A', 'monthly', months([1, 2])), loaded('B', 'monthly', months([4, null]))];
  const csv = comparisonCsv(comparisonOf({ series: [], mode: 'levels', base: null, years: null }, all));
  t.is(csv, 'date,A,B\r\n2024-01-31,1,4\r\n2024-02-29,2,\r\n');
});

test('the last years are those up to where all series have values: one that has ended is compared', (t) => {
  const monthlyFrom = (year: number): Loaded['points'] =>
    Array.from({ length: 120 }, (_, i) => ({
      date: periodEnd(`${year + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-01`, 'monthly'),
      value: i + 1,
    }));
  const all = [
    loaded('ENDED', 'monthly', monthlyFrom(2011)),
    loaded('GOES.ON', 'monthly', monthlyFrom(2016)),
  ];
  const { base, chart } = comparisonOf({ series: [], mode: 'rebased', base: null, years: 2 }, all);
  t.is(base, '2019-01-31');
  t.deepEqual(
    chart.lines.map(({ points }) => [points[0]?.date, points.at(-1)?.date]),
    [
      ['2019-01-31', '2020-12-31'],
      ['2019-01-31', '2025-12-31'],
    ],
  );
});
