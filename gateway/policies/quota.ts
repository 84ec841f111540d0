// Enforces the quota: charges the call to its account's month before it is forwarded; 402 when the month is exhausted.
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { utcDate, type Clock } from '../../kernel/clock.ts';
import { fail } from '../../kernel/errors.ts';
import type { Plan } from '../../kernel/plans.ts';
import { addLimit, callOf, callerOf, enterStage, whenClosed, type Call } from '../call.ts';
import type { FileCharges, Range } from '../heartbeat/file-charges.ts';
import { chargeCall, isServed, type Month, type Take } from '../heartbeat/month-quota.ts';
import type { Policy } from '../policy.ts';
import { counted, nounOf } from '../../kernel/text/counted.ts';

export const quotaAction = z.strictObject({
  /** What is charged once: a call (the default), or a file, for all ranges that a key reads on a day (UTC). */
  by: z.enum(['call', 'file']).default('call'),
});

export interface QuotaOptions {
  month: Month;
  fileCharges: FileCharges;
  clock: Clock;
}

const seriesMax = 1_000; // per list; data-api refuses longer lists

export function quota(
  { month, fileCharges, clock }: QuotaOptions,
  { by }: z.output<typeof quotaAction>,
): Policy {
  if (by === 'file') return fileQuota(fileCharges, clock);
  return (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'quota');
    const { accountId, plan } = callerOf(call);
    const take = month.take(accountId, callsOf(call, plan));
    if (take instanceof Promise) return take.then((later) => taken(call, response, later, next));
    return taken(call, response, take, next);
  };
}

function fileQuota(fileCharges: FileCharges, clock: Clock): Policy {
  return async (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'quota');
    const { accountId, keyId } = callerOf(call);
    if (keyId === null) throw new Error('Files are charged by key, and this pipeline accepts sessions.');
    const day = utcDate(clock.now());
    const begun = await fileCharges.begin({ accountId, keyId, day, file: call.path });
    if ('end' in begun) readRange(call, response, begun, next);
    else taken(call, response, begun, next);
  };
}

function readRange(call: Call, response: ServerResponse, range: Range, next: () => void): void {
  const { take, mayPay } = range;
  call.range = range;
  call.chargedMonth = take.month;
  if (mayPay && take.charge !== null) call.charge = take.charge;
  whenClosed(call, response, () => range.end(isServed(response)));
  addQuotaHeaders(call, take);
  next();
}

/** @throws Failure quota_exceeded if the month has too few calls. */
function taken(call: Call, response: ServerResponse, take: Take, next: () => void): void {
  chargeCall(call, response, take);
  addQuotaHeaders(call, take);
  if (take.charge === null) refuse(take);
  next();
}

/** A list of series counts as one call per series, or per the number of series that the plan sets. */
export function callsOf(
  { path, query, body }: Pick<Call, 'path' | 'query' | 'body'>,
  { series_per_call: perCall }: Pick<Plan, 'series_per_call'>,
): number {
  return Math.ceil(Math.min(seriesMax, seriesOf(path, query, body?.fields)) / perCall);
}

/** The number of requested series, at least 1. */
function seriesOf(path: string, query: string, fields: unknown): number {
  const name = path === '/v1/series' ? 'ids' : path === '/graph/fredgraph.csv' ? 'id' : null;
  if (name !== null) return new URLSearchParams(query).get(name)?.split(',').length ?? 1;
  if (path !== '/v1/series/query') return 1;
  const ids = typeof fields === 'object' && fields !== null && 'ids' in fields ? fields.ids : undefined;
  return Array.isArray(ids) ? Math.max(1, ids.length) : 1; // anything else is refused later
}

function addQuotaHeaders(call: Call, take: Take): void {
  const { month, limit } = take;
  call.head.push('x-quota-reset', month.resetsAt, 'x-quota-limit', String(limit ?? 'unlimited'));
  if (limit === null || take.used === null) return;
  const remaining = Math.max(0, limit - take.used);
  call.head.push('x-quota-remaining', String(remaining));
  addLimit(
    call,
    `"month";q=${limit};w=${month.monthSeconds}`,
    `"month";r=${remaining};t=${take.resetSeconds}`,
  );
}

function refuse(take: Take): never {
  const remaining = Math.max(0, (take.limit ?? 0) - (take.used ?? 0));
  const used =
    remaining === 0
      ? `The monthly quota of ${counted(take.limit ?? 0, 'call')} is used up.`
      : `This request counts as ${counted(take.calls, 'call')}, and ${remaining} of this month's ${take.limit} ${nounOf(remaining, 'is', 'are')} left.`;
  fail(
    'quota_exceeded',
    `${used} The quota resets at ${take.month.resetsAt}. For more calls, choose a higher plan: GET /v1/plans.`,
    { headers: { 'retry-after': String(take.resetSeconds) } },
  );
}
