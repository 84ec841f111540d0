// Observes the answer of data-api to one call while it is forwarded, and keeps it if that is allowed and somebody wants it. Other calls
// for the same answer wait for it. Hides when it is known that the answer is not kept: from then on nobody waits.
import type { IncomingMessage } from 'node:http';
import { entryAt } from '../../kernel/entries.ts';
import { includes, parseValidity, type DataState, type Validity } from '../../kernel/http/validity.ts';
import { bodyBytesMax, keptAnswer, type KeptAnswer } from './kept-answers.ts';

export interface CaptureOptions {
  /** The state of the data that the answer must include. */
  needed: DataState;
  /** When it is asked for, in ms since 1970. */
  askedAtMs: number;
  /** The whole answer as it was kept, to be validated by its ETag. */
  former: KeptAnswer | undefined;
  /** It was asked for before. Otherwise it is kept only if another call wants it before it comes: most URLs are asked for once. */
  isWanted: boolean;
  keep(answer: KeptAnswer): void;
  /** Sends the former answer, which data-api has confirmed. */
  sendFormer(former: KeptAnswer): void;
}

/** `left`: the client of this call left before the answer came. `unkept`: the answer must not be kept, or failed. */
export type Outcome = 'kept' | 'unkept' | 'left';

export class Capture {
  readonly #options: CaptureOptions;
  readonly #ended = Promise.withResolvers<Outcome>();
  #validity: Validity | undefined;
  #head: readonly string[] = [];
  #pieces: Buffer[] = [];
  #length = 0;
  #isWanted: boolean;
  #hasHead = false;
  /** Whether the body is being collected. */
  isOpen = false;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#isWanted = options.isWanted;
  }

  /** Asks for the answer to be kept. @returns whether it was, later; undefined if it comes already, and is not kept. */
  want(): Promise<Outcome> | undefined {
    if (this.#hasHead && !this.#isWanted) return undefined;
    this.#isWanted = true;
    return this.ended;
  }

  /** After `unkept` every waiting call asks data-api itself; after `left` one of the waiting calls asks for all. */
  get ended(): Promise<Outcome> {
    return this.#ended.promise;
  }

  get needed(): DataState {
    return this.#options.needed;
  }

  /** The If-None-Match to send: that of the client, and the ETag of the former answer. */
  ifNoneMatch({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
    const ofClient = headers['if-none-match'];
    const { former } = this.#options;
    if (former === undefined) return ofClient;
    return ofClient === undefined ? former.etag : `${ofClient}, ${former.etag}`;
  }

  /** @param validity the header. @returns whether it has answered the call: the head and the body are not to be forwarded. */
  onHead(status: number, head: readonly string[], validity: string | undefined): boolean {
    const { needed, askedAtMs, former } = this.#options;
    this.#hasHead = true;
    if (!this.#isWanted) {
      this.end();
      return false;
    }
    const stated = validity === undefined ? undefined : parseValidity(validity);
    const mayKeep = stated !== undefined && includes(stated.state, needed);
    if (status === 304) return this.#onNotModified(head, mayKeep ? stated : undefined, former, askedAtMs);
    if (status !== 200 || !mayKeep || lengthOf(head) > bodyBytesMax) {
      this.end();
      return false;
    }
    this.#validity = stated;
    this.#head = head;
    this.isOpen = true;
    return false;
  }

  /** @param bytes valid only during the call. */
  onBody(bytes: Buffer): void {
    if (!this.isOpen) return;
    this.#length += bytes.length;
    if (this.#length > bodyBytesMax) this.end();
    else this.#pieces.push(Buffer.from(bytes));
  }

  /** The answer is complete. */
  onEnd(): void {
    if (!this.isOpen || this.#validity === undefined) return;
    const body = Buffer.allocUnsafeSlow(this.#length); // not part of a larger buffer that it would keep in memory
    let at = 0;
    for (const piece of this.#pieces) at += piece.copy(body, at);
    this.#keep(keptAnswer(this.#head, body, this.#validity, this.#options.askedAtMs));
  }

  /** Gives up, unless it has ended: the answer is cut off, or must not be kept. */
  end(outcome: Outcome = 'unkept'): void {
    this.isOpen = false;
    this.#pieces = [];
    this.#ended.resolve(outcome);
  }

  #onNotModified(
    head: readonly string[],
    validity: Validity | undefined,
    former: KeptAnswer | undefined,
    askedAtMs: number,
  ): boolean {
    const confirmed = keptAnswer(head, undefined, validity ?? { state: this.needed, forMs: 0 }, askedAtMs);
    const isFormer = former !== undefined && confirmed?.etag === former.etag;
    const answer = isFormer ? { ...confirmed, ...updated(former, head) } : confirmed;
    if (validity === undefined) this.end();
    else this.#keep(answer);
    if (isFormer && answer !== undefined) this.#options.sendFormer(answer);
    return isFormer;
  }

  #keep(answer: KeptAnswer | undefined): void {
    if (answer !== undefined) this.#options.keep(answer);
    this.end(answer === undefined ? 'unkept' : 'kept');
  }
}

/** The former answer with the headers of its confirmation, as RFC 9111 has it in section 4.3.4. */
function updated({ head, body }: KeptAnswer, confirmation: readonly string[]) {
  const newer = new Map<string, string>();
  for (let i = 0; i < confirmation.length; i += 2)
    newer.set(entryAt(confirmation, i), entryAt(confirmation, i + 1));
  const valueAt = (i: number) => newer.get(entryAt(head, i - 1)) ?? entryAt(head, i);
  const both = head.map((word, i) => (i % 2 === 0 ? word : valueAt(i)));
  return { head: both, body };
}

function lengthOf(head: readonly string[]): number {
  const at = head.indexOf('content-length');
  return at < 0 ? 0 : Number(head[at + 1]);
}
