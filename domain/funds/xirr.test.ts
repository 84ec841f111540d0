import test from 'ava';
import fc from 'fast-check';
import { addDays, dayNumber } from '../../kernel/dates.ts';
import { xirrPct, type CashFlow } from './xirr.ts';

test('100 paid in and 110 received 365 days later is 10 % a year', (t) => {
  t.true(isNear(flows(['2023-01-01', -100], ['2024-01-01', 110]), 10));
});

test('the flows of the spreadsheet documentation of XIRR give its published 37.3362535 %', (t) => {
  const rate = flows(
    ['2008-01-01', -10_000],
    ['2008-03-01', 2750],
    ['2008-10-30', 4250],
    ['2009-02-15', 3250],
    ['2009-04-01', 2750],
  );
  t.true(rate !== null && Math.abs(rate - 37.336_253_5) < 1e-6, String(rate));
});

test('two yearly instalments of 100 that end at 231 earned 10 %: 100 · 1.21 + 100 · 1.1', (t) => {
  t.true(isNear(flows(['2021-01-01', -100], ['2022-01-01', -100], ['2023-01-01', 231]), 10));
});

test('a nearly total loss has a rate near −100 %, and a doubling in a day one above 10^100', (t) => {
  t.true(isNear(flows(['2023-01-01', -100], ['2024-01-01', 1e-6]), -100 + 1e-6));
  const doubled = flows(['2023-01-01', -100], ['2023-01-02', 200]);
  t.true(doubled !== null && Math.abs(Math.log(doubled / 100) - 365 * Math.LN2) < 1e-9);
});

test('flows without a change of sign, netting to zero, on one day, or none at all have no rate', (t) => {
  t.is(flows(['2023-01-01', -100], ['2024-01-01', -10]), null);
  t.is(flows(['2023-01-01', 100], ['2024-01-01', 0]), null);
  t.is(flows(['2023-01-01', -100], ['2023-01-01', 110]), null);
  t.is(flows(['2023-01-01', -100], ['2023-01-01', 100], ['2024-01-01', 5]), null);
  t.is(flows(), null);
  t.is(flows(['2023-01-01', -Infinity], ['2024-01-01', 5]), null);
});

test('a rate outside the range of numbers is null', (t) => {
  t.is(flows(['2023-01-01', -1e-100], ['2023-01-02', 1e100]), null);
  t.is(flows(['2023-01-01', -1e100], ['2023-01-02', 1e-100]), -100);
});

test('flows with two rates have none: −100, +230, −132 is solved by 10 % and by 20 %', (t) => {
  t.is(flows(['2021-01-01', -100], ['2022-01-01', 230], ['2023-01-01', -132]), null);
});

test('flows with three rates have none; flows with several changes of sign but only one rate have that rate', (t) => {
  // (x − 1.1)(x − 1.2)(x − 1.3) = x³ − 3.6x² + 4.31x − 1.716
  t.is(flows(['2021-01-01', -1000], ['2022-01-01', 3600], ['2023-01-01', -4310], ['2024-01-01', 1716]), null);
  // (x − 1.1)(x² − x + 1) = x³ − 2.1x² + 2.1x − 1.1
  const rate = flows(['2021-01-01', -100], ['2022-01-01', 210], ['2023-01-01', -210], ['2024-01-01', 110]);
  t.true(isNear(rate, 10));
});

test('a single deposit earns its compound annual growth', (t) => {
  const amount = fc.double({ min: 0.01, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(amount, amount, fc.integer({ min: 30, max: 20_000 }), (paid, received, days) => {
      const rate = flows(['2000-01-01', -paid], [addDays('2000-01-01', days), received]);
      const growth = (365 / days) * Math.log(received / paid);
      t.true(isNear(rate, Math.expm1(growth) * 100));
    }),
  );
});

test('the rate found makes the net present value zero, whatever the order, size and direction of the flows', (t) => {
  const instalments = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.double({ min: 1, max: 1e5, noNaN: true })),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(instalments, fc.double({ min: 0.2, max: 5, noNaN: true }), (rows, growth) => {
      const paid = rows.map(([days, amount]) => ({ date: addDays('2010-01-01', days), amount: -amount }));
      const total = rows.reduce((sum, [, amount]) => sum + amount, 0);
      const all = [...paid, { date: '2019-01-01', amount: total * growth }];
      const rate = xirrPct(all);
      t.not(rate, null);
      const worth = all.map(({ date, amount }) => amount * (1 + (rate ?? NaN) / 100) ** -years(date, all));
      const size = worth.reduce((sum, value) => sum + Math.abs(value), 0);
      t.true(Math.abs(worth.reduce((sum, value) => sum + value, 0)) <= 1e-9 * size);
      t.is(xirrPct(all.toReversed()), rate);
      t.true(isNear(xirrPct(all.map(({ date, amount }) => ({ date, amount: -3 * amount }))), rate ?? NaN));
    }),
  );
});

test('no flows, however extreme, give NaN or Infinity', (t) => {
  const anyFlow = fc.record({
    date: fc.integer({ min: -200_000, max: 200_000 }).map((days) => addDays('1970-01-01', days)),
    amount: fc.double(),
  });
  fc.assert(
    fc.property(fc.array(anyFlow, { maxLength: 12 }), (wild) => {
      const rate = xirrPct(wild);
      t.true(rate === null || (Number.isFinite(rate) && rate >= -100));
    }),
    { numRuns: 500 },
  );
});

function flows(...rows: [date: string, amount: number][]): number | null {
  return xirrPct(rows.map(([date, amount]): CashFlow => ({ date, amount })));
}

function years(date: string, all: readonly CashFlow[]): number {
  return (dayNumber(date) - Math.min(...all.map((flow) => dayNumber(flow.date)))) / 365;
}

function isNear(actual: number | null, expected: number): boolean {
  return actual !== null && Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
}
