// Enforces the quota: charges the call to the month of its account before it is forwarded; 402 when the month is used up.
import type { ServerResponse } from 'node:http';
import { fail } from '../../kernel/errors.ts';
import { addLimit, callOf, callerOf, enterStage, type Call } from '../call.ts';
import type { CalendarMonth } from '../heartbeat/calendar-month.ts';
import { chargeCall, type Month, type Take } from '../heartbeat/month.ts';
import type { Policy } from '../policy.ts';

export interface QuotaOptions {
  month: Month;
}

const seriesMax = 100; // per list; data-api refuses longer ones, so no more is ever served

export function quota({ month }: QuotaOptions): Policy {
  return (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'quota');
    const { accountId } = callerOf(call);
    const take = month.take(accountId, callsOf(call.path, call.query));
    if (take instanceof Promise) return takenLater(call, response, take, next);
    taken(call, response, take);
    return next();
  };
}

/** Apart from the policy, so that a call that need not wait makes no function for it. */
async function takenLater(
  call: Call,
  response: ServerResponse,
  waiting: Promise<Take>,
  next: () => void,
): Promise<void> {
  taken(call, response, await waiting);
  next();
}

function taken(call: Call, response: ServerResponse, take: Take): void {
  chargeCall(call, response, take);
  addQuotaHeaders(call, take);
  if (take.charge === null) refuse(take);
}

/** A list of series counts as one call per series. */
export function callsOf(path: string, query: string): number {
  const name = path === '/v1/series' ? 'ids' : path === '/graph/fredgraph.csv' ? 'id' : null;
  if (name === null) return 1;
  const ids = new URLSearchParams(query).get(name);
  return ids === null ? 1 : Math.min(seriesMax, ids.split(',').length);
}

/** What headers say of a limit besides what remains: the same for all accounts of a plan, and for a month. */
interface LimitHeaders {
  month: CalendarMonth;
  head: readonly string[];
  policy: string;
}

const limitHeaders = new Map<number | null, LimitHeaders>(); // by limit
const limitsMax = 1_000;

function limitHeadersOf({ month, limit }: Take): LimitHeaders {
  const known = limitHeaders.get(limit);
  if (known?.month === month) return known;
  const head = ['x-quota-reset', month.resetsAt, 'x-quota-limit', String(limit ?? 'unlimited')];
  const made = { month, head, policy: `"month";q=${limit};w=${month.monthSeconds}` };
  if (limitHeaders.size >= limitsMax) limitHeaders.clear();
  limitHeaders.set(limit, made);
  return made;
}

function addQuotaHeaders(call: Call, take: Take): void {
  const { head, policy } = limitHeadersOf(take);
  call.head.push(...head);
  if (take.limit === null || take.used === null) return;
  const remaining = Math.max(0, take.limit - take.used);
  call.head.push('x-quota-remaining', String(remaining));
  addLimit(call, policy, `"month";r=${remaining};t=${take.resetSeconds}`);
}

function refuse(take: Take): never {
  const remaining = Math.max(0, (take.limit ?? 0) - (take.used ?? 0));
  const used =
    remaining === 0
      ? `The monthly quota of ${take.limit} calls is used up.`
      : `This request counts as ${take.calls} calls, and ${remaining} of this month's ${take.limit} are left.`;
  fail(
    'quota_exceeded',
    `${used} The quota resets at ${take.month.resetsAt}. For more calls, choose a higher plan: GET /v1/plans.`,
    { headers: { 'retry-after': String(take.resetSeconds) } },
  );
}
