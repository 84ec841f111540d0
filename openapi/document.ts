// Builds the OpenAPI document from the endpoint declarations of the services, the pipelines of the gateway, and the events.
// Adds what the library lacks: credentials by pipeline, errors by policy, comma-separated arrays.
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { z } from 'zod';
import { credentialAction, keyScopesOf } from '../gateway/policies/credential.ts';
import { errorTable, type ErrorCode } from '../kernel/errors.ts';
import type { Declaration } from '../kernel/http/endpoint.ts';
import { isBodyOptional } from '../kernel/http/params.ts';
import type { GatewayRoutes, PipelineRoutes } from '../gateway/routes.ts';
import { eventWebhooks } from './events.ts';
import { errorHeaders, headerDescriptions, policyAnswers } from './policies.ts';
import { isFredPath } from '../kernel/wire/error-form.ts';
import { tagOf, tags } from './tags.ts';
import { tidy, type Json } from './tidy.ts';

/** An endpoint with its URL. */
export interface DeclaredEndpoint {
  method: string;
  /** Such as `/v1/series/:id`. */
  path: string;
  declaration: Declaration;
  /** Whether it accepts only a session. */
  requiresSession?: boolean;
}

interface DocumentOptions {
  version: string;
  endpoints: readonly DeclaredEndpoint[];
  routes: GatewayRoutes;
}

const description = `Statistical data with vintages, by API key: series as they are and as they were published, prices, funds, debt
securities and trade, as JSON and CSV. Every failure has one envelope; \`error.docs_url\` leads to what its code means.`;

/** @throws Error if no pipeline serves a declared endpoint. */
export function openApiDocument({ version, endpoints, routes }: DocumentOptions): Json {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: operationOf(endpoint, pipelineOf(routes, endpoint)),
    };
  }
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Almanac',
      version,
      description,
      contact: { name: 'The operator of this installation' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...tags],
    security: [],
    paths,
    webhooks: eventWebhooks(),
    components: {
      headers: headerComponents,
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key: `pk_live_…`.' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The same API key.' },
        Basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The same API key, as user name or as password.',
        },
        ApiKeyParameter: {
          type: 'apiKey',
          in: 'query',
          name: 'api_key',
          description: 'The same API key, for programs that can only fetch a URL.',
        },
        Session: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Session-Token',
          description: 'The `session_token` of a sign-in.',
        },
      },
    },
  });
  return tidy(document as unknown as Json);
}

function pipelineOf({ pipelines }: GatewayRoutes, { method, path }: DeclaredEndpoint): PipelineRoutes {
  const sample = path.replaceAll(/:\w+/g, 'x');
  const found = pipelines.find(({ routes }) =>
    routes.some(({ pattern, methods }) => pattern.test(sample) && (methods?.includes(method) ?? true)),
  );
  if (found === undefined || found.routes.length === 0)
    throw new Error(`no pipeline serves ${method} ${path}`);
  return found;
}

function operationOf(endpoint: DeclaredEndpoint, { steps }: PipelineRoutes): ZodOpenApiOperationObject {
  const { method, path, declaration } = endpoint;
  const { summary, description, query, requestHeaders } = declaration;
  const pathParams = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const policies = steps.map(({ policy }) => policyAnswers[policy] ?? {});
  const headers = ['Cache-Control', ...policies.flatMap((policy) => policy.headers ?? [])];
  const security = securityOf(endpoint, steps);
  return {
    operationId: operationIdOf(method, path),
    summary,
    description: description ?? summary, // linters require both
    tags: [tagOf(path)],
    security,
    requestParams: {
      path: z.object(
        Object.fromEntries(pathParams.map((name) => [name, declaration.params?.[name] ?? z.string()])),
      ),
      query,
      ...(requestHeaders === undefined ? {} : { header: z.object(requestHeaders) }),
    },
    ...requestBodyOf(declaration),
    responses: joined(
      successes(declaration, headers),
      failures(
        [...new Set([...errorsOf(endpoint), ...policies.flatMap(({ errors = [] }) => errors)])],
        isFredPath(path) ? 'Fred.' : '',
      ),
    ),
  };
}

function requestBodyOf({
  body,
  acceptsFile = false,
}: Declaration): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  const file = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } as const;
  if (acceptsFile) return { requestBody: { required: true, content: file } };
  if (body === undefined) return {};
  const required = !isBodyOptional(body);
  return { requestBody: { required, content: { 'application/json': { schema: body } } } };
}

/** The errors of the endpoint and of its server. */
function errorsOf({ method, declaration: { errors, acceptsFile } }: DeclaredEndpoint): ErrorCode[] {
  // The server reads a body of these methods whether or not the endpoint wants one.
  const ofJson: ErrorCode[] = acceptsFile === true ? [] : ['invalid_body', 'unsupported_media_type'];
  const ofBodies: ErrorCode[] =
    method === 'POST' || method === 'PATCH' ? ['payload_too_large', 'request_timeout', ...ofJson] : [];
  return [...ofUnreadHeads, ...errors, ...ofBodies];
}

/** The ways to send a key with a required scope, which OpenAPI 3.1 calls a role. */
const keyCredentials = (scopes: string[]): Record<string, string[]>[] => [
  { ApiKey: scopes },
  { Bearer: scopes },
  { Basic: scopes },
  { ApiKeyParameter: scopes },
];

