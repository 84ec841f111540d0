import test from 'ava';
import fc from 'fast-check';
import { addDays } from '../../../kernel/dates.ts';
import {
  aggregates,
  lowerFrequencies,
  sourcePerPeriod,
  targetFrequencies,
  type Aggregate,
  type TargetFrequency,
} from '../../../domain/aggregates.ts';
import { createAggregator, periodWith, sourceWindow, type Aggregation } from './aggregation.ts';
import { appendPoints, filterPoints, noPoints, reversePoints, type Points } from './point-columns.ts';
import type { Frequency } from '../../../domain/periods.ts';

type Listed = readonly (readonly [date: string, value: string, lineNo?: number])[];

function pointsOf(listed: Listed): Points {
  return {
    dates: listed.map(([date]) => date),
    values: listed.map(([, value]) => value),
    lineNos: listed.map(([, , lineNo = 0]) => lineNo),
    publishedOn: listed.map(([date]) => date),
    statuses: listed.map(() => null),
  };
}

function aggregation(
  source: Frequency,
  target: TargetFrequency,
  more: Partial<Aggregation> = {},
): Aggregation {
  const rest = { incomplete: false, fiscalYearEnd: null, breaks: [], meanDecimals: 10 };
  return {
    ...{ source, target, aggregate: 'avg', sourcePerPeriod: sourcePerPeriod(source, target) },
    ...rest,
    ...more,
  };
}

const always = { from: '0001-01-01', to: '9999-12-31' };

/** The aggregated points of a window, from stored points in blocks of this many dates. */
function aggregated(
  rule: Aggregation,
  stored: Points,
  {
    order = 'asc',
    blockDates = 1_000,
    window = always,
  }: { order?: 'asc' | 'desc'; blockDates?: number; window?: { from: string; to: string } } = {},
): Points {
  const days = sourceWindow(rule, window);
  const found = noPoints();
  if (days === null) return found;
  const inWindow = filterPoints(stored, (i) => {
    const date = stored.dates[i] ?? '';
    return date >= days.from && date <= days.to;
  });
  const passing = order === 'asc' ? inWindow : reversePoints(inWindow);
  const aggregator = createAggregator(rule, { ...window, order, wanted: 'values' });
  const dates = [...new Set(passing.dates)];
  for (let i = 0; i < dates.length; i += blockDates) {
    const own = new Set(dates.slice(i, i + blockDates));
    appendPoints(found, aggregator.add(filterPoints(passing, (at) => own.has(passing.dates[at] ?? ''))));
  }
  appendPoints(found, aggregator.end());
  return found;
}

const byDate = ({ dates, values }: Points) => Object.fromEntries(dates.map((date, i) => [date, values[i]]));

/** Consecutive days, without weekends. */
function workingDays(from: string, to: string): [string, string][] {
  const days: [string, string][] = [];
  for (let day = from; day <= to; day = addDays(day, 1))
    if (![0, 6].includes(new Date(day).getUTCDay())) days.push([day, '1']);
  return days;
}

test('each aggregate is computed from the values of the period, with the published digits if it selects one of them', (t) => {
  const quarter = pointsOf([
    ['2024-01-31', '3.50'],
    ['2024-02-29', '-1.0'],
    ['2024-03-31', '2.00'],
  ]);
  const value = (aggregate: Aggregate) =>
    byDate(aggregated(aggregation('monthly', 'quarterly', { aggregate }), quarter))['2024-03-31'];
  t.deepEqual(aggregates.map(value), ['1.5', '4.5', '2.00', '3.50', '-1.0', '3.50']);
});

test('a quarter of months, a year of quarters: one without a value makes the period incomplete', (t) => {
  const months = pointsOf([
    ['2023-11-30', '1'],
    ['2023-12-31', '2'],
    ['2024-01-31', '3'],
    ['2024-02-29', '4'],
    ['2024-03-31', '5'],
    ['2024-04-30', '6'],
    ['2024-05-31', ''],
    ['2024-06-30', '8'],
  ]);
  t.deepEqual(byDate(aggregated(aggregation('monthly', 'quarterly'), months)), { '2024-03-31': '4' });
  t.deepEqual(byDate(aggregated(aggregation('monthly', 'quarterly', { incomplete: true }), months)), {
    '2023-12-31': '1.5',
    '2024-03-31': '4',
    '2024-06-30': '7',
  });
});

