// What the account has used: this month against its limit, and the history by day or month.
import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { nextUtcMonth, utcDate, utcMonth } from '../../kernel/clock.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { oneOfParam, parseQuery, periodParam } from '../../kernel/http/params.ts';
import { addDays, addMonths } from '../../kernel/dates.ts';
import { planOf } from '../../kernel/plans.ts';
import { findAccount } from '../account/account.ts';
import { requesterOf } from '../requester.ts';
import type { Deps } from '../database.ts';
import { sendList, sendOne } from '../envelope.ts';
import { noParameters } from '../fields.ts';
import type { Account } from '../models/account.ts';
import {
  groups,
  intervals,
  selectHistory,
  selectUsageByEndpoint,
  selectUsageByKey,
  selectUsed,
  type Sums,
} from './usage.sql.ts';

const historyParams = z.object({
  from: periodParam.optional(),
  to: periodParam.optional(),
  interval: oneOfParam(intervals).default('day'),
  by: oneOfParam(groups).optional(),
  format: oneOfParam(['json', 'csv']).default('json'),
});

// Bounds the answer, which is not paged: a year of days, ten years of months.
const rangeMonthsMax = { day: 12, month: 120 };
const defaultDays = 30;

/** GET /v1/usage */
export function readUsage(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId } = requesterOf(call);
    parseQuery(noParameters, request.url);
    const account = await call.stage('sql', () => findAccount(deps, accountId));
    sendOne(response, 200, await call.stage('sql', () => monthUsage(deps, account)));
  };
}

/** GET /v1/usage/history */
export function listUsageHistory(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId } = requesterOf(call);
    const query = parseQuery(historyParams, request.url);
    const today = utcDate(deps.clock.now());
    const to = query.to?.to ?? today;
    const from = query.from?.from ?? addDays(to, 1 - defaultDays);
    const monthsMax = rangeMonthsMax[query.interval];
    if (from > to) fail('invalid_parameter', '"from" must not be after "to".', { param: 'from' });
    if (addMonths(from, monthsMax) < to) {
      const most = `at most ${monthsMax} months for interval=${query.interval}`;
      fail('invalid_parameter', `"from" is too early: the range may span ${most}.`, { param: 'from' });
    }
    const wish = { from, to, interval: query.interval, by: query.by };
    const rows = await call.stage('sql', () => selectHistory(deps.db, accountId, wish));
    if (query.format === 'json') return sendList(response, rows, null);
    const group = query.by === undefined ? [] : [query.by === 'key' ? 'key_id' : query.by];
    const columns = ['date', ...group, 'calls', 'billed'];
    response
      .set('cache-control', 'no-store')
      .set('content-disposition', `attachment; filename="usage-${from}-${to}.csv"`)
      .type('text/csv')
      .send(stringify(rows, { header: true, columns, escape_formulas: true, record_delimiter: 'windows' }));
  };
}

/** The use of the current calendar month (UTC), as the holder and the operator see it. */
export interface MonthUsage {
  /** `YYYY-MM-01` */
  month: string;
  plan: string;
  /** Calls charged, those under way included. */
  used: number;
  /** Calls a month; null for unlimited. */
  limit: number | null;
  remaining: number | null;
  /** ISO instant. */
  resets_at: string;
  /** From the ledger, which follows `used` within a second. */
  by_key: ({ key_id: string; name: string | null; masked: string | null } & Sums)[];
  by_endpoint: ({ endpoint: string } & Sums)[];
}

/** Sums up the month of an account. */
export async function monthUsage(deps: Deps, account: Account): Promise<MonthUsage> {
  const now = deps.clock.now();
  const month = utcMonth(now);
  const plan = planOf(deps.plans, account.plan);
  const [byKey, byEndpoint] = await Promise.all([
    selectUsageByKey(deps.db, account.id, month),
    selectUsageByEndpoint(deps.db, account.id, month),
  ]);
  // Read last: what the failed calls of the ledger held has been handed back in it.
  const used = await selectUsed(deps.db, account.id, month);
  return {
    month,
    plan: plan.id,
    used,
    limit: plan.calls_month,
    remaining: plan.calls_month === null ? null : Math.max(0, plan.calls_month - used),
    resets_at: nextUtcMonth(now).toISOString(),
    by_key: byKey,
    by_endpoint: byEndpoint,
  };
}
