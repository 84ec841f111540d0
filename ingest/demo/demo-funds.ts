// The demo's funds: three companies of Demoland, their funds with NAVs, payouts, expenses and portfolios, and the
// benchmark index. All of it synthetic.
import { addDays, addMonths, dayNumber, isWeekend } from '../../kernel/dates.ts';
import { periodEnd } from '../../domain/periods.ts';
import { csvLines, random, source, type DemoFile } from './demo-file.ts';
import { entryAt } from '../../kernel/entries.ts';

const firstDay = '2019-01-02';
const firstPortfolio = '2023-12-31';
const indexId = 'DEMO.SHARE-INDEX';

const companies = [
  { id: 'harbour', name: 'Harbour Asset Management', grade: 'AM1', established: '1998-05-01' },
  { id: 'summit', name: 'Summit Investments', grade: 'AM2++', established: '2004-09-15' },
  { id: 'old-mill', name: 'Old Mill Funds', grade: 'AM2', established: '2011-02-01' },
];

/** Drift and noise are daily; `share` is the fund's share in the index's moves. */
const funds = [
  fund('harbour-equity', 'Harbour Equity Fund', 'Equity', 'equity', 100, {
    share: 1.05,
    noise: 0.004,
    ter: 3.1,
  }),
  fund('summit-equity', 'Summit Equity Fund', 'Equity', 'equity', 50, { share: 0.9, noise: 0.003, ter: 2.8 }),
  fund('old-mill-islamic-equity', 'Old Mill Islamic Equity Fund', 'Equity', 'equity', 10, {
    share: 0.95,
    noise: 0.005,
    ter: 3.4,
    shariah: true,
  }),
  fund('harbour-balanced', 'Harbour Balanced Fund', 'Balanced', 'balanced', 100, {
    share: 0.5,
    noise: 0.002,
    ter: 2.4,
    payoutPct: 3,
  }),
  fund('summit-income', 'Summit Income Fund', 'Income', 'income', 100, {
    drift: 0.0003,
    noise: 0.0006,
    ter: 1.6,
    payoutPct: 6,
  }),
  fund('harbour-cash', 'Harbour Cash Fund', 'Money market', 'money_market', 100, {
    drift: 0.00028,
    noise: 0.00004,
    ter: 0.9,
    payoutPct: 6,
  }),
  fund('summit-cash', 'Summit Cash Fund', 'Money market', 'money_market', 10, {
    drift: 0.00027,
    noise: 0.00003,
    ter: 0.7,
    payoutPct: 5,
    shariah: true,
  }),
  fund('old-mill-growth', 'Old Mill Growth Fund', 'Equity', 'equity', 20, {
    share: 1.1,
    noise: 0.006,
    ter: 3.9,
    lastDay: '2024-06-28',
  }),
];

interface Character {
  share?: number;
  drift?: number;
  noise: number;
  ter: number;
  /** The payout in percent of the NAV, on the first working day of each July. */
  payoutPct?: number;
  shariah?: boolean;
  /** It merged into old-mill-islamic-equity the day after. */
  lastDay?: string;
}

function fund(
  id: string,
  name: string,
  category: string,
  assetClass: string,
  par: number,
  character: Character,
) {
  const { id: company } = entryAt(
    companies.filter((each) => id.startsWith(each.id)),
    0,
  );
  return { id, name, category, assetClass, par, company, ...character };
}
type Fund = (typeof funds)[number];

/** All files about funds, in the order of loading. @param lastDay of the NAVs and the index. */
export function fundFiles(lastDay: string): DemoFile[] {
  return [
    {
      dataset: 'series',
      *lines() {
        yield 'series_id,name,unit,frequency,source,geography,category,description';
        yield `${indexId},Share index of Demoland,Index (2019-01-02 = 1000),daily,${source},Demoland,Money,Synthetic: with dividends`;
      },
    },
    {
      dataset: 'observations',
      vintage: lastDay,
      *lines() {
        yield 'series_id,date,value';
        for (const { day, level } of indexWalk(lastDay)) yield `${indexId},${day},${level.toFixed(2)}`;
      },
    },
    {
      dataset: 'amcs',
      *lines() {
        yield 'amc_id,name,rating,rating_agency,rating_date,website,established,source';
        for (const { id, name, grade, established } of companies)
          yield `${id},${name},${grade},Demo Ratings,2025-12-31,https://${id}.example/,${established},${source}`;
      },
    },
    { dataset: 'funds', lines: fundLines },
    { dataset: 'payouts', lines: () => payoutLines(lastDay) },
    { dataset: 'expenses', lines: () => expenseLines(lastDay) },
    { dataset: 'portfolio', lines: () => csvLines(portfolioHeader, portfolioRows(lastDay)) },
    { dataset: 'nav', lines: () => navLines(lastDay) },
  ];
}

