// Enforces the quota: charges the call to the month of its account before it is forwarded; 402 when the month is used up.
import type { ServerResponse } from 'node:http';
import { fail } from '../../kernel/errors.ts';
import { addLimit, callOf, callerOf, enterStage, type Call } from '../call.ts';
import type { Month, Take } from '../quota/month.ts';
import type { Policy } from '../policy.ts';

export interface QuotaOptions {
  month: Pick<Month, 'take' | 'charge'>;
}

const seriesMax = 100; // per list; data-api refuses longer ones, so no more is ever served

export function quota({ month }: QuotaOptions): Policy {
  return (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'quota');
    if (call.admission?.month === undefined) return takeNow(call, response, next);
    decide(call, call.admission.month);
    return next();
  };

  async function takeNow(call: Call, response: ServerResponse, next: () => void): Promise<void> {
    const { accountId, plan } = callerOf(call);
    const take = await month.take(accountId, callsOf(call.path, call.query), plan.calls_month);
    month.charge(call, response, take);
    decide(call, take);
    next();
  }

  function decide(call: Call, take: Take): void {
    tellQuota(call, take);
    if (!take.granted) refuse(take);
  }
}

/** A list of series counts as one call per series. */
export function callsOf(path: string, query: string): number {
  if (path !== '/v1/series') return 1;
  const ids = new URLSearchParams(query).get('ids');
  return ids === null ? 1 : Math.min(seriesMax, ids.split(',').length);
}

/** What headers say of a limit besides what remains: the same for all accounts of a plan, and for a month. */
interface Told {
  resetsAt: string;
  head: readonly string[];
  policy: string;
}

const told = new Map<number | null, Told>(); // by limit
const toldMax = 1_000;

function toldOf({ resetsAt, limit, monthSeconds }: Take): Told {
  const known = told.get(limit);
  if (known?.resetsAt === resetsAt) return known;
  const head = ['x-quota-reset', resetsAt, 'x-quota-limit', String(limit ?? 'unlimited')];
  const made = { resetsAt, head, policy: `"month";q=${limit};w=${monthSeconds}` };
  if (told.size >= toldMax) told.clear();
  told.set(limit, made);
  return made;
}

function tellQuota(call: Call, take: Take): void {
  const { head, policy } = toldOf(take);
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
    `${used} The quota resets at ${take.resetsAt}. For more calls, choose a higher plan: GET /v1/plans.`,
    { headers: { 'retry-after': String(take.resetSeconds) } },
  );
}
