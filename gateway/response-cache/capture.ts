// Collects an answer of data-api for the response cache while it is forwarded, and coalesces requests: those with the same cache key wait for the answer
// in flight. Only answers that are requested again are cached.
import type { Clock } from '../../kernel/clock.ts';
import { includes, parseValidity, type DataState, type Validity } from '../../kernel/http/validity.ts';
import { bodyBytesMax, toCachedAnswer, type CachedAnswer, type AnswerCache } from './answer-cache.ts';

/** An answer that a call is about to request. */
export interface AnswerRequest {
  /** The cache key: everything the answer depends on besides the data. */
  name: string;
  /** The state of the data that the answer must include. */
  needed: DataState;
}

/** `left`: the client of the call left before the answer arrived. `uncached`: the answer must not be cached, or failed. */
export type Outcome = 'cached' | 'uncached' | 'left';

const requestedMax = 65_536;
const inFlightMax = 4_096;

/**
 * Two tables of fixed size, indexed by the hash of a cache key. A key replaces another one in the same slot.
 *
 * The answers in flight: calls for an answer that lost its slot do not wait, but ask data-api themselves. A Map would be exact but far slower: V8
 * leaves each old table of a Map to the garbage collector with a pointer to the next one. Once one of them is in the old generation, all later ones
 * and the calls in them survive until a full collection. That made a minor collection four times longer, and a cold call 1.5 times as expensive
 * (2026-11-23).
 *
 * The keys requested before: only their answers are cached. Caching the many answers that are requested once would cost more than it saves: their
 * bodies are copied, evict others, and burden the garbage collector. This is the doorkeeper of TinyLFU (Einziger, Friedman, Manes: TinyLFU, a highly
 * efficient cache admission policy, 2017). Rarely, a new key is mistaken for an old one.
 */
export function createCaptures(answers: AnswerCache, clock: Clock) {
  const inFlight = Array.from<Capture | undefined>({ length: inFlightMax });
  const requested = new Uint32Array(requestedMax);

  /** Records a request for the key. @returns whether it was requested before. */
  function wasRequested(hash: number): boolean {
    const slot = hash % requestedMax;
    if (requested[slot] === hash) return true;
    requested[slot] = hash;
    return false;
  }

  return {
    /**
     * Waits for the answer if another call has requested it. After `uncached`, every waiting call asks data-api itself; after `left`, one of them asks
     * for all. @returns undefined if no call has requested it, or it is already arriving and will not be cached.
     */
    join: (request: AnswerRequest) => inFlight[hashOf(request.name) % inFlightMax]?.join(request),
    /** Registers a call that requests the answer; others with the same key can now wait for it. */
    begin({ name, needed }: AnswerRequest): Capture {
      const hash = hashOf(name);
      const slot = hash % inFlightMax;
      const capture = new Capture({
        ...{ name, needed },
        isWanted: answers.has(name) || wasRequested(hash),
        askedAtMs: clock.now().getTime(),
        end(answer) {
          if (answer !== undefined) answers.set(name, answer);
          if (inFlight[slot] === capture) inFlight[slot] = undefined;
        },
      });
      inFlight[slot] = capture;
      return capture;
    },
  };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

interface CaptureOptions extends AnswerRequest {
  /** Whether the key was requested before. Otherwise the answer is cached only if another call waits for it, as most URLs are requested once. */
  isWanted: boolean;
  /** When the answer was requested, in ms since 1970. */
  askedAtMs: number;
  /** Ends the capture: no call can wait for it any longer. @param answer to be cached. */
  end(answer: CachedAnswer | undefined): void;
}

/** An answer in flight. Calls stop waiting as soon as it is known that it will not be cached. */
export class Capture {
  readonly #options: CaptureOptions;
  #waiting: PromiseWithResolvers<Outcome> | undefined;
  #validity: Validity | undefined;
  #head: readonly string[] = [];
  #pieces: Buffer[] = [];
  #length = 0;
  /** Whether the body is being collected. */
  isOpen = false;

  constructor(options: CaptureOptions) {
    this.#options = options;
  }

  /** Marks the answer for caching and waits for it. Undefined if the key differs, or the answer was requested for an older state than needed. */
  join({ name, needed }: AnswerRequest): Promise<Outcome> | undefined {
    const own = this.#options;
    if (own.name !== name || !includes(own.needed, needed)) return undefined;
    own.isWanted = true;
    this.#waiting ??= Promise.withResolvers<Outcome>();
    return this.#waiting.promise;
  }

  /** @param validity the value of the header. */
  onHead(status: number, head: readonly string[], validity: string | undefined): void {
    const { isWanted, needed, askedAtMs } = this.#options;
    const stated = isWanted && validity !== undefined ? parseValidity(validity) : undefined;
    this.#validity = stated && includes(stated.state, needed) ? stated : undefined;
    this.isOpen = status === 200 && this.#validity !== undefined && lengthOf(head) <= bodyBytesMax;
    if (this.isOpen) this.#head = head;
    // A 304 has no body: the client had it already.
    else if (status === 304 && this.#validity)
      this.#end(toCachedAnswer(head, undefined, this.#validity, askedAtMs));
    else this.end();
  }

  /** @param bytes valid only until the method returns. */
  onBody(bytes: Buffer): void {
    if (!this.isOpen) return;
    this.#length += bytes.length;
    if (this.#length > bodyBytesMax) this.end();
    else this.#pieces.push(Buffer.from(bytes));
  }

  /** The answer is complete. */
  onEnd(): void {
    if (!this.isOpen || this.#validity === undefined) return;
    const body = Buffer.allocUnsafeSlow(this.#length); // a slice of a larger buffer would keep all of it in memory
    let at = 0;
    for (const piece of this.#pieces) at += piece.copy(body, at);
    this.#end(toCachedAnswer(this.#head, body, this.#validity, this.#options.askedAtMs));
  }

  /** Abandons the capture unless it has ended: the answer was cut off, or must not be cached. */
  end(outcome: 'uncached' | 'left' = 'uncached'): void {
    this.#end(undefined, outcome);
  }

  #end(answer?: CachedAnswer, outcome: Outcome = answer === undefined ? 'uncached' : 'cached'): void {
    this.isOpen = false;
    this.#pieces = [];
    this.#options.end(answer);
    this.#waiting?.resolve(outcome);
  }
}

function lengthOf(head: readonly string[]): number {
  const at = head.indexOf('content-length');
  return at < 0 ? 0 : Number(head[at + 1]);
}
