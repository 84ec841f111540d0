import test from 'ava';
import fc from 'fast-check';
import { addDays } from '../../kernel/dates.ts';
import { adjustNavs, type NavPoint, type Payout } from './adjusted-nav.ts';
import {
  periodReturns,
  returnBases,
  returnPct,
  returnPeriods,
  shortBasisOf,
  sipReturn,
  type PeriodReturn,
  type ReturnOptions,
  type ReturnPeriod,
} from './returns.ts';

const defaults: ReturnOptions = {
  asOf: '2024-07-31',
  basis: 'auto',
  shortBasis: 'absolute',
  inception: null,
};
const wildText = fc.oneof(
  fc.double({ min: 0, noNaN: true }).map(String),
  fc.constantFrom('0', '0.0000', '', '-1', '5e-324', '1.7e308', 'n/a'),
);
const anyDate = fc.integer({ min: 0, max: 5000 }).map((days) => addDays('2012-01-01', days));
const anyPoints = fc.uniqueArray(fc.record({ date: anyDate, nav: fc.option(wildText) }), {
  selector: (point) => point.date,
  maxLength: 80,
});
const anyPayouts = fc.array(
  fc.record({ ex_date: anyDate, payout_per_unit: fc.option(wildText), ex_nav: fc.option(wildText) }),
  { maxLength: 6 },
);

test('returns of an equity fund, worked by hand: absolute below a year, compound from a year on', (t) => {
  const records = returnsOf(
    {
      '2022-07-29': '80', // the Friday before the 31st of two years ago
      '2023-07-31': '100',
      '2023-12-29': '105',
      '2024-06-28': '110',
      '2024-07-24': '120',
      '2024-07-30': '120.5',
      '2024-07-31': '121.00',
    },
    [],
  );
  t.deepEqual(records.get('mtd'), {
    period: 'mtd',
    from: '2024-06-28',
    to: '2024-07-31',
    nav_from: '110',
    nav_to: '121.00',
    days: 33,
    value_pct: 10,
    basis: 'absolute',
  });
  near(t.true, records.get('1d')?.value_pct, 0.5 / 1.205);
  near(t.true, records.get('7d')?.value_pct, 100 / 120);
  near(t.true, records.get('1m')?.value_pct, 10);
  near(t.true, records.get('ytd')?.value_pct, 1600 / 105);
  near(t.true, records.get('fytd')?.value_pct, 10);
  // 2024 has a 29 February: the year is 366 days.
  t.like(records.get('1y'), { from: '2023-07-31', days: 366, basis: 'annualized_compound' });
  near(t.true, records.get('1y')?.value_pct, (1.21 ** (365 / 366) - 1) * 100);
  t.like(records.get('2y'), { from: '2022-07-29', days: 733, basis: 'annualized_compound' });
  near(t.true, records.get('2y')?.value_pct, ((121 / 80) ** (365 / 733) - 1) * 100);
  t.like(records.get('since_inception'), {
    from: '2022-07-29',
    nav_from: '80',
    basis: 'annualized_compound',
  });
});

test('a money-market fund is annualised simply below a year: 1 % in 31 days is 11.77 %, a weekend counts three', (t) => {
  const records = returnsOf({ '2024-06-14': '100', '2024-07-12': '100.9', '2024-07-15': '101' }, [], {
    asOf: '2024-07-15',
    shortBasis: shortBasisOf('money_market'),
  });
  t.like(records.get('1m'), { from: '2024-06-14', days: 31, basis: 'annualized_simple' });
  near(t.true, records.get('1m')?.value_pct, 365 / 31);
  t.like(records.get('1d'), { from: '2024-07-12', days: 3 });
  near(t.true, records.get('1d')?.value_pct, (((101 / 100.9 - 1) * 100) / 3) * 365);
  t.like(records.get('1y'), { value_pct: null, basis: 'annualized_compound' });
});

