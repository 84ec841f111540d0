// GET /v1/funds/{id}/portfolio: the holdings of a fund on a day.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { disclosureScopes } from '../../domain/funds/enums.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { formatParam, oneOf, type Row } from '../../kernel/http/list.ts';
import { dateParam, oneOfParam } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
import { digits } from '../../kernel/digits.ts';
import {
  findPortfolioDays,
  readBreakdown,
  readPortfolio,
  readTopTen,
  type PortfolioLine,
} from './fund-portfolio.sql.ts';
import { fundParam, requireFund } from './funds.ts';
import { recordReply, requireSameState } from '../list.ts';
import { findDataState } from '../list.sql.ts';

const datasets = ['portfolio', 'funds'];
const sections = ['asset_allocation', 'credit_quality', 'sectors', 'holdings'] as const;
type Section = (typeof sections)[number];

const number = z.number().nullable();
const text = z.string().nullable();

const lineSchemas = {
  asset_allocation: z.object({
    asset_class: z.string(),
    pct: number,
    prev_pct: number.describe('The share in the previous portfolio.'),
  }),
  credit_quality: z.object({ rating: z.string(), pct: number }),
  sectors: z.object({ sector: z.string(), pct: number }),
  holdings: z.object({
    rank: z.int(),
    name: text,
    isin: text,
    code: text,
    type: text,
    sector: text,
    rating: text,
    quantity: number,
    market_value: number,
    pct_net_assets: number,
    pct_total_assets: number,
    coupon_pct: number,
    ytm_pct: number,
    maturity_date: z.iso.date().nullable(),
  }),
};

const columnsOf = (section: Section) => Object.keys(lineSchemas[section].shape);

/** The figures of the whole. */
const figuresShape = {
  weighted_avg_maturity_days: number,
  modified_duration: number,
  portfolio_ytm_pct: number,
  cash_pct: number,
  leverage_pct: number,
};

const portfolioSchema = z.object({
  fund: z.string().describe('The id of the fund.'),
  name: z.string(),
  currency: z.string(),
  as_of: z.iso.date(),
  asset_allocation: z.array(lineSchemas.asset_allocation).nullable(),
  credit_quality: z.array(lineSchemas.credit_quality).nullable(),
  sectors: z.array(lineSchemas.sectors).nullable(),
  holdings: z.array(lineSchemas.holdings).nullable(),
  ...figuresShape,
  disclosure_scope: z.enum(disclosureScopes).nullable(),
  top10_pct: number,
  source: z.string(),
  last_updated: z.iso.date().nullable(),
});

export const getFundPortfolio = endpoint({
  summary: 'The portfolio of a fund on a date.',
  params: fundParam,
  query: {
    date: dateParam.optional().describe('Selects the newest portfolio on or before this date.'),
    section: oneOfParam(sections)
      .optional()
      .describe(
        'Returns only this section; the others are null. CSV has one section, by default the holdings.',
      ),
    format: formatParam,
  },
  json: oneOf(portfolioSchema),
  errors: ['not_found'],
  handler: async ({ database }, { query: { date, section, format }, params, call }) => {
    const state = await call.stage('lookup', () => findDataState(database, datasets));
    const { fundNo, ...fund } = await call.stage('lookup', () => requireFund(database, params));
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
    await call.stage('lookup', () => requireSameState(database, datasets, state));
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
    const rows = lists[shown].map((line) => ({ fund_id: fund.id, ...line }));
    const csv = { fileName: `${fund.id}-${shown}`, rows, columns: ['fund_id', ...columnsOf(shown)] };
    return recordReply({ data, state, csv: format === 'csv' ? csv : undefined });
  },
});

/** Reads the portfolio of a day; `before` is the date of the previous one, for comparison. */
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
    columnsOf('holdings').map((name) => [
      name,
      textColumns.includes(name) ? memberOf(line, name) : digits(memberOf(line, name) as string | null),
    ]),
  );
}

function summaryOf(lines: readonly PortfolioLine[]): Row {
  const summary = lines.find((line) => line.section === 'summary');
  const fact = (name: string) => (summary === undefined ? null : memberOf(summary, name));
  const figures = Object.keys(figuresShape).map((name) => [name, digits(fact(name) as string | null)]);
  return { ...Object.fromEntries(figures), disclosure_scope: fact('disclosure_scope') };
}
