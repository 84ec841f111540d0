// GET /v1/funds/{id}/returns and /analytics: what a fund earned and risked, worked out from its whole history.
// Hides nothing: each handler reads from the parameters to the answer; the formulas are domain/funds, in docs/funds.md.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import { adjustNavs, navOnOrBefore, type AdjustedNav } from '../../domain/funds/adjusted-nav.ts';
import { analyticsFrequencies, analyticsWindows, fundAnalytics } from '../../domain/funds/analytics.ts';
import {
  periodReturns,
  returnBases,
  returnPct,
  shortBasisOf,
  sipReturn,
  type PeriodReturn,
} from '../../domain/funds/returns.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { booleanParam, dateParam, oneOfParam, parseQuery } from '../../kernel/http/params.ts';
import { addMonths } from '../../kernel/dates.ts';
import type { Dependencies } from '../dependencies.ts';
import { digits } from '../../kernel/digits.ts';
import { readCategoryPlaces } from './fund-performance.sql.ts';
import { readLevels, readNavHistory, readPayouts, type SeriesLevels } from './fund-records.sql.ts';
import { requireFund } from './funds.ts';
import type { Fund } from './funds.sql.ts';
import { sendRecord } from '../list.ts';
import { findDataState } from '../list.sql.ts';

const datasets = ['funds', 'nav', 'payouts', 'series', 'observations'];
const returnsMethod = 'adjusted NAV: payouts reinvested on the ex-date, no loads, no tax';
const sipYears = [1, 3, 5, 10];

const returnsQuery = z.object({
  as_of: dateParam.optional(),
  basis: oneOfParam(['auto', ...returnBases]).default('auto'),
  benchmark: booleanParam.default(true),
  format: oneOfParam(['json', 'csv']).default('json'),
});

const returnColumns = [
  'period',
  'from',
  'to',
  'nav_from',
  'nav_to',
  'days',
  'value_pct',
  'basis',
  'benchmark_pct',
  'category_avg_pct',
  'rank',
  'rank_of',
  'method',
];

/** GET /v1/funds/{id}/returns. The category is told of the newest state only, as that is kept for every fund. */
export function getFundReturns({ database }: Dependencies): Handler {
  return async function getFundReturns(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(returnsQuery, request.url));
    const fund = await call.stage('lookup', () => requireFund(database, request.params['id']));
    const asOf = asked.as_of ?? fund.lastNavDate ?? '0001-01-01';
    const isNewest = asked.basis === 'auto' && asOf === fund.lastNavDate;
    const { state, navs, benchmark, places } = await call.stage('sql', async () => ({
      state: await findDataState(database, datasets),
      navs: await readAdjusted(database, fund, asOf),
      benchmark: asked.benchmark ? await readBenchmark(database, fund.benchmarkSeries, 'benchmark') : null,
      places: isNewest ? await readCategoryPlaces(database, fund.fundNo) : [],
    }));
    const periods = await call.stage('compute', () =>
      periodReturns(navs, {
        asOf,
        basis: asked.basis,
        shortBasis: shortBasisOf(fund.assetClass),
        inception: fund.launchDate,
      }).map((record) => {
        const place = places.find(({ period }) => period === record.period);
        return {
          ...record,
          nav_from: digits(record.nav_from),
          nav_to: digits(record.nav_to),
          benchmark_pct: benchmark === null ? null : benchmarkPct(benchmark.levels, record),
          category_avg_pct: place?.averagePct ?? null,
          rank: place?.rank ?? null,
          rank_of: place?.rankOf ?? null,
          method: returnsMethod,
        };
      }),
    );
    const data = {
      ...factsOf(fund, asOf),
      basis: asked.basis,
      benchmark: benchmark?.seriesId ?? null,
      periods,
      sip: sipYears.map((years) => sipOver(navs, asOf, years)),
    };
    const csv = { name: `${fund.id}-returns`, rows: periods, columns: returnColumns };
    await sendRecord(request, response, asked.format === 'csv' ? { data, state, csv } : { data, state });
  };
}