test('a payout counts as return: NAV 100, payout 10, NAV 90 is not a loss', (t) => {
  const payout = { ex_date: '2024-07-30', payout_per_unit: '10' };
  const records = returnsOf({ '2024-07-29': '100', '2024-07-30': '90', '2024-07-31': '99' }, [payout]);
  t.like(records.get('1d'), { nav_from: '90', nav_to: '99' });
  t.like(records.get('since_inception'), { nav_from: '100', nav_to: '99' });
  near(t.true, records.get('since_inception')?.value_pct, 10);
});

test('a NAV more than seven days before the target day is not used as the start', (t) => {
  t.is(returnsOf({ '2024-06-24': '1', '2024-07-31': '2' }, []).get('1m')?.from, '2024-06-24');
  const late = returnsOf({ '2024-06-22': '1', '2024-07-31': '2' }, []).get('1m');
  t.like(late, { from: null, nav_from: null, to: '2024-07-31', nav_to: '2', days: null, value_pct: null });
});

test('a zero NAV at the start of a period is skipped for the previous one', (t) => {
  const record = returnsOf({ '2024-06-28': '1', '2024-06-30': '0.0000', '2024-07-31': '2' }, []).get('1m');
  t.like(record, { from: '2024-06-28', value_pct: 100 });
});

test('returns end at the last NAV on or before as_of, and a fund without one for more than seven days has none', (t) => {
  const navs = { '2024-07-22': '1', '2024-07-24': '2', '2024-08-01': '3' };
  t.like(returnsOf(navs, []).get('1d'), { from: '2024-07-22', to: '2024-07-24', value_pct: 100 });
  const stale = returnsOf(navs, [], { asOf: '2024-08-09' });
  t.true([...stale.values()].every((record) => record.to === null && record.value_pct === null));
  t.is(stale.size, returnPeriods.length);
});

test('the return since inception is null if the history begins later than the fund, or has one day', (t) => {
  const navs = { '2024-07-01': '1', '2024-07-31': '2' };
  t.is(returnsOf(navs, [], { inception: '2024-06-26' }).get('since_inception')?.value_pct, 100);
  t.like(returnsOf(navs, [], { inception: '2020-01-01' }).get('since_inception'), {
    from: null,
    value_pct: null,
    basis: 'annualized_compound',
  });
  t.like(returnsOf({ '2024-07-31': '2' }, []).get('since_inception'), { days: 0, value_pct: null });
});

test('the fiscal year begins where it is set to, and its first day belongs to it', (t) => {
  const navs = { '2023-12-31': '1', '2024-03-31': '2', '2024-06-30': '4', '2024-07-01': '8' };
  const fytd = (asOf: string, fiscalYearStart?: string) => {
    const setting = fiscalYearStart === undefined ? {} : { fiscalYearStart };
    return returnsOf(navs, [], { asOf, ...setting }).get('fytd')?.from;
  };
  t.is(fytd('2024-07-01'), '2024-06-30');
  t.is(fytd('2024-07-01', '07-02'), null);
  t.is(fytd('2024-07-01', '04-01'), '2024-03-31');
  t.is(fytd('2024-03-31', '01-01'), '2023-12-31');
  for (const nonsense of ['02-29', '13-01', '7-1', '']) {
    t.throws(() => fytd('2024-07-01', nonsense), { instanceOf: RangeError }, nonsense);
  }
});

test('every record names its basis, and a requested basis applies to every period', (t) => {
  for (const basis of returnBases) {
    for (const record of returnsOf({ '2024-07-01': '1', '2024-07-31': '2' }, [], { basis }).values()) {
      t.is(record.basis, basis);
    }
  }
  t.is(returnPct(1.02, 73, 'annualized_simple'), returnPct(1.1, 365, 'absolute'));
  t.is(returnPct(2, 0, 'absolute'), null);
  t.is(returnPct(1e10, 1, 'annualized_compound'), null);
});

