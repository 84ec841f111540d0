// How an endpoint of this service is declared, and how a call of it goes: who asks, what is asked, the handler, the answer.
// Hides the checks of a request, and that answers about an account are never cached.
import type { Request } from 'express';
import { z } from 'zod';
import type { ErrorCode } from '../kernel/errors.ts';
import { answer, type Caching, type Reply } from '../kernel/http/answer.ts';
import {
  formatsOf,
  mediaTypes,
  negotiate,
  readQuery,
  type Declaration,
  type DeclaredAnswer,
} from '../kernel/http/endpoint.ts';
import { listOf, oneOf, renderList, rowOf, type Row } from '../kernel/http/list.ts';
import { parseBody } from '../kernel/http/params.ts';
import type { Handler, ServiceCall } from '../kernel/http/server.ts';
import { requesterOf, signedInOf, type Requester, type SignedIn } from './requester.ts';

/** Who may ask: anybody · whoever has a key or a session of an account · whoever has signed in. */
const requesters = { anyone: () => null, account: requesterOf, signed_in: signedInOf };
type RequesterKind = keyof typeof requesters;
type RequesterOf<Kind> = Kind extends 'signed_in' ? SignedIn : Kind extends 'account' ? Requester : null;

/** What a handler is asked. */
export interface Asked<Query, Body, Who> {
  requester: Who;
  query: Query;
  body: Body;
  /** Of the path. */
  params: Readonly<Record<string, string>>;
  call: ServiceCall;
  /** For its headers. */
  request: Request;
}

/** An answer without a body. */
interface Empty {
  status: 204 | 302;
  headers?: Readonly<Record<string, string>>;
}

interface EndpointOf<
  Deps,
  Kind extends RequesterKind,
  Shape extends z.ZodRawShape,
  Body extends z.ZodType | undefined,
> {
  summary: string;
  description?: string;
  params?: Readonly<Record<string, z.ZodType>>;
  requester: Kind;
  /** Its parameters; none by default. */
  query?: Shape;
  body?: Body;
  /** status → the `data` of the answer; null: no body. */
  answers?: Readonly<Record<number, z.ZodType | null>>;
  /** Where the answer is a list: a row of it. */
  rows?: z.ZodObject;
  caching?: Caching;
  /** What it refuses, beside wrong parameters and bodies. */
  errors?: readonly ErrorCode[];
  headers?: readonly string[];
  handler: (
    deps: Deps,
  ) => (
    asked: Asked<
      z.output<z.ZodObject<Shape>>,
      Body extends z.ZodType ? z.output<Body> : undefined,
      RequesterOf<Kind>
    >,
  ) => Promise<Reply | Empty>;
}

/** An endpoint as it is declared, and what serves it. */
export interface Endpoint<Deps> extends Declaration {
  requester: RequesterKind;
  handler: (deps: Deps) => Handler;
}

/** Declares an endpoint. */
export function endpoint<
  Deps,
  Kind extends RequesterKind,
  Shape extends z.ZodRawShape,
  Body extends z.ZodType | undefined = undefined,
>(declared: EndpointOf<Deps, Kind, Shape, Body>): Endpoint<Deps> {
  const { summary, description, params, requester, body, errors = [], handler } = declared;
  const query = z.object(declared.query ?? ({} as Shape));
  const formats = formatsOf(query);
  return {
    summary,
    description,
    params,
    requester,
    query,
    body,
    answers: answersOf(declared, query),
    errors: [
      ...(Object.hasOwn(query.shape, 'cursor') ? ['invalid_cursor' as const] : []),
      ...(body === undefined ? [] : ['invalid_body' as const, 'unsupported_media_type' as const]),
      ...(requester === 'signed_in' ? ['forbidden' as const] : []),
      ...errors,
    ],
    handler(deps) {
      const decide = handler(deps);
      return async (request, response, call) => {
        const who = requesters[requester](call) as RequesterOf<Kind>;
        const asked = await call.stage('parse', () => ({
          requester: who,
          query: readQuery(query, request, negotiate(request, formats)),
          body: (body === undefined ? undefined : parseBody(body, request.body)) as Parameters<
            typeof decide
          >[0]['body'],
          params: request.params as Record<string, string>,
          call,
          request,
        }));
        const reply = await decide(asked);
        if ('read' in reply) await answer(request, response, reply);
        else
          response
            .set({ 'cache-control': 'no-store', ...reply.headers })
            .status(reply.status)
            .end();
      };
    },
  };
}

function answersOf(
  {
    summary,
    answers = {},
    rows,
    caching = 'none',
    headers = [],
  }: Pick<
    EndpointOf<never, RequesterKind, z.ZodRawShape, undefined>,
    'summary' | 'answers' | 'rows' | 'caching' | 'headers'
  >,
  query: z.ZodObject,
): DeclaredAnswer[] {
  const validators = caching === 'none' ? [] : ['ETag'];
  if (rows === undefined) {
    return Object.entries(answers).map(([status, data]) => ({
      status: Number(status),
      description: summary,
      ...(data === null ? {} : { content: { 'application/json': oneOf(data) } }),
      headers: [...validators, ...headers],
    }));
  }
  const formats = formatsOf(query);
  const content = formats.map((format) => [
    mediaTypes[format],
    format === 'json' ? listOf(rowOf(rows)) : z.string(),
  ]);
  const ofList = ['Content-Disposition', 'Link'];
  return [
    {
      status: 200,
      description: summary,
      content: Object.fromEntries(content),
      headers: [...validators, ...ofList, ...headers],
    },
  ];
}

/** `{"success":true,"data":{…}}` */
export function one(
  data: object,
  more: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Reply {
  return {
    caching: 'none',
    identity: null,
    lastModified: null,
    format: 'json',
    fileName: '',
    ...more,
    read: () => ({ text: JSON.stringify({ success: true, data }) }),
  };
}

interface PageAnswer {
  query: { fields: readonly string[]; format: 'json' | 'csv' };
  /** Null where this is the last page. */
  nextCursor: string | null;
  fileName: string;
  caching?: Caching;
}

/** A page of a list. */
export function page(
  rows: readonly Row[],
  { query: { fields, format }, nextCursor, fileName, caching = 'none' }: PageAnswer,
): Reply {
  return {
    caching,
    identity: null,
    lastModified: null,
    format,
    fileName,
    read: () => ({ text: renderList(rows, { fields, format, nextCursor }), nextCursor }),
  };
}
