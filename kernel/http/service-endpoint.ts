// Declares the endpoints of a service that acts for accounts or operators, and runs their calls: requester, query and body, handler, answer. These
// answers are not cached unless the endpoint says so.
import type { Request, Response } from 'express';
import { z } from 'zod';
import { memberOf } from '../entries.ts';
import { fail, type ErrorCode } from '../errors.ts';
import { answer, type Caching, type Reply } from './answer.ts';
import {
  formatsOf,
  mediaTypes,
  negotiate,
  readQuery,
  type Declaration,
  type DeclaredAnswer,
} from './endpoint.ts';
import { listOf, oneOf, rowOf } from './list.ts';
import { programBuild } from '../project.ts';
import { isBodyOptional, parseBody } from './params.ts';
import { writeHead } from './reply.ts';
import type { Handler, ServiceCall } from './server.ts';

/** Who may call a kind of endpoint. */
interface RequesterKind<Who> {
  /** The requester. @throws Failure if they may not call the endpoint. */
  of: (call: ServiceCall) => Who;
  /** The errors that it throws. */
  errors: readonly ErrorCode[];
}
type RequesterKinds = Readonly<Record<string, RequesterKind<unknown>>>;
type RequesterOf<Kinds extends RequesterKinds, Kind extends keyof Kinds> = ReturnType<Kinds[Kind]['of']>;

/** A call, as passed to its handler. */
interface Asked<Query, Body, Who> {
  requester: Who;
  query: Query;
  body: Body;
  /** Path parameters. */
  params: Readonly<Record<string, string>>;
  call: ServiceCall;
  /** For reading its headers. */
  request: Request;
}

type BodyOf<Body> = Body extends z.ZodType ? z.output<Body> : undefined;

/** An answer without a body. */
interface Empty {
  status: 204 | 302;
  headers?: Readonly<Record<string, string>>;
}

interface EndpointOf<
  Deps,
  Kinds extends RequesterKinds,
  Kind extends keyof Kinds & string,
  Shape extends z.ZodRawShape,
  Body extends z.ZodType | undefined,
  Part,
> {
  /** One line. */
  summary: string;
  description?: string;
  params?: Readonly<Record<string, z.ZodType>>;
  requester: Kind;
  /** The query parameters; empty by default. */
  query?: Shape;
  /** The query comes from another service: it is not validated here, and the handler reads it. */
  acceptsAnyQuery?: true;
  body?: Body;
  /** Whether `request.body` is the bytes as sent, for checking their signature. */
  acceptsRawBody?: true;
  /** A body of any type is accepted, and not read. */
  acceptsAnyBody?: true;
  /** Whether the body is a file of any type, which the handler streams from the request. */
  acceptsFile?: true;
  /** The maximum size of the body; the path's limit by default. */
  bodyBytesMax?: number;
  /** Refuses a call by its headers, before its body is read. @throws Failure. */
  admit?: (deps: Deps) => (request: Request) => void;
  /** Headers that it reads, besides the credentials. */
  requestHeaders?: Readonly<Record<string, z.ZodType>>;
  /** status → the `data` of the answer; null: no body. */
  answers?: Readonly<Record<number, z.ZodType | null>>;
  /** The schema of a row, if the answer is a list. */
  rows?: z.ZodObject;
  /** Default `none`. */
  caching?: Caching;
  /** Errors besides those for invalid parameters, bodies and requesters. */
  errors?: readonly ErrorCode[];
  /** Headers that an answer may have, besides those of every answer. */
  headers?: readonly string[];
  /** The part of the service that it needs. Null: this installation does not have it, so every call is answered 404. */
  needs?: (deps: Deps) => Part | null;
  handler: (
    deps: Deps,
    asked: Asked<z.output<z.ZodObject<Shape>>, BodyOf<Body>, RequesterOf<Kinds, Kind>>,
    part: Part,
  ) => Promise<Reply | Empty> | Reply | Empty;
}

/** An endpoint's declaration and its handler. */
export interface Endpoint<Deps, Kind> extends Declaration {
  requester: Kind;
  acceptsRawBody: boolean;
  acceptsAnyBody: boolean;
  acceptsFile: boolean;
  bodyBytesMax: number | undefined;
  /** As `Route.admit`. */
  admit: ((deps: Deps) => (request: Request) => void) | undefined;
  handler: (deps: Deps) => Handler;
}

