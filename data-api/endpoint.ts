// Declares the endpoints of this service and runs their calls: parses the query, calls the handler, which decides the answer, and leaves
// the rest to `answer`. A call restarts if a load rewrites its series meanwhile.
import type { Response } from 'express';
import { z } from 'zod';
import { fail, type ErrorCode } from '../kernel/errors.ts';
import { answer, type Caching, type Reply } from '../kernel/http/answer.ts';
import {
  formatsOf,
  mediaTypes,
  negotiate,
  readFields,
  readQuery,
  type Declaration,
  type Format,
} from '../kernel/http/endpoint.ts';
import { ofBody } from '../kernel/http/fields.ts';
import { validityHeader, validityText } from '../kernel/http/validity.ts';
import type { Handler, Route, ServiceCall } from '../kernel/http/server.ts';
import { dependenciesAsOf, cachedByDay } from './as-of/dependencies.ts';
import { presentOf, type Dependencies } from './dependencies.ts';
import { readNewestLoad } from './loads.sql.ts';
import { requireNotFuture } from './pin.ts';
import { FactsChanged, HistoryRewritten } from './series/stored/points.ts';

/** A call, as passed to its handler. */
export interface Asked<Query> {
  query: Query;
  /** Path parameters. */
  params: Readonly<Record<string, string>>;
  call: ServiceCall;
  /** The URL as received, if the answer depends on the client's spelling. */
  url: string;
  /** Whether cached facts may be used before a statement confirms that they are current. */
  mayUseCached: boolean;
}

interface EndpointOf<Shape extends z.ZodRawShape> {
  summary: string;
  params?: Readonly<Record<string, z.ZodType>>;
  /** `POST`: the parameters are the fields of a JSON body, and the URL has none. Default `GET`. */
  method?: 'GET' | 'POST';
  /** The maximum size of that body; 64 KB by default. */
  bodyBytesMax?: number;
  /** The parameters; none by default. */
  query?: Shape;
  /** The schema of the JSON answer; an endpoint without JSON answers has a `format`. */
  json?: z.ZodType;
  /** The schema of its answers in CSL-JSON, if `format` has it. */
  csl?: z.ZodType;
  /** The only format of its answers, if no parameter `format` chooses one. */
  format?: Format;
  /** The formats of its answers, where a parameter that is not named `format` chooses between them; the Accept header does not. */
  formats?: readonly Format[];
  /** Default `private`. */
  caching?: Caching;
  /** Errors besides those for invalid parameters. */
  errors?: readonly ErrorCode[];
  /** Headers that an answer may have, besides those of every answer. */
  headers?: readonly string[];
  /** Decides the answer. */
  handler: (dependencies: Dependencies, asked: Asked<z.output<z.ZodObject<Shape>>>) => Promise<Reply>;
}

/** An endpoint's declaration and its handler. */
export interface Endpoint extends Declaration {
  method: 'GET' | 'POST';
  bodyBytesMax: number | undefined;
  handler: (dependencies: Dependencies) => Handler;
}

/** Declares an endpoint that reads. */
export function endpoint<Shape extends z.ZodRawShape>(declared: EndpointOf<Shape>): Endpoint {
  const { summary, params, caching = 'private', errors = [], headers = [], handler } = declared;
  const { method = 'GET', bodyBytesMax } = declared;
  const query = z.object(declared.query ?? ({} as Shape));
  const read = method === 'POST' ? readFields : readQuery;
  const formats = declared.formats ?? (declared.format === undefined ? formatsOf(query) : [declared.format]);
  const [byDefault = null] = declared.formats ?? [];
  const content = Object.fromEntries(
    formats.map((format) => [mediaTypes[format], schemaIn(format, declared)]),
  );
  const validators = caching === 'none' ? [] : ['ETag', 'Last-Modified'];
  const isFile = formats.some((format) => format !== 'json' && format !== 'xml' && format !== 'atom');
  const files = isFile ? ['Content-Disposition'] : [];
  const pages = Object.hasOwn(query.shape, 'cursor') ? ['Link'] : [];
  return {
    summary,
    params,
    method,
    bodyBytesMax,
    ...(method === 'POST' ? { query: z.object({}), body: z.strictObject(query.shape) } : { query }),
    answers: [
      {
        status: 200,
        description: summary,
        content,
        headers: [...validators, ...files, ...pages, ...headers],
      },
    ],
    errors: [...(Object.hasOwn(query.shape, 'cursor') ? (['invalid_cursor'] as const) : []), ...errors],
    handler(dependencies) {
      const { asOf } = dependencies;
      // A shared cache does not know which key an answer is for.
      const effectiveCaching = asOf !== null && caching === 'public' ? 'private' : caching;
      return async (request, response, call) => {
        const format = byDefault ?? negotiate(request, formats);
        if (caching !== 'none') sendValidity(dependencies, call);
        const asked = await call.stage('parse', () => read(query, request, format, formats));
        const { url } = request;
        const params = request.params as Record<string, string>;
        // A client that already has an answer may be answered without a read.
        const isConditional = request.headers['if-none-match'] !== undefined;
        const cacheOptions = { edition: await editionFor(dependencies), caching: effectiveCaching };
        await retryUntilConsistent(response, isPinned(asked), async (attempt) => {
          const mayUseCached = attempt === 1 && !isConditional;
          const all = { query: asked, params, call, url, mayUseCached };
          const reply = await handler(dependencies, all).catch((error: unknown) => {
            throw method === 'POST' ? ofBody(error) : error;
          });
          await answer(request, response, reply, cacheOptions);
        });
      };
    },
  };
}

