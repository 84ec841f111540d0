// Keep-alive connections to one instance of a service, with one request at a time on each. Decides when a connection can be reused and how long a
// service may be silent, and reports broken connections.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AnswerParser, BadAnswer, NoAnswer, type AnswerHandler } from './answer-parser.ts';
import { atEndOfTurn } from '../event-loop/end-of-turn.ts';
import { connectWithinMs, serviceIdleMaxMs, serviceIdleMs } from '../timeouts.ts';

/** Why an attempt failed before or during its answer. */
export class AttemptFailed extends Error {
  /**
   * `unsent`: no byte reached the service. `silent`: it took too long. `cut`: the connection broke. `unusable`: the service answered something that
   * the gateway may not forward, so the instance is up.
   */
  readonly why: 'unsent' | 'silent' | 'cut' | 'unusable';

  constructor(why: AttemptFailed['why'], cause: Error) {
    super(cause.message, { cause });
    this.why = why;
  }
}

/** One request and its answer. If `onHead` or `onBody` throws, the connection is cut and `onFailed` receives the error. */
export interface Exchange extends AnswerHandler {
  onFailed(error: AttemptFailed): void;
}

/** A request in flight. */
export interface Sent {
  /** Stops reading, so that further bytes stay in the kernel. Silence is then not attributed to the service. */
  pause(): void;
  resume(): void;
  /** Cuts the connection, because the client has left. The exchange receives no more calls. */
  abort(): void;
}

export interface UpstreamConnections {
  /** @param request its complete head, as latin1, without a body. */
  send(method: 'GET' | 'HEAD', request: string, exchange: Exchange): Sent;
  close(): void;
}

// All connections read into this buffer in turn: its content is passed on before the next read.
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** @param url `http://host:port` or `https://host:port`. @param silenceMs how long the service may be silent, before its answer or within it. */
export function createUpstreamConnections(url: string, silenceMs: number): UpstreamConnections {
  const { hostname, port, protocol } = new URL(url);
  const isTls = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const address = {
    host,
    port: Number(port) || (isTls ? 443 : 80),
    ...(isTls && isIP(host) === 0 && { servername: host }),
  };
  const all = new Set<Connection>();
  const idle: Connection[] = []; // the most recently used one is last, and is used next
  const pool: Pool = {
    address,
    isTls,
    silenceMs,
    freed: (connection) => void idle.push(connection),
    closed(connection) {
      all.delete(connection);
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
    },
    broke() {
      // What broke a connection in use, such as a restart of the service, also broke the idle ones; if one is half-open, the others are too. The next
      // call opens a new one.
      for (const connection of idle.splice(0))
        connection.destroy(new Error('Another connection to the service broke.'));
    },
  };
  const sweep = setInterval(
    () => {
      const now = performance.now();
      for (const connection of all) connection.check(now);
    },
    Math.min(1_000, Math.ceil(silenceMs / 10)),
  );
  sweep.unref();
  return {
    send(method, request, exchange) {
      let connection = idle.pop();
      while (connection?.isOpen === false) connection = idle.pop();
      if (connection === undefined) {
        connection = new Connection(pool);
        all.add(connection);
      }
      connection.send(method, request, exchange);
      return connection;
    },
    close() {
      clearInterval(sweep);
      for (const connection of all) connection.destroy(new Error('The gateway closes its connections.'));
    },
  };
}

/** The part of the pool that a connection notifies. */
interface Pool {
  readonly address: { host: string; port: number; servername?: string };
  readonly isTls: boolean;
  readonly silenceMs: number;
  freed(connection: Connection): void;
  closed(connection: Connection): void;
  /** A connection in use broke or was silent for too long. */
  broke(): void;
}

class Connection implements Sent {
  readonly #pool: Pool;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #parser: AnswerParser | undefined;
  #isConnected = false;
  #isPaused = false;
  #activeAtMs = performance.now();
  #idleMs = serviceIdleMs;
  #why: AttemptFailed['why'] = 'cut';
  #error: Error | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
    const options = {
      ...pool.address,
      noDelay: true,
      keepAlive: true,
      // Avoids a stream, which allocates memory for each chunk.
      onread: { buffer: shared, callback: (length: number) => this.#receive(length) },
    };
    this.#socket = pool.isTls ? connectTls(options) : connect(options);
    this.#socket.once(pool.isTls ? 'secureConnect' : 'connect', () => void (this.#isConnected = true));
    this.#socket.once('error', (error) => void (this.#error ??= error));
    this.#socket.once('end', () => void (this.#error ??= new Error('The service closed the connection.')));
    this.#socket.once('close', () => this.#onClose());
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  send(method: string, request: string, exchange: Exchange): void {
    this.#exchange = exchange;
    this.#parser = new AnswerParser(exchange, method);
    this.#activeAtMs = performance.now();
    atEndOfTurn(() => {
      if (!this.#socket.destroyed) this.#socket.write(request, 'latin1');
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#activeAtMs = performance.now();
    this.#socket.resume();
  }

  abort(): void {
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  destroy(error: Error, why: AttemptFailed['why'] = 'cut'): void {
    this.#why = why;
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** Ends the connection if it has been silent for too long. */
  check(nowMs: number): void {
    const silentMs = nowMs - this.#activeAtMs;
    if (this.#exchange === undefined) {
      if (silentMs > this.#idleMs) this.#socket.destroy();
    } else if (!this.#isConnected) {
      if (silentMs > connectWithinMs) this.destroy(new Error('The service does not accept connections.'));
    } else if (silentMs > this.#pool.silenceMs && !this.#isPaused) {
      this.destroy(new Error('The service did not answer in time.'), 'silent');
    }
  }

  /** @returns false to pause reading. */
  #receive(length: number): boolean {
    const parser = this.#parser;
    this.#activeAtMs = performance.now();
    if (parser === undefined || this.#socket.destroyed) {
      this.#socket.destroy(); // nothing was requested on it
      return true;
    }
    try {
      const isAll = parser.read(shared.subarray(0, length));
      if (parser.hasEnded) this.#free(parser, isAll);
    } catch (error) {
      const isAnswered = error instanceof BadAnswer && !(error instanceof NoAnswer);
      this.destroy(
        error instanceof Error ? error : new Error(String(error)),
        isAnswered ? 'unusable' : 'cut',
      );
    }
    return !this.#isPaused;
  }

  /** The answer is complete. Bytes after it would be read as the answer to the next request. */
  #free(parser: AnswerParser, isAll: boolean): void {
    this.#exchange = undefined;
    this.#parser = undefined;
    this.resume();
    if (!isAll || parser.closes) {
      this.#socket.destroy();
      return;
    }
    const hintSeconds = Number(
      /(?:^|[ ,])timeout=(\d{1,6})/i.exec(parser.keepAlive ?? '')?.[1] ?? Number.NaN,
    );
    this.#idleMs = Number.isNaN(hintSeconds)
      ? serviceIdleMs
      : Math.min(serviceIdleMaxMs, (hintSeconds - 1) * 1000);
    this.#pool.freed(this);
  }

  #onClose(): void {
    this.#pool.closed(this);
    const why = this.#isConnected ? this.#why : 'unsent';
    if (this.#exchange !== undefined && (why === 'cut' || why === 'silent')) this.#pool.broke();
    this.#exchange?.onFailed(new AttemptFailed(why, this.#error ?? new Error('The connection broke.')));
    this.#exchange = undefined;
  }
}
