// Enforces the quota: reserves the call in its account's month before it is forwarded; 402 if too few calls are left.
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { utcDate, type Clock } from '../../kernel/clock.ts';
import { fail } from '../../kernel/errors.ts';
import type { Plan } from '../../kernel/plans.ts';
import { addLimit, callOf, callerOf, enterStage, whenClosed, type Call } from '../call.ts';
import type { FileCharges, Range } from '../heartbeat/file-charges.ts';
import { chargeCall, type Month, type Reservation } from '../heartbeat/month-quota.ts';
import { isServed } from '../billed-calls.ts';
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
    const reservation = month.reserve(accountId, callsOf(call, plan));
    if (reservation instanceof Promise)
      return reservation.then((later) => chargeOrRefuse(call, response, later, next));
    return chargeOrRefuse(call, response, reservation, next);
  };
}

function fileQuota(fileCharges: FileCharges, clock: Clock): Policy {
  return async (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'quota');
    const { accountId, keyId } = callerOf(call);
    if (keyId === null) throw new Error('Files are charged by key, and this pipeline accepts sessions.');
    const day = utcDate(clock.now());
    const started = await fileCharges.begin({ accountId, keyId, day, file: call.path });
    if ('end' in started) readRange(call, response, started, next);
    else chargeOrRefuse(call, response, started, next);
  };
}

function readRange(call: Call, response: ServerResponse, range: Range, next: () => void): void {
  const { reservation, mayPay } = range;
  call.range = range;
  call.chargedMonth = reservation.month;
  if (mayPay && reservation.charge !== null) call.charge = reservation.charge;
  whenClosed(call, response, () => range.end(isServed(response)));
  addQuotaHeaders(call, reservation);
  next();
}

/** @throws Failure quota_exceeded if the month has too few calls. */
function chargeOrRefuse(
  call: Call,
  response: ServerResponse,
  reservation: Reservation,
  next: () => void,
): void {
  chargeCall(call, response, reservation);
  addQuotaHeaders(call, reservation);
  if (reservation.charge === null) refuse(reservation);
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

function addQuotaHeaders(call: Call, reservation: Reservation): void {
  const { month, limit } = reservation;
  call.head.push('x-quota-reset', month.resetsAt, 'x-quota-limit', String(limit ?? 'unlimited'));
  if (limit === null || reservation.used === null) return;
  const remaining = Math.max(0, limit - reservation.used);
  call.head.push('x-quota-remaining', String(remaining));
  addLimit(
    call,
    `"month";q=${limit};w=${month.monthSeconds}`,
    `"month";r=${remaining};t=${reservation.resetSeconds}`,
  );
}

function refuse(reservation: Reservation): never {
  const remaining = Math.max(0, (reservation.limit ?? 0) - (reservation.used ?? 0));
  const used =
    remaining === 0
      ? `The monthly quota of ${counted(reservation.limit ?? 0, 'call')} is used up.`
      : `This request counts as ${counted(reservation.calls, 'call')}, and ${remaining} of this month's ${reservation.limit} ${nounOf(remaining, 'is', 'are')} left.`;
  fail(
    'quota_exceeded',
    `${used} The quota resets at ${reservation.month.resetsAt}. For more calls, choose a higher plan: GET /v1/plans.`,
    { headers: { 'retry-after': String(reservation.resetSeconds) } },
  );
}
