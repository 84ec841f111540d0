// Which funds are compared with each other, checked against a computation from the loaded NAVs.
import test from 'ava';
import fc from 'fast-check';
import { percent } from '../../domain/percent.ts';
import { addDays, addMonths, dayNumber } from '../../kernel/dates.ts';
import { startListService, type ListService } from '../services/list-service.ts';

let service: ListService;
test.before(async () => {
  service = await startListService();
});
test.after.always(() => service?.close());

interface LoadedFund {
  id: string;
  category: string;
  currency: string;
  /** As stated by the source; '' for none. */
  status: string;
  /** The day of its last NAV; '' for none. */
  last: string;
  /** That NAV; a month before it, it was 100. */
  nav: number;
}

const newest = '2024-06-28';
const arbitraryFund = fc.record({
  category: fc.constantFrom('Equity', 'Bond', ''),
  currency: fc.constantFrom('PKR', 'INR'),
  status: fc.constantFrom('', '', '', 'active', 'suspended', 'closed'),
  daysOld: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 25, max: 36 }), fc.constant(1_000)),
  nav: fc.integer({ min: 50, max: 200 }),
});
const funds: LoadedFund[] = fc
  .sample(arbitraryFund, { numRuns: 120, seed: 8 })
  .map(({ daysOld, ...fund }, i) => ({ ...fund, id: `fund-${i}`, last: addDays(newest, -daysOld) }));
funds.push({ id: 'no-nav', category: 'Equity', currency: 'PKR', status: '', last: '', nav: 0 });

const isStale = (fund: LoadedFund): boolean => {
  const days = funds
    .filter(({ category, currency }) => category === fund.category && currency === fund.currency)
    .map(({ last }) => last)
    .sort();
  return fund.last !== '' && dayNumber(days.at(-1) ?? '') - dayNumber(fund.last) > 30;
};
const statusOf = (fund: LoadedFund): string | null =>
  fund.status === '' ? (isStale(fund) ? 'inactive' : null) : fund.status;

const navLines = ({ id, last, nav }: LoadedFund): string[] =>
  last === '' ? [] : [`${id},${addMonths(last, -1)},100`, `${id},${last},${nav}`];

const screened = async (query: string): Promise<string[]> =>
  (await service.column(`/v1/funds/screener?sort=id&limit=1000&${query}`, 'id')).map(String);
const idsOf = (among: readonly LoadedFund[]): string[] => among.map(({ id }) => id).sort();

interface Returns {
  data: {
    periods: {
      period: string;
      rank: number | null;
      rank_of: number | null;
      category_avg_pct: number | null;
    }[];
  };
}

async function placeOf(id: string, query = '') {
  const { data } = (await service.call(`/v1/funds/${id}/returns${query}`)).json as Returns;
  const {
    rank,
    rank_of: rankOf,
    category_avg_pct: average,
  } = data.periods.find(({ period }) => period === '1m') ?? {};
  return { rank, rankOf, average };
}

/** The rank of a fund among the compared ones, by the return over a month. */
function expectedPlace(fund: LoadedFund, compared: readonly LoadedFund[]) {
  const none = { rank: null, rankOf: null, average: null };
  if (fund.category === '' || fund.last === '' || !compared.includes(fund)) return none;
  const peers = compared.filter(
    ({ category, currency, last }) =>
      category === fund.category &&
      currency === fund.currency &&
      last !== '' &&
      Math.abs(dayNumber(last) - dayNumber(fund.last)) <= 7,
  );
  const sum = peers.reduce((total, { nav }) => total + nav - 100, 0);
  return {
    rank: 1 + peers.filter(({ nav }) => nav > fund.nav).length,
    rankOf: peers.length,
    average: percent(sum / peers.length),
  };
}

