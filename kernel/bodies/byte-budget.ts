// Bounds the memory that a process spends on the bodies of requests. Hides which body gives way when memory runs out: an unfinished one of the
// sender that holds the most, so a sender of many unfinished bodies cannot keep out others.
import { Failure } from '../errors.ts';

export interface ByteBudget {
  /**
   * Opens an empty holding.
   * @param holder who sends them, such as an IP address. @param onCut the bytes were given to somebody else; without it, they never are.
   */
  hold(holder: string, onCut?: (why: Failure) => void): HeldBytes;
  /** Held now. */
  readonly bytes: number;
}

export interface HeldBytes {
  /** @throws Failure `rate_limited` if this holder has too much, or `unavailable` if others have it all, and nothing of theirs is unfinished. */
  grow(bytes: number): void;
  shrink(bytes: number): void;
  /** The body has arrived whole and is in use: its bytes are never given to another holder. */
  arrived(): void;
  /** Gives all bytes back. A second call does nothing. */
  release(): void;
}

interface Holder {
  /** How many of its bodies are open. */
  bodies: number;
  bytes: number;
  /** Those of its bodies that have not arrived whole, oldest first, and their bytes. */
  unfinished: Set<Held>;
  unfinishedBytes: number;
}

/** @param bytesMax of all holders. @param ofHolderMax of one. */
export function createByteBudget(bytesMax: number, ofHolderMax: number = bytesMax / 2): ByteBudget {
  const holders = new Map<string, Holder>();
  let total = 0;

  /** Makes room for bytes of a body. @throws Failure if nothing else gives way. */
  function makeRoom(own: Holder, held: Held, bytes: number): void {
    for (;;) {
      const isOver = own.bytes + bytes > ofHolderMax;
      if (!isOver && total + bytes <= bytesMax) return;
      const from = isOver ? own : largest();
      const oldest = from?.unfinished.values().find((each) => each !== held);
      if (oldest === undefined) throw isOver || from === own ? tooMuch() : full();
      oldest.cut(tooMuch());
    }
  }

  /** Who has the most bytes that may be given to somebody else. */
  function largest(): Holder | undefined {
    let found: Holder | undefined;
    for (const each of holders.values())
      if (each.unfinishedBytes > (found?.unfinishedBytes ?? 0)) found = each;
    return found;
  }

  return {
    hold(name, onCut) {
      const holder = holders.get(name) ?? { bodies: 0, bytes: 0, unfinished: new Set(), unfinishedBytes: 0 };
      holder.bodies += 1;
      holders.set(name, holder);
      return new Held(holder, onCut, {
        makeRoom,
        add: (bytes) => void (total += bytes),
        ended() {
          holder.bodies -= 1;
          if (holder.bodies === 0) holders.delete(name);
        },
      });
    },
    get bytes() {
      return total;
    },
  };
}

interface Ledger {
  makeRoom(own: Holder, held: Held, bytes: number): void;
  /** To the sum of all holders. */
  add(bytes: number): void;
  ended(): void;
}

class Held implements HeldBytes {
  #bytes = 0;
  #isReleased = false;
  readonly #holder: Holder;
  /** Undefined: the bytes are not given to anybody else. */
  #onCut: ((why: Failure) => void) | undefined;
  readonly #ledger: Ledger;

  constructor(holder: Holder, onCut: ((why: Failure) => void) | undefined, ledger: Ledger) {
    this.#holder = holder;
    this.#onCut = onCut;
    this.#ledger = ledger;
    if (onCut !== undefined) holder.unfinished.add(this);
  }

  grow(bytes: number): void {
    this.#ledger.makeRoom(this.#holder, this, bytes);
    this.#add(bytes);
  }

  shrink(bytes: number): void {
    this.#add(-bytes);
  }

  arrived(): void {
    if (this.#onCut === undefined) return;
    this.#holder.unfinished.delete(this);
    this.#holder.unfinishedBytes -= this.#bytes;
    this.#onCut = undefined;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#add(-this.#bytes);
    this.#holder.unfinished.delete(this);
    this.#ledger.ended();
  }

  cut(why: Failure): void {
    this.release();
    this.#onCut?.(why);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#holder.bytes += bytes;
    if (this.#onCut !== undefined) this.#holder.unfinishedBytes += bytes;
    this.#ledger.add(bytes);
  }
}

// The rest of a body that is not read would be taken for the next request.
const headers = { 'retry-after': '1', connection: 'close' };

const tooMuch = () =>
  new Failure(
    'rate_limited',
    'Too many request bodies are under way from your IP address at once. Send fewer at a time, and try again.',
    { headers },
  );

const full = () =>
  new Failure('unavailable', 'Too many request bodies are under way at the moment. Try again in a second.', {
    headers,
  });