test('a month of daily data is complete up to its last working day, across holidays, and from its first week on', (t) => {
  const months = (days: [string, string][]) =>
    aggregated(aggregation('daily', 'monthly', { aggregate: 'sum' }), pointsOf(days)).dates;
  t.deepEqual(
    months(workingDays('2024-02-06', '2024-03-29')),
    ['2024-02-29', '2024-03-31'],
    '29 March: a Friday',
  );
  t.deepEqual(months(workingDays('2024-02-08', '2024-03-28')), [], 'it began late, and is not over');
  const holidays = workingDays('2024-01-02', '2024-05-02').filter(
    ([day]) => !/2024-0[34]-(2[89]|3|01)/.test(day),
  );
  t.deepEqual(months(holidays), ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30']);
  const published: [string, string][] = [...workingDays('2024-05-01', '2024-05-30'), ['2024-05-31', '']];
  t.deepEqual(months(published), ['2024-05-31'], 'its last day is published as missing');
  const everyDay = Array.from({ length: 29 }, (_, i): [string, string] => [addDays('2024-06-01', i), '1']);
  t.deepEqual(months(everyDay), [], 'a series that has weekends goes on at the weekend');
  const interrupted = workingDays('2024-01-02', '2024-06-28').filter(
    ([day]) => day < '2024-02-15' || day > '2024-04-09',
  );
  t.deepEqual(
    months(interrupted),
    ['2024-01-31', '2024-05-31', '2024-06-30'],
    'more than 31 days are missing',
  );
});

test('a week belongs to the month in which it ends, and a month is complete with all its weeks', (t) => {
  const thursdays = Array.from({ length: 9 }, (_, i) => [addDays('2024-01-04', 7 * i), String(i)] as const);
  const months = (listed: Listed) =>
    byDate(aggregated(aggregation('weekly', 'monthly', { aggregate: 'sum' }), pointsOf(listed)));
  t.deepEqual(months(thursdays), { '2024-01-31': '6', '2024-02-29': '30' });
  t.deepEqual(months(thursdays.slice(0, 8)), { '2024-01-31': '6' }, '29 February is to come');
  t.deepEqual(months(thursdays.slice(1)), { '2024-02-29': '30' });
  t.deepEqual(months(thursdays.toSpliced(2, 1)), { '2024-02-29': '30' }, 'a week within is missing');
});

test('weeks are from Monday to Sunday; years are those of the series', (t) => {
  const week = { target: 'weekly', fiscalYearEnd: null } as const;
  t.deepEqual(periodWith('2024-12-31', week), { start: '2024-12-30', end: '2025-01-05' });
  t.deepEqual(periodWith('1969-12-28', week), { start: '1969-12-22', end: '1969-12-28' });
  t.deepEqual(periodWith('0001-01-01', week), { start: '0001-01-01', end: '0001-01-07' });
  const year = { target: 'annual', fiscalYearEnd: '06-30' } as const;
  t.deepEqual(periodWith('2024-06-30', year), { start: '2023-07-01', end: '2024-06-30' });
  t.deepEqual(periodWith('2024-07-01', year), { start: '2024-07-01', end: '2025-06-30' });
  t.deepEqual(periodWith('2024-03-01', { ...year, fiscalYearEnd: '02-29' }), {
    start: '2024-03-01',
    end: '2025-02-28',
  });
  const months = Array.from({ length: 24 }, (_, i) => {
    const month = String((i % 12) + 1).padStart(2, '0');
    return [
      periodWith(`${2023 + Math.floor(i / 12)}-${month}-01`, { target: 'monthly', fiscalYearEnd: null }).end,
      '1',
    ] as const;
  });
  const fiscal = aggregation('monthly', 'annual', { aggregate: 'sum', fiscalYearEnd: '06-30' });
  t.deepEqual(byDate(aggregated(fiscal, pointsOf(months))), { '2024-06-30': '12' });
});

test('a period with points on both sides of a break has no value, and neither has one that ends in another unit', (t) => {
  const days = pointsOf(workingDays('2024-01-01', '2024-04-30'));
  const dates = (breaks: string[], incomplete = false) =>
    aggregated(aggregation('daily', 'monthly', { breaks, incomplete }), days).dates;
  t.deepEqual(dates(['2024-02-15']), ['2024-01-31', '2024-03-31', '2024-04-30']);
  t.deepEqual(dates(['2024-02-01'], true), ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30']);
});

test('a frequency can be aggregated to all lower ones', (t) => {
  t.deepEqual(lowerFrequencies('daily'), targetFrequencies);
  t.deepEqual(lowerFrequencies('irregular'), targetFrequencies);
  t.deepEqual(lowerFrequencies('quarterly'), ['semiannual', 'annual']);
  t.deepEqual(lowerFrequencies('annual'), []);
});

/** The label of a period, computed independently of the code under test. */
function labelOf(date: string, target: TargetFrequency): string {
  const day = new Date(`${date}T00:00:00Z`);
  const month = day.getUTCMonth();
  if (target === 'weekly') {
    day.setUTCDate(day.getUTCDate() + ((7 - day.getUTCDay()) % 7));
    return day.toISOString().slice(0, 10);
  }
  const months = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 }[target];
  const last = Date.UTC(day.getUTCFullYear(), (Math.floor(month / months) + 1) * months, 0);
  return new Date(last).toISOString().slice(0, 10);
}

const aggregateOf: Record<Aggregate, (cents: number[]) => number> = {
  avg: (cents) => cents.reduce((a, b) => a + b, 0) / cents.length / 100,
  sum: (cents) => cents.reduce((a, b) => a + b, 0) / 100,
  last: (cents) => (cents.at(-1) ?? 0) / 100,
  first: (cents) => (cents[0] ?? 0) / 100,
  min: (cents) => Math.min(...cents) / 100,
  max: (cents) => Math.max(...cents) / 100,
};

/** Days of two combinations, with gaps; values in hundredths, null is missing. */
const storedPoints = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 20 }),
      fc.option(fc.integer({ min: -500, max: 500 }), { freq: 8 }),
      fc.nat(2),
    ),
    {
      minLength: 1,
      maxLength: 80,
    },
  )
  .map((steps) => {
    let day = '2019-12-20';
    return steps.flatMap(([gap, cents, which]) => {
      day = addDays(day, gap);
      return [0, 1].filter((lineNo) => which !== lineNo).map((lineNo) => ({ date: day, cents, lineNo }));
    });
  });

