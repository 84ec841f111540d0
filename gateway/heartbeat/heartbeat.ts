// The heartbeat of a gateway: one message to accounts-api, whose answer is the lease on all that the gateway holds, and brings what has
// changed. Hides the life, the numbers of messages, and the message that is always open so that a change arrives at once.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { utcMonth, type Clock } from '../../kernel/clock.ts';
import { closeAfterMs } from '../../kernel/heartbeat/times.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { HeartbeatAnswer, HeartbeatMessage } from '../../kernel/heartbeat/message.ts';
import { hear, isLeased, newLife, type Life } from './state.ts';

/** What is asked for beside the lease. */
export type Parts = Partial<Pick<HeartbeatMessage, 'wait_ms' | 'ended' | 'batch' | 'wants' | 'keys'>>;

/** Where an answer belongs. */
export interface Place {
  /** The life that asked. */
  readonly life: string;
  /** Of the message: later ones have higher numbers. */
  readonly number: number;
  /** The month of the message, `YYYY-MM-01`. */
  readonly month: string;
  /** Whether credentials and grants of the answer may be used. */
  readonly isCurrent: boolean;
}

/** Whoever holds something under the lease. */
export interface Holder {
  /** What is held of these accounts is out of date; null: of all. Called before the change is acknowledged. */
  onChanged?(accountIds: readonly string[] | null): void;
  /** Others need calls of these blocks: what is not drawn is to be given back. */
  onRecalled?(recalled: HeartbeatAnswer['recalled']): void;
  /** A new life has begun: what was held belongs to an earlier one. */
  onNewLife(life: string): void;
}

export interface Heartbeat {
  /** Begins. Resolves when the first answer has come, or could not be had: then the first call asks again. */
  open(): Promise<void>;
  /** The present life. */
  life(): string;
  /** Whether what is held may be used. */
  isLeased(): boolean;
  /** Whether a call that was drawn in this life may be served: its calls cannot have been granted to others. */
  mayServe(life: string): boolean;
  /** How many gateways are live, as of the last answer. At least 1. */
  gateways(): number;
  /**
   * Sends a message. @param use is called with the answer in the turn in which it is heard, before anything later is.
   * @throws Failure unavailable; BatchRefused.
   */
  beat<Result>(parts: Parts, use: (answer: HeartbeatAnswer, place: Place) => Result): Promise<Result>;
  /** Has it hold something under the lease. */
  hold(holder: Holder): void;
  /** Uses the lease no longer, and sends nothing by itself. */
  close(): void;
}

export interface HeartbeatOptions {
  /** @throws Failure unavailable; BatchRefused if a batch in it cannot be accepted. */
  send(message: HeartbeatMessage): Promise<HeartbeatAnswer>;
  clock: Clock;
  /** The clock of the leases. */
  nowMs: () => number;
  log: Log;
}

/** How long accounts-api may hold a message while there is nothing to say. */
const waitMs = 400;
const retryMs = { first: 50, most: 1_000 };

export function createHeartbeat({ send, clock, nowMs, log }: HeartbeatOptions): Heartbeat {
  const holders: Holder[] = [];
  let life: Life = newLife(randomUUID());
  let lastNumber = 0;
  let gateways = 1;
  const closing = new AbortController();

  async function beat<Result>(
    parts: Parts,
    use: (answer: HeartbeatAnswer, place: Place) => Result,
  ): Promise<Result> {
    // accounts-api may have closed it by now. A late copy of its first message must not bring it back to life with what it holds.
    if (life.hasBegun && nowMs() >= life.leasedUntilMs + closeAfterMs) beginLife();
    const asked = life;
    const number = ++lastNumber;
    const askedAtMs = nowMs();
    const month = utcMonth(clock.now());
    const answer = await send({
      ...{ life: asked.id, begins: !asked.hasBegun, seen: asked.seen, month },
      ...{ wait_ms: 0, ended: [], batch: null, wants: [], keys: [], ...parts },
    });
    return use(answer, { life: asked.id, number, month, isCurrent: heard(asked, answer, askedAtMs) });
  }

  /** @returns whether credentials and grants of the answer may be used. */
  function heard(asked: Life, answer: HeartbeatAnswer, askedAtMs: number): boolean {
    if (asked.id !== life.id || closing.signal.aborted) return false;
    if (!answer.is_open) {
      beginLife();
      return false;
    }
    const outcome = hear(life, answer, askedAtMs, answer.lease_ms, nowMs());
    gateways = Math.max(1, answer.gateways);
    if (outcome.changed === null || outcome.changed.length > 0)
      for (const holder of holders) holder.onChanged?.(outcome.changed);
    life = outcome.life;
    if (answer.recalled.length > 0) for (const holder of holders) holder.onRecalled?.(answer.recalled);
    return outcome.isCurrent;
  }

  function beginLife(): void {
    log.warn({ life: life.id }, 'The gateway was without a lease for too long; it begins anew');
    life = newLife(randomUUID());
    for (const holder of holders) holder.onNewLife(life.id);
  }

  /** Keeps a message open at accounts-api, so that changes come at once, and are acknowledged by the next one. */
  async function listen(): Promise<void> {
    let retry = retryMs.first;
    while (!closing.signal.aborted) {
      try {
        // Without a lease it is asked for at once.
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
    async open() {
      await beat({}, () => undefined).catch((error: unknown) =>
        log.debug({ err: error }, 'the first heartbeat was not answered'),
      );
      void listen();
    },
    life: () => life.id,
    isLeased: () => !closing.signal.aborted && isLeased(life, nowMs()),
    mayServe: (id) => id === life.id && nowMs() < life.leasedUntilMs + closeAfterMs,
    gateways: () => gateways,
    beat,
    hold: (holder) => void holders.push(holder),
    close: () => closing.abort(),
  };
}