test('returns do not change when every NAV and payout is multiplied by a constant', (t) => {
  const tame = fc.integer({ min: 5000, max: 20_000 }).map((units) => units / 100);
  const rows = fc.uniqueArray(
    fc.record({ date: anyDate, nav: tame, paid: tame.map((value) => value / 100) }),
    {
      selector: (row) => row.date,
      minLength: 2,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(rows, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (rows, c) => {
      const scaled = (by: number) =>
        adjustNavs(
          rows.map(({ date, nav }) => ({ date, nav: String(nav * by) })),
          rows.map(({ date, paid }) => ({ ex_date: addDays(date, 3), payout_per_unit: String(paid * by) })),
        );
      const asOf =
        rows
          .map((row) => row.date)
          .sort()
          .at(-1) ?? '';
      const [plain, other] = [scaled(1), scaled(c)].map((navs) => periodReturns(navs, { ...defaults, asOf }));
      plain?.forEach((record, i) => {
        if (record.value_pct === null) t.is(other?.[i]?.value_pct, null);
        else near(t.true, other?.[i]?.value_pct, record.value_pct);
      });
    }),
  );
});

test('no NAVs and payouts, however extreme, give NaN or Infinity', (t) => {
  const basis = fc.constantFrom('auto' as const, ...returnBases);
  fc.assert(
    fc.property(anyPoints, anyPayouts, anyDate, basis, (points, payouts, asOf, basis) => {
      const navs = adjustNavs(points, payouts);
      for (const { value_pct } of periodReturns(navs, { ...defaults, asOf, basis })) {
        t.true(value_pct === null || Number.isFinite(value_pct));
      }
      const instalmentDates = points.slice(0, 5).map((point) => point.date);
      const sip = sipReturn(navs, { instalmentDates, instalment: 1000, asOf });
      t.true(sip.value_pct === null || Number.isFinite(sip.value_pct));
      t.true(sip.final_value === null || Number.isFinite(sip.final_value));
    }),
    { numRuns: 300 },
  );
});

test('instalments buy at the next NAV, worked by hand: 100 at 10 and 100 at 11 are worth 231 at 12.1', (t) => {
  const navs = adjustNavs(points({ '2021-01-04': '10', '2022-01-04': '11', '2023-01-04': '12.1' }), []);
  const sip = sipReturn(navs, {
    instalmentDates: ['2022-01-01', '2021-01-02'],
    instalment: 100,
    asOf: '2023-01-06',
  });
  t.like(sip, { from: '2021-01-04', to: '2023-01-04', instalments: 2, basis: 'xirr' });
  near(t.true, sip.final_value, 231);
  near(t.true, sip.value_pct, 10);
});

test('one instalment earns the compound annual growth of the fund, payouts included', (t) => {
  const navs = adjustNavs(points({ '2021-01-04': '10', '2022-01-04': '11', '2023-06-04': '12.1' }), [
    { ex_date: '2022-01-04', payout_per_unit: '2' },
  ]);
  const sip = sipReturn(navs, { instalmentDates: ['2021-01-04'], instalment: 5, asOf: '2023-06-04' });
  near(t.true, sip.value_pct, returnPct(1.21 * (1 + 2 / 11), 881, 'annualized_compound') ?? NaN);
});

test('there is no return if an instalment has no NAV within seven days, is after the end, or if there are none', (t) => {
  const navs = adjustNavs(points({ '2021-01-04': '10', '2022-01-04': '11', '2022-03-04': '12' }), []);
  for (const instalmentDates of [['2021-01-04', '2021-06-01'], ['2021-01-04', '2022-03-04'], []]) {
    const sip = sipReturn(navs, { instalmentDates, instalment: 100, asOf: '2022-01-04' });
    t.like(sip, { final_value: null, value_pct: null, instalments: instalmentDates.length });
  }
});

function returnsOf(
  navs: Record<string, string>,
  payouts: Payout[],
  options: Partial<ReturnOptions> = {},
): Map<ReturnPeriod, PeriodReturn> {
  const records = periodReturns(adjustNavs(points(navs), payouts), { ...defaults, ...options });
  return new Map(records.map((record) => [record.period, record]));
}

function points(navs: Record<string, string>): NavPoint[] {
  return Object.entries(navs).map(([date, nav]) => ({ date, nav }));
}

function near(
  isTrue: (value: boolean, message?: string) => void,
  actual: number | null | undefined,
  expected: number,
): void {
  const isNear =
    typeof actual === 'number' && Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
  isTrue(isNear, `${actual}, not ${expected}`);
}
