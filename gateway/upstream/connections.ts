// Keep-alive connections to one instance of a service, with one request at a time on each. Decides when a connection can be reused and how long a
// service may be silent, and reports broken connections.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AnswerParser, BadAnswer, NotHttp, type AnswerHandler } from './answer-parser.ts';
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

// All connections read into this buffer in turn: its content is passed on before the next read.
const receiveBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** The connections to one instance of a service. */
export class UpstreamConnections {
  readonly address: { host: string; port: number; servername?: string };
  readonly isTls: boolean;
  readonly silenceMs: number;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = []; // the most recently used one is last, and is used next
  readonly #sweep: NodeJS.Timeout;

  /** @param url `http://host:port` or `https://host:port`. @param silenceMs how long the service may be silent, before its answer or within it. */
  constructor(url: string, silenceMs: number) {
    const { hostname, port, protocol } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.isTls = protocol === 'https:';
    this.address = {
      host,
      port: Number(port) || (this.isTls ? 443 : 80),
      ...(this.isTls && isIP(host) === 0 && { servername: host }),
    };
    this.silenceMs = silenceMs;
    const check = () => {
      const now = performance.now();
      for (const connection of this.#all) connection.check(now);
    };
    this.#sweep = setInterval(check, Math.min(1_000, Math.ceil(silenceMs / 10)));
    this.#sweep.unref();
  }

  /** @param request its complete head, as latin1, without a body. */
  send(method: 'GET' | 'HEAD', request: string, exchange: Exchange): Connection {
    let connection = this.#idle.pop();
    while (connection?.isOpen === false) connection = this.#idle.pop();
    if (connection === undefined) {
      connection = new Connection(this);
      this.#all.add(connection);
    }
    connection.send(method, request, exchange);
    return connection;
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const connection of this.#all) connection.destroy(new Error('The gateway closes its connections.'));
  }

  /** A connection can be used again. */
  freed(connection: Connection): void {
    this.#idle.push(connection);
  }

  /** A connection has closed. @param isBroken it broke, or was silent for too long, while it was in use. */
  closed(connection: Connection, isBroken: boolean): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (!isBroken) return;
    // An event that breaks a connection in use, such as a restart of the service, also breaks idle ones; if one is half-open, so are the others. The
    // next call opens a new one.
    for (const idle of this.#idle.splice(0))
      idle.destroy(new Error('Another connection to the service broke.'));
  }
}

/** With one request in flight at a time. */
export class Connection {
  readonly #pool: UpstreamConnections;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #parser: AnswerParser | undefined;
  #isConnected = false;
  #isPaused = false;
  #activeAtMs = performance.now();
  #idleMs = serviceIdleMs;
  #why: AttemptFailed['why'] = 'cut';
  #error: Error | undefined;

  constructor(pool: UpstreamConnections) {
    this.#pool = pool;
    const options = {
      ...pool.address,
      noDelay: true,
      keepAlive: true,
      // Avoids a stream, which allocates memory for each chunk.
      onread: { buffer: receiveBuffer, callback: (length: number) => this.#receive(length) },
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

  /** Stops reading, so that further bytes stay in the kernel. Silence is then not attributed to the service. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#activeAtMs = performance.now();
    this.#socket.resume();
  }

  /** Cuts the connection, because the client has left. The exchange is not called again. */
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
      const isAll = parser.read(receiveBuffer.subarray(0, length));
      if (parser.hasEnded) this.#free(parser, isAll);
    } catch (error) {
      const isAnswered = error instanceof BadAnswer && !(error instanceof NotHttp);
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
    const why = this.#isConnected ? this.#why : 'unsent';
    this.#pool.closed(this, this.#exchange !== undefined && (why === 'cut' || why === 'silent'));
    this.#exchange?.onFailed(new AttemptFailed(why, this.#error ?? new Error('The connection broke.')));
    this.#exchange = undefined;
  }
}
