// The HTTP server of a room: routes, identity, errors as envelopes, Server-Timing, health, a clean stop.
// Hides Express. A handler gets a parsed route and a Call; what it throws becomes the envelope, logged once.
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { Failure, fail, toEnvelope, toFailure } from './errors.ts';
import { anonymous, identityHeader, type Identity } from './identity.ts';
import type { Log } from './log.ts';

/** What a handler knows of the call beside the request itself. */
export interface Call {
  readonly requestId: string;
  readonly identity: Identity;
  /** Runs one stage of the handler and adds its time to the Server-Timing header. */
  stage<T>(name: string, work: () => Promise<T> | T): Promise<T>;
}

export type Handler = (request: Request, response: Response, call: Call) => Promise<void> | void;

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Express 5 syntax; the same path may stand once a method. */
  path: string;
  /** `client`: sent on by the gateway for a client. `internal`: the gateway's own call. */
  scope: Identity['scope'];
  handler: Handler;
  /** How long its body may be; 64 KB by default, 4 MB for the gateway's own calls. */
  bodyBytesMax?: number;
}

export interface RoomOptions {
  log: Log;
  routes: readonly Route[];
  /** Opens the gateway's identity token; a call without a valid one is refused. */
  openIdentity: (token: string | undefined) => Identity | null;
  /** Rejects while a dependency is missing: /readyz answers 503 then. */
  ready: () => Promise<void>;
  host: string;
  port: number;
}

/** A room that serves. */
export interface RunningRoom {
  /** `http://host:port`, no slash at the end. */
  url: string;
  /** Stops taking calls, lets those under way finish, then resolves. */
  close(): Promise<void>;
}

const bodyBytesMax = 64 * 1024;
const internalBodyBytesMax = 4 * 1024 * 1024; // the gateway's batches
// Longer than the gateway's idle time, so that the gateway never sends on a connection that is just being closed here.
const keepAliveTimeoutMs = 75_000;

/** Starts a room's server. @throws Error where the port is taken, saying so. */
export async function startRoom(options: RoomOptions): Promise<RunningRoom> {
  const server = createRoomServer(roomApp(options));
  server.keepAliveTimeout = keepAliveTimeoutMs;
  return { url: await listen(server, options.host, options.port), close: () => closeServer(server) };
}

/** Listens and gives the address. @throws Error that names the port and what to do where it is taken. */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new Error(
          `Port ${port} on ${host} is in use by another program. Stop it, or choose another: PORT=${port + 1}.`,
        ),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

/** Stops listening, closes idle connections, waits for requests under way. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
  server.closeIdleConnections();
  await closed;
}

/** Answers with JSON. */
export function sendJson(response: Response, status: number, body: unknown): void {
  response.status(status).type('application/json').send(JSON.stringify(body));
}

/**
 * A server whose requests and responses are Express's from the start. Express would change the prototype of each, and
 * Server-Timing the writeHead of each: Node then takes a slow way through all that follows, which doubles the cost of a
 * short answer (measured 2026-11-20: 33 µs against 23 µs of CPU, bare node:http 16 µs).
 */
function createRoomServer(app: express.Express): Server {
  class RoomRequest extends IncomingMessage {}
  class RoomResponse<Received extends IncomingMessage> extends ServerResponse<Received> {
    declare locals: Record<string, unknown> | undefined; // of Express

    override writeHead(...args: unknown[]): this {
      const timings = this.locals?.['timings'] as string[] | undefined;
      if (timings !== undefined && timings.length > 0) this.setHeader('server-timing', timings.join(', '));
      return (super.writeHead as (...args: unknown[]) => this)(...args);
    }
  }
  Object.setPrototypeOf(RoomRequest.prototype, app.request);
  Object.setPrototypeOf(RoomResponse.prototype, app.response);
  app.request = RoomRequest.prototype as express.Request;
  app.response = RoomResponse.prototype as unknown as express.Response;
  return createServer({ IncomingMessage: RoomRequest, ServerResponse: RoomResponse }, app);
}

function roomApp(options: RoomOptions): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag'); // a data response makes its own, strong one
  app.enable('case sensitive routing'); // one spelling of each address, as the gateway has it
  app.enable('strict routing');
  app.set('query parser', false); // queries are read by kernel/params.ts only
  app.get('/healthz', (_request, response) => sendJson(response, 200, { success: true }));
  app.get('/readyz', async (_request, response) => {
    await options.ready();
    sendJson(response, 200, { success: true });
  });
  app.use(openCall(options));
  const paths = new Map<string, Route[]>();
  for (const route of options.routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  for (const [path, routes] of paths) {
    for (const route of routes) mount(app, route);
    app.all(path, refuseMethod(routes));
  }
  app.use(() => fail('not_found', 'There is nothing at this address.'));
  app.use(renderFailure(options.log));
  return app;
}

