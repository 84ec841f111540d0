// Connections to webhook receivers, kept alive for the next message for a few seconds. Each is used by one request at a time, belongs to one
// endpoint, and goes to an address that the request's own check has admitted.
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Client, type Dispatcher } from 'undici';
import { connectTo } from '../../../kernel/outbound/connect-to.ts';

/** How long an idle connection is kept: longer than the pauses of a busy endpoint, shorter than most servers keep a connection. */
const keptMs = 4_000;
const idleMax = 256;
const headBytesMax = 16 * 1024;

export interface Connection {
  /** Whether an earlier request was answered on it, so that its server may have closed it meanwhile. */
  readonly isReused: boolean;
  /** Sends a request, and reports the result to the handler. */
  post(request: Post, handler: Dispatcher.DispatchHandler): void;
  /** Closes it at once, even while it is connecting. */
  destroy(): void;
}

interface Post {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export interface Connections {
  /** A connection of the endpoint to one of the addresses, kept-alive or new. @param isNew whether it must be new. */
  acquire(endpoint: string, url: URL, addresses: readonly string[], isNew?: boolean): Connection;
  /** Keeps the connection for the next message; its answer has been read to the end. */
  release(connection: Connection): void;
  /** The number of idle connections. */
  readonly idle: number;
  /** Closes the idle connections, and keeps no further ones. */
  close(): void;
}

/** @param idleMs how long an idle connection is kept. */
export function openConnections(idleMs = keptMs): Connections {
  /** By endpoint and origin, in the order of their last use. */
  const pool = new Map<string, Connected[]>();
  let idle = 0;
  let isClosed = false;

  function forget(connection: Connected): void {
    const those = pool.get(connection.key);
    const index = those?.indexOf(connection) ?? -1;
    if (those === undefined || index < 0) return;
    those.splice(index, 1);
    idle -= 1;
    if (those.length === 0) pool.delete(connection.key);
  }

  return {
    acquire(endpoint, url, addresses, isNew = false) {
      const key = `${endpoint} ${url.origin}`;
      for (;;) {
        const connection = isNew ? undefined : pool.get(key)?.at(-1);
        if (connection === undefined) return new Connected(key, url, addresses, idleMs, forget);
        forget(connection);
        if (connection.mayGoTo(addresses)) return connection;
        connection.destroy();
      }
    },
    release(connection) {
      if (!(connection instanceof Connected)) throw new Error('This connection was not taken here.');
      if (isClosed || !connection.isOpen) return connection.destroy();
      connection.isReused = true;
      const those = pool.get(connection.key) ?? [];
      pool.delete(connection.key);
      pool.set(connection.key, [...those, connection]);
      idle += 1;
      const [oldest] = pool.values();
      if (idle <= idleMax || oldest?.[0] === undefined) return;
      const [first] = oldest;
      forget(first);
      first.destroy();
    },
    get idle() {
      return idle;
    },
    close() {
      isClosed = true;
      for (const connection of [...pool.values()].flat()) {
        forget(connection);
        connection.destroy();
      }
    },
  };
}

class Connected implements Connection {
  readonly key: string;
  isReused = false;
  readonly #client: Client;
  /** The addresses that the current request may go to. */
  #addresses: readonly string[];
  #socket: Socket | undefined;

  constructor(
    key: string,
    url: URL,
    addresses: readonly string[],
    idleMs: number,
    onClose: (connection: Connected) => void,
  ) {
    this.key = key;
    this.#addresses = addresses;
    this.#client = new Client(url.origin, {
      connect: (options, done) => void (this.#socket = connectTo(options, () => this.#addresses, done)),
      pipelining: 1,
      maxHeaderSize: headBytesMax,
      ...{ headersTimeout: 0, bodyTimeout: 0 }, // the deadline of an attempt covers all of it
      ...{ keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs },
    });
    this.#client.on('disconnect', () => onClose(this));
  }

  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#socket.destroyed && this.#socket.writable;
  }

  /** Whether it is connected to one of these addresses; a reconnection is limited to them too. */
  mayGoTo(addresses: readonly string[]): boolean {
    const address = this.#socket?.remoteAddress;
    if (!this.isOpen || address === undefined) return false;
    this.#addresses = addresses;
    return addresses.some((each) => each === address || normal(each) === normal(address));
  }

  post(request: Post, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch({ method: 'POST', ...request }, handler);
  }

  destroy(): void {
    this.#socket?.destroy();
    this.#client.destroy(null, () => undefined);
  }
}

/** An address in normalized form, as `::1` and `0:0:0:0:0:0:0:1` are the same. */
function normal(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}
