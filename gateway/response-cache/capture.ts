// An answer of data-api from the call that asks for it to its place in memory: whether anybody wants it kept, who waits for it, and how
// it is collected while it is forwarded. Hides that memory is spent only on answers that are asked for again.
import type { Clock } from '../../kernel/clock.ts';
import { includes, parseValidity, type DataState, type Validity } from '../../kernel/http/validity.ts';
import { bodyBytesMax, keptAnswer, type KeptAnswer, type KeptAnswers } from './kept-answers.ts';

/** An answer that a call is about to ask for. */
export interface Question {
  /** Of all that the answer depends on besides the data. */
  name: string;
  /** The state of the data that the answer must include. */
  needed: DataState;
}

/** `left`: the client of the call left before the answer came. `unkept`: the answer must not be kept, or failed. */
export type Outcome = 'kept' | 'unkept' | 'left';

export interface Captures {
  /**
   * Waits for the answer if another call asks for it already. After `unkept` every waiting call asks data-api itself; after `left` one of
   * them asks for all. @returns undefined if none asks for it, or the answer comes already and is not kept.
   */
  join(question: Question): Promise<Outcome> | undefined;
  /** Lets a call ask: others that want the same answer wait for it from now on. */
  begin(question: Question): Capture;
}

const askedForMax = 65_536;
const underWayMax = 4_096;

/**
 * Two tables of a fixed size by the hash of a name, in which a name takes the place of another one of the same slot.
 *
 * The answers under way: calls for the one that lost its place do not wait, but ask data-api themselves. A Map would be exact and far
 * slower: V8 leaves each old table of a Map to the collector with a pointer to the next one, so once one of them is old, all later ones and
 * the calls in them stay until a full collection. That made a minor collection four times longer, and a cold call 1.5 times as expensive
 * (2026-11-23).
 *
 * The names that were asked for before: only their answers are kept. Keeping each of many that are asked for once would cost more than it
 * saves: their bodies are copied, drive others out, and are left to the garbage collector. This is the doorkeeper of TinyLFU (Einziger,
 * Friedman, Manes: TinyLFU, a highly efficient cache admission policy, 2017): rarely, a new name passes for an old one.
 */
export function createCaptures(keptAnswers: KeptAnswers, clock: Clock): Captures {
  const underWay = Array.from<Capture | undefined>({ length: underWayMax });
  const askedFor = new Uint32Array(askedForMax);

  /** Notes that it is asked for. @returns whether it was before. */
  function wasAskedFor(hash: number): boolean {
    const slot = hash % askedForMax;
    if (askedFor[slot] === hash) return true;
    askedFor[slot] = hash;
    return false;
  }

  return {
    join: (question) => underWay[hashOf(question.name) % underWayMax]?.join(question),
    begin({ name, needed }) {
      const hash = hashOf(name);
      const slot = hash % underWayMax;
      const capture = new Capture({
        ...{ name, needed },
        isWanted: keptAnswers.has(name) || wasAskedFor(hash),
        askedAtMs: clock.now().getTime(),
        end(answer) {
          if (answer !== undefined) keptAnswers.set(name, answer);
          if (underWay[slot] === capture) underWay[slot] = undefined;
        },
      });
      underWay[slot] = capture;
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

interface CaptureOptions extends Question {
  /** It was asked for before. Otherwise it is kept only if another call wants it before it comes: most URLs are asked for once. */
  isWanted: boolean;
  /** When it is asked for, in ms since 1970. */
  askedAtMs: number;
  /** Nobody can wait for it any longer. @param answer to be kept. */
  end(answer: KeptAnswer | undefined): void;
}

/** One answer under way. From when it is known that it is not kept, nobody waits for it. */
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

  /** Wants the answer kept, and waits for it. @returns undefined if it is another one, or may not include the state that is needed. */
  join({ name, needed }: Question): Promise<Outcome> | undefined {
    const own = this.#options;
    if (own.name !== name || !includes(own.needed, needed)) return undefined;
    own.isWanted = true;
    this.#waiting ??= Promise.withResolvers<Outcome>();
    return this.#waiting.promise;
  }

  /** @param validity the header. */
  onHead(status: number, head: readonly string[], validity: string | undefined): void {
    const { isWanted, needed, askedAtMs } = this.#options;
    const stated = isWanted && validity !== undefined ? parseValidity(validity) : undefined;
    this.#validity = stated && includes(stated.state, needed) ? stated : undefined;
    this.isOpen = status === 200 && this.#validity !== undefined && lengthOf(head) <= bodyBytesMax;
    if (this.isOpen) this.#head = head;
    // The client had the body already, which then is not known here.
    else if (status === 304 && this.#validity)
      this.#end(keptAnswer(head, undefined, this.#validity, askedAtMs));
    else this.end();
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
    this.#end(keptAnswer(this.#head, body, this.#validity, this.#options.askedAtMs));
  }

  /** Gives up, unless it has ended: the answer is cut off, or must not be kept. */
  end(outcome: 'unkept' | 'left' = 'unkept'): void {
    this.#end(undefined, outcome);
  }

  #end(answer?: KeptAnswer, outcome: Outcome = answer === undefined ? 'unkept' : 'kept'): void {
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
