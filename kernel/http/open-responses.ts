// Tracks the responses of a server until each has emitted `close`: the current response of a connection, and whether any is open.
import type { Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';

// A property of the connection, whose list lives as long as the connection: a Map of Sets would leave its old tables to the garbage collector with
// each call.
const ofConnection = Symbol('responses');
type Connection = Duplex & { [ofConnection]?: ServerResponse[] };

/** The responses of a server that have not emitted `close`. */
export class OpenResponses {
  #count = 0;
  readonly #forget: (this: ServerResponse) => void;
  #whenNone: (() => void) | undefined;

  constructor(server: Server | TlsServer) {
    const forget = (response: ServerResponse) => this.#closed(response);
    this.#forget = function onClose() {
      forget(this);
    };
    server.on('request', (_request, response: ServerResponse) => this.add(response));
  }

  /** For a response to another event than `request`. */
  add(response: ServerResponse): void {
    const connection: Connection = response.req.socket;
    (connection[ofConnection] ??= []).push(response);
    this.#count += 1;
    response.on('close', this.#forget);
  }

  /** The response that the connection is sending, or will send next. */
  on(connection: Connection): ServerResponse | undefined {
    return connection[ofConnection]?.[0];
  }

  /** Resolves when all responses have closed. No other may begin. */
  async allClosed(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#whenNone = resolve));
  }

  #closed(response: ServerResponse): void {
    const { [ofConnection]: open = [] }: Connection = response.req.socket;
    open.splice(open.indexOf(response), 1);
    this.#count -= 1;
    if (this.#count === 0) this.#whenNone?.();
  }
}

const ofServers = new WeakMap<Server | TlsServer, OpenResponses>();

/** Tracks the responses of a server from now on. */
export function openResponses(server: Server | TlsServer): OpenResponses {
  const known = ofServers.get(server) ?? new OpenResponses(server);
  ofServers.set(server, known);
  return known;
}
