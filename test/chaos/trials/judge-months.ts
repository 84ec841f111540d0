// Judges the served calls of accounts in the two months around a turn, call by call: against the limits active at the time, and the ledger.
import pg from 'pg';
import type { Seen } from '../calls.ts';
import type { InjectedFault } from '../faults.ts';
import { outcomeOf, lostSpans } from '../ledger.ts';
import type { LimitChange } from './tenants.ts';

export interface Turn {
  /** `performance.now()` when the month turns. */
  atMs: number;
  /** The first days of the two months. */
  months: readonly [before: string, after: string];
}

export interface Judged {
  wrong: string[];
  /** In each month: served for sure, served while it turned, billed. */
  served: [number, number];
  atTurn: number;
  billed: [number, number];
  refused: number;
  /** Refusals that nothing which had failed could excuse. */
  refusedWithoutFault: number;
}

/** A call in flight this close to the turn may count in either month. */
const marginMs = 5;
/** After a fault, calls that a gateway or Redis has lost are spendable again within this time. */
const recoversWithinMs = 125_000;

/** The calls of an account in each month by the ledger. */
type Ledger = ReadonlyMap<string, { billed: number; charged: number }>;

/** @param seen the results that the clients of the account saw. @param firstLimit until the first change. */
export function judgeMonths(
  accountId: string,
  seen: readonly Seen[],
  facts: {
    changes: readonly LimitChange[];
    firstLimit: number;
    turn: Turn;
    injectedFaults: readonly InjectedFault[];
    ledger: Ledger;
  },
): Judged {
  const { turn, injectedFaults, ledger } = facts;
  const judged: Judged = {
    wrong: [],
    served: [0, 0],
    atTurn: 0,
    billed: [0, 0],
    refused: 0,
    refusedWithoutFault: 0,
  };
  const spans = lostSpans(injectedFaults);
  const outcomes = seen.map((one) => ({ one, month: monthOf(one, turn), outcome: outcomeOf(one, spans) }));
  const count = (outcome: string, month: number | undefined) =>
    outcomes.filter((each) => each.outcome === outcome && each.month === month).length;
  const limits = limitsOf(facts);
  const atTurn = count('served', undefined) + count('unrecorded', undefined);
  judged.atTurn = atTurn;
  let [served, unrecorded, cutOff, billed] = [
    atTurn,
    count('unrecorded', undefined),
    count('cut off', undefined),
    0,
  ];
  for (const month of [0, 1] as const) {
    const own = outcomes.filter(
      (each) => each.month === month && (each.outcome === 'served' || each.outcome === 'unrecorded'),
    );
    const mayBeMissing = count('unrecorded', month);
    const mayBeBilled = count('cut off', month) + atTurn + count('cut off', undefined);
    const inLedger = ledger.get(turn.months[month]) ?? { billed: 0, charged: 0 };
    judged.served[month] = own.length;
    judged.billed[month] = inLedger.billed;
    const figures = `${turn.months[month]}: ${own.length} served and ${atTurn} at the turn, ${mayBeMissing} perhaps lost with a kill, ${mayBeBilled - atTurn} cut off by one, ${inLedger.billed} billed, ${inLedger.charged} charged`;
    if (inLedger.billed < own.length - mayBeMissing || inLedger.billed > own.length + mayBeBilled)
      judged.wrong.push(`${accountId} was billed in a wrong month or not once: ${figures}`);
    if (inLedger.charged < inLedger.billed)
      judged.wrong.push(`${accountId} was billed calls that its month was not charged with: ${figures}`);
    judged.wrong.push(
      ...overLimit(
        own.map(({ one }) => one),
        limits,
        { month, turn, tolerance: mayBeMissing },
      ).map((words) => `${accountId} in ${figures}: ${words}`),
    );
    served += own.length;
    unrecorded += mayBeMissing;
    cutOff += count('cut off', month);
    billed += inLedger.billed;
  }
  if (billed < served - unrecorded || billed > served + cutOff)
    judged.wrong.push(
      `${accountId} was served ${served} (${unrecorded} perhaps lost, ${cutOff} cut off) and billed ${billed}`,
    );
  for (const { one, month } of outcomes) {
    if (one.status !== 402) continue;
    judged.refused += 1;
    const isExcused = injectedFaults.some(
      ({ fromMs, restoredMs }) => fromMs <= one.endedAtMs && restoredMs + recoversWithinMs >= one.startedAtMs,
    );
    if (isExcused || month === undefined) continue;
    judged.refusedWithoutFault += 1;
    const usedAtMost = outcomes.filter(
      (each) =>
        each.one.status !== 402 && (each.month ?? month) === month && each.one.startedAtMs < one.endedAtMs,
    ).length;
    const least = Math.min(...limitsWithin(limits, one.startedAtMs, one.endedAtMs));
    if (usedAtMost < least)
      judged.wrong.push(`${accountId} was refused when at most ${usedAtMost} of ${least} calls were taken`);
  }
  return judged;
}

