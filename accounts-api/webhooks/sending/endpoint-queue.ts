// The messages that a worker has read for one endpoint that it has leased, and which of them may be sent now. Few are read ahead for a slow endpoint,
// more for one whose queue has run empty.
import type { LeasedWebhook } from './delivery.sql.ts';

/** The maximum number of messages in flight to one endpoint; 1 while it fails. */
export const concurrencyOfWebhook = 4;
const aheadMax = 64;
/** Messages read longer ago are read again, so that a change of the endpoint takes effect soon. */
const freshMs = 1_000;

export interface Message {
  id: string;
  /** The number of recorded attempts. */
  attempts: number;
  failures: number;
  body: Buffer;
}

export class EndpointQueue {
  /** When the lease ends. */
  until: Date;
  #webhook: LeasedWebhook;
  /** The decrypted secrets of the endpoint's current state. */
  #secrets: readonly Buffer[] | null = null;
  #waiting: Message[] = [];
  #readAtMs = 0;
  #ahead = concurrencyOfWebhook;
  #inFlight = 0;
  /** Unrecorded failures: until they are recorded, the endpoint counts as failing. */
  readonly #failed = new Set<string>();
  /** Messages claimed for sending whose results are not recorded yet. */
  readonly #claimed = new Set<string>();

  constructor(webhook: LeasedWebhook, until: Date) {
    this.#webhook = webhook;
    this.until = until;
  }

  get id(): string {
    return this.#webhook.id;
  }

  get webhook(): LeasedWebhook {
    return this.#webhook;
  }

  get isFailing(): boolean {
    return this.#failed.size > 0 || this.#webhook.is_failing;
  }

  /** How many messages may be in flight at once. */
  get places(): number {
    return this.isFailing ? 1 : concurrencyOfWebhook;
  }

  /** The ids of the messages that must not be read again: those in flight, unrecorded, or waiting. */
  get claimedIds(): string[] {
    return [...this.#claimed, ...this.#waiting.map(({ id }) => id)];
  }

  get isIdle(): boolean {
    return this.#claimed.size === 0 && this.#waiting.length === 0;
  }

  /** The total size of the waiting bodies. */
  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { body }) => sum + body.length, 0);
  }

  /** How many more messages it can use now. */
  get wish(): number {
    this.#forgetStale();
    const free = this.places - this.#inFlight - this.#waiting.length;
    if (this.isFailing || this.#ahead === concurrencyOfWebhook) return Math.max(0, free);
    return this.#waiting.length > this.#ahead / 2 ? 0 : this.#ahead - this.#waiting.length;
  }

  /** Sets the endpoint's current state. */
  renew(webhook: LeasedWebhook): void {
    const { secret, previous_secret: previous } = this.#webhook;
    if (webhook.secret !== secret || webhook.previous_secret !== previous) this.#secrets = null;
    this.#webhook = webhook;
  }

  /** Adds messages that were read. */
  add(messages: readonly Message[]): void {
    // It had nothing to send, so it is fast or was idle: read more ahead.
    if (this.#inFlight === 0 && this.#waiting.length === 0 && !this.isFailing)
      this.#ahead = Math.min(aheadMax, this.#ahead * 2);
    this.#waiting.push(...messages);
    this.#readAtMs = performance.now();
  }

  /** The next message that may be sent now. Call `end` after its attempt, and `markRecorded` once the result is recorded. */
  claimNext(): Message | undefined {
    this.#forgetStale();
    if (this.#inFlight >= this.places) return undefined;
    const message = this.#waiting.shift();
    if (message === undefined) return undefined;
    this.#inFlight += 1;
    this.#claimed.add(message.id);
    return message;
  }

  end(messageId: string, hasFailed: boolean): void {
    this.#inFlight -= 1;
    if (!hasFailed) return;
    if (this.#claimed.has(messageId)) this.#failed.add(messageId);
    this.forget();
  }

  markRecorded(messageId: string): void {
    this.#claimed.delete(messageId);
    this.#failed.delete(messageId);
  }

  /** Drops the waiting messages: they are still due, and are read again. */
  forget(): void {
    this.#waiting = [];
  }

  secretsBy(open: (webhook: LeasedWebhook) => readonly Buffer[]): readonly Buffer[] {
    return (this.#secrets ??= open(this.#webhook));
  }

  #forgetStale(): void {
    if (this.#waiting.length === 0 || performance.now() - this.#readAtMs <= freshMs) return;
    this.forget();
    this.#ahead = Math.max(concurrencyOfWebhook, this.#ahead / 2);
  }
}
