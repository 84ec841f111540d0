// The rules of blocks and lives, as pure functions: how large a block an account gets, the effect of a report, when a change is active, when a life is
// closed. test/heartbeat explores all their states together with those of gateway/heartbeat/block-rules.ts. Other files lock and write the rows.
import { utcMonth } from '../../kernel/clock.ts';
import { closeAfterMs } from '../../kernel/heartbeat/times.ts';

/** The calls of an account's month: used, and granted but unused. */
export interface Month {
  readonly used: number;
  readonly out: number;
}

/** The calls of a month granted to a life, in total; those reported as served; those returned. */
export interface Block {
  readonly granted: number;
  readonly spent: number;
  readonly returned: number;
}

/** The calls that a life requests from a month. */
export interface Want {
  /** The total granted, as far as the gateway knows. */
  readonly has: number;
  /** Calls needed in addition. */
  readonly calls: number;
  /** How many to grant if possible, including `calls`. */
  readonly ahead: number;
}

/** A life, the last change that it has applied, and the end of its lease by PostgreSQL's clock. */
export interface Gateway {
  readonly seen: number;
  readonly leasedUntilMs: number;
}

// The assumed maximum difference between a gateway's clock and ours at the end of a month.
const clockSkewMs = 60_000;

/** The months whose calls are granted now: the current one and, around its ends, its neighbour. */
export function grantedMonths(now: Date): readonly string[] {
  return [-clockSkewMs, clockSkewMs].map((ms) => utcMonth(new Date(now.getTime() + ms)));
}

/** The rest of an unlimited plan. */
const unlimited = 1e15;

/** The calls of a block that are neither spent nor returned. */
export function outOf({ granted, spent, returned }: Block): number {
  return granted - spent - returned;
}

/**
 * The calls added to a block: those that it lacks, or more, up to `ahead` and the gateway's share: half of the month's free calls, divided by the
 * number of gateways. Never more than the free ones. A repeated request adds nothing, as the block already has what it asks for. @param limit null:
 * unlimited.
 */
export function grantOf(
  month: Month,
  block: Block,
  { limit, gateways }: { limit: number | null; gateways: number },
  want: Want,
): { added: number; isToRecall: boolean } {
  const rest = limit === null ? unlimited : Math.max(0, limit - month.used - month.out);
  const lacking = want.calls - (block.granted - want.has);
  if (lacking <= 0) return { added: 0, isToRecall: false };
  const share = Math.floor(rest / (2 * Math.max(1, gateways)));
  const added = Math.min(rest, Math.max(lacking, Math.min(share, want.ahead)));
  return { added, isToRecall: lacking > rest && month.out > outOf(block) };
}

/**
 * Counts a report. Reported calls always count as used, even beyond the block, because they were served. At most the unused calls are returned.
 * @param block null: its life is closed, and its unused calls are free again.
 */
export function applyReport(
  { used, out }: Month,
  block: Block | null,
  { calls, returned }: { calls: number; returned: number },
): { month: Month; block: Block | null } {
  if (block === null) return { month: { used: used + calls, out }, block };
  const spent = Math.min(calls, outOf(block));
  const back = Math.min(returned, outOf(block) - spent);
  return {
    month: { used: used + calls, out: out - spent - back },
    block: { ...block, spent: block.spent + spent, returned: block.returned + back },
  };
}

/** Frees the unused calls of a block whose life is over. */
export function closeBlock({ used, out }: Month, block: Block): Month {
  return { used, out: out - outOf(block) };
}

/** Whether every gateway has applied the change or lost its lease. */
export function isActiveEverywhere(changeNo: number, gateways: readonly Gateway[], nowMs: number): boolean {
  return gateways.every(({ seen, leasedUntilMs }) => seen >= changeNo || leasedUntilMs <= nowMs);
}

/** Whether a life counts as gone, so that its unused calls are freed. */
export function mayClose({ leasedUntilMs }: Pick<Gateway, 'leasedUntilMs'>, nowMs: number): boolean {
  return nowMs - leasedUntilMs > closeAfterMs;
}