/** Creates the function by which a service declares its endpoints. @param kinds the kinds of requesters, by name. */
export function endpointsFor<Deps>() {
  return <const Kinds extends RequesterKinds>(kinds: Kinds) =>
    <
      Kind extends keyof Kinds & string,
      Shape extends z.ZodRawShape,
      Body extends z.ZodType | undefined = undefined,
      Part = undefined,
    >(
      declared: EndpointOf<Deps, Kinds, Kind, Shape, Body, Part>,
    ): Endpoint<Deps, Kind> =>
      declare(kinds, declared);
}

function declare<
  Deps,
  Kinds extends RequesterKinds,
  Kind extends keyof Kinds & string,
  Shape extends z.ZodRawShape,
  Body extends z.ZodType | undefined,
  Part,
>(kinds: Kinds, declared: EndpointOf<Deps, Kinds, Kind, Shape, Body, Part>): Endpoint<Deps, Kind> {
  const { summary, description, params, requester, body, requestHeaders, errors = [] } = declared;
  const kind: RequesterKind<unknown> = memberOf(kinds, requester);
  const {
    acceptsAnyQuery = false,
    acceptsRawBody = false,
    acceptsAnyBody = false,
    acceptsFile = false,
  } = declared;
  const query = z.object(declared.query ?? ({} as Shape));
  const formats = formatsOf(query);
  const answers = answersOf(declared);
  const hasContent = answers.some(({ content }) => content !== undefined);
  const noBody = body !== undefined && isBodyOptional(body) ? {} : undefined;
  type Given = Asked<z.output<typeof query>, BodyOf<Body>, RequesterOf<Kinds, Kind>>;

  function read(request: Request, call: ServiceCall): Given {
    const who = kind.of(call) as RequesterOf<Kinds, Kind>;
    const accepted = hasContent ? negotiate(request, formats) : 'json';
    return {
      requester: who,
      query: acceptsAnyQuery ? ({} as Given['query']) : readQuery(query, request, accepted),
      body: (body === undefined ? undefined : parseBody(body, request.body ?? noBody)) as BodyOf<Body>,
      params: request.params as Record<string, string>,
      call,
      request,
    };
  }

  return {
    summary,
    description,
    params,
    requester,
    acceptsRawBody,
    acceptsAnyBody,
    acceptsFile,
    bodyBytesMax: declared.bodyBytesMax,
    query,
    body,
    requestHeaders,
    answers,
    errors: [
      ...kind.errors,
      ...(Object.hasOwn(query.shape, 'cursor') ? (['invalid_cursor'] as const) : []),
      ...(body === undefined ? [] : (['invalid_body', 'unsupported_media_type'] as const)),
      ...errors,
    ],
    admit: declared.admit,
    handler(deps) {
      const part = declared.needs?.(deps);
      if (part === null) return () => fail('not_found', 'This endpoint is not set up here.');
      return async (request, response, call) => {
        const asked = await call.stage('parse', () => read(request, call));
        const reply = await declared.handler(deps, asked, part as Part);
        await send(request, response, reply, declared.caching);
      };
    },
  };
}

async function send(
  request: Request,
  response: Response,
  reply: Reply | Empty,
  caching: Caching = 'none',
): Promise<void> {
  if ('read' in reply) await answer(request, response, reply, { caching, edition: programBuild() });
  else {
    const headers = { 'cache-control': 'no-store', ...reply.headers };
    writeHead(response, reply.status, Object.entries(headers).flat()).end();
  }
}

type Answered = Pick<
  EndpointOf<unknown, RequesterKinds, string, z.ZodRawShape, undefined, undefined>,
  'summary' | 'answers' | 'rows' | 'caching' | 'headers'
>;

function answersOf({
  summary,
  answers = {},
  rows,
  caching = 'none',
  headers = [],
}: Answered): DeclaredAnswer[] {
  if (rows === undefined) {
    return Object.entries(answers).map(([status, data]) => ({
      status: Number(status),
      description: data?.description ?? summary,
      ...(data === null ? {} : { content: { [mediaTypes.json]: oneOf(data) } }),
      headers,
    }));
  }
  const validators = caching === 'none' ? [] : ['ETag'];
  return [
    {
      status: 200,
      description: summary,
      content: { [mediaTypes.json]: listOf(rowOf(rows)), [mediaTypes.csv]: z.string() },
      headers: [...validators, 'Content-Disposition', 'Link', ...headers],
    },
  ];
}

/** `{"success":true,"data":{…}}` */
export function one(
  data: object,
  more: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Reply {
  return {
    format: 'json',
    ...more,
    read: () => ({ text: JSON.stringify({ success: true, data }) }),
  };
}
