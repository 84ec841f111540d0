// The client of the MCP SDK, as programs use it, connected to a gateway with a key.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/client';

/** The eras that a client may ask for. */
export const modes = { legacy: 'legacy', auto: 'auto', pinned: { pin: '2026-07-28' } } as const;
export type Mode = (typeof modes)[keyof typeof modes];

export interface Content {
  as_of: string | null;
  sources: { series: string; unit: string; licence: string | null; version: number; citation: string }[];
  urls: string[];
  shortened: boolean;
  [part: string]: unknown;
}

/** Connected; close it. */
export async function connect(url: string, key: string, mode: Mode = modes.auto): Promise<Client> {
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { 'x-api-key': key } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

/** The structured content, which the text repeats. @throws Error if the tool failed. */
export function contentOf(result: CallToolResult): Content {
  const [first] = result.content;
  const text = first?.type === 'text' ? first.text : '';
  if (result.isError === true) throw new Error(text);
  if (text !== JSON.stringify(result.structuredContent)) throw new Error('The text is another one.');
  return result.structuredContent as Content;
}

/** The failure of a tool. */
export function errorOf(result: CallToolResult): { code: string; message: string } {
  const [first] = result.content;
  if (result.isError !== true || first?.type !== 'text') throw new Error('The tool did not fail.');
  return (JSON.parse(first.text) as { error: { code: string; message: string } }).error;
}

/** A message as a client of 2025 sends it, and the HTTP answer. */
export function post(url: string, body: string | object, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
