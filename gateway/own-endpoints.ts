// Declares the endpoints that the gateway itself answers, as the services declare theirs, for the OpenAPI document.
import { z } from 'zod';
import type { Declaration } from '../kernel/http/endpoint.ts';

const query = z.object({});
const done = z.object({ success: z.literal(true) });
const state = z.enum(['ready', 'unavailable']);
const readiness = done.extend({ data: z.object({ 'data-api': state, 'accounts-api': state }) });

const openApi = z.looseObject({ openapi: z.string() });
const ok = (description: string, content: Readonly<Record<string, z.ZodType>>) => ({
  ...{ status: 200, description, content },
});

const rpc = { jsonrpc: z.literal('2.0') };
const rpcId = z.union([z.string(), z.number(), z.null()]);
const rpcMessage = z
  .looseObject({
    ...rpc,
    id: rpcId.optional().describe('Of a request; a notification has none.'),
    method: z.string().describe('Such as `tools/list` or `tools/call`.'),
    params: z.looseObject({}).optional(),
  })
  .describe('One message of the Model Context Protocol.');
const rpcResult = z.object({ ...rpc, id: rpcId, result: z.looseObject({}) });
const rpcError = z.object({
  ...rpc,
  id: rpcId,
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
const refusedByProtocol = (status: number, description: string) => ({
  ...{ status, description },
  content: { 'application/json': rpcError },
});

export const endpoints: Readonly<Record<string, Declaration & { method?: 'POST' }>> = {
  '/mcp': {
    method: 'POST',
    summary: 'The Model Context Protocol: tools that read the data.',
    description:
      'Takes one JSON-RPC message of the protocol of 2026-07-28 or 2025, without sessions. A tool call reads one or more endpoints of the API. Their errors are returned as tool results with `isError`.',
    query,
    body: rpcMessage,
    requestHeaders: {
      Accept: z.string().optional().describe('Must include `application/json` and `text/event-stream`.'),
      'MCP-Protocol-Version': z.string().optional().describe('The version of the protocol.'),
      'Mcp-Method': z.string().optional().describe('The method of the message, since 2026-07-28.'),
      'Mcp-Name': z.string().optional().describe('The name of the tool, since 2026-07-28.'),
    },
    answers: [
      ok('The answer to a request: its result, or an error of the protocol.', {
        'application/json': z.union([rpcResult, rpcError]),
        'text/event-stream': z.string(),
      }),
      { status: 202, description: 'The notification is accepted.' },
      refusedByProtocol(400, 'The message is not valid in the protocol.'),
      refusedByProtocol(404, 'The protocol has no such method here.'),
      refusedByProtocol(406, 'The Accept header accepts neither of the two forms.'),
      refusedByProtocol(415, 'The Content-Type is not `application/json`.'),
      refusedByProtocol(500, 'Internal error of the protocol handler.'),
    ],
    errors: [],
  },
  '/healthz': {
    summary: 'Liveness: the process is up.',
    query,
    answers: [ok('The process is up.', { 'application/json': done })],
    errors: [],
  },
  '/readyz': {
    summary: 'Readiness: calls can be served.',
    description:
      'Which of the services behind the gateway are ready. 503 if none is, if one refuses the identity of the gateway, or if the gateway is stopping.',
    query,
    answers: [ok('Calls can be served.', { 'application/json': readiness })],
    errors: ['unavailable'],
  },
  '/docs/errors': {
    summary: 'What each error code means.',
    query,
    answers: [{ ...ok('A page with a section per code.', { 'text/html': z.string() }), headers: ['ETag'] }],
    errors: [],
  },
  '/v1/openapi.json': {
    summary: 'This document.',
    query,
    answers: [{ ...ok('OpenAPI 3.1.', { 'application/json': openApi }), headers: ['ETag'] }],
    errors: [],
  },
};
