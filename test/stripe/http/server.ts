// The HTTP side of the fake of Stripe: key, version, form, Idempotency-Key, faults, and the answer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { Stripe } from 'stripe';
import { subscriptionRoutes } from '../billing.ts';
import { checkoutRoutes } from '../checkout.ts';
import { customerRoutes } from '../customers.ts';
import { eventRoutes } from '../delivery.ts';
import { invalid, StripeFailure } from './errors.ts';
import { parseForm, refuseOthers } from './form.ts';
import { invoiceRoutes } from '../invoices.ts';
import { portalRoutes, showPage } from '../pages.ts';
import { priceRoutes } from '../prices.ts';
import { createIdempotency, faultAnswer, type StoredAnswer, type Traps } from './requests.ts';
import { render, type Route } from './route.ts';
import type { World } from '../world.ts';

const routes: Route[] = [
  ...checkoutRoutes,
  ...customerRoutes,
  ...eventRoutes,
  ...invoiceRoutes,
  ...portalRoutes,
  ...priceRoutes,
  ...subscriptionRoutes,
];

/** A request as it came, and how it ended. */
export interface SeenRequest {
  method: string;
  path: string;
  query: string;
  body: string;
  idempotencyKey?: string;
  status: number | 'dropped';
}

export interface ServerOptions {
  world: World;
  apiKey: string;
  traps: Traps;
  /** Brings the world to the instant of now. */
  catchUp(): void;
  requests: SeenRequest[];
  /** Mistakes of the fake itself, thrown again when it is closed. */
  mistakes: unknown[];
}

export function createStripeServer(options: ServerOptions): Server {
  const idempotency = createIdempotency(options.world);
  return createServer((req, res) => {
    handle(options, idempotency, req, res).catch((error: unknown) => {
      options.mistakes.push(error);
      send(res, asAnswer(faultAnswer(500)), {});
    });
  });
}

async function handle(
  { world, apiKey, traps, catchUp, requests, mistakes }: ServerOptions,
  idempotency: ReturnType<typeof createIdempotency>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const method = req.method ?? 'GET';
  const url = new URL(req.url ?? '/', 'http://fake');
  const body = await readText(req);
  catchUp();
  if (!url.pathname.startsWith('/v1/')) return showPage(world, method, url.pathname, body, res);
  const key = header(req, 'idempotency-key');
  const seen: SeenRequest = {
    method,
    path: url.pathname,
    query: url.search,
    body,
    ...(key !== undefined && { idempotencyKey: key }),
    status: 'dropped',
  };
  requests.push(seen);
  const fault = traps.consumeFault(method, url.pathname);
  if (fault === 'hang') return;
  if (fault === 'drop-before') return void res.destroy();
  const requestId = world.newId('req');
  const headers: Record<string, string> = {
    'request-id': requestId,
    'stripe-version': Stripe.API_VERSION,
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  let answer: StoredAnswer;
  if (typeof fault === 'object' && fault.after !== true) answer = asAnswer(faultAnswer(fault.status));
  else {
    const found = await work();
    answer = found.answer;
    if (found.replayed) headers['idempotent-replayed'] = 'true';
    if (fault === 'drop-after') return void res.destroy();
    if (fault !== undefined) answer = asAnswer(faultAnswer(fault.status));
  }
  seen.status = answer.status;
  send(res, answer, headers);

  async function work(): Promise<{ answer: StoredAnswer; replayed?: boolean }> {
    let claim: ReturnType<typeof idempotency.begin> | undefined;
    try {
      checkClient(req, apiKey);
      if (method === 'POST' && key !== undefined) claim = idempotency.begin(key, url.pathname, body);
      if (claim && 'status' in claim) return { answer: claim, replayed: true };
      await traps.pass(method, url.pathname);
      world.request = { id: requestId, idempotency_key: key ?? null };
      const done = run(world, method, url, body);
      claim?.store(done);
      return { answer: done };
    } catch (error) {
      const failure = error instanceof StripeFailure ? error : faultAnswer(500);
      if (failure !== error) mistakes.push(error);
      const refused = asAnswer(failure);
      // A declined card is a result; a refused request has not begun.
      if (claim && 'store' in claim && failure.status === 402) claim.store(refused);
      else if (claim && 'forget' in claim) claim.forget();
      return { answer: refused };
    } finally {
      world.request = null;
    }
  }
}

function checkClient(req: IncomingMessage, apiKey: string): void {
  const given = header(req, 'authorization') ?? '';
  if (given !== `Bearer ${apiKey}`)
    throw invalid(given === '' ? 'You did not provide an API key.' : 'Invalid API Key provided.', {
      status: 401,
    });
  const version = header(req, 'stripe-version') ?? Stripe.API_VERSION;
  if (version !== Stripe.API_VERSION)
    throw invalid(`This fake answers only in the version ${Stripe.API_VERSION}, not in ${version}.`);
}

function run(world: World, method: string, url: URL, body: string): StoredAnswer {
  const form = parseForm(method === 'POST' ? body : url.search);
  for (const route of routes) {
    const id = route.method === method ? match(route.path, url.pathname) : undefined;
    if (id === undefined) continue;
    refuseOthers(form, route.accepts);
    const answer = render(world, route.run(world, form, id), form);
    return { status: 200, body: JSON.stringify(answer, null, 2) };
  }
  throw invalid(`Unrecognized request URL (${method}: ${url.pathname}).`, { status: 404 });
}

/** The id in the path, '' if the pattern has none; undefined if the path differs. */
export function match(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(':id');
  if (after === undefined) return path === pattern ? '' : undefined;
  const id = path.slice(before.length, path.length - after.length);
  const fits = path.startsWith(before) && path.endsWith(after) && /^[\w-]+$/.test(id);
  return fits ? id : undefined;
}

const asAnswer = ({ status, error }: StripeFailure): StoredAnswer => ({
  status,
  body: JSON.stringify({ error }, null, 2),
});

function send(res: ServerResponse, { status, body }: StoredAnswer, headers: Record<string, string>): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === 'string' ? value : undefined;
}
