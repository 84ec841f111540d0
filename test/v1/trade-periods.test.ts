import test from 'ava';
import fc from 'fast-check';
import { periodEnd } from '../../domain/periods.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { csvLines, startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

const columns = 'reporter,flow,period,partner_code,commodity_code,value';
const constants = {
  set: { classification: 'hs', basis: 'customs', currency: 'USD', source: 'Customs' },
};

test.before(async () => {
  service = await startListService();
  // Months of 2024 and 2025, 2025 up to April, and 2024 as a year too. Rice is not traded in each of them.
  const months = Array.from(
    { length: 16 },
    (_, i) => `${2024 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}`,
  );
  await service.load(
    'trade',
    [
      columns,
      ...months.flatMap((month, i) => [
        `PAK,export,${month},CHN,270900,${i + 1}`,
        ...(i % 3 === 0 ? [`PAK,export,${month},USA,100630,1000`] : []),
        `PAK,import,${month},CHN,270900,${i < 12 ? 2 : 3}`,
      ]),
      'PAK,export,2024,CHN,TOTAL,80',
      'PAK,export,2024,USA,TOTAL,4001',
      'PAK,export,2023,CHN,TOTAL,50',
    ],
    constants,
  );
  // India publishes the world total in addition to its parts, except for one month.
  await service.load(
    'trade',
    [
      columns,
      'IND,export,2024-01,CHN,100630,10',
      'IND,export,2024-01,USA,100630,20',
      'IND,export,2024-01,WLD,TOTAL,35',
      'IND,export,2024-02,CHN,100630,40',
      'IND,export,2024-02,USA,100630,80',
      'IND,import,2024-01,CHN,100630,1',
      'IND,export,2025-01,CHN,100630,15',
    ],
    constants,
  );
});

test.after.always(() => service.close());

const sums = async (query: string, ...fields: string[]) =>
  (await service.list(`/v1/trade?${query}`)).data.map((row) => fields.map((field) => row[field]));

test('everything that aggregate_by does not name is added up, including periods', async (t) => {
  const pak = 'reporter=PAK&flow=export&frequency=M&from=2024&sort=-value&aggregate_by=';
  t.deepEqual(
    await sums(
      `${pak}partner`,
      'partner_code',
      'period',
      'date',
      'as_of',
      'periods',
      'periods_published',
      'value',
    ),
    [
      ['USA', '2024-01..2025-04', '2025-04-30', '2025-04-30', 6, 16, 6000],
      ['CHN', '2024-01..2025-04', '2025-04-30', '2025-04-30', 16, 16, 136],
    ],
  );
  t.deepEqual(await sums(`${pak}commodity`, 'commodity_code', 'partner_code', 'value'), [
    ['100630', 'WLD', 6000],
    ['270900', 'WLD', 136],
  ]);
  t.deepEqual(await sums(`${pak}partner&to=2024-01`, 'partner_code', 'period', 'value'), [
    ['USA', '2024-01', 1000],
    ['CHN', '2024-01', 1],
  ]);
  t.deepEqual(await sums(`${pak}partner,period&partner=CHN&to=2024-02`, 'period', 'value'), [
    ['2024-02', 2],
    ['2024-01', 1],
  ]);
});

