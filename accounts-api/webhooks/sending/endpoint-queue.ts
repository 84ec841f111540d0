// What a worker has read of the messages to one endpoint that it has leased, and which of them may be sent now.
// Hides how many are read ahead: few to a slow endpoint, more to one that had nothing left to be sent.
import type { LeasedWebhook } from '../delivery.sql.ts';

/** Messages under way to one endpoint at once. One that fails has one. */
export const concurrencyOfWebhook = 4;
const aheadMax = 64;
/** What was read longer ago is read again, so that a change of the endpoint is soon in force. */
const freshMs = 1_000;

export interface Message {
  id: string;
  /** How many attempts were recorded. */
  attempts: number;
  failures: number;
  body: Buffer;
}

export class EndpointQueue {
  /** When the lease ends. */
  until: Date;
  #webhook: LeasedWebhook;
  /** Decrypted, of the endpoint as it is now. */
  #secrets: readonly Buffer[] | null = null;
  #waiting: Message[] = [];
  #readAtMs = 0;
  #ahead = concurrencyOfWebhook;
  #underWay = 0;
  /** Failures that are not recorded: until they are, the endpoint counts as failing. */
  readonly #failed = new Set<string>();
  /** The messages that were taken and are not recorded. */
  readonly #held = new Set<string>();

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

  /** How many may be under way at once. */
  get places(): number {
    return this.isFailing ? 1 : concurrencyOfWebhook;
  }

  /** The ids of the messages that are not to be read again: those under way, those not yet recorded, and those that wait. */
  get held(): string[] {
    return [...this.#held, ...this.#waiting.map(({ id }) => id)];
  }

  get isIdle(): boolean {
    return this.#held.size === 0 && this.#waiting.length === 0;
  }

  /** Of the bodies of those that wait. */
  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { body }) => sum + body.length, 0);
  }

  /** How many more messages it could use now. */
  get wish(): number {
    this.#forgetStale();
    const free = this.places - this.#underWay - this.#waiting.length;
    if (this.isFailing || this.#ahead === concurrencyOfWebhook) return Math.max(0, free);
    return this.#waiting.length > this.#ahead / 2 ? 0 : this.#ahead - this.#waiting.length;
  }

  /** This is how the endpoint is now. */
  renew(webhook: LeasedWebhook): void {
    const { secret, previous_secret: previous } = this.#webhook;
    if (webhook.secret !== secret || webhook.previous_secret !== previous) this.#secrets = null;
    this.#webhook = webhook;
  }

  /** Adds messages that were read. */
  add(messages: readonly Message[]): void {
    // It had nothing to do: it is quick, or was idle.
    if (this.#underWay === 0 && this.#waiting.length === 0 && !this.isFailing)
      this.#ahead = Math.min(aheadMax, this.#ahead * 2);
    this.#waiting.push(...messages);
    this.#readAtMs = performance.now();
  }

  /** The next message that may be sent now. `end` is to be called after its attempt, and `settle` once that is recorded. */
  take(): Message | undefined {
    this.#forgetStale();
    if (this.#underWay >= this.places) return undefined;
    const message = this.#waiting.shift();
    if (message === undefined) return undefined;
    this.#underWay += 1;
    this.#held.add(message.id);
    return message;
  }

  end(messageId: string, hasFailed: boolean): void {
    this.#underWay -= 1;
    if (!hasFailed) return;
    if (this.#held.has(messageId)) this.#failed.add(messageId);
    this.forget();
  }

  settle(messageId: string): void {
    this.#held.delete(messageId);
    this.#failed.delete(messageId);
  }

  /** Gives back what waits: it is still due, for whoever reads it next. */
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
