// The HTTP server of a service, on Express: routes, identity, error envelopes, Server-Timing, health, graceful shutdown. A handler receives a parsed
// route and a ServiceCall; whatever it throws becomes the envelope and is logged once.
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import express, { type Request, type Response } from 'express';
import { createBodyReader, type ReadBody, type RouteBody } from '../bodies/service-bodies.ts';
import type { ServiceCertificate } from './certificate.ts';
import { checkedWithin } from '../deadline.ts';
import { Failure, fail, toFailure } from '../errors.ts';
import { anonymous, identityHeader, type Identity, type Open } from '../identity.ts';
import type { Log } from '../log/log.ts';
import { createServiceMetrics, type RouteFigures, type ServiceMetrics } from '../metrics/service.ts';
import type { Span, Tracing } from '../tracing/tracing.ts';
import { inCall, type CallContext } from '../tracing/call-context.ts';
import { openResponses } from './open-responses.ts';
import { errorAnswer } from '../wire/error-form.ts';
import { sendBytes, sendJson } from './reply.ts';
import { createRouteTable } from './route-table.ts';

/** The stages of a handler, as named in `Server-Timing`; docs/architecture.md describes each. */
export type HandlerStage =
  'parse' | 'lookup' | 'sql' | 'facets' | 'related' | 'transform' | 'compute' | 'render';

/** What a handler can read about the call besides the request. */
export interface ServiceCall {
  readonly requestId: string;
  readonly identity: Identity;
  /** Runs one stage of the handler and adds its time to the Server-Timing header. */
  stage<T>(name: HandlerStage, work: () => Promise<T> | T): Promise<T>;
  /**
   * States that the answer changes at an instant even without new data: it names a future event, or depends on the day. @param atMs since 1970;
   * Infinity if it never does.
   */
  changesAt(atMs: number): void;
  /** The earliest of these instants, in ms since 1970; Infinity without one. */
  readonly changesAtMs: number;
  /**
   * Adds a header `x-almanac-*` for the gateway, which does not forward it.
   * @param valueOf is called when the head is written; if it returns undefined, the header is omitted.
   */
  sendToGateway(name: string, valueOf: () => string | undefined): void;
}

export type Handler = (request: Request, response: Response, call: ServiceCall) => Promise<void> | void;

export interface Route extends RouteBody {
  /** Such as `/v1/series/:id/latest`; a path may occur once per method. */
  path: string;
  handler: Handler;
  /** Refuses a call by its headers, before its body is read. @throws Failure. */
  admit?: ((request: Request) => void) | undefined;
}

type Server = HttpServer | TlsServer;

export interface ServiceOptions {
  log: Log;
  /** Counts the calls; without it they are not counted. */
  metrics?: ServiceMetrics;
  /** Continues the traces of the gateway's calls; without it calls are not traced. */
  tracing?: Tracing | undefined;
  routes: readonly Route[];
  /** The gateway's URL: errors link to its pages. By default the links are relative. */
  publicUrl?: string;
  /** Opens the gateway's identity token; a call without a valid token is refused. */
  openIdentity: Open;
  /** Rejects while a dependency is unavailable; /readyz then answers 503. */
  ready: () => Promise<void>;
  host: string;
  port: number;
  /** The setting of the port, named in an error message. */
  portSetting?: string;
  /** How long close() keeps serving after /readyz has changed to 503; 0 by default. */
  drainDelayMs?: number | undefined;
  /** The certificate for TLS. Undefined: plain HTTP. */
  certificate?: ServiceCertificate | undefined;
  /** How long a request may take to arrive; 0: the gateway decides. Default: 5 minutes. */
  requestWithinMs?: number;
  /** During a call, a connection without traffic for this long is closed; 310 s by default. */
  silentMs?: number;
  /** The memory limit of all request bodies together; 64 MB by default. */
  bodiesBytesMax?: number;
}

/** A running service. */
export interface RunningService {
  /** `http://host:port` or `https://host:port`, without a final slash. */
  url: string;
  /** Reports that it is not ready, serves for the drain delay, stops accepting calls, waits for running calls, then resolves. */
  close(): Promise<void>;
}