test('the total of a year, a quarter and a fiscal year says how many of its periods are there', async (t) => {
  const china = 'reporter=PAK&flow=export&frequency=M&from=2024&partner=CHN&sort=date&aggregate_by=partner,';
  const shown = ['period', 'date', 'as_of', 'periods', 'value'];
  t.deepEqual(await sums(`${china}year`, ...shown), [
    ['2024', '2024-12-31', '2024-12-31', 12, 78],
    ['2025', '2025-12-31', '2025-04-30', 4, 58],
  ]);
  t.deepEqual((await sums(`${china}quarter`, ...shown)).slice(-3), [
    ['2024-Q4', '2024-12-31', '2024-12-31', 3, 33],
    ['2025-Q1', '2025-03-31', '2025-03-31', 3, 42],
    ['2025-Q2', '2025-06-30', '2025-04-30', 1, 16],
  ]);
  t.deepEqual(await sums(`${china}fiscal_year&fiscal_year_end=06-30`, ...shown), [
    ['2023/24', '2024-06-30', '2024-06-30', 6, 21],
    ['2024/25', '2025-06-30', '2025-04-30', 10, 115],
  ]);
  t.deepEqual(await sums(`${china}fiscal_year&fiscal_year_end=02-28`, 'period', 'date', 'value'), [
    ['2023/24', '2024-02-29', 3],
    ['2024/25', '2025-02-28', 102],
    ['2025/26', '2026-02-28', 31],
  ]);
  t.deepEqual(
    await sums(`${china}fiscal_year&fiscal_year_end=12-31`, ...shown),
    await sums(`${china}year`, ...shown),
    'a fiscal year that ends with December is the calendar year',
  );
  t.deepEqual(
    await sums(`${china.replace('CHN', 'USA')}year`, 'period', 'periods', 'periods_published', 'value'),
    [
      ['2024', 4, 12, 4000],
      ['2025', 2, 4, 2000],
    ],
    'a month without trade with a partner is no month that is missing',
  );
});

test('months and years are never added together', async (t) => {
  const china = 'reporter=PAK&flow=export&partner=CHN&from=2024&to=2024&aggregate_by=partner';
  const shown = ['frequency', 'period', 'periods', 'value'];
  for (const group of ['', ',year', ',fiscal_year&fiscal_year_end=12-31'])
    t.deepEqual(
      (await sums(`${china}${group}`, ...shown)).map((row) => row.join(' ')).sort(),
      ['A 2024 1 80', group === '' ? 'M 2024-01..2024-12 12 78' : 'M 2024 12 78'],
      group,
    );
  t.deepEqual(await sums(`${china},year&frequency=A`, ...shown), [['A', '2024', 1, 80]]);
  const both = await service.readPages(`/v1/trade?${china},year`, 'frequency', 1);
  t.deepEqual(both.toSorted(), ['A', 'M'], 'a page may end between the two sums of a year');
  // A year is part of no quarter and of no other fiscal year.
  t.deepEqual(
    (await sums(`${china},quarter&sort=date`, ...shown)).map(([frequency, period]) => [frequency, period]),
    ['Q1', 'Q2', 'Q3', 'Q4'].map((quarter) => ['M', `2024-${quarter}`]),
  );
  t.deepEqual(await sums(`${china},fiscal_year&fiscal_year_end=06-30&sort=date`, ...shown), [
    ['M', '2023/24', 6, 21],
    ['M', '2024/25', 6, 57],
  ]);
});

test('for each added period, a published total is preferred to its parts', async (t) => {
  const india = 'reporter=IND&flow=export&from=2024&to=2024&aggregate_by=';
  t.deepEqual(await sums(`${india}year`, 'value', 'share_pct', 'periods'), [[155, 100, 2]]); // 35 + (40 + 80)
  t.deepEqual(await sums(`${india}partner,year&sort=value`, 'partner_code', 'value'), [
    ['CHN', 50],
    ['USA', 100],
  ]);
  t.deepEqual(await sums(`${india}partner,year&partner=world`, 'partner_code', 'value'), [['WLD', 155]]);
});

test('a sum is compared with that of the same periods a year earlier, and shared by their total', async (t) => {
  const china = 'reporter=PAK&flow=export&frequency=M&partner=CHN&aggregate_by=partner';
  // January to April: 13 + 14 + 15 + 16 after 1 + 2 + 3 + 4, of which rice is 2000.
  for (const group of ['', ',year'])
    t.deepEqual(await sums(`${china}${group}&from=2025`, 'value', 'yoy_pct', 'share_pct'), [
      [58, 480, 2.818270165],
    ]);
  t.deepEqual(
    await sums(`${china}&from=2024`, 'value', 'yoy_pct'),
    [[136, null]],
    'no month of 2023 is published',
  );
  t.deepEqual(
    await sums(
      'reporter=PAK&flow=export&frequency=A&partner=CHN&aggregate_by=partner,year&from=2024',
      'yoy_pct',
    ),
    [[60]],
  );
});