function* fundLines(): Iterable<string> {
  yield 'fund_id,name,symbol,amc_id,category,asset_class,structure,shariah_compliant,risk_profile,benchmark,benchmark_series,currency,launch_date,status,merged_into,objective,trustee,fund_managers,rating,rating_agency,pricing_mechanism,dealing_days,minimum_investment,management_fee_pct,front_end_load_pct,back_end_load_pct,source';
  for (const each of funds) {
    const isShares = each.share !== undefined;
    const symbol =
      each.id
        .split('-')
        .map((word) => word.charAt(0).toUpperCase())
        .join('') + each.id.length;
    const merged = each.lastDay === undefined ? ['active', ''] : ['merged', 'old-mill-islamic-equity'];
    yield [
      ...[each.id, each.name, symbol, each.company, each.category, each.assetClass, 'open_end'],
      ...[each.shariah === true, isShares ? 'high' : 'low'],
      ...(isShares ? ['Share index of Demoland', indexId] : ['', '']),
      ...['DMD', firstDay, ...merged, 'Synthetic: made to be looked at', 'Demo Trust', 'A. Demo;B. Sample'],
      ...(isShares ? ['', ''] : ['AA+(f)', 'Demo Ratings']),
      ...[
        'forward',
        'Monday-Friday 16:00',
        '1000',
        (each.ter * 0.6).toFixed(2),
        isShares ? '2' : '0',
        '0',
        source,
      ],
    ].join(',');
  }
}

/** The index on working days, with the part of each day's move that also moves the funds. */
function* indexWalk(lastDay: string): Iterable<{ day: string; level: number; move: number }> {
  const draw = random('share index');
  let level = 1_000;
  for (let day = firstDay; day <= lastDay; day = addDays(day, 1)) {
    if (isWeekend(day)) continue;
    const move = day === firstDay ? 0 : 0.0004 + 0.02 * (draw() + draw() - 1);
    level *= 1 + move;
    yield { day, level, move };
  }
}

function* fundWalk(each: Fund, lastDay: string): Iterable<{ day: string; nav: number; payout: number }> {
  const draw = random(`NAV of ${each.id}`);
  let nav = each.par;
  let before = firstDay;
  for (const { day, move } of indexWalk(lastDay)) {
    if (day > (each.lastDay ?? lastDay)) return;
    const own = (each.drift ?? 0) * (dayNumber(day) - dayNumber(before)) + each.noise * (draw() + draw() - 1);
    nav *= 1 + (each.share ?? 0) * move + own;
    const isPayoutDay = day.slice(5, 7) === '07' && before.slice(5, 7) === '06';
    const payout = isPayoutDay ? Number(((nav * (each.payoutPct ?? 0)) / 100).toFixed(4)) : 0;
    nav -= payout;
    before = day;
    yield { day, nav, payout };
  }
}

function* navLines(lastDay: string): Iterable<string> {
  yield 'fund,date,nav,aum,units_outstanding';
  for (const each of funds) {
    const draw = random(`units of ${each.id}`);
    let units = 40_000_000 / each.par;
    for (const { day, nav } of fundWalk(each, lastDay)) {
      if (!isLastWorkingDay(day)) {
        yield `${each.id},${day},${nav.toFixed(4)},,`;
        continue;
      }
      units = Math.round(units * (1 + 0.02 * (draw() - 0.4)));
      yield `${each.id},${day},${nav.toFixed(4)},${(units * nav).toFixed(2)},${units}`;
    }
  }
}

