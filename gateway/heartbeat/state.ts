// What a gateway may use, decided by pure functions of what it holds and what it hears: no clock, no I/O. Production runs them, and
// test/heartbeat explores all states of them together with those of accounts-api/heartbeat/state.ts. PROTOCOL.md explains the whole.

/** One process of a gateway, as accounts-api knows it. What is held belongs to a life, and is worth nothing in the next one. */
export interface Life {
  readonly id: string;
  /** An answer has come: accounts-api knows the life. */
  readonly hasBegun: boolean;
  /** The number of the last change that is in force here. */
  readonly seen: number;
  /** Until then, by the clock of the leases in ms, what is held may be used. */
  readonly leasedUntilMs: number;
}

/** The calls of one account's month that accounts-api has granted to this life. All counts are totals since it began. */
export interface Block {
  readonly granted: number;
  /** Calls that were served or are under way. */
  readonly drawn: number;
  /** Calls given back to the month. */
  readonly returned: number;
  /** The number of the newest message whose answer is in these figures; 0: none is. */
  readonly heard: number;
  /** Calls of the month that are used by others or out with them. */
  readonly elsewhere: number;
  /** How much of `elsewhere` is out, and may come back. */
  readonly out: number;
  /** Of the plan in force; null: unlimited. */
  readonly limit: number | null;
  /** False if the account has changed since: the limit may be another one. */
  readonly isKnown: boolean;
}

/** What accounts-api says of a block. */
export type Grant = Pick<Block, 'granted' | 'elsewhere' | 'out' | 'limit'>;

/** What an answer says besides grants and credentials. */
export interface Heard {
  /** All changes up to this number are in the answer. */
  readonly upto: number;
  /** The accounts that have changed; null: any may have. */
  readonly changes: readonly string[] | null;
}

export interface Outcome {
  readonly life: Life;
  /** The accounts whose credentials and limits are out of date; null: all. */
  readonly changed: readonly string[] | null;
  /** Whether credentials and grants of this answer may be used: no later change is in force. */
  readonly isCurrent: boolean;
}

export const emptyBlock: Block = {
  ...{ granted: 0, drawn: 0, returned: 0, heard: 0 },
  ...{ elsewhere: 0, out: 0, limit: 0, isKnown: false },
};

export function newLife(id: string): Life {
  return { id, hasBegun: false, seen: 0, leasedUntilMs: -Infinity };
}

/** Whether what the life holds may be used. */
export function isLeased(life: Life, nowMs: number): boolean {
  return nowMs < life.leasedUntilMs;
}

/**
 * Hears an answer of accounts-api that says the life is open. An answer may come late, twice, or after a newer one. One that comes after its
 * lease has ended still says what has changed, but nothing in it may be used: the life may have been closed meanwhile.
 * @param askedAtMs when the message was sent: the lease counts from then, so it never outlasts the one at accounts-api.
 */
export function hear(
  life: Life,
  { upto, changes }: Heard,
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

/** Takes back calls that were drawn and not served: the next call can draw them. */
export function putBack(block: Block, calls: number): Block {
  return { ...block, drawn: block.drawn - calls };
}

/** Gives back all that is not drawn, as accounts-api asks for it. Calls under way are kept. */
export function giveBack(block: Block): Block {
  return { ...block, returned: Math.max(block.returned, block.granted - block.drawn) };
}

/** The limit of the account may have changed: nothing is drawn before the next answer. */
export function forgetLimit(block: Block): Block {
  return { ...block, isKnown: false };
}

/**
 * Hears of a block. Totals only grow, so an answer that comes twice or late does no harm; figures of the month are those of the newest
 * message. What a lower plan does not allow any more is given back.
 * @param number of the message. @param isCurrent see Outcome: a grant from before a change is left for the next answer, which repeats it.
 */
export function hearGrant(block: Block, grant: Grant, number: number, isCurrent: boolean): Block {
  if (!isCurrent || number < block.heard) return block;
  const { elsewhere, out, limit } = grant;
  const granted = Math.max(block.granted, grant.granted);
  const undrawn = granted - block.returned - block.drawn;
  const kept = limit === null ? undrawn : Math.max(0, Math.min(undrawn, limit - elsewhere - block.drawn));
  const returned = granted - block.drawn - kept;
  return { granted, drawn: block.drawn, returned, heard: number, elsewhere, out, limit, isKnown: true };
}

/** Learns the total granted to the block, when it is recalled: an answer that granted some of it may have been lost. */
export function hearTotal(block: Block, granted: number): Block {
  return { ...block, granted: Math.max(block.granted, granted) };
}

/** Whether the month has room for calls, as far as is known. */
export function hasRoom({ limit, elsewhere, drawn, isKnown }: Block, calls: number): boolean {
  return !isKnown || limit === null || limit - elsewhere - drawn >= calls;
}

/**
 * Whether a call that found too few may be refused: the month has no room for it, and nothing may come back, as no calls are out with others,
 * who are asked for them, and no call of this block is under way, which may fail.
 */
export function isUsedUp(block: Block, underWay: number, calls: number): boolean {
  return !hasRoom(block, calls) && block.out === 0 && underWay === 0;
}

/** The calls of the month that are used, as far as this gateway knows, with those under way here. */
export function usedOf({ elsewhere, out, drawn }: Block): number {
  return elsewhere - out + drawn;
}