/** The limit for a client's URL and headers together. */
export const headBytesMax = 16 * 1024;
// The gateway adds less than 4 KB: the identity, the IP address, ids.
const serviceHeadBytesMax = headBytesMax + 16 * 1024;
/** The deadline of the answer to a probe. Gateways wait a little longer for it, and Kubernetes 2 s. */
export const readyWithinMs = 1_500;
// Longer than the gateway's idle time, so that the gateway never sends on a connection that is being closed here.
const keepAliveTimeoutMs = 75_000;
/** A gateway ends every answer within five minutes. A longer silence in both directions means that it has vanished. */
const silentMaxMs = 310_000;

/** Starts a service's server. @throws Error if the port is in use. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  let draining = false;
  const isReady = checkedWithin(readyWithinMs, options.ready);
  async function ready(): Promise<void> {
    if (draining) fail('unavailable', 'This service is stopping.');
    await isReady();
  }
  const server = createServiceServer(createAnswerer({ ...options, ready }), options.certificate);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.timeout = options.silentMs ?? silentMaxMs;
  server.requestTimeout = options.requestWithinMs ?? server.requestTimeout;
  return {
    url: await listen(server, options.host, options.port, options.portSetting),
    async close() {
      draining = true;
      endKeepAlive(server); // clients that keep calling during the delay are moved to another instance by each answer
      await pause(options.drainDelayMs ?? 0);
      await closeServer(server);
    },
  };
}

/**
 * Listens and returns the URL.
 * @param setting the name of the setting that defines the port.
 * @throws Error that names the port and the remedy if it is in use, or the invalid settings.
 */
