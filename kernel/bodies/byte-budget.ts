// Limits the memory that a process spends on request bodies. When it is exhausted, an unfinished body of the sender with the most memory is cut off,
// so that a sender of many unfinished bodies cannot lock out others.
import { Failure } from '../errors.ts';

export interface ByteBudget {
  /**
   * Opens an empty reservation.
   * @param sender identifies the sender, such as an IP address. @param onCut called when the bytes are given to another sender; without it, they
   * never are.
   */
  reserve(sender: string, onCut?: (why: Failure) => void): ByteReservation;
  /** The bytes currently reserved. */
  readonly bytes: number;
}

export interface ByteReservation {
  /**
   * @throws Failure `rate_limited` if this sender has too much, or `unavailable` if other senders use everything and none of their bodies is
   * unfinished.
   */
  grow(bytes: number): void;
  shrink(bytes: number): void;
  /** Marks the body as complete and in use: its bytes are never given to another sender. */
  arrived(): void;
  /** Returns all bytes. A second call has no effect. */
  release(): void;
}

interface Sender {
  /** The number of open bodies. */
  bodies: number;
  bytes: number;
  /** The sender's incomplete bodies, oldest first. */
  unfinished: Set<OpenReservation>;
  unfinishedBytes: number;
}

/** @param bytesMax for all senders together. @param perSenderMax for one sender. */
export function createByteBudget(bytesMax: number, perSenderMax: number = bytesMax / 2): ByteBudget {
  const senders = new Map<string, Sender>();
  let total = 0;

  /** Makes room for bytes of a body. @throws Failure if no other body can be cut off. */
  function makeRoom(own: Sender, reservation: OpenReservation, bytes: number): void {
    for (;;) {
      const isOver = own.bytes + bytes > perSenderMax;
      if (!isOver && total + bytes <= bytesMax) return;
      const from = isOver ? own : largest();
      const oldest = from?.unfinished.values().find((each) => each !== reservation);
      if (oldest === undefined) throw isOver || from === own ? tooMuch() : full();
      oldest.cut(tooMuch());
    }
  }

  /** The sender with the most bytes in unfinished bodies. */
  function largest(): Sender | undefined {
    let found: Sender | undefined;
    for (const each of senders.values())
      if (each.unfinishedBytes > (found?.unfinishedBytes ?? 0)) found = each;
    return found;
  }

  return {
    reserve(name, onCut) {
      const sender = senders.get(name) ?? { bodies: 0, bytes: 0, unfinished: new Set(), unfinishedBytes: 0 };
      sender.bodies += 1;
      senders.set(name, sender);
      return new OpenReservation(sender, onCut, {
        makeRoom,
        add: (bytes) => void (total += bytes),
        ended() {
          sender.bodies -= 1;
          if (sender.bodies === 0) senders.delete(name);
        },
      });
    },
    get bytes() {
      return total;
    },
  };
}

interface Ledger {
  makeRoom(own: Sender, reservation: OpenReservation, bytes: number): void;
  /** Adds to the total of all senders. */
  add(bytes: number): void;
  ended(): void;
}

class OpenReservation implements ByteReservation {
  #bytes = 0;
  #isReleased = false;
  readonly #sender: Sender;
  /** Undefined: the bytes are never given to another sender. */
  #onCut: ((why: Failure) => void) | undefined;
  readonly #ledger: Ledger;

  constructor(sender: Sender, onCut: ((why: Failure) => void) | undefined, ledger: Ledger) {
    this.#sender = sender;
    this.#onCut = onCut;
    this.#ledger = ledger;
    if (onCut !== undefined) sender.unfinished.add(this);
  }

  grow(bytes: number): void {
    this.#ledger.makeRoom(this.#sender, this, bytes);
    this.#add(bytes);
  }

  shrink(bytes: number): void {
    this.#add(-bytes);
  }

  arrived(): void {
    if (this.#onCut === undefined) return;
    this.#sender.unfinished.delete(this);
    this.#sender.unfinishedBytes -= this.#bytes;
    this.#onCut = undefined;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#add(-this.#bytes);
    this.#sender.unfinished.delete(this);
    this.#ledger.ended();
  }

  cut(why: Failure): void {
    this.release();
    this.#onCut?.(why);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#sender.bytes += bytes;
    if (this.#onCut !== undefined) this.#sender.unfinishedBytes += bytes;
    this.#ledger.add(bytes);
  }
}

// The connection is closed: the rest of an unread body would be read as the next request.
const headers = { 'retry-after': '1', connection: 'close' };

const tooMuch = () =>
  new Failure(
    'rate_limited',
    'Too many concurrent request bodies from your IP address. Send fewer at a time, and try again.',
    { headers },
  );

const full = () =>
  new Failure('unavailable', 'Too many concurrent request bodies at the moment. Try again in a second.', {
    headers,
  });