function securityOf(
  { method, path, requiresSession = false }: DeclaredEndpoint,
  steps: PipelineRoutes['steps'],
) {
  if (requiresSession) return [{ Session: [] }];
  const action = steps.find(({ policy }) => policy === 'credential')?.action;
  if (action === undefined) return [];
  const { accept, optional, only, ...rest } = credentialAction.parse(action);
  // Where only operators are allowed, keys are read only to be refused, so they need no scope.
  const scopes = only === undefined ? [keyScopesOf({ accept, optional, only, ...rest })(method, path)] : [];
  const keys = keyCredentials(scopes);
  const credentials = accept.includes('session') ? [...keys, { Session: [] }] : keys;
  return optional ? [{}, ...credentials] : credentials;
}

/** `getSeriesByIdLatest` */
function operationIdOf(method: string, path: string): string {
  const words = path
    .split(/[/.]/)
    .filter((segment) => segment !== '' && segment !== 'v1')
    .flatMap((segment) => (segment.startsWith(':') ? ['by', segment.slice(1)] : segment.split('-')));
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

type Responses = Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject>;

function successes({ answers }: Declaration, headers: readonly string[]): Responses {
  const responses: Responses = {};
  for (const { status, description, content = {}, headers: own = [] } of answers) {
    responses[`${status}` as `2${string}`] = {
      description,
      headers: headersObject([...headers, ...own]),
      ...(Object.keys(content).length === 0
        ? {}
        : {
            content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
          }),
    };
    if (own.includes('ETag')) {
      responses['304'] = {
        description: 'Not modified: the ETag in If-None-Match is current.',
        headers: headersObject([...headers, ...own]),
      };
    }
  }
  return responses;
}

/** All responses. A failure that the endpoint declares in a form of its own has that one or the envelope. */
function joined(declared: Responses, failed: Responses): Responses {
  const both = Object.entries(declared).flatMap(([status, own]) => {
    const envelope = failed[status as keyof Responses];
    return envelope === undefined ? [] : [[status, eitherOf(own, envelope)] as const];
  });
  return { ...declared, ...failed, ...Object.fromEntries(both) };
}

function eitherOf(
  own: ZodOpenApiResponseObject,
  envelope: ZodOpenApiResponseObject,
): ZodOpenApiResponseObject {
  const schemas = [own, envelope].map(({ content = {} }) => content['application/json']?.schema as z.ZodType);
  return {
    description: `${own.description} Or, in the envelope:\n\n${envelope.description}`,
    headers: headersObject([own, envelope].flatMap(({ headers = {} }) => Object.keys(headers))),
    content: { 'application/json': { schema: z.union(schemas) } },
  };
}

const errorSchema = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]),
      message: z.string().describe('What is wrong, what is allowed, what to do.'),
      param: z.string().optional().describe('The invalid parameter or field.'),
      docs_url: z.string().describe('The documentation of the code.'),
      request_id: z.string().optional(),
    }),
  })
  .meta({ id: 'Error' });

const fredErrorSchema = z
  .object({ error_code: z.int().describe('The status.'), error_message: z.string() })
  .meta({ id: 'FredError' });

/** Headers that any answer of the gateway may have. */
const commonHeaders = [
  'Cache-Control',
  ...Object.values(policyAnswers).flatMap(({ headers = [] }) => headers),
];

/** One response object per status and set of codes: the library makes a component of each object. */
const failureResponses = new Map<string, ZodOpenApiResponseObject>();

/** The errors of a request with too long a head: its path is unknown, so even FRED's paths get them in the envelope. */
const ofUnreadHeads: readonly ErrorCode[] = ['header_fields_too_large', 'uri_too_long'];

/** @param form `Fred.` in the form of FRED; empty: in the envelope. */
function failures(codes: readonly ErrorCode[], form: '' | 'Fred.'): Responses {
  const byStatus = Object.groupBy([...codes].sort(), (code) => errorTable[code].status);
  const responses: Responses = {};
  for (const [status, found = []] of Object.entries(byStatus)) {
    const own = found.every((code) => ofUnreadHeads.includes(code)) ? '' : form;
    const id = `${own}${status}.${found.join('.')}`;
    const response = failureResponses.getOrInsertComputed(id, () => ({ id, ...failureOf(found, own) }));
    responses[status as `${4 | 5}${string}`] = response;
  }
  return responses;
}

function failureOf(codes: readonly ErrorCode[], form: '' | 'Fred.'): ZodOpenApiResponseObject {
  const coded = z.looseObject({
    error: z.looseObject({ code: z.enum(codes as [ErrorCode, ...ErrorCode[]]) }),
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
    headers: headersObject([...commonHeaders, ...codes.flatMap((code) => errorHeaders[code] ?? [])]),
    content:
      form === ''
        ? { 'application/json': { schema: z.intersection(errorSchema, coded) } }
        : { 'text/xml': { schema: z.string() }, 'application/json': { schema: fredErrorSchema } },
  };
}

function headersObject(names: readonly string[]) {
  return Object.fromEntries(
    [...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const headerComponents = Object.fromEntries(
  Object.entries(headerDescriptions).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ]),
);