/** Undefined: it was in flight when the month turned. */
function monthOf({ startedAtMs, endedAtMs }: Seen, { atMs }: Turn): 0 | 1 | undefined {
  if (endedAtMs < atMs - marginMs) return 0;
  return startedAtMs > atMs + marginMs ? 1 : undefined;
}

/** From when to when a limit may have applied. Such spans overlap while a change is being made. */
interface LimitSpan {
  limit: number;
  fromMs: number;
  toMs: number;
}

function limitsOf({
  changes,
  firstLimit,
}: {
  changes: readonly LimitChange[];
  firstLimit: number;
}): LimitSpan[] {
  const limits: LimitSpan[] = [{ limit: firstLimit, fromMs: -Infinity, toMs: Infinity }];
  for (const { limit, startedAtMs, answeredAtMs } of changes) {
    const last = limits.at(-1);
    if (last !== undefined) last.toMs = answeredAtMs;
    limits.push({ limit, fromMs: startedAtMs, toMs: Infinity });
  }
  return limits;
}

function limitsWithin(limits: readonly LimitSpan[], fromMs: number, toMs: number): number[] {
  return limits.filter((each) => each.fromMs < toMs && each.toMs > fromMs).map(({ limit }) => limit);
}

/**
 * From each change to the next, the used calls of an account grow at most to the active limit. If they were above it, they do not grow. A call
 * was counted between its beginning and its end.
 * @param served the calls that were served in the month.
 */
function overLimit(
  served: readonly Seen[],
  limits: readonly LimitSpan[],
  { month, turn, tolerance }: { month: 0 | 1; turn: Turn; tolerance: number },
): string[] {
  const [startMs, endMs] = month === 0 ? [-Infinity, turn.atMs] : [turn.atMs, Infinity];
  const changes = limits.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  const within = changes.filter((atMs) => atMs > startMs && atMs < endMs).toSorted((a, b) => a - b);
  const instants = [startMs, ...within, endMs];
  const usedAtMostBy = (atMs: number) => served.filter(({ startedAtMs }) => startedAtMs < atMs).length;
  const usedAtLeastBy = (atMs: number) => served.filter(({ endedAtMs }) => endedAtMs < atMs).length;
  return instants.slice(1).flatMap((toMs, i) => {
    const fromMs = instants[i] ?? startMs;
    const [before, after] = [usedAtMostBy(fromMs), usedAtLeastBy(toMs)];
    const most = Math.max(before, ...limitsWithin(limits, fromMs, toMs));
    return after - tolerance > most ? [`${after} served, at most ${most}`] : [];
  });
}

/** By account, then by the first day of the month. */
export async function readLedger(databaseUrl: string): Promise<Map<string, Ledger>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ account_id: string; month: string; billed: number; charged: number }>(
    `select account_id, month::text as month, coalesce(sum(billed), 0)::int as billed, coalesce(sum(used), 0)::int as charged
     from (select account_id, month, 0 as billed, used from accounts.quota_months
           union all
           select account_id, date_trunc('month', day)::date, billed, 0 from accounts.usage_daily) as each
     group by account_id, month`,
  );
  await client.end();
  const ledger = new Map<string, Map<string, { billed: number; charged: number }>>();
  for (const { account_id, month, billed, charged } of rows) {
    const months = ledger.get(account_id) ?? new Map<string, { billed: number; charged: number }>();
    ledger.set(account_id, months.set(month, { billed, charged }));
  }
  return ledger;
}