test('a balance is added up over the periods that have both flows', async (t) => {
  const balance = 'flow=balance&from=2024&aggregate_by=partner,year&partner=CHN&sort=date';
  t.deepEqual(
    await sums(`${balance}&reporter=PAK`, 'period', 'frequency', 'periods', 'value', 'share_pct', 'yoy_pct'),
    [
      ['2024', 'M', 12, 54, null, null],
      ['2025', 'M', 4, 46, null, 2200], // 58 − 12 after 10 − 8
    ],
  );
  t.deepEqual(await sums(`${balance}&reporter=IND`, 'period', 'periods', 'value'), [['2024', 1, 9]]);
});

test('sums over periods page, sort, count, come as CSV, and have an ETag of their own', async (t) => {
  const query = '/v1/trade?reporter=PAK&from=2024&aggregate_by=partner,quarter';
  for (const sort of ['date', '-date', 'value', '-value']) {
    const whole = (await service.list(`${query}&sort=${sort}`)).data;
    t.is(whole.length, 18, sort); // six quarters of China's exports and imports, and of exports to the United States
    const paged = await service.readPages(`${query}&sort=${sort}`, 'as_of', 4);
    t.deepEqual(
      paged,
      whole.map((row) => row['as_of']),
      sort,
    );
  }
  t.is((await service.list(`${query}&count_only=true`)).count, 18);
  const { header, lines } = csvLines(
    await service.call(`${query}&format=csv&flow=export&partner=USA&sort=date&fields=period,value,periods`),
  );
  t.is(header, 'period,value,periods');
  t.deepEqual(lines.slice(0, 2), ['2024-Q1,1000,1', '2024-Q2,1000,1']);
  const first = await service.call(`${query}&limit=1`);
  const etag = first.headers.get('etag') ?? '';
  const cursor = (first.json as { pagination: { next_cursor: string } }).pagination.next_cursor;
  const again = async (path: string) =>
    (await service.call(path, { headers: { 'if-none-match': etag } })).status;
  t.is(await again(`${query}&limit=1`), 304);
  for (const other of ['year', 'fiscal_year&fiscal_year_end=06-30', 'fiscal_year&fiscal_year_end=03-31']) {
    const path = `${query.replace('quarter', other)}&limit=1`;
    t.is(await again(path), 200, other);
    t.is((await service.list(`${path}&cursor=${cursor}`)).error.code, 'invalid_cursor', other);
  }
});

interface Fact {
  period: string;
  partner: string;
  commodity: string;
  value: number;
}

const groupDimensions = ['', 'partner', 'commodity', 'partner,commodity'] as const;
const groupedBy = ['', 'period', 'quarter', 'year', 'fiscal_year'] as const;

/** The last day of a published period. */
const endOf = (period: string) =>
  periodEnd(`${period}${period.length === 4 ? '-12' : ''}-01`, period.length === 4 ? 'annual' : 'monthly');

/** The last day of the group that contains a period; null if none does. */
function groupEnd(period: string, group: string, yearEnd: string): string | null {
  if (group === '') return period.length === 4 ? 'years' : 'months';
  if (group === 'period') return endOf(period);
  if (group === 'year') return periodEnd(endOf(period), 'annual');
  if (period.length === 4) return group === 'fiscal_year' && yearEnd === '12-31' ? endOf(period) : null;
  return group === 'quarter'
    ? periodEnd(endOf(period), 'quarterly')
    : periodEnd(endOf(period), 'annual', yearEnd);
}

