// The usage of an account: this month against its limit, and the history by day or month.
import { z } from 'zod';
import { instantText, nextUtcMonth, utcDate, utcMonth } from '../../kernel/clock.ts';
import { addDays, addMonths, withinCalendar } from '../../kernel/dates.ts';
import { refuseParam } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { oneOfParam, windowOf, windowParams } from '../../kernel/http/params.ts';
import { planOf } from '../../kernel/plans.ts';
import { findAccount } from '../models/find-account.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import type { Account } from '../models/account.ts';
import {
  groups,
  intervals,
  selectHistory,
  selectUsageByEndpoint,
  selectUsageByKey,
  selectUsed,
  type Group,
} from './usage.sql.ts';
import { memberOf } from '../../kernel/entries.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';

const sums = {
  calls: z.int().describe('Calls answered.'),
  billed: z.int().describe('The calls that count against the month.'),
};

/** The usage of the current calendar month (UTC), as the holder and the operator see it. */
export const monthSchema = z.object({
  month: z.iso.date().describe('The first day of the month (UTC).'),
  plan: z.string().describe('An id of `/v1/plans`.'),
  used: z.int().describe('Calls charged, including those in flight.'),
  limit: z.int().nullable().describe('Calls per month; null: unlimited.'),
  remaining: z.int().nullable(),
  resets_at: z.iso.datetime(),
  by_key: z
    .array(
      z.object({ key_id: z.string(), name: z.string().nullable(), masked: z.string().nullable(), ...sums }),
    )
    .describe('Settled calls, which follow `used` within a second.'),
  by_endpoint: z.array(z.object({ endpoint: z.string(), ...sums })),
});
export type MonthUsage = z.output<typeof monthSchema>;

export const readUsage = endpoint({
  summary: 'The usage of the account this month, against its limit.',
  requester: 'account',
  answers: { 200: monthSchema },
  handler: async (deps, { requester, call }) => {
    const account = await call.stage('sql', () => findAccount(deps, requester.accountId));
    return one(await call.stage('sql', () => monthUsage(deps, account)));
  },
});

/** `by` → the field that it adds to each row. */
const groupFields = { key: 'key_id', endpoint: 'endpoint', status: 'status' } as const satisfies Record<
  Group,
  string
>;
const historySchema = z.object({
  date: z.iso.date().describe('The day, or the last day of the month.'),
  key_id: z.string().optional().describe('With `by=key`.'),
  endpoint: z.string().optional().describe('With `by=endpoint`: a group of endpoints.'),
  status: z.string().optional().describe('With `by=status`: `2xx` and so on.'),
  ...sums,
});
const historyFields = historySchema.keyof().options;

// Limits the answer, which is read into memory: a year of days, ten years of months.
const rangeMonthsMax = { day: 12, month: 120 };
const defaultDays = 30;

const historyQuery = {
  ...windowParams,
  interval: oneOfParam(intervals).default('day').describe('The period of a row.'),
  by: oneOfParam(groups).optional().describe('Groups the sums by this as well.'),
  ...listParams({ fields: historyFields, sorts: ['date'], sort: 'date' }),
};
type HistoryQuery = z.output<z.ZodObject<typeof historyQuery>>;

export const listUsageHistory = endpoint({
  summary: 'Calls by day or month; days without calls are left out.',
  requester: 'account',
  query: historyQuery,
  rows: historySchema,
  handler: async (deps, { requester: { accountId }, query, call }) => {
    const { interval, by, sort } = query;
    const { from, to } = rangeOf(query, utcDate(deps.clock.now()));
    const fields = shownFields(query);
    const group = by === undefined ? null : groupFields[by];
    const rows = await call.stage('sql', () => selectHistory(deps.db, accountId, { from, to, interval, by }));
    return page(deps.cursors, {
      query: { ...query, fields },
      of: ['usage', accountId, query.from, query.to, interval, by],
      read: inMemory(rows, sort, (row) =>
        group === null ? [row.date] : [row.date, memberOf<string | number>(row, group)],
      ),
      fileName: `usage-${from}-${to}`,
    });
  },
});

/** The requested range, by default the most recent one. @throws Failure `invalid_parameter` if it is too long or begins in the future. */
function rangeOf(query: HistoryQuery, today: string): { from: string; to: string } {
  if (query.to === undefined && query.from !== undefined && query.from.from > today)
    refuseParam('from', `"from" must not be in the future; today is ${today}.`);
  const { from: asked, to = today } = windowOf({ ...query, to: query.to ?? { from: today, to: today } });
  const from = asked ?? withinCalendar(addDays(to, 1 - defaultDays));
  const monthsMax = rangeMonthsMax[query.interval];
  if (withinCalendar(addMonths(from, monthsMax)) < to) {
    const most = `at most ${monthsMax} months with interval=${query.interval}`;
    refuseParam('from', `"from" is too early: the range may span ${most}.`);
  }
  return { from, to };
}

/** The requested fields of a row. @throws Failure `invalid_parameter` for a field that the grouping does not have. */
function shownFields({ by, fields }: HistoryQuery): readonly string[] {
  const absent = groups.filter((group) => group !== by && fields.includes(groupFields[group]));
  const [first] = absent;
  if (first !== undefined && fields.length < historyFields.length)
    refuseParam('fields', `"fields": ${groupFields[first]} needs by=${first}.`);
  return fields.filter((field) => !absent.some((group) => groupFields[group] === field));
}

/** The usage of an account's month. */
export async function monthUsage(deps: Deps, account: Account): Promise<MonthUsage> {
  const now = deps.clock.now();
  const month = utcMonth(now);
  const plan = planOf(deps.plans, account.plan);
  const [byKey, byEndpoint] = await Promise.all([
    selectUsageByKey(deps.db, account.id, month),
    selectUsageByEndpoint(deps.db, account.id, month),
  ]);
  // Read last, so that it includes everything in the ledger.
  const used = await selectUsed(deps.db, account.id, month);
  return {
    month,
    plan: plan.id,
    used,
    limit: plan.calls_month,
    remaining: plan.calls_month === null ? null : Math.max(0, plan.calls_month - used),
    resets_at: instantText(nextUtcMonth(now)),
    by_key: byKey,
    by_endpoint: byEndpoint,
  };
}
