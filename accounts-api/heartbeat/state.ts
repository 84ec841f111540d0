// The decisions of the heartbeat, on small records: what a block is granted, what a report changes, when a change is in force, when a life is
// closed. Pure, so that all orders of messages can be tried; the rows are locked and written elsewhere.
import { closeAfterMs } from '../../kernel/heartbeat/times.ts';

/** The calls of an account's month: used, and out in blocks. */
export interface Month {
  readonly used: number;
  readonly out: number;
}

/** The calls that a life was granted of a month, in all; those reported as served; those given back. */
export interface Block {
  readonly granted: number;
  readonly spent: number;
  readonly returned: number;
}

/** What a life asks of a month. */
export interface Want {
  /** The total granted as far as the gateway knows. */
  readonly has: number;
  /** Calls lacking beyond it. */
  readonly calls: number;
  /** How many may be granted at once, with `calls`, if that is a small part of the rest. */
  readonly ahead: number;
}

/** A life, its last change in force, and the end of its lease by PostgreSQL's clock. */
export interface Gateway {
  readonly seen: number;
  readonly leasedUntilMs: number;
}

/** The rest of an unlimited plan. */
const unlimited = 1e15;

/** The calls of a block that are neither spent nor returned. */
export function outOf({ granted, spent, returned }: Block): number {
  return granted - spent - returned;
}

/**
 * What is added to a block: what it lacks, or more if that is a small part of the rest, which the gateways share. A doubled question adds
 * nothing, as the block has then got what it asks for. @param limit null: unlimited.
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
 * Counts a report. Calls that are not out count as used: they were served. At most what is out is returned.
 * @param block null: its life is closed, and what was out has gone back.
 */
export function takeSpent(
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

/** Gives back what is out of a block whose life is over. */
export function closeBlock({ used, out }: Month, block: Block): Month {
  return { used, out: out - outOf(block) };
}

/** Whether no gateway may still serve by what was before the change. */
export function isInForce(changeNo: number, gateways: readonly Gateway[], nowMs: number): boolean {
  return gateways.every(({ seen, leasedUntilMs }) => seen >= changeNo || leasedUntilMs <= nowMs);
}

/** Whether a life counts as gone, so that what is out with it goes back. */
export function mayClose({ leasedUntilMs }: Pick<Gateway, 'leasedUntilMs'>, nowMs: number): boolean {
  return nowMs - leasedUntilMs > closeAfterMs;
}
