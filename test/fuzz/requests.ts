// Draws random requests over all endpoints of the OpenAPI document: mostly plausible ones with one or more faults.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';
import type { Random } from '../chaos/random.ts';
import { endpoints } from '../v1/endpoint-requests.ts';
import { drawFile, fileNames } from './files.ts';
import { fieldValue, hostileText, parameterText, rawTexts, type Schema } from './values.ts';

export interface FuzzRequest {
  method: string;
  /** Path and query, as sent. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** The credentials that a request may have, and the answers to the last requests. */
export interface Actor {
  keys: readonly string[];
  session: string;
  email: string;
  password: string;
  etag: string | undefined;
  cursor: string | undefined;
  id: string | undefined;
}

const fileType = 'application/octet-stream';

interface Operation {
  method: string;
  path: string;
  parameters?: readonly { name: string; in: string; schema?: Schema; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const document = JSON.parse(readFileSync(path.join(projectRoot, 'openapi/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
};

/** Every operation of the document. */
export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([at, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: at,
    ...operation,
  })),
);

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'QUERY',
];
const strayPaths = [
  '/',
  '/v1',
  '/v1/',
  '/v2/series',
  '/internal/heartbeat',
  '/internal/sessions',
  '/auth',
  '/v1/series/',
  '/V1/series/CPI',
  '/metrics',
  '/favicon.ico',
  '/v1/series/CPI/latest/x',
  '/v1/webhooks',
  '/v1/billing/portals',
  '/v1/series/%2e%2e/keys',
  '//v1/series/CPI',
  '/v1/series/CPI%00',
  '/v1/series/CPI;a=b',
  '*',
  '/docs/errors/',
  '/.env',
  '/readyz/',
];

/** The next request of a client. */
export function drawRequest(random: Random, actor: Actor): FuzzRequest {
  const operation = random.pick(operations);
  const method = random.below(10) === 0 ? random.pick(methods) : operation.method;
  const target = random.below(25) === 0 ? random.pick(strayPaths) : targetOf(random, operation, actor);
  const mayHaveBody = method !== 'GET' && method !== 'HEAD';
  const body = mayHaveBody || random.below(100) === 0 ? bodyOf(random, operation, actor) : undefined;
  return {
    method,
    target: target.slice(0, 17_000),
    headers: headersOf(random, operation, actor, body),
    body,
  };
}

function targetOf(random: Random, operation: Operation, actor: Actor): string {
  const known = endpoints.filter(({ route }) => route.replaceAll(/:(\w+)/g, '{$1}') === operation.path);
  const example = known.length > 0 ? random.pick(known) : undefined;
  const [examplePath = operation.path, exampleQuery = ''] = example?.path.split('?') ?? [];
  const at =
    /\{/.test(examplePath) || random.below(6) === 0 ? filledIn(random, operation.path, actor) : examplePath;
  const pairs = exampleQuery === '' || random.below(8) === 0 ? [] : [exampleQuery];
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  for (let n = random.pick([0, 1, 1, 2, 3, 5]); n > 0 && parameters.length > 0; n -= 1) {
    const { name, schema = {} } = random.pick(parameters);
    pairs.push(`${name}=${encoded(random, valueOf(random, name, schema, { operation, example, actor }))}`);
  }
  if (random.below(20) === 0)
    pairs.push(`${encodeURIComponent(hostileText(random))}=${encoded(random, hostileText(random))}`);
  if (random.below(20) === 0) pairs.push(random.pick(rawTexts));
  if (random.below(30) === 0) pairs.push(...pairs);
  if (random.below(60) === 0) pairs.push(`q=${'a'.repeat(random.between(14_000, 17_000))}`);
  if (random.below(40) === 0) pairs.push(`api_key=${random.pick(actor.keys)}`);
  return pairs.length === 0 ? at : `${at}?${pairs.join('&')}`;
}

function valueOf(
  random: Random,
  name: string,
  schema: Schema,
  {
    operation,
    example,
    actor,
  }: { operation: Operation; example: (typeof endpoints)[number] | undefined; actor: Actor },
): string {
  if (name === 'cursor' && actor.cursor !== undefined && random.below(3) > 0) return actor.cursor;
  const isFileName = name === 'name' && typeOf(operation) === fileType;
  return parameterText(random, schema, isFileName ? fileNames : (example?.values[name] ?? []));
}

/** The type of the body that the operation accepts. */
function typeOf({ requestBody }: Operation): string | undefined {
  return requestBody && Object.keys(requestBody.content)[0];
}

function filledIn(random: Random, template: string, { id = 'CPI' }: Actor): string {
  const text = () =>
    random.pick<() => string>([
      () => 'CPI',
      () => id,
      () => String(random.between(1, 40)),
      () => hostileText(random),
      () => hostileText(random),
    ])();
  return template.replaceAll(/\{\w+\}/g, () => encoded(random, text()) || 'x');
}

/** As a careful client would write it, or not. */
function encoded(random: Random, text: string): string {
  if (random.below(15) === 0) return random.pick(rawTexts) + encodeURIComponent(text.toWellFormed());
  return encodeURIComponent(text.toWellFormed());
}

function bodyOf(random: Random, operation: Operation, actor: Actor): Buffer | undefined {
  const type = typeOf(operation);
  switch (random.below(12)) {
    case 0:
      return undefined;
    case 1:
      return Buffer.from(
        random.pick([
          '',
          'null',
          '[]',
          '"a"',
          '1',
          '{',
          '{"a":1',
          '{"a":1}x',
          '\ufeff{}',
          '{"__proto__":{"a":1}}',
          '{"name":"a","name":"b"}',
          '{"name":1e400}',
          `{"a":${'['.repeat(5_000)}`,
        ]),
      );
    case 2:
      return random.pick([
        Buffer.from([0xff, 0xfe, 0x00]),
        Buffer.from('{"name":"\xff"}', 'latin1'),
        Buffer.alloc(64 * 1024, 32),
        Buffer.alloc(70 * 1024, 32),
        Buffer.from(`{"name":"${'x'.repeat(60_000)}"}`),
      ]);
    default: {
      if (type === fileType) return drawFile(random);
      const schema = type === undefined ? undefined : operation.requestBody?.content[type]?.schema;
      return Buffer.from(
        JSON.stringify(
          fieldValue(random, schema ?? {}, {
            email: actor.email,
            password: actor.password,
            current: actor.password,
          }),
        ) ?? '',
      );
    }
  }
}

const values: Record<string, readonly string[]> = {
  accept: [
    '*/*',
    'text/csv',
    'application/json',
    'text/html',
    'text/calendar',
    'image/png',
    'x',
    '',
    'text/csv;q=0, */*',
    'a/b;q=x',
  ],
  'accept-encoding': ['gzip', 'br', 'gzip, br', '*', 'identity;q=0', 'x', 'br;q=0.1, gzip;q=2', ''],
  'if-none-match': ['*', '"a"', 'W/"a"', 'a', '', '"a", "b"'],
  'content-type': [
    'application/json',
    'application/json; charset=utf-8',
    'application/json; charset=utf-16',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'x',
    '',
  ],
  'content-encoding': ['gzip', 'br', 'x', 'identity'],
  'idempotency-key': ['a', '', 'x'.repeat(255), 'x'.repeat(256), 'é', ' a '],
  origin: ['https://evil.example', 'null', 'http://127.0.0.1', 'x'],
  cookie: ['a=b', 'google_flow=x', ';;', '='],
  range: ['bytes=0-1', 'x'],
  'x-forwarded-for': ['unknown', '6.6.6.6', '[2001:db8::1]:443', 'x'.repeat(300)],
  'x-forwarded-proto': ['https', 'HTTPS, http'],
  'x-almanac-identity': ['a.b.c', 'x'],
  'x-request-id': ['mine'],
  'x-http-method-override': ['DELETE'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x'],
  'user-agent': ['', 'x'.repeat(8_000), 'é', '=1+1'],
  expect: ['100-continue', 'x'],
  upgrade: ['websocket'],
  te: ['trailers'],
  host: ['', 'a b', 'a,b', 'data_api:8080'],
};

function headersOf(
  random: Random,
  operation: Operation,
  actor: Actor,
  body: Buffer | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { ...credentialOf(random, actor) };
  // As many clients as there are requests, so that limits by IP address seldom hide other faults.
  headers['x-forwarded-for'] = `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`;
  const type = typeOf(operation);
  if (body !== undefined && type !== undefined && random.below(12) > 0) headers['content-type'] = type;
  for (let n = random.pick([0, 0, 0, 1, 1, 2, 4]); n > 0; n -= 1) {
    const name = random.pick(Object.keys(values));
    headers[name] = random.pick(values[name] ?? []);
  }
  if (actor.etag !== undefined && random.below(10) === 0) headers['if-none-match'] = actor.etag;
  return headers;
}

function credentialOf(random: Random, { keys, session }: Actor): Record<string, string> {
  const key = random.pick(keys);
  switch (random.below(12)) {
    case 0:
      return {};
    case 1:
      return {
        'x-api-key': random.pick([key.slice(0, -1), `${key}x`, key.toUpperCase(), '', 'é', 'pk_live_']),
      };
    case 2:
      return {
        authorization: random.pick([
          `Bearer ${key}`,
          `bearer ${key}`,
          'Bearer',
          'Basic YTpi',
          ...[`${key}:`, `:${key}`, `${key}:${session}`].map(
            (both) => `Basic ${Buffer.from(both).toString('base64')}`,
          ),
          `Bearer ${session}`,
        ]),
      };
    case 3:
      return { 'x-api-key': key, 'x-session-token': session };
    case 4:
      return { 'x-session-token': random.pick([session.slice(1), `${session}.`, '', 'sess_', '.']) };
    default:
      return random.below(2) === 0 ? { 'x-session-token': session } : { 'x-api-key': key };
  }
}
