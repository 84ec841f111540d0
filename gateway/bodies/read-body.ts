// Reads the whole body of a request into one buffer that grows as bytes arrive, so that small chunks use no uncounted memory. Reading ends early if
// the client leaves, the body is too long, or the memory budget is exhausted.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import { Failure } from '../../kernel/errors.ts';
import type { ByteBudget, ByteReservation } from '../../kernel/bodies/byte-budget.ts';
import { limitKey } from '../../kernel/ip.ts';
import { whenClosed, type Call } from '../call.ts';

const none = Buffer.alloc(0);
const firstBytes = 4 * 1024;

/**
 * `framing` has already refused bodies with an excessive Content-Length; longer ones without the header are refused here.
 * @throws Failure `payload_too_large`; `rate_limited` or `unavailable` if the budget is exhausted. The bytes count against the budget until the
 * response has closed.
 */
export function readBody(
  budget: ByteBudget,
  request: IncomingMessage,
  response: ServerResponse,
  call: Call,
): Promise<Buffer> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (request.headers['transfer-encoding'] === undefined && length === 0) return Promise.resolve(none);
  return new Promise((resolve, reject) => {
    const reservation = budget.reserve(limitKey(call.clientIp), refuse);
    whenClosed(call, response, () => reservation.release());
    const body = new GrowingBody(reservation, length > 0 ? length : call.bodyBytesMax);
    const forget = finished(request, { writable: false }, (error) => {
      request.off('data', add);
      if (error != null) return reject(error);
      reservation.arrived();
      resolve(body.whole());
    });

    function add(chunk: Buffer): void {
      if (body.length + chunk.length > call.bodyBytesMax)
        return refuse(tooLong(call, { connection: 'close' }));
      try {
        body.add(chunk);
      } catch (error) {
        refuse(error);
      }
    }

    /** The rest is read and dropped, so that a client that is still sending can read the error. */
    function refuse(error: unknown): void {
      forget();
      request.off('data', add);
      request.resume();
      reservation.release();
      reject(error instanceof Error ? error : new Error(String(error)));
    }

    request.on('data', add);
  });
}

class GrowingBody {
  length = 0;
  #bytes = none;
  readonly #reservation: ByteReservation;
  readonly #bytesMax: number;

  /** @param bytesMax the limit of the capacity. */
  constructor(reservation: ByteReservation, bytesMax: number) {
    this.#reservation = reservation;
    this.#bytesMax = bytesMax;
  }

  /** @throws Failure if the budget is exhausted. */
  add(chunk: Buffer): void {
    if (this.length + chunk.length > this.#bytes.length) this.#enlarge(this.length + chunk.length);
    this.length += chunk.copy(this.#bytes, this.length);
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #enlarge(needed: number): void {
    const former = this.#bytes;
    const size = Math.min(this.#bytesMax, Math.max(firstBytes, needed, 2 * former.length));
    this.#reservation.grow(size);
    this.#bytes = Buffer.allocUnsafeSlow(size);
    former.copy(this.#bytes, 0, 0, this.length);
    this.#reservation.shrink(former.length);
  }
}

const mb = 1024 * 1024;

/** The error for a body that is longer than the call allows. */
export function tooLong({ bodyBytesMax: bytes }: Call, headers: Record<string, string>): Failure {
  const limit = bytes % mb === 0 ? `${bytes / mb} MB` : `${bytes / 1024} KB`;
  return new Failure('payload_too_large', `The body must be at most ${limit}.`, { headers });
}
