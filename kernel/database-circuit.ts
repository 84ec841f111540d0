// The circuit breaker for PostgreSQL. A stalled server keeps its connections open but answers nothing. Waiting statements then fail, and later ones
// fail at once, until the server answers again.
import { Socket } from 'node:net';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from './log/log.ts';

/** Fails statements that wait for a stalled PostgreSQL. Its code is that of a broken connection. */
class DatabaseStalled extends Error {
  readonly code = '08006';

  constructor() {
    super('PostgreSQL does not answer.');
  }
}

export interface DatabaseCircuit {
  /** The client class for a pool: the circuit monitors its connections. */
  readonly Client: new (config?: string | pg.ClientConfig) => SteadyClient;
  /** Counts connections: all, those still connecting, and those without a running statement or transaction. */
  count(): { open: number; connecting: number; idle: number };
  close(): void;
}

// A single statement may be slow or wait for a lock. PostgreSQL counts as stalled only if a new connection is not answered either.
// On a loaded machine that takes a second or two, and opening the circuit ends every transaction.
const suspectAfterMs = 1_500;
const probeWithinMs = 3_000;
const checkEveryMs = 250;
const probeEveryMs = 500;

/**
 * A connection that may break at any time without ending the process; its waiting statements still receive the error. Sequelize listens for errors
 * only for part of a connection's life, and the server may close it before or after.
 * The socket is created here so that it can be broken at once: `end` would wait for a server that may be stalled.
 */
export class SteadyClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config?: string | pg.ClientConfig) {
    const socket = new Socket();
    const given = typeof config === 'string' ? { connectionString: config } : config;
    super({ ...keepAlive, ...given, stream: () => socket });
    this.#socket = socket;
    this.on('error', () => undefined);
  }

  /** Fails everything that waits on the connection. */
  cut(): void {
    this.#socket.destroy(new DatabaseStalled());
  }
}

/** Detects within half a minute that a server has vanished, for waits without a deadline, such as a load's. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * @param answerWithinMs the longest that any statement may take; detects a half-open connection, whose other end has vanished without closing it.
 * @param opensWhenStalled false: the circuit never opens, and statements wait as long as the server is stalled.
 */
export function createDatabaseCircuit(
  url: string,
  log: Log,
  answerWithinMs: number,
  opensWhenStalled = true,
): DatabaseCircuit {
  const clients = new Set<SteadyClient>();
  // Since when each waits: a statement may already run when `connect` is emitted.
  const connecting = new Map<SteadyClient, number>();
  const answering = new Map<SteadyClient, number>();
  let isOpen = false;
  let isProbing = false;
  let isClosed = false;
  let checks: NodeJS.Timeout | undefined;

  // Both methods have several forms, which are passed through unchanged; pg.Client's types define what they return.
  class WatchedClient extends SteadyClient {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      clients.add(this);
      this.once('connect', () => connecting.delete(this));
      this.on('drain', () => answering.delete(this));
      this.once('end', () => {
        for (const each of [clients, connecting, answering]) each.delete(this);
      });
    }

    override connect(...words: unknown[]): never {
      if (!isOpen) {
        note(connecting, this);
        return Reflect.apply(super.connect, this, words) as never;
      }
      clients.delete(this);
      const [callback] = words;
      if (typeof callback !== 'function') return Promise.reject(new DatabaseStalled()) as never;
      process.nextTick(callback, new DatabaseStalled());
      return undefined as never;
    }

    override query(...words: unknown[]): never {
      note(answering, this);
      return Reflect.apply(super.query, this, words) as never;
    }
  }

  function note(waiting: Map<SteadyClient, number>, client: SteadyClient): void {
    if (!waiting.has(client)) waiting.set(client, performance.now());
    checks ??= setInterval(check, checkEveryMs).unref();
  }

  function check(): void {
    const nowMs = performance.now();
    let longestMs = 0;
    for (const [client, sinceMs] of [...connecting, ...answering]) {
      longestMs = Math.max(longestMs, nowMs - sinceMs);
      if (nowMs - sinceMs > answerWithinMs) client.cut();
    }
    if (opensWhenStalled && longestMs > suspectAfterMs && !isProbing && !isOpen) void probe();
    if (connecting.size + answering.size > 0) return;
    clearInterval(checks);
    checks = undefined;
  }

  async function probe(): Promise<void> {
    isProbing = true;
    const isStalled = !(await answers(url));
    isProbing = false;
    if (isClosed) return;
    if (isOpen && !isStalled) log.info('PostgreSQL answers');
    if (isStalled && !isOpen) {
      log.warn('PostgreSQL does not answer: the circuit is open, and calls that need it fail');
      for (const client of clients) client.cut();
    }
    isOpen = isStalled;
    if (isOpen) setTimeout(() => void probe(), probeEveryMs).unref();
  }

  const isIdle = (client: SteadyClient): boolean =>
    !connecting.has(client) && !answering.has(client) && client.getTransactionStatus() === 'I';

  return {
    Client: WatchedClient,
    count: () => ({
      ...{ open: clients.size, connecting: connecting.size },
      idle: [...clients].filter(isIdle).length,
    }),
    close() {
      isClosed = true;
      clearInterval(checks);
    },
  };
}

/** Whether the server answers a new connection, even by refusing it. Statements that wait for a dead server fail without the circuit. */
async function answers(url: string): Promise<boolean> {
  const client = new SteadyClient({ connectionString: url, application_name: 'almanac probe' });
  const asking = { isAnswered: false };
  const asked = client
    .connect()
    .then(() => client.query('select'))
    .catch(() => undefined)
    .then(() => void (asking.isAnswered = true));
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([asked, new Promise((resolve) => (timer = setTimeout(resolve, probeWithinMs)))]);
  clearTimeout(timer);
  // If this process was busy, the answer may have arrived without having been read.
  for (let turn = 0; turn < 3 && !asking.isAnswered; turn += 1) await endOfTurn();
  client.cut();
  return asking.isAnswered;
}