const analyticsQuery = z.object({
  window: oneOfParam(analyticsWindows).default('1y'),
  frequency: oneOfParam(analyticsFrequencies).default('daily'),
  as_of: dateParam.optional(),
  risk_free: z.string().optional(),
  benchmark: z.string().optional(),
});

/** GET /v1/funds/{id}/analytics. */
export function getFundAnalytics({ database }: Dependencies): Handler {
  return async function getFundAnalytics(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(analyticsQuery, request.url));
    const fund = await call.stage('lookup', () => requireFund(database, request.params['id']));
    const asOf = asked.as_of ?? fund.lastNavDate ?? '0001-01-01';
    const { state, navs, riskFree, benchmark } = await call.stage('sql', async () => ({
      state: await findDataState(database, datasets),
      navs: await readAdjusted(database, fund, asOf),
      riskFree: await requireLevels(database, asked.risk_free ?? null, 'risk_free'),
      benchmark: await readBenchmark(database, asked.benchmark ?? fund.benchmarkSeries, 'benchmark'),
    }));
    const figures = await call.stage('compute', () =>
      fundAnalytics(navs, {
        window: asked.window,
        frequency: asked.frequency,
        asOf,
        inception: fund.launchDate,
        riskFree: riskFree?.points.map(({ date, value }) => ({ date, rate_pct: value })) ?? null,
        benchmark: benchmark?.levels ?? null,
      }),
    );
    const data = {
      ...factsOf(fund, asOf),
      ...figures,
      risk_free: riskFree?.seriesId ?? null,
      benchmark: benchmark?.seriesId ?? null,
    };
    await sendRecord(request, response, { data, state });
  };
}

function factsOf(fund: Fund, asOf: string) {
  const { id, name, category, currency, source, lastNavDate, lastUpdated } = fund;
  return {
    fund: id,
    name,
    category,
    currency,
    as_of: lastNavDate === null ? null : asOf,
    source,
    last_updated: lastUpdated,
  };
}

async function readAdjusted(database: Queryable, { fundNo }: Fund, asOf: string): Promise<AdjustedNav[]> {
  return adjustNavs(await readNavHistory(database, fundNo, asOf), await readPayouts(database, fundNo));
}

interface Benchmark {
  seriesId: string;
  levels: readonly AdjustedNav[];
}

async function readBenchmark(
  database: Queryable,
  seriesId: string | null,
  param: string,
): Promise<Benchmark | null> {
  const found = await requireLevels(database, seriesId, param);
  if (found === null) return null;
  const levels = adjustNavs(
    found.points.map(({ date, value }) => ({ date, nav: value })),
    [],
  );
  return { seriesId: found.seriesId, levels };
}

/** @throws Failure `invalid_parameter` where there is no such series. */
async function requireLevels(
  database: Queryable,
  seriesId: string | null,
  param: string,
): Promise<SeriesLevels | null> {
  if (seriesId === null) return null;
  const found = await readLevels(database, seriesId);
  return found ?? fail('invalid_parameter', `"${param}" must be the id of a series that exists.`, { param });
}

/** What the benchmark did between the same days, on the same basis. */
function benchmarkPct(
  levels: readonly AdjustedNav[],
  { from, to, days, basis }: PeriodReturn,
): number | null {
  if (from === null || to === null || days === null) return null;
  const [start, end] = [navOnOrBefore(levels, from), navOnOrBefore(levels, to)];
  return start === null || end === null ? null : returnPct(end.adjusted / start.adjusted, days, basis);
}

/** A hundred a month for so many years, the first one that long before the end. */
function sipOver(navs: readonly AdjustedNav[], asOf: string, years: number) {
  const end = navOnOrBefore(navs, asOf)?.date ?? asOf;
  const months = 12 * years;
  const instalmentDates = Array.from({ length: months }, (_, i) => addMonths(end, i - months));
  return {
    period: `${years}y`,
    ...sipReturn(navs, { instalmentDates, instalment: 100, asOf }),
    method: returnsMethod,
  };
}
