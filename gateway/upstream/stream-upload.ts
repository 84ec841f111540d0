// Streams the body of an upload from the client to a service: counts and times it without buffering it whole. The rest of a refused body is read and
// dropped, so that its sender can read the error.
import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { Failure } from '../../kernel/errors.ts';
import { callOf, type Call } from '../call.ts';
import { tooLong } from '../bodies/read-body.ts';

/** The rate at which a body of the longest accepted size still arrives before the deadline. */
const slowestBytesPerSecond = 256 * 1024;

export class Upload extends Transform {
  /** Why the body is not forwarded to its end. */
  failure: Failure | undefined;
  #bytes = 0;
  readonly #call: Call;

  /** @param withinMs allowed in addition to the time for a body of the longest accepted size. */
  constructor(request: IncomingMessage, withinMs: number) {
    super();
    this.#call = callOf(request);
    const lateMs = withinMs + (this.#call.bodyBytesMax / slowestBytesPerSecond) * 1_000;
    const timer = setTimeout(() => {
      if (this.destroyed) request.destroy();
      else this.#refuse(late());
    }, lateMs);
    request.once('close', () => {
      clearTimeout(timer);
      if (!request.complete) this.destroy();
    });
    this.once('error', () => undefined); // reported through `failure`, or the client has left
    this.once('close', () => request.resume());
    request.pipe(this);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#call.bodyBytesMax) done(null, chunk);
    else this.#refuse(tooLong(this.#call, {}));
  }

  #refuse(failure: Failure): void {
    this.failure = failure;
    this.destroy(failure);
  }
}

const late = () =>
  new Failure('request_timeout', 'The request did not arrive in time.', { headers: { connection: 'close' } });