function openCall(options: RoomOptions): RequestHandler {
  return function openIdentityAndTiming(request, response, next) {
    const token = request.headers[identityHeader];
    const identity = options.openIdentity(typeof token === 'string' ? token : undefined);
    const requestId = request.headers['x-request-id'];
    // The gateway takes no answer that does not say whose it is.
    if (typeof requestId === 'string') response.setHeader('x-request-id', requestId);
    const timings: string[] = [];
    const call: Call = {
      requestId: typeof requestId === 'string' ? requestId : '',
      identity: identity ?? anonymous,
      async stage(name, work) {
        const start = performance.now();
        try {
          return await work();
        } finally {
          timings.push(`${name};dur=${(performance.now() - start).toFixed(2)}`);
        }
      },
    };
    response.locals['call'] = call;
    response.locals['timings'] = timings;
    // Only the gateway can seal an identity: a call that came another way is refused, whatever it asks for.
    if (identity === null) fail('unauthorized', 'Calls come through the gateway.');
    next();
  };
}

function mount(app: express.Express, route: Route): void {
  const verb = route.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
  const steps: RequestHandler[] = [requireScope(route.scope)];
  if (verb === 'post' || verb === 'patch') {
    const limit = route.bodyBytesMax ?? (route.scope === 'internal' ? internalBodyBytesMax : bodyBytesMax);
    steps.push(requireJson, express.json({ limit }));
  }
  app[verb](route.path, ...steps, async (request: Request, response: Response) => {
    await route.handler(request, response, callOf(response));
  });
}

function requireScope(scope: Identity['scope']): RequestHandler {
  return function checkScope(_request, response, next) {
    if (callOf(response).identity.scope !== scope) fail('not_found', 'There is nothing at this address.');
    next();
  };
}

function requireJson(request: Request, _response: Response, next: NextFunction): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
  if (hasBody && request.is('application/json') === false) {
    fail('unsupported_media_type', 'The body must be JSON: send Content-Type: application/json.');
  }
  next();
}

function refuseMethod(routes: readonly Route[]): RequestHandler {
  const allowed = routes
    .flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]))
    .join(', ');
  return function checkMethod() {
    fail('method_not_allowed', `This address takes ${allowed}.`, { headers: { allow: allowed } });
  };
}

function renderFailure(log: Log) {
  // Express tells an error handler by its four parameters.
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const failure = fromBodyParser(thrown) ?? fromRouter(thrown) ?? toFailure(thrown);
    const requestId = (response.locals['call'] as Call | undefined)?.requestId ?? '';
    const entry = { request_id: requestId, code: failure.code, path: request.path, err: failure.detail };
    if (failure.status >= 500) log.error(entry, failure.message);
    else if (failure.detail !== undefined) log.info(entry, failure.message);
    if (response.headersSent) {
      response.destroy(); // mid-body there is no honest answer left but a cut
      return;
    }
    response.set(failure.headers);
    sendJson(response, failure.status, toEnvelope(failure, requestId === '' ? undefined : requestId));
  };
}

/** express.json throws http-errors with a `type`; they are the client's faults. */
function fromBodyParser(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof Error) || !('type' in thrown)) return undefined;
  if (thrown.type === 'entity.too.large') {
    const limit = 'limit' in thrown ? Number(thrown.limit) : bodyBytesMax;
    return new Failure('payload_too_large', `The body may have at most ${limit / 1024} KB.`);
  }
  const known = [
    'entity.parse.failed',
    'encoding.unsupported',
    'charset.unsupported',
    'request.size.invalid',
  ];
  if (!known.includes(String(thrown.type)) && thrown.type !== 'request.aborted') return undefined;
  return new Failure('invalid_body', 'The body is not valid JSON in UTF-8.');
}

/** The router throws this for a path that does not decode, such as `/v1/series/%E0%A4%A`. */
function fromRouter(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof URIError)) return undefined;
  return new Failure('invalid_request', 'The path has a % that begins no valid character.');
}

function callOf(response: Response): Call {
  return response.locals['call'] as Call;
}
