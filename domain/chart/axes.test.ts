import test from 'ava';
import fc from 'fast-check';
import { entryAt } from '../../kernel/entries.ts';
import { anyChart, chartOf, dateOf, months } from '../../test/charts/charts.ts';
import { chartSvg } from './chart.ts';
import { layOut } from './layout.ts';
import type { ChartPoint } from './line-points.ts';
import type { Frequency } from '../periods.ts';
import { overviewOf } from './overview.ts';
import { dateTicks } from './ticks.ts';

test('a linear axis has three to six ticks at 1, 2, 2.5 or 5 times a power of ten', (t) => {
  fc.assert(
    fc.property(anyChart, (chart) => {
      const { valueTicks, lines } = layOut({ ...chart, isLog: false });
      if (lines.every(({ runs }) => runs.length === 0)) return;
      const steps = valueTicks.slice(1).map(({ value }, i) => value - entryAt(valueTicks, i).value);
      const [step = 0] = steps;
      const [factor] = step.toPrecision(2).split('e');
      const digits = factor?.replaceAll(/[.0]/g, '');
      t.true(valueTicks.length >= 3 && valueTicks.length <= 6, JSON.stringify(valueTicks));
      t.true(['1', '2', '25', '5'].includes(digits ?? ''), `${step}`);
    }),
  );
});

test('a logarithmic axis has one to six ticks, none at or below zero', (t) => {
  fc.assert(
    fc.property(anyChart, (chart) => {
      const { valueTicks, lines } = layOut({ ...chart, isLog: true });
      if (lines.every(({ runs }) => runs.length === 0)) return;
      t.true(valueTicks.length >= 1 && valueTicks.length <= 6, JSON.stringify(valueTicks));
      t.true(valueTicks.every(({ value }) => value > 0));
    }),
  );
});

test('labels of the date axis do not overlap', (t) => {
  for (const width of [260, 340, 824, 1400]) {
    for (const months of [1, 3, 8, 14, 24, 36, 40, 60, 180, 600, 1800]) {
      const points = Array.from({ length: months + 1 }, (_, i) => ({ date: dateOf('monthly', '1871-01-31', i), value: i })); // prettier-ignore
      const { dateTicks, x } = layOut(chartOf([{ name: 'A', points }], { width }));
      t.true(dateTicks.length >= 1, `${months} months at ${width}`);
      for (const [i, { day, label }] of dateTicks.entries()) {
        const next = dateTicks[i + 1];
        if (next !== undefined) t.true(x(next.day) - x(day) > (label.length + next.label.length) * 3, `${months} months at ${width}`); // prettier-ignore
      }
    }
  }
});

test('ticks are the beginnings of the periods of the points, not days or weeks within them', (t) => {
  const labels = (frequency: Frequency, ...dates: string[]) =>
    layOut({
      ...chartOf([{ name: 'A', points: dates.map((date, value) => ({ date, value })) }]),
      frequency,
    }).dateTicks.map(({ label }) => label);
  t.deepEqual(labels('monthly', '2023-01-31', '2023-02-28', '2023-03-31'), ['Jan 2023', 'Feb', 'Mar']);
  t.deepEqual(labels('monthly', '2023-01-31'), ['Jan 2023']);
  t.deepEqual(labels('quarterly', '2022-12-31', '2023-03-31', '2023-06-30'), ['Oct 2022', 'Jan 2023', 'Apr']);
  t.deepEqual(labels('annual', '2022-12-31', '2023-12-31', '2024-12-31'), ['2022', '2023', '2024']);
  t.deepEqual(labels('annual', '2022-12-31'), ['2022']);
  t.deepEqual(labels('daily', '2023-01-04', '2023-01-05', '2023-01-06'), ['4 Jan 2023', '5 Jan', '6 Jan']);
});

test('the first label of the date axis has no year if the next one would touch it', (t) => {
  const day = (text: string): number => Date.parse(text) / 86_400_000;
  const labels = (pixels: number) =>
    dateTicks({ low: day('2024-10-01'), high: day('2026-09-30') }, pixels, ['monthly']).map(
      ({ label }) => label,
    );
  t.deepEqual(labels(414), ['Oct', 'Jan 2025', 'Apr', 'Jul', 'Oct', 'Jan 2026', 'Apr', 'Jul']);
  t.is(labels(700)[0], 'Oct 2024');
});

test('a level fills the frame, and a rate near zero includes zero', (t) => {
  const of = (...values: number[]) => values.map((value, i) => ({ date: `2024-0${i + 1}-28`, value }));
  const least = (points: ChartPoint[]) => layOut(chartOf([{ name: 'A', points }])).valueTicks[0]?.value;
  t.is(least(of(100, 110)), 100);
  t.is(least(of(2, 9)), 0);
  t.true((least(of(-3, 4)) ?? 0) < 0);
});

test('the base of an index is drawn as an axis, even if it is not a tick', (t) => {
  const points = [137, 220].map((value, i) => ({ date: `2024-0${i + 1}-28`, value }));
  const axes = (base: number | null) =>
    chartSvg(chartOf([{ name: 'A', points }], { base })).match(/class="chart-axis" d="M[^"]*H/g)?.length;
  t.is(axes(null), 1);
  t.is(axes(100), 2);
  t.is(axes(99), 2);
});

test('large numbers at an axis are in billions, or have an exponent if the unit names a power of ten or there is no word', (t) => {
  const labelsOf = (unit: string, values: number[], isLog = false) =>
    layOut({
      ...chartOf(
        [{ name: 'A', points: values.map((value, i) => ({ date: entryAt(months(9), i), value })) }],
        { isLog },
      ),
      unit,
    }).valueTicks.map(({ label }) => label);
  t.deepEqual(labelsOf('PKR', [1e11, 9.5e11]), [
    '0',
    '200 billion',
    '400 billion',
    '600 billion',
    '800 billion',
  ]);
  t.deepEqual(labelsOf('PKR', [-1e12, 1e12]).slice(0, 2), ['\u{2212}1,000 billion', '\u{2212}500 billion']);
  t.deepEqual(labelsOf('PKR', [1e8, 1.2e9]).slice(0, 3), ['0', '0.25 billion', '0.50 billion']);
  for (const unit of ['PKR, millions', 'Billions of dollars', 'USD bn', 't, 10^6'])
    t.deepEqual(labelsOf(unit, [1e11, 9.5e11]), ['0', '2e11', '4e11', '6e11', '8e11'], unit);
  t.deepEqual(labelsOf('PKR', [1e15, 3e15]), ['0', '1e15', '2e15', '3e15']);
  t.deepEqual(labelsOf('PKR', [1, 1e15], true), [
    '1',
    '1,000',
    '1,000,000',
    '1 billion',
    '1,000 billion',
    '1e15',
  ]);
  t.deepEqual(labelsOf('Persons', [1e8, 6e8]), ['0', '200,000,000', '400,000,000', '600,000,000']);
});

test('the ticks of an overview are days within it, even if it shows a single day', (t) => {
  const place = { left: 0, right: 600, width: 600, height: 40 };
  for (const dates of [['2024-05-31'], ['2024-05-31', '2024-06-01'], ['2020-01-31', '2024-05-31']]) {
    const line = dates.map((date): ChartPoint => ({ date, value: 1 }));
    const { dateTicks: ticks, x } = overviewOf([line], { frequency: 'daily', isLog: false }, place);
    t.true(ticks.length > 0);
    for (const { day } of ticks) t.true(x(day) >= 0 && x(day) <= 600, dates.join());
  }
});