/** The expected sums: for each period, a published total is preferred to its parts. */
function expectedSums(
  facts: readonly Fact[],
  asked: { dimensions: string; group: string; yearEnd: string; from: string; to: string },
) {
  const { dimensions, group, yearEnd, from, to } = asked;
  const inWindow = facts.filter(({ period }) => endOf(period) >= from && endOf(period) <= to);
  const found: string[] = [];
  const byGroup = Map.groupBy(
    inWindow,
    ({ period }) => `${groupEnd(period, group, yearEnd)} ${period.length}`,
  );
  for (const [end, members] of byGroup) {
    if (end.startsWith('null')) continue;
    const byPeriod = [...Map.groupBy(members, ({ period }) => period).values()];
    const used = byPeriod.flatMap((rows) => {
      const total = rows.filter(({ commodity }) => commodity === 'TOTAL');
      const parts = rows.filter(({ commodity }) => commodity !== 'TOTAL');
      if (dimensions === 'partner,commodity') return rows;
      return (dimensions === '' ? total.length > 0 : parts.length === 0) ? total : parts;
    });
    const lasts = byPeriod.map(([row]) => endOf(row?.period ?? '')).sort();
    const sumKey = ({ partner, commodity }: Fact) =>
      `${dimensions.includes('partner') ? partner : 'WLD'} ${dimensions.includes('commodity') ? commodity : 'TOTAL'}`;
    for (const [key, rows] of Map.groupBy(used, sumKey)) {
      const value = rows.reduce((total, row) => total + row.value, 0);
      const periods = new Set(rows.map(({ period }) => period)).size;
      const date = group === '' ? lasts.at(-1) : end.slice(0, 10);
      found.push(
        [key, end.endsWith('4') ? 'A' : 'M', date, lasts.at(-1), periods, lasts.length, value].join(' '),
      );
    }
  }
  return found.sort();
}

// Serial, as its loads change every ETag.
test.serial('sums over any periods, partners and commodities are those of the rows', async (t) => {
  const aPeriod = fc
    .tuple(fc.integer({ min: 2022, max: 2024 }), fc.integer({ min: 0, max: 12 }))
    .map(([year, month]) => (month === 0 ? String(year) : `${year}-${String(month).padStart(2, '0')}`));
  const aFact = fc.record({
    period: aPeriod,
    partner: fc.constantFrom('CHN', 'USA'),
    commodity: fc.constantFrom('010121', '100630'),
    value: fc.integer({ min: -50, max: 1000 }),
  });
  const aTotal = fc.record({
    period: aPeriod,
    partner: fc.constant('WLD'),
    commodity: fc.constant('TOTAL'),
    value: fc.integer({ min: 0, max: 1000 }),
  });
  const unique = { selector: ({ period, partner, commodity }: Fact) => `${period} ${partner} ${commodity}` };
  let reporters = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.oneof({ weight: 5, arbitrary: aFact }, aTotal), {
        minLength: 1,
        maxLength: 40,
        ...unique,
      }),
      fc.constantFrom('03-31', '06-30', '09-30', '12-31'),
      fc.constantFrom('2022-01-01', '2022-05-01', '2023-02-28'),
      fc.constantFrom('2023-02-28', '2024-06-30', '2024-12-31'),
      fc.constantFrom(...groupDimensions),
      async (facts, yearEnd, from, to, dimensions) => {
        const reporter = `Q${String.fromCharCode(65 + Math.floor(reporters / 26), 65 + (reporters % 26))}`;
        reporters += 1;
        const lines = facts.map((fact) => [reporter, 'export', ...Object.values(fact)].join());
        await service.load('trade', [columns, ...lines], constants);
        for (const group of groupedBy) {
          const by = [dimensions, group].filter((name) => name !== '').join();
          if (by === '') continue;
          const end = group === 'fiscal_year' ? `&fiscal_year_end=${yearEnd}` : '';
          const rows = await sums(
            `reporter=${reporter}&flow=export&from=${from}&to=${to}&aggregate_by=${by}${end}&limit=1000`,
            ...['partner_code', 'commodity_code', 'frequency', 'date', 'as_of'],
            ...['periods', 'periods_published', 'value'],
          );
          const expected = expectedSums(facts, { dimensions, group, yearEnd, from, to });
          t.deepEqual(rows.map((row) => row.join(' ')).sort(), expected, `${by} ${end}`);
        }
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});
