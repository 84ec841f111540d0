// The heartbeat of a gateway: a message to accounts-api. Its answer extends the lease on everything that the gateway caches, and reports what has
// changed. One message is always open, so that changes arrive at once.
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { utcMonth, type Clock } from '../../kernel/clock.ts';
import { closeAfterMs } from '../../kernel/heartbeat/times.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { HeartbeatAnswer, HeartbeatMessage } from '../../kernel/heartbeat/message.ts';
import { applyAnswer, isLeased, newLife, type Life } from './block-rules.ts';

/** What a message contains besides the request for the lease. */
export type Parts = Partial<Pick<HeartbeatMessage, 'wait_ms' | 'ended' | 'batch' | 'wants' | 'keys'>>;

/** Which message an answer belongs to. */
export interface Place {
  /** The life that sent the message. */
  readonly life: string;
  /** The number of the message; later messages have higher numbers. */
  readonly number: number;
  /** The month of the message, `YYYY-MM-01`. */
  readonly month: string;
  /** Whether the credentials and grants of the answer may be used. */
  readonly isCurrent: boolean;
}

/** A cache whose content is valid under the lease. */
export interface LeasedCache {
  /** The cached state of these accounts is out of date; null: of all accounts. Called before the change is acknowledged. */
  onChanged?(accountIds: readonly string[] | null): void;
  /** Other gateways need calls of these blocks: return the calls that are not drawn. */
  onRecalled?(recalled: HeartbeatAnswer['recalled']): void;
  /** A new life has begun: cached state belongs to an earlier one. */
  onNewLife(life: string): void;
}

export type Heartbeat = ReturnType<typeof createHeartbeat>;

export interface HeartbeatOptions {
  /** @throws Failure unavailable; BatchRefused if the message contains a batch that cannot be accepted. */
  send(message: HeartbeatMessage): Promise<HeartbeatAnswer>;
  clock: Clock;
  /** The clock of the leases. */
  nowMs: () => number;
  log: Log;
}

/** How long accounts-api may delay its answer while there is nothing to report. */
const waitMs = 400;
const retryMs = { first: 50, most: 1_000 };

export function createHeartbeat({ send, clock, nowMs, log }: HeartbeatOptions) {
  const caches: LeasedCache[] = [];
  let life: Life = newLife(randomUUID());
  let lastNumber = 0;
  let gateways = 1;
  const closing = new AbortController();
  const awaited = new Set<Promise<unknown>>();

  /**
   * Sends a message. @param use is called with the answer in the turn in which it arrives, before any later answer is processed.
   * @throws Failure unavailable; BatchRefused.
   */
  async function beat<Result>(
    parts: Parts,
    use: (answer: HeartbeatAnswer, place: Place) => Result,
  ): Promise<Result> {
    // accounts-api may have closed this life by now and freed its calls. If a late copy of its first message creates the life there again, the
    // gateway must not use its old blocks.
    if (life.hasBegun && nowMs() >= life.leasedUntilMs + closeAfterMs) beginLife();
    const asked = life;
    const number = ++lastNumber;
    const askedAtMs = nowMs();
    const month = utcMonth(clock.now());
    const answer = await send({
      ...{ life: asked.id, begins: !asked.hasBegun, seen: asked.seen, month },
      ...{ wait_ms: 0, ended: [], batch: null, wants: [], keys: [], ...parts },
    });
    return use(answer, {
      life: asked.id,
      number,
      month,
      isCurrent: applyIfCurrent(asked, answer, askedAtMs),
    });
  }

  /** @returns whether the credentials and grants of the answer may be used. */
  function applyIfCurrent(asked: Life, answer: HeartbeatAnswer, askedAtMs: number): boolean {
    if (asked.id !== life.id || closing.signal.aborted) return false;
    if (!answer.is_open) {
      beginLife();
      return false;
    }
    const outcome = applyAnswer(life, answer, askedAtMs, answer.lease_ms, nowMs());
    gateways = Math.max(1, answer.gateways);
    if (outcome.changed === null || outcome.changed.length > 0)
      for (const cache of caches) cache.onChanged?.(outcome.changed);
    life = outcome.life;
    if (answer.recalled.length > 0) for (const cache of caches) cache.onRecalled?.(answer.recalled);
    return outcome.isCurrent;
  }

  function beginLife(): void {
    log.warn(
      { life: life.id },
      'The lease was not renewed for too long: the gateway discards its cached keys and unused calls, and registers at accounts-api under a new id',
    );
    life = newLife(randomUUID());
    for (const cache of caches) cache.onNewLife(life.id);
  }

  /** Keeps a message open at accounts-api, so that changes arrive at once. The next message acknowledges them. */
  async function listen(): Promise<void> {
    let retry = retryMs.first;
    while (!closing.signal.aborted) {
      try {
        // Without a lease, the message asks for an immediate answer.
        await beat({ wait_ms: isLeased(life, nowMs()) ? waitMs : 0 }, () => undefined);
        retry = retryMs.first;
      } catch (error) {
        log.debug({ err: error }, 'a heartbeat was not answered');
        await pause(retry, undefined, { ref: false, signal: closing.signal }).catch(() => undefined); // closed
        retry = Math.min(2 * retry, retryMs.most);
      }
    }
  }

  return {
    /** Sends the first message. Resolves when it is answered or has failed; in that case the first call sends another. */
    async open(): Promise<void> {
      await beat({}, () => undefined).catch((error: unknown) =>
        log.debug({ err: error }, 'the first heartbeat was not answered'),
      );
      void listen();
    },
    /** The id of the current life. */
    life: () => life.id,
    /** Whether cached state may be used. */
    isLeased: () => !closing.signal.aborted && isLeased(life, nowMs()),
    /** Whether a call drawn in this life may be served: its calls cannot have been granted to other gateways. */
    mayServe: (id: string) => id === life.id && nowMs() < life.leasedUntilMs + closeAfterMs,
    /** How many gateways are live, according to the last answer. At least 1. */
    gateways: () => gateways,
    beat,
    /** Lets `whenIdle` wait for what a call needs from accounts-api. @returns the same promise. */
    awaitedByCall<Result>(needed: Promise<Result>): Promise<Result> {
      const forget = () => void awaited.delete(needed);
      awaited.add(needed);
      needed.then(forget, forget);
      return needed;
    },
    /** Registers a cache. */
    register: (cache: LeasedCache) => void caches.push(cache),
    /** Resolves when no call waits for accounts-api; a call also waits when its client has left. */
    async whenIdle(): Promise<void> {
      while (awaited.size > 0) {
        await Promise.allSettled(awaited);
        await nextTurn(); // a call that now has its key may need calls of its month
      }
    },
    /** Stops using the lease and sends no further messages by itself. */
    close: () => closing.abort(),
  };
}
