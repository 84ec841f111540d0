// Follows the responses of a server until each has emitted `close`: which of them a connection sends, and whether any is open.
import type { Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';

/** The responses of a server that have not emitted `close`. */
export class OpenResponses {
  /** By connection, in the order of their requests. */
  readonly #open = new Map<Duplex, Set<ServerResponse>>();
  readonly #forget: (this: ServerResponse) => void;
  #whenNone: (() => void) | undefined;

  constructor(server: Server | TlsServer) {
    const forget = (response: ServerResponse) => this.#closed(response);
    this.#forget = function onClose() {
      forget(this);
    };
    server.on('request', (_request, response: ServerResponse) => this.add(response));
  }

  /** For a response that comes with another event than `request`. */
  add(response: ServerResponse): void {
    const { socket } = response.req;
    const others = this.#open.get(socket);
    if (others === undefined) this.#open.set(socket, new Set([response]));
    else others.add(response);
    response.on('close', this.#forget);
  }

  /** The response that the connection sends, or is about to. */
  on(connection: Duplex): ServerResponse | undefined {
    const [first] = this.#open.get(connection) ?? [];
    return first;
  }

  /** Resolves when there is none; no other may come. */
  async allClosed(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#whenNone = resolve));
  }

  #closed(response: ServerResponse): void {
    const { socket } = response.req;
    const others = this.#open.get(socket);
    others?.delete(response);
    if (others?.size === 0) this.#open.delete(socket);
    if (this.#open.size === 0) this.#whenNone?.();
  }
}

const ofServers = new WeakMap<Server | TlsServer, OpenResponses>();

/** Follows the responses of a server from now on. */
export function openResponses(server: Server | TlsServer): OpenResponses {
  const known = ofServers.get(server) ?? new OpenResponses(server);
  ofServers.set(server, known);
  return known;
}
