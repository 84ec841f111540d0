// The rules of which calls a gateway may draw from its blocks, as pure functions of its state and of the answers it receives: no clock, no I/O. test/heartbeat explores all
// their states together with those of accounts-api/heartbeat/block-rules.ts. PROTOCOL.md explains the protocol.

import type { HeartbeatAnswer } from '../../kernel/heartbeat/message.ts';

/**
 * The period in which accounts-api knows a gateway process by one id. A process begins a new life when it starts, when accounts-api reports the old
 * one as closed, and when the lease of the old one ended so long ago that accounts-api may close it. Cached state is invalid in the next life.
 */
export interface Life {
  readonly id: string;
  /** Whether an answer has arrived: accounts-api then knows the life. */
  readonly hasBegun: boolean;
  /** The number of the last change that this gateway has applied. */
  readonly seen: number;
  /** Cached state may be used until then, in ms by the clock of the leases. */
  readonly leasedUntilMs: number;
}

/** The calls of one account's month that accounts-api has granted to this life. All counts are totals since the life began. */
export interface Block {
  readonly granted: number;
  /** Calls that were served or are in flight. */
  readonly drawn: number;
  /** Calls returned to the month. */
  readonly returned: number;
  /** The number of the newest message whose answer is included; 0: no answer. */
  readonly newestMessage: number;
  /** Calls of the month that were used by other gateways or are granted to them. */
  readonly elsewhere: number;
  /** The part of `elsewhere` that is granted but unused, and may be returned. */
  readonly out: number;
  /** The limit of the current plan; null: unlimited. */
  readonly limit: number | null;
  /** False after the account has changed: its limit may be different. */
  readonly isKnown: boolean;
}

/** The figures of a block in an answer of accounts-api. */
export type Grant = Pick<Block, 'granted' | 'elsewhere' | 'out' | 'limit'>;

/** The other figures of an answer, besides grants and credentials. */
export type AnswerChanges = Pick<HeartbeatAnswer, 'upto' | 'changes'>;

export interface Outcome {
  readonly life: Life;
  /** The accounts whose credentials and limits are out of date; null: all. */
  readonly changed: readonly string[] | null;
  /** Whether the credentials and grants of this answer may be used: no later change has been applied. */
  readonly isCurrent: boolean;
}

export const emptyBlock: Block = {
  ...{ granted: 0, drawn: 0, returned: 0, newestMessage: 0 },
  ...{ elsewhere: 0, out: 0, limit: 0, isKnown: false },
};

export function newLife(id: string): Life {
  return { id, hasBegun: false, seen: 0, leasedUntilMs: -Infinity };
}

/** Whether the life's cached state may be used. */
export function isLeased(life: Life, nowMs: number): boolean {
  return nowMs < life.leasedUntilMs;
}

/**
 * Applies an answer of accounts-api that reports the life as open. An answer may arrive late, twice, or after a newer one. One that arrives after its
 * lease has ended still reports changes, but nothing in it may be used: the life may have been closed meanwhile.
 * @param askedAtMs when the message was sent. The lease counts from then, so it never outlasts the one at accounts-api.
 */
export function applyAnswer(
  life: Life,
  { upto, changes }: AnswerChanges,
  askedAtMs: number,
  leaseMs: number,
  nowMs: number,
): Outcome {
  const leasedUntilMs = askedAtMs + leaseMs;
  return {
    life: {
      id: life.id,
      hasBegun: true,
      seen: Math.max(life.seen, upto),
      leasedUntilMs: Math.max(life.leasedUntilMs, leasedUntilMs),
    },
    changed: upto > life.seen ? changes : [],
    isCurrent: upto >= life.seen && nowMs < leasedUntilMs,
  };
}

/** The calls that may be drawn. */
export function leftIn({ granted, drawn, returned, elsewhere, limit, isKnown }: Block): number {
  if (!isKnown) return 0;
  const withinLimit = limit === null ? Infinity : limit - elsewhere - drawn;
  return Math.max(0, Math.min(granted - returned - drawn, withinLimit));
}

/** Draws calls, all or none. @returns undefined if there are too few. */
export function draw(block: Block, calls: number): Block | undefined {
  return calls > leftIn(block) ? undefined : { ...block, drawn: block.drawn + calls };
}

/** Releases drawn calls that were not served: the next request can draw them. */
export function releaseCalls(block: Block, calls: number): Block {
  return { ...block, drawn: block.drawn - calls };
}

/** Returns all calls that are not drawn, when accounts-api recalls them. Calls in flight remain drawn. */
export function returnUndrawnCalls(block: Block): Block {
  return { ...block, returned: Math.max(block.returned, block.granted - block.drawn) };
}

/** Marks the account's limit as unknown, as it may have changed: nothing is drawn before the next answer. */
export function forgetLimit(block: Block): Block {
  return { ...block, isKnown: false };
}

/**
 * Applies a grant to a block. Totals only grow, so an answer that arrives twice or late does no harm; the month's figures are those of the newest
 * message. Calls beyond the limit of a lower plan are returned.
 * @param number of the message. @param isCurrent see Outcome: a grant older than a change is ignored; the next answer repeats it.
 */
export function applyGrant(block: Block, grant: Grant, number: number, isCurrent: boolean): Block {
  if (!isCurrent || number < block.newestMessage) return block;
  const { elsewhere, out, limit } = grant;
  const granted = Math.max(block.granted, grant.granted);
  const undrawn = granted - block.returned - block.drawn;
  const drawable = limit === null ? undrawn : Math.max(0, Math.min(undrawn, limit - elsewhere - block.drawn));
  const returned = granted - block.drawn - drawable;
  return {
    granted,
    drawn: block.drawn,
    returned,
    newestMessage: number,
    elsewhere,
    out,
    limit,
    isKnown: true,
  };
}

/** Applies the total granted to a recalled block: an earlier answer with part of the grant may have been lost. */
export function applyTotal(block: Block, granted: number): Block {
  return { ...block, granted: Math.max(block.granted, granted) };
}

/** Whether the month has room for the calls, as far as is known. */
export function hasRoom({ limit, elsewhere, drawn, isKnown }: Block, calls: number): boolean {
  return !isKnown || limit === null || limit - elsewhere - drawn >= calls;
}

/**
 * Whether a request that the block cannot cover is refused: the month has too few calls, and none can be returned, as no other gateway has undrawn calls
 * and no request of this block is in flight (one that fails releases its calls).
 */
export function isUsedUp(block: Block, inFlight: number, calls: number): boolean {
  return !hasRoom(block, calls) && block.out === 0 && inFlight === 0;
}

/** The used calls of the month, as far as this gateway knows, including those in flight here. */
export function usedOf({ elsewhere, out, drawn }: Block): number {
  return elsewhere - out + drawn;
}