export async function listen(server: Server, host: string, port: number, setting = 'PORT'): Promise<string> {
  openResponses(server); // tracks responses from the first one on
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message =
        error.code === 'EADDRINUSE'
          ? `Port ${port} on ${host} is in use by another program. Stop it, or choose another: ${setting}=${port + 1}.`
          : `Cannot listen on port ${port} of ${host} (see ${setting}): ${error.message}.`;
      reject(new Error(message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const scheme = server instanceof TlsServer ? 'https' : 'http';
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

/**
 * Checks that `listen` could listen there, before anything else is created. Port 0 is always free.
 * @throws Error as `listen`.
 */
export async function requireFreePort(host: string, port: number, setting?: string): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(probe, host, port, setting);
  await closeServer(probe);
}

const closeIdleEveryMs = 20;
/** Before a server closes that connections never cease to reach. */
const turnsMax = 1_000;

/**
 * Stops listening, and waits for running requests until each response has emitted `close`. Idle connections are closed. A request that still arrives
 * is answered with `Connection: close`; otherwise a client that keeps calling on one connection would prevent the server from ending.
 */
export async function closeServer(server: Server): Promise<void> {
  await acceptWaiting(server);
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
  endKeepAlive(server);
  server.closeIdleConnections();
  const sweep = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  await closed.finally(() => clearInterval(sweep));
  await openResponses(server).allClosed();
}

/** Accepts the connections that the system has already established, as it would reset them, and a write on one cannot be sent again. */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = false;
  const note = () => void (accepted = true);
  server.on('connection', note);
  // The first turn may end before it looks for connections, and a turn may accept only one.
  for (let turn = 0; turn < turnsMax && (turn < 2 || accepted); turn += 1) {
    accepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}

/** Adds `Connection: close` to every further answer. */
function endKeepAlive(server: Server): void {
  server.prependListener('request', (_request, response) => void (response.shouldKeepAlive = false));
}

/** One running call. */
class OpenCall implements ServiceCall, CallContext {
  readonly requestId: string;
  identity: Identity = anonymous;
  changesAtMs = Infinity;
  /** Undefined: the call is a probe, and is not counted. */
  route: RouteFigures | undefined;
  span: Span | undefined;
  readonly #metrics: ServiceMetrics;
  #timing = '';
  readonly #gatewayHeaders = new Map<string, () => string | undefined>();

  constructor(requestId: string, metrics: ServiceMetrics) {
    this.requestId = requestId;
    this.#metrics = metrics;
    this.route = metrics.other;
  }

  async stage<T>(name: HandlerStage, work: () => Promise<T> | T): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      const ms = performance.now() - start;
      this.#metrics.stage(name, ms / 1000);
      const duration = Math.round(ms * 100) / 100;
      this.#timing += `${this.#timing === '' ? '' : ', '}${name};dur=${duration}`;
    }
  }

  changesAt(atMs: number): void {
    this.changesAtMs = Math.min(this.changesAtMs, atMs);
  }

  sendToGateway(name: string, valueOf: () => string | undefined): void {
    this.#gatewayHeaders.set(name, valueOf);
  }

  ownHeaders(): string[] {
    // The gateway rejects an answer that does not name its request.
    const headers = this.requestId === '' ? [] : ['x-request-id', this.requestId];
    for (const [name, valueOf] of this.#gatewayHeaders) {
      const value = valueOf();
      if (value !== undefined) headers.push(name, value);
    }
    if (this.#timing !== '') headers.push('server-timing', this.#timing);
    return headers;
  }
}

/** The status that is counted if a client left before its answer began. */
const clientLeft = 499;

type Answerer = (request: Request, response: Response) => Promise<void>;

/**
 * An Express server without its routes: our own route table is faster (measured 2026-11-20: 33 µs of CPU for a short answer, bare node:http 16 µs).
 * @param certificate undefined: it serves plain HTTP.
 */
function createServiceServer(answer: Answerer, certificate: ServiceCertificate | undefined): Server {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', false); // kernel/http/params.ts parses queries
  app.use((request, response) => answer(request, response));
  const options = { maxHeaderSize: serviceHeadBytesMax };
  const onRequest = (received: IncomingMessage, sent: ServerResponse) => {
    const [request, response] = [received as Request, sent as Response]; // Express has extended both
    app(request, response, () => void answer(request, response)); // for a target in which Express finds no path
  };
  if (certificate === undefined) return createServer(options, onRequest);
  const server = createTlsServer({ ...options, ...certificate.current() }, onRequest);
  certificate.onRenewed((renewed) => server.setSecureContext(renewed));
  return server;
}

/** Answers each call; never rejects, as a failure is answered too. */
function createAnswerer(options: ServiceOptions): Answerer {
  const {
    log,
    publicUrl = '',
    openIdentity,
    ready,
    metrics = createServiceMetrics('service'),
    tracing,
  } = options;
  const bodyReader = createBodyReader(options.bodiesBytesMax);
  const find = createRouteTable(
    options.routes.map((route) => ({
      ...route,
      readBody: bodyReader(route),
      figures: metrics.ofRoute(route.method, route.path),
    })),
  );

  async function serve(request: Request, response: Response, path: string, call: OpenCall): Promise<void> {
    if (path === '/healthz' || path === '/readyz') call.route = undefined;
    if (path === '/healthz') return sendJson(response, 200, { success: true });
    const token = request.headers[identityHeader];
    const sealed = typeof token === 'string' ? token : undefined;
    const identity = openIdentity(sealed, request.method, request.url);
    // Anyone may ask whether the service is ready. A gateway asks with its identity, to learn whether its calls would be refused.
    if (path === '/readyz' && (token === undefined || identity !== null)) {
      await ready();
      return sendJson(response, 200, { success: true });
    }
    // Only the gateway can seal an identity; a call that bypasses the gateway is refused, whatever its path.
    if (identity === null) {
      metrics.identityRefused();
      if (sealed === undefined) return fail('unauthorized', 'Requests must come through the gateway.');
      const why = openIdentity.whyRefused(sealed);
      if (path === '/readyz') return refuseProbe(why);
      // A fault between the gateway and this service: a client's credentials cannot cause it.
      return fail('unavailable', 'The service is temporarily unavailable. Try again in a moment.', {
        detail: new Error(`The identity of the gateway was refused. ${why}`),
      });
    }
    call.identity = identity;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = find(path, method);
    if (found === null) return fail('not_found', 'No endpoint exists at this path.');
    const route = found.entries.get(method);
    if (route === undefined) return refuseMethod([...found.entries.keys()]);
    if (identity.scope !== route.scope) return fail('not_found', 'No endpoint exists at this path.');
    call.route = route.figures;
    if (tracing !== undefined) call.span = spanOf(tracing, request, route, call);
    request.params = found.params;
    route.admit?.(request);
    if (route.acceptsStream === true) return handleStream(route, request, response, call);
    await route.readBody?.(request, response);
    await route.handler(request, response, call);
  }

  /** If the service is not ready, it reports that instead: its own clock may be the wrong one. */
  async function refuseProbe(why: string): Promise<never> {
    await ready();
    return fail('unauthorized', why);
  }

  return async function answer(request, response) {
    const id = request.headers['x-request-id'];
    const startedAtMs = performance.now();
    const call = new OpenCall(typeof id === 'string' ? id : '', metrics);
    metrics.started();
    const end = request.url.indexOf('?');
    const path = end < 0 ? request.url : request.url.slice(0, end);
    await inCall(call, async () => {
      try {
        await serve(request, response, path, call);
      } catch (thrown) {
        const { code } = sendFailure(request, response, thrown, {
          ...{ log, publicUrl, path, requestId: call.requestId },
        });
        if (call.route !== undefined) metrics.failed(code);
      }
    });
    const status = response.headersSent ? response.statusCode : clientLeft;
    metrics.ended(call.route, status, (performance.now() - startedAtMs) / 1000);
    call.span?.end({ failed: status >= 500, attributes: { 'http.response.status_code': status } });
  };
}

/** Reads and drops the rest of a refused body: a sender that is still sending could not read the answer otherwise. */
async function handleStream(
  route: Route & { readBody: ReadBody | null },
  request: Request,
  response: Response,
  call: ServiceCall,
): Promise<void> {
  try {
    await route.readBody?.(request, response);
    await route.handler(request, response, call);
  } catch (error) {
    request.resume();
    await finished(request, { writable: false }).catch(() => undefined); // the client has left
    throw error;
  }
}

/** Undefined for an untraced request: a gateway begins a trace for each call, but none for requests that several calls share. */
function spanOf(tracing: Tracing, request: Request, route: Route, call: OpenCall): Span | undefined {
  const { traceparent } = request.headers;
  if (typeof traceparent !== 'string') return undefined;
  return tracing.begin(traceparent, {
    name: `${route.method} ${route.path}`,
    kind: 'server',
    attributes: {
      ...{ 'http.request.method': request.method, 'http.route': route.path },
      'almanac.request_id': call.requestId,
    },
  });
}

function refuseMethod(methods: readonly string[]): never {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return fail('method_not_allowed', `This path supports ${allowed}.`, { headers: { allow: allowed } });
}

function sendFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  { log, publicUrl, path, requestId }: { log: Log; publicUrl: string; path: string; requestId: string },
): Failure {
  const failure = fromPath(thrown) ?? toFailure(thrown);
  const entry = { request_id: requestId, code: failure.code, path, err: failure.detail };
  if (failure.status >= 500) log.error(entry, failure.message);
  else if (failure.detail !== undefined) log.info(entry, failure.message);
  if (response.headersSent) {
    response.destroy(); // within a body, only cutting the connection signals the failure
    return failure;
  }
  const named = { publicUrl, requestId: requestId === '' ? undefined : requestId };
  const { type, body } = errorAnswer(request.url, failure, named);
  const headers = { 'cache-control': 'no-store', ...failure.headers };
  sendBytes(response, { status: failure.status, type, headers, bytes: Buffer.from(body) });
  return failure;
}

/** A path that cannot be decoded, such as `/v1/series/%E0%A4%A`. */
function fromPath(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof URIError)) return undefined;
  return new Failure('invalid_request', 'The path contains an invalid percent-encoding.');
}