function* payoutLines(lastDay: string): Iterable<string> {
  yield 'fund,ex_date,type,announcement_date,payment_date,financial_year,payout_per_unit,payout_pct_of_par,ex_nav,cum_nav';
  for (const each of funds) {
    for (const { day, nav, payout } of fundWalk(each, lastDay)) {
      if (payout === 0) continue;
      const year = Number(day.slice(0, 4));
      yield [
        ...[each.id, day, 'cash', addDays(day, -7), addDays(day, 5), `${year - 1}-${String(year).slice(2)}`],
        ...[
          payout.toFixed(4),
          ((payout / each.par) * 100).toFixed(2),
          nav.toFixed(4),
          (nav + payout).toFixed(4),
        ],
      ].join(',');
    }
  }
}

function* quarters(from: string, lastDay: string): Iterable<string> {
  for (let day = from; day <= lastDay; day = periodEnd(addMonths(day, 3), 'monthly')) yield day;
}

function* expenseLines(lastDay: string): Iterable<string> {
  yield 'fund,period_end,period_type,ter_pct,ter_excl_levies_pct,government_levies_pct,management_fee_pct,selling_marketing_pct,trustee_fee_pct,limit_pct';
  for (const each of funds) {
    const draw = random(`costs of ${each.id}`);
    for (const day of quarters('2023-03-31', lastDay)) {
      if (day > (each.lastDay ?? lastDay)) break;
      const ter = each.ter * (0.97 + 0.06 * draw());
      const parts = [1, 0.88, 0.12, 0.6, 0.15, 0.05].map((part) => (ter * part).toFixed(2));
      yield [each.id, day, 'ytd', ...parts, each.share === undefined ? '2.50' : '4.50'].join(',');
    }
  }
}

const shares = [
  'Textiles',
  'Cement',
  'Banks',
  'Power',
  'Chemicals',
  'Food',
  'Oil',
  'Paper',
  'Glass',
  'Steel',
  'Cars',
  'Ships',
];

const portfolioHeader =
  'fund,as_of,section,rank,name,type,sector,rating,quantity,market_value,pct_net_assets,maturity_date,weighted_avg_maturity_days,cash_pct,disclosure_scope';

function* portfolioRows(lastDay: string) {
  for (const each of funds.filter((one) => one.lastDay === undefined)) {
    const draw = random(`holdings of ${each.id}`);
    const inShares = (each.share ?? 0) > 0.8 ? 12 : (each.share ?? 0) > 0 ? 6 : 0;
    for (const day of quarters(firstPortfolio, lastDay)) {
      const line = { fund: each.id, as_of: day, section: 'holding' };
      let left = 97 - 3 * draw();
      const cash = 100 - left;
      for (let rank = 1; rank <= 12; rank += 1) {
        const pct = rank === 12 ? left : (left / (13 - rank)) * (1.2 + 0.3 * draw());
        left -= pct;
        const share = shares[rank - 1];
        const maturity_date = addDays(day, 14 * rank);
        const holding =
          rank <= inShares
            ? { name: `Demo ${share}`, type: 'equity', sector: share }
            : {
                name: `Treasury bill ${rank}`,
                type: 'tbill',
                sector: 'Government',
                rating: 'AAA',
                maturity_date,
              };
        yield { ...line, rank, ...holding, quantity: ((pct * 400_000) / 50).toFixed(0), ...worth(pct) };
      }
      yield { ...line, rank: 13, name: 'Cash at banks', type: 'cash', rating: 'AA', ...worth(cash) };
      const weighted_avg_maturity_days = inShares === 12 ? '' : 91;
      const whole = { weighted_avg_maturity_days, cash_pct: cash.toFixed(4), disclosure_scope: 'full' };
      yield { ...line, section: 'summary', rank: 1, ...whole };
    }
  }
}

function worth(pct: number) {
  return { market_value: (pct * 400_000).toFixed(2), pct_net_assets: pct.toFixed(4) };
}

/** Whether the next working day is in another month. */
function isLastWorkingDay(day: string): boolean {
  let next = addDays(day, 1);
  while (isWeekend(next)) next = addDays(next, 1);
  return next.slice(0, 7) !== day.slice(0, 7);
}