test.serial(
  'a fund whose last NAV is more than 30 days behind its category is compared only on request',
  async (t) => {
    await service.load('funds', [
      'fund_id,name,category,currency,status,source',
      ...funds.map(
        ({ id, category, currency, status }) => `${id},${id},${category},${currency},${status},Register`,
      ),
    ]);
    await service.load('nav', ['fund,date,nav', ...funds.flatMap(navLines)]);
    const fresh = funds.filter((fund) => !isStale(fund));
    const isLive = ({ status }: LoadedFund) => status !== 'closed';
    t.true(fresh.length > 30 && funds.length - fresh.length > 30);

    t.deepEqual(await screened(''), idsOf(fresh.filter(isLive)));
    t.deepEqual(await screened('include_stale=false'), idsOf(fresh.filter(isLive)));
    t.deepEqual(await screened('include_stale=true'), idsOf(funds.filter(isLive)));
    for (const status of ['active', 'suspended', 'closed', 'inactive']) {
      const all = funds.filter((fund) => statusOf(fund) === status);
      const byDefault = status === 'active' ? all.filter((fund) => !isStale(fund)) : all;
      t.deepEqual(await screened(`status=${status}`), idsOf(byDefault), status);
      t.deepEqual(await screened(`status=${status}&include_stale=true`), idsOf(all), status);
      t.deepEqual(
        await screened(`status=${status}&include_stale=false`),
        idsOf(all.filter((fund) => !isStale(fund))),
        status,
      );
      t.deepEqual(
        (await service.column(`/v1/funds?limit=1000&status=${status}`, 'id')).map(String).sort(),
        idsOf(all),
        status,
      );
    }
    const { data } = await service.list('/v1/funds?limit=1000');
    t.deepEqual(
      data.map(({ id, status }) => [id, status]),
      funds.map((fund) => [fund.id, statusOf(fund)]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
    for (const fund of funds) {
      t.deepEqual(await placeOf(fund.id), expectedPlace(fund, fresh), fund.id);
      t.deepEqual(await placeOf(fund.id, '?include_stale=true'), expectedPlace(fund, funds), fund.id);
    }
  },
);

test.serial('a stale fund still has its own figures', async (t) => {
  const stale = funds.filter(isStale).at(-1);
  const id = stale?.id ?? '';
  t.like((await service.call(`/v1/funds/${id}`)).json, {
    data: { id, nav: stale?.nav, nav_date: stale?.last },
  });
  for (const path of ['nav', 'returns', 'analytics', 'payouts', 'expenses'])
    t.is((await service.call(`/v1/funds/${id}/${path}`)).status, 200, path);
  const { periods } = ((await service.call(`/v1/funds/${id}/returns`)).json as Returns).data;
  t.like(
    periods.find(({ period }) => period === '1m'),
    { value_pct: (stale?.nav ?? 0) - 100, rank: null },
  );
});

test.serial(
  'a NAV of one fund can make others of its category stale, and its removal reverts that',
  async (t) => {
    await service.load('amcs', ['amc_id,name,source', 'manager,Manager,Register']);
    await service.load('funds', [
      'fund_id,name,amc_id,category,currency,source',
      ...['early', 'late', 'dollar'].map(
        (id) => `${id},${id},manager,Turning,${id === 'dollar' ? 'USD' : 'EUR'},Register`,
      ),
    ]);
    await service.load('nav', [
      'fund,date,nav',
      'early,2024-05-01,10',
      'late,2024-05-31,10',
      'dollar,2024-06-28,10',
    ]);
    const shown = () => screened('category=Turning');
    t.deepEqual(await shown(), ['dollar', 'early', 'late'], 'thirty days behind is not stale');
    await service.load('nav', ['fund,date,nav', 'late,2024-06-01,10']);
    t.deepEqual(await shown(), ['dollar', 'late']);
    const { funds: managed } = (
      (await service.call('/v1/amcs/manager')).json as { data: { funds: unknown[] } }
    ).data;
    t.like(managed, [{ id: 'dollar', status: null }, { id: 'early', status: 'inactive' }, { status: null }]);
    await service.load('nav', ['fund,date,nav', 'late,2024-06-01,']);
    t.deepEqual(await shown(), ['dollar', 'early', 'late']);
    await service.load('funds', ['fund_id,currency', 'dollar,EUR']);
    t.deepEqual(await shown(), ['dollar', 'late'], 'another currency is another comparison');
  },
);

/** NAVs on the last day of each month from January 2023 to May 2024. */
const monthEnds = Array.from({ length: 17 }, (_, i) => addDays(addMonths('2023-02-01', i), -1));
const navOn = new Map(monthEnds.map((day, i) => [day, 100 + ((i * 37) % 23)]));

/** The expected values for a fund whose last NAV is of 2024-05-31, if its fiscal year begins in the month. */
function fiscalYear(month: number) {
  const year = month <= 5 ? 2024 : 2023;
  const begin = `${year}-${String(month).padStart(2, '0')}-01`;
  const from = addDays(begin, -1);
  const growth = (navOn.get('2024-05-31') ?? NaN) / (navOn.get(from) ?? NaN);
  return { begin, from, pct: percent((growth - 1) * 100) };
}

async function fiscalYearOf(id: string) {
  const { json } = await service.call(`/v1/funds/${id}/returns`);
  const { data } = json as { data: { fytd_from: string; periods: Record<string, unknown>[] } };
  const period = data.periods.find((each) => each['period'] === 'fytd');
  const [row] = (await service.list('/v1/funds/screener?category=Fiscal')).data.filter(
    (each) => each['id'] === id,
  );
  const shown = { begin: data.fytd_from, from: period?.['from'], pct: period?.['value_pct'] };
  return {
    shown,
    screened: { begin: row?.['fytd_from'], pct: row?.['return_fytd_pct'] },
  };
}

test.serial(
  'fytd begins in the month of the fund, otherwise of its company, otherwise of the setting, and the answer states which',
  async (t) => {
    const none = ['fiscal-own', 'fiscal-company', 'fiscal-none'];
    await service.load('amcs', ['amc_id,name,source,fiscal_year_first_month', 'april,April,Register,4']);
    await service.load('funds', [
      'fund_id,name,amc_id,category,currency,source,fiscal_year_first_month',
      'fiscal-own,Own,april,Fiscal,PKR,Register,1',
      'fiscal-company,Company,april,Fiscal,PKR,Register,',
      'fiscal-none,None,,Fiscal,PKR,Register,',
    ]);
    const navs = [
      'fund,date,nav',
      ...none.flatMap((id) => monthEnds.map((day) => `${id},${day},${navOn.get(day)}`)),
    ];
    await service.load('nav', navs);
    const shown = () =>
      Promise.all(
        none.map(async (id) => {
          const { shown: figures, screened: inScreener } = await fiscalYearOf(id);
          t.deepEqual(
            inScreener,
            { begin: figures.begin, pct: figures.pct },
            'the screener and the returns agree',
          );
          return figures;
        }),
      );
    t.deepEqual(await shown(), [1, 4, 7].map(fiscalYear), 'July unless set');

    const etagOf = async () => (await service.call('/v1/funds/screener?category=Fiscal')).headers.get('etag');
    // After a change of the setting, a file that changes nothing is enough to make all earlier answers invalid.
    for (const fiscalYearFirstMonth of [12, 2, 7, 10]) {
      const etag = await etagOf();
      await service.load('nav', navs.slice(0, 2), { fiscalYearFirstMonth });
      t.deepEqual(await shown(), [1, 4, fiscalYearFirstMonth].map(fiscalYear));
      t.not(await etagOf(), etag);
    }
    // The same for the month of a company, or of a fund.
    const setting = { fiscalYearFirstMonth: 10 };
    await service.load('amcs', ['amc_id,fiscal_year_first_month', 'april,3'], setting);
    t.deepEqual(await shown(), [1, 3, 10].map(fiscalYear));
    await service.load('funds', ['fund_id,fiscal_year_first_month', 'fiscal-own,', 'fiscal-none,9'], setting);
    t.deepEqual(await shown(), [3, 3, 9].map(fiscalYear));

    // As of another day, the fiscal year that contains it counts.
    const { json } = await service.call('/v1/funds/fiscal-company/returns?as_of=2024-02-29');
    t.like(json, { data: { fytd_from: '2023-03-01' } });
  },
);
