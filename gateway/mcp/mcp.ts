// POST /mcp: the stateless Model Context Protocol, versions 2026-07-28 and 2025. The call is authenticated as everywhere. A tool call is a read of
// /v1 through its own pipeline; everything else counts only towards the rate limit.
import type { IncomingMessage } from 'node:http';
import type { jsonSchemaValidator } from '@modelcontextprotocol/server';
import type { ByteBudget } from '../../kernel/bodies/byte-budget.ts';
import { fail, Failure } from '../../kernel/errors.ts';
import { parseArguments } from '../../kernel/http/params.ts';
import { programVersion } from '../../kernel/project.ts';
import { readBody } from '../bodies/read-body.ts';
import { callOf, callerOf } from '../call.ts';
import type { Policy, RunCompiled } from '../policy.ts';
import { errorOf, outputSchemaOf, resultOf } from './answer.ts';
import { readInside, type Outer } from './inner-call.ts';
import { openRouteSchemas } from './route-schemas.ts';
import { tools, type Tool } from './tools.ts';

export interface McpOptions {
  bodies: ByteBudget;
  /** Counts the messages without reads towards the rate limit. */
  rate: Policy;
  dispatch: RunCompiled;
  publicUrl: string;
  /** The origins whose pages may call, besides the gateway's own. */
  dashboardOrigins: readonly string[];
}

const instructions =
  'Statistical time series with every published vintage. Search first, then read. Pass as_of to see only what was known on a day. Cite the URL in `sources`.';

export function mcp(options: McpOptions): Policy {
  let opened: ReturnType<typeof openHandler> | undefined;
  return async (request, response) => {
    const call = callOf(request);
    checkAddress(request, options);
    if (call.presented.keyParameters.length > 0)
      fail('invalid_request', 'Send the API key in a header here, not in the URL.');
    const body = await readBody(options.bodies, request, response, call);
    const message = messageOf(body);
    const outer: Outer = { request, response, isServed: false, reads: 0 };
    const reads = message?.method === 'tools/call' && tools.some(({ name }) => name === message.params?.name);
    if (!reads) await options.rate(request, response, () => undefined);
    const { accountId } = callerOf(call);
    const left = new AbortController();
    response.once('close', () => left.abort());
    const handler = await (opened ??= openHandler(options));
    const answer = await handler.fetch(asFetched(request, body, left.signal), {
      authInfo: { token: '', clientId: accountId, scopes: [], extra: { outer } },
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (reads && outer.reads === 0) await options.rate(request, response, () => undefined);
    if (response.destroyed) return;
    const type = answer.headers.get('content-type');
    response.writeHead(answer.status, {
      ...(type !== null && { 'content-type': type }),
      ...{ 'content-length': String(bytes.length), 'cache-control': 'no-store' },
    });
    response.end(bytes);
  };
}

/** Loads the SDK on first use, as most gateways may never need it. */
async function openHandler(options: McpOptions) {
  const { createMcpHandler, McpServer, fromJsonSchema } = await import('@modelcontextprotocol/server');
  const schemaOf = openRouteSchemas();
  const described = tools.map((tool) => ({
    tool,
    input: uncheckedInput(tool.input),
    output: fromJsonSchema(outputSchemaOf(tool, schemaOf(tool.route)), asSent),
  }));
  return createMcpHandler(
    ({ authInfo }) => {
      const { outer } = authInfo?.extra ?? {};
      if (!isOuter(outer)) throw new Error('The SDK has lost the call.');
      const server = new McpServer(
        { name: 'almanac', title: 'Almanac', version: programVersion },
        { instructions, capabilities: { tools: { listChanged: false } } },
      );
      for (const { tool, input: inputSchema, output } of described) {
        const { name, title, description } = tool;
        const annotations = { title, readOnlyHint: true, idempotentHint: true, openWorldHint: false };
        server.registerTool(
          name,
          { title, description, inputSchema, outputSchema: output, annotations },
          (given: object) => answerTool(options, outer, tool, given),
        );
      }
      return server;
    },
    { maxSubscriptions: 0, keepAliveMs: 0 },
  );
}

/** Describes the arguments, and accepts any, as `answerTool` checks them and words what is wrong. */
const uncheckedInput = (schema: Tool['input']) => ({
  '~standard': { ...schema['~standard'], validate: (given: unknown) => ({ value: given as object }) },
});

const isOuter = (given: unknown): given is Outer =>
  typeof given === 'object' && given !== null && 'isServed' in given;

/** data-api answers by these schemas, which tests enforce. Validating each answer again would cost more than reading it. */
const asSent: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

async function answerTool({ dispatch, publicUrl }: McpOptions, outer: Outer, tool: Tool, sent: object) {
  try {
    const given = parseArguments(tool.input, sent);
    const wished = given['as_of'] as string | undefined;
    const pinned = callOf(outer.request).identity.asOf ?? undefined;
    if (wished !== undefined && pinned !== undefined && wished > pinned)
      fail(
        'invalid_parameter',
        `"as_of" must not be after ${pinned}, the day that the API key is pinned to.`,
        {
          param: 'as_of',
        },
      );
    const targets = tool.reads(given as never);
    const answers = [];
    for (const target of targets) {
      const answer = await readInside(dispatch, outer, { target, asOf: wished });
      answers.push(answer);
      if (answer.status !== 200) break;
    }
    const result = resultOf({ tool, asOf: wished ?? pinned, targets, answers, publicUrl });
    outer.isServed = result.isError !== true;
    return result;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, param } = error;
    return errorOf({ code, message, ...(param !== undefined && { param }) });
  }
}

/** Protects against DNS rebinding: a page of another site must not call a gateway that its visitor can reach. */
function checkAddress({ headers }: IncomingMessage, { publicUrl, dashboardOrigins }: McpOptions): void {
  const { host = '', origin } = headers;
  const own = publicUrl === '' ? undefined : new URL(publicUrl);
  const name = host.replace(/:\d*$/, '').toLowerCase();
  if (name !== own?.hostname && !['localhost', '127.0.0.1', '[::1]'].includes(name))
    fail('forbidden', 'The Host header differs from PUBLIC_URL. Call /mcp at the public URL.');
  if (origin === undefined || origin === own?.origin || dashboardOrigins.includes(origin)) return;
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  fail('forbidden', 'Pages of this origin may not call /mcp. DASHBOARD_ORIGINS lists those that may.');
}

interface Message {
  method?: unknown;
  params?: { name?: unknown } | null;
}

/** @returns undefined if the body is not a JSON object; the SDK then answers the error. @throws Failure `invalid_body` for a batch. */
function messageOf(body: Buffer): Message | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (Array.isArray(parsed)) fail('invalid_body', 'Send one message per request; batches are not supported.');
  return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
}

function asFetched({ headers }: IncomingMessage, body: Buffer, signal: AbortSignal): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (/^(?:accept|content-type|mcp-.*)$/.test(name) && value !== undefined) sent.set(name, String(value));
  return new Request('http://gateway/mcp', {
    method: 'POST',
    headers: sent,
    body: new Uint8Array(body),
    signal,
  });
}