/** Later loads also change answers as of a day: by erasures, and by facts without a history. Versions as of the day do not reflect them. */
async function editionFor({ edition, present }: Dependencies): Promise<string> {
  return present === null ? edition : `${edition} at ${await readNewestLoad(present.database)}`;
}

/** How many times a call is attempted if loads keep rewriting its series while it reads them. */
const attemptsMax = 5;

/**
 * Answers a call. It restarts with the current facts if the cached ones are stale; and with the new state if a load rewrites a series
 * between look-up and reading, unless the client has requested a state.
 */
async function retryUntilConsistent(
  response: Response,
  isPinned: boolean,
  work: (attempt: number) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const restarts = error instanceof FactsChanged || (error instanceof HistoryRewritten && !isPinned);
      if (!restarts || response.headersSent) throw error;
      if (attempt === attemptsMax)
        fail('unavailable', 'Loads change the data faster than they can be read. Try again.', {
          headers: { 'retry-after': '2' },
          detail: error,
        });
    }
  }
}

/** Whether the client has requested a state of the data, by a cursor or a version. */
function isPinned(query: { cursor?: unknown; version?: unknown }): boolean {
  return query.cursor !== undefined || query.version !== undefined;
}

/** The schema of the answers in a format: text, unless it is JSON of some kind. */
function schemaIn(
  format: Format,
  declared: { json?: z.ZodType; csl?: z.ZodType; summary: string },
): z.ZodType {
  if (format !== 'json' && format !== 'csl') return z.string();
  const schema = declared[format];
  if (schema === undefined)
    throw new TypeError(`an endpoint without a schema of its ${format}: ${declared.summary}`);
  return schema;
}

/** Sets until when the gateway may cache the answer. Call it before anything is read for the answer. */
function sendValidity(dependencies: Dependencies, call: ServiceCall): void {
  const { clock, loads } = presentOf(dependencies);
  const state = loads.known(); // the answer includes it
  if (state === undefined) return;
  call.sendToGateway(validityHeader, () => {
    const forMs = call.changesAtMs - clock.now().getTime();
    return forMs > 0 ? validityText({ state, forMs }) : undefined;
  });
}

/** The endpoints as routes of the server. */
export function toRoutes(endpoints: Readonly<Record<string, Endpoint>>, dependencies: Dependencies): Route[] {
  const asOfDay = cachedByDay((day) => dependenciesAsOf(dependencies, day));
  return Object.entries(endpoints).map(([path, endpoint]) => ({
    method: endpoint.method,
    path,
    bodyBytesMax: endpoint.bodyBytesMax,
    scope: 'client',
    handler: handlerOf(endpoint, dependencies, asOfDay),
  }));
}

/** Answers calls with a key that is pinned to a day as of that day. */
function handlerOf(
  { handler }: Endpoint,
  dependencies: Dependencies,
  asOfDay: (day: string) => Dependencies,
): Handler {
  const ofNow = handler(dependencies);
  const ofDay = cachedByDay((day) => ({ answer: handler(asOfDay(day)) }));
  return (request, response, call) => {
    const { asOf } = call.identity;
    if (asOf === null) return ofNow(request, response, call);
    requireNotFuture(asOf, dependencies);
    response.setHeader('x-as-of', asOf);
    return ofDay(asOf).answer(request, response, call);
  };
}
