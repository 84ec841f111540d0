// Checks answers against openapi/openapi.json: the status, the media type, every header, and every field of a JSON body. Preloaded
// into every test file, it checks every fetched answer; a test with a fake service behind the gateway opts out with `exempt`.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createRouteTable } from '../../kernel/http/route-table.ts';
import { validityHeader } from '../../kernel/http/validity.ts';

interface OpenApiResponse {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: unknown }>;
}
interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, OpenApiResponse> }>>;
  components: { responses: Record<string, OpenApiResponse> };
}

export interface CheckedAnswer {
  method: string;
  /** Path and query. */
  target: string;
  status: number;
  headers: Iterable<[string, string]>;
  /** Undefined: not read. */
  body?: string;
}

/** Headers of HTTP itself and of the gateway's connections; the document declares all others. */
const ofTransport =
  /^(?:date|connection|keep-alive|content-length|transfer-encoding|content-type|content-encoding|x-content-type-options|strict-transport-security|allow|access-control-.*|vary)$/;

/** The rows of a body: whole, or narrowed by `fields=`. */
type Rows = 'whole-rows' | 'narrowed-rows';

interface Document {
  document: OpenApi;
  table: ReturnType<typeof routesOf>;
  ajv: Ajv2020;
  /** By kind of rows, and by the position of the schema in the document. */
  validators: Map<string, ValidateFunction>;
}

let opened: Document | undefined;

/** The document, read at the first answer: most test files fetch nothing, and few need more than a small part of its 900 KB. */
function openDocument(): Document {
  if (opened !== undefined) return opened;
  const text = readFileSync(path.join(import.meta.dirname, '../../openapi/openapi.json'), 'utf8');
  const document = JSON.parse(text) as OpenApi;
  // Each file compiles its own validators: optimising their code costs more time than it saves.
  const ajv = new Ajv2020({
    ...{ strict: false, validateSchema: false, allErrors: true },
    code: { optimize: false },
  });
  formats.default(ajv);
  ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/); // the only accepted form of an instant
  const { components } = document;
  for (const rows of ['whole-rows', 'narrowed-rows'] as const)
    ajv.addSchema(strict({ components }, rows) as object, rows);
  opened = { document, table: routesOf(document), ajv, validators: new Map() };
  return opened;
}

function routesOf({ paths }: OpenApi) {
  return createRouteTable(
    Object.entries(paths).flatMap(([at, operations]) =>
      Object.keys(operations).map((method) => ({ path: at.replaceAll(/\{(\w+)\}/g, ':$1'), method, at })),
    ),
  );
}

/** A data-api that watches a replica learns of loads without a gateway, and reports them to direct callers in this header. */
const forGateway = process.env['TEST_REPLICA_URL'] === undefined ? undefined : validityHeader;

let isExempt = false;
const others = new Set<string>();

/** Turns the check off for later fetches of this file: for all of them, or for those from one server. */
export function exempt(url?: string): void {
  if (url === undefined) isExempt = true;
  else others.add(new URL(url).origin);
}

/** @throws Error that names the parts of the answer that do not match the document. */
export function assertDocumented(answer: CheckedAnswer): void {
  const faults = isExempt ? [] : faultsOf(answer);
  if (faults.length === 0) return;
  const { method, target, status } = answer;
  throw new Error(
    `${method} ${target} answered ${status}, and openapi.json does not say so: ${faults.join('; ')}`,
  );
}

function faultsOf({ method, target, status, headers, body }: CheckedAnswer): string[] {
  const [at = '', query = ''] = target.split('?');
  if (method === 'OPTIONS') return [];
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = operationsAt(at, asked)?.entries.get(asked);
  if (operation === undefined) return status >= 400 ? [] : ['there is no such operation'];
  const { document } = openDocument();
  const { responses } = document.paths[operation.at]?.[operation.method] ?? { responses: {} };
  const named = responses[String(status)];
  if (named === undefined) return ['a status that is not declared'];
  const response =
    named.$ref === undefined ? named : document.components.responses[named.$ref.split('/').at(-1) ?? ''];
  const { headers: declared = {}, content = {} } = response ?? {};
  const known = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  const given = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  const isUnknown = (name: string) => !known.has(name) && !ofTransport.test(name) && name !== forGateway;
  const unknown = given.map(([name]) => name).filter(isUnknown);
  const type = given.find(([name]) => name === 'content-type')?.[1].split(';')[0];
  const faults = unknown.map((name) => `a header that is not declared, ${name}`);
  if (type !== undefined && !Object.hasOwn(content, type) && method !== 'HEAD')
    faults.push(`the media type ${type}`);
  const isJson = type === 'application/json' && content[type] !== undefined;
  if (isJson && body !== undefined && body !== '') {
    const rows = /(?:^|&)fields=/.test(query) ? 'narrowed-rows' : 'whole-rows';
    const place = named.$ref ?? `${operation.method} ${operation.at} ${status}`;
    faults.push(...bodyFaults(content[type]?.schema, rows, place, JSON.parse(body)));
  }
  return faults;
}

function operationsAt(at: string, method: string): ReturnType<Document['table']> {
  try {
    return openDocument().table(at, method);
  } catch (error) {
    if (error instanceof URIError) return null; // the path may have invalid escapes
    throw error;
  }
}

function bodyFaults(schema: unknown, rows: Rows, place: string, body: unknown): string[] {
  const { ajv, validators } = openDocument();
  const validate = validators.getOrInsertComputed(`${rows} ${place}`, () =>
    ajv.compile(strict(schema, rows) as object),
  );
  if (validate(body)) return [];
  return (validate.errors ?? []).slice(0, 5).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}

/**
 * A part of the document, made strict: objects accept only declared fields, and rows need all of theirs unless they are narrowed.
 * References lead to the schemas for the same kind of rows.
 */
function strict(value: unknown, rows: Rows): unknown {
  if (Array.isArray(value)) return value.map((item) => strict(item, rows));
  if (typeof value !== 'object' || value === null) return value;
  const shown: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, strict(member, rows)]),
  );
  const { $ref, type, properties } = shown;
  if (typeof $ref === 'string') shown['$ref'] = $ref.replace(/^#/, `${rows}#`);
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return shown;
  if (rows === 'whole-rows' && shown['x-narrowed-by'] === 'fields')
    shown['required'] = requiredOf(properties, shown['x-may-lack']);
  return { additionalProperties: false, ...shown };
}

function requiredOf(properties: object, mayLack: unknown): string[] {
  return Object.keys(properties).filter((name) => !Array.isArray(mayLack) || !mayLack.includes(name));
}

const originalFetch = globalThis.fetch;

/** `fetch` that checks the answers of our servers. */
globalThis.fetch = async function fetchChecked(input, init) {
  const response = await originalFetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  if (
    others.has(url.origin) ||
    url.hostname !== '127.0.0.1' ||
    !/^\/(?:v1\/|auth\/|mcp$|docs\/errors$|healthz|readyz)/.test(url.pathname)
  )
    return response;
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  const answer = {
    method,
    target: url.pathname + url.search,
    status: response.status,
    headers: response.headers,
  };
  assertDocumented(answer);
  const read = response.text.bind(response);
  async function text(): Promise<string> {
    const body = await read();
    assertDocumented({ ...answer, body });
    return body;
  }
  return Object.assign(response, { text, json: async () => JSON.parse(await text()) as unknown });
};
