// The circuit breaker for PostgreSQL. A server that is stalled, not dead, keeps its connections open and answers nothing; what waits
// for it then fails, and what comes later fails at once, until it answers again. Hides the watch over connections, and the probes.
import { Socket } from 'node:net';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from './log/log.ts';

/** Fails what waits for PostgreSQL while it is stalled. Its code is that of a broken connection. */
class DatabaseStalled extends Error {
  readonly code = '08006';

  constructor() {
    super('PostgreSQL does not answer.');
  }
}

export interface DatabaseCircuit {
  /** For a pool: opens connections that are watched. */
  readonly Client: new (config?: string | pg.ClientConfig) => SteadyClient;
  /** Connections: all, those that are still being made, and those that have no statement or transaction under way. */
  count(): { open: number; connecting: number; idle: number };
  close(): void;
}

// A statement may be slow, or wait for a lock: only when a connection of its own is not answered either is PostgreSQL stalled.
const suspectAfterMs = 1_500;
const probeWithinMs = 1_500;
const checkEveryMs = 250;
const probeEveryMs = 500;

/**
 * A connection that may break at any moment without ending the process: whoever waits on it is told as well. Sequelize listens for errors
 * only from a moment after the connection is made until it discards it, and the server may say before and after that it ends.
 * Its socket is made here, so that it can be broken at once: `end` would wait for a server that may be stalled.
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

  /** Fails all that waits on the connection. */
  cut(): void {
    this.#socket.destroy(new DatabaseStalled());
  }
}

/** So that the machine notices within half a minute that a server has vanished which is waited for without a deadline, as by a load. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * @param answerWithinMs the longest that any statement may take, for a half-open connection: its other end has vanished without closing it.
 * @param opensWhenStalled false: the circuit never opens, and what waits for a stalled server waits so long.
 */
export function createDatabaseCircuit(
  url: string,
  log: Log,
  answerWithinMs: number,
  opensWhenStalled = true,
): DatabaseCircuit {
  const clients = new Set<SteadyClient>();
  // Since when, of those that wait: a statement may be under way when `connect` is emitted.
  const connecting = new Map<SteadyClient, number>();
  const answering = new Map<SteadyClient, number>();
  let isOpen = false;
  let isProbing = false;
  let isClosed = false;
  let checks: NodeJS.Timeout | undefined;

  // Both methods have several forms, which are passed on as they are: what they return is the business of pg.Client's types.
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

/** Whether the server answers a new connection, if only by refusing it: what waits for a dead one fails by itself. */
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
  // In a process that was busy for so long, the answer may be there and not read yet.
  for (let turn = 0; turn < 3 && !asking.isAnswered; turn += 1) await endOfTurn();
  client.cut();
  return asking.isAnswered;
}
