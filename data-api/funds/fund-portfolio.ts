// GET /v1/funds/{id}/portfolio: what a fund held on a day.
// Hides nothing: the handler reads from the parameters to the answer.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { dateParam, oneOfParam, parseQuery } from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { digits } from '../../kernel/digits.ts';
import {
  findPortfolioDays,
  readBreakdown,
  readPortfolio,
  readTopTen,
  type PortfolioLine,
} from './fund-portfolio.sql.ts';
import { requireFund } from './funds.ts';
import { sendRecord, type Row } from '../list.ts';
import { findDataState } from '../list.sql.ts';

const sections = ['asset_allocation', 'credit_quality', 'sectors', 'holdings'] as const;
type Section = (typeof sections)[number];

/** The columns of the sections as CSV. */
const columns: Readonly<Record<Section, readonly string[]>> = {
  asset_allocation: ['asset_class', 'pct', 'prev_pct'],
  credit_quality: ['rating', 'pct'],
  sectors: ['sector', 'pct'],
  holdings: [
    'rank',
    'name',
    'isin',
    'code',
    'type',
    'sector',
    'rating',
    'quantity',
    'market_value',
    'pct_net_assets',
    'pct_total_assets',
    'coupon_pct',
    'ytm_pct',
    'maturity_date',
  ],
};

const portfolioQuery = z.object({
  date: dateParam.optional(),
  section: oneOfParam(sections).optional(),
  format: oneOfParam(['json', 'csv']).default('json'),
});

/** GET /v1/funds/{id}/portfolio: the newest one on or before `date`. */
export function getFundPortfolio({ database }: Dependencies): Handler {
  return async function getFundPortfolio(request, response, call) {
    const { date, section, format } = await call.stage('parse', () =>
      parseQuery(portfolioQuery, request.url),
    );
    const { fundNo, ...fund } = await call.stage('lookup', () => requireFund(database, request.params['id']));
    const state = await call.stage('lookup', () => findDataState(database, ['portfolio', 'funds']));
    const [newest, before] = await call.stage('lookup', () =>
      findPortfolioDays(database, fundNo, date ?? '9999-12-31'),
    );
    if (newest === undefined) {
      const when = date === undefined ? '' : ` on or before ${date}`;
      fail('not_found', `There is no portfolio of the fund ${fund.id}${when}.`, { param: 'date' });
    }
    const { lists, summary, stamps } = await call.stage('sql', () =>
      readWhole(database, fundNo, newest.asOf, before?.asOf ?? null),
    );
    const shown = section ?? 'holdings';
    const isShown = (name: Section) => section === undefined || section === name;
    const data = {
      fund: fund.id,
      name: fund.name,
      currency: fund.currency,
      as_of: newest.asOf,
      ...Object.fromEntries(sections.map((name) => [name, isShown(name) ? lists[name] : null])),
      ...summary,
      source: stamps.source ?? fund.source,
      last_updated: stamps.lastUpdated,
    };
    const csv = { name: `${fund.id}-${shown}`, rows: lists[shown], columns: columns[shown] };
    await sendRecord(request, response, format === 'csv' ? { data, state, csv } : { data, state });
  };
}

/** All that is told of the portfolio of a day; `before` is the day of the one that it is compared with. */
async function readWhole(database: Queryable, fundNo: number, asOf: string, before: string | null) {
  const lines = await readPortfolio(database, fundNo, asOf);
  const breakdown = (day: string, section: 'asset_class' | 'rating' | 'sector') =>
    readBreakdown(database, fundNo, day, section);
  const previous = before === null ? [] : await breakdown(before, 'asset_class');
  const previousPct = (name: string) => previous.find((each) => each.name === name)?.pct ?? null;
  const lists: Record<Section, Row[]> = {
    asset_allocation: (await breakdown(asOf, 'asset_class')).map(({ name, pct }) => ({
      asset_class: name,
      pct: digits(pct),
      prev_pct: digits(previousPct(name)),
    })),
    credit_quality: (await breakdown(asOf, 'rating')).map(({ name, pct }) => ({
      rating: name,
      pct: digits(pct),
    })),
    sectors: (await breakdown(asOf, 'sector')).map(({ name, pct }) => ({ sector: name, pct: digits(pct) })),
    holdings: lines.filter((line) => line.section === 'holding').map(holdingOf),
  };
  const updates = lines.map((line) => line.last_updated).sort();
  return {
    lists,
    summary: { ...summaryOf(lines), top10_pct: digits(await readTopTen(database, fundNo, asOf)) },
    stamps: {
      source: lines.find((line) => line.source !== null)?.source ?? null,
      lastUpdated: updates.at(-1) ?? null,
    },
  };
}

const textColumns = ['name', 'isin', 'code', 'type', 'sector', 'rating', 'maturity_date', 'rank'];

function holdingOf(line: PortfolioLine): Row {
  return Object.fromEntries(
    columns.holdings.map((name) => [
      name,
      textColumns.includes(name) ? (line[name] ?? null) : digits(line[name] as string | null),
    ]),
  );
}

/** The figures of the whole. */
function summaryOf(lines: readonly PortfolioLine[]) {
  const summary = lines.find((line) => line.section === 'summary');
  const figure = (name: string) => digits((summary?.[name] ?? null) as string | null);
  return {
    weighted_avg_maturity_days: figure('weighted_avg_maturity_days'),
    modified_duration: figure('modified_duration'),
    portfolio_ytm_pct: figure('portfolio_ytm_pct'),
    cash_pct: figure('cash_pct'),
    leverage_pct: figure('leverage_pct'),
    disclosure_scope: summary?.['disclosure_scope'] ?? null,
  };
}