test('every period has the aggregate of all its values, for blocks of any size, either order and any window', (t) => {
  fc.assert(
    fc.property(
      storedPoints,
      fc.constantFrom<Frequency>('daily', 'weekly'),
      fc.constantFrom(...targetFrequencies),
      fc.constantFrom(...aggregates),
      fc.integer({ min: 1, max: 30 }),
      fc.tuple(fc.nat(900), fc.nat(900)),
      (listed, source, target, aggregate, blockDates, [a, b]) => {
        fc.pre(source !== target);
        const stored = pointsOf(
          listed.map(({ date, cents, lineNo }) => [
            date,
            cents === null ? '' : (cents / 100).toFixed(2),
            lineNo,
          ]),
        );
        const expected = Map.groupBy(
          listed.filter(({ cents }) => cents !== null),
          ({ date, lineNo }) => `${labelOf(date, target)} ${lineNo}`,
        );
        const all = aggregated(aggregation(source, target, { aggregate, incomplete: true }), stored);
        t.deepEqual(
          all.dates.map((date, i) => [`${date} ${all.lineNos[i]}`, Number(all.values[i]).toFixed(9)]),
          [...expected]
            .sort(([x], [y]) => (x < y ? -1 : 1))
            .map(([at, of]) => [at, aggregateOf[aggregate](of.map(({ cents }) => cents ?? 0)).toFixed(9)]),
        );
        for (const incomplete of [true, false]) {
          const rule = aggregation(source, target, { aggregate, incomplete });
          const whole = aggregated(rule, stored);
          const [from, to] = [a, b].sort((x, y) => x - y).map((days) => addDays('2019-12-01', days));
          const window = { from: from ?? '', to: to ?? '' };
          const cut = filterPoints(whole, (i) => {
            const date = whole.dates[i] ?? '';
            return date >= window.from && date <= window.to;
          });
          t.deepEqual(aggregated(rule, stored, { blockDates, window }), cut);
          t.deepEqual(aggregated(rule, stored, { blockDates, window, order: 'desc' }), reversePoints(cut));
        }
      },
    ),
    { numRuns: 300 },
  );
});
