// Calls of /mcp that are refused: by HTTP before the protocol begins, or as the result of a tool.
import { request as httpRequest } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/client';
import test from 'ava';
import { noon, startTestGateway } from '../gateway/recording-upstream.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';
import { projectPlans } from '../services/services.ts';
import { connect, errorOf, listTools, modes, post } from './mcp-client.ts';

const accounts = await startAccountsService(noon);
const plans = projectPlans();
const small = plans.all.map((plan) => ({
  ...plan,
  calls_second: plan.id === 'free' ? 4 : 100_000,
  concurrency: plan.id === 'enterprise' ? 1 : plan.concurrency,
}));
const gateway = await startTestGateway({
  ...{ accounts, publicUrl: 'https://almanac.example', dashboardOrigins: ['https://dashboard.example'] },
  plans: { ...plans, all: small, get: (id) => small.find((plan) => plan.id === id) },
});
gateway.dataApi.answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ success: true, data: [], count: 0, pagination: { next_cursor: null, count: 0 } }),
  );
};
const { key } = await accounts.newClient('pro');
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

/** The status of a list of tools asked for with these headers, Host among them. */
function statusWith(headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${gateway.url}/mcp`,
      {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          ...{ 'x-api-key': key, ...headers },
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.once('error', reject);
    sent.end(JSON.stringify(listTools));
  });
}

test('without a valid key it is 401 by HTTP; the key may be in X-API-Key, a bearer token or Basic, not in the URL', async (t) => {
  const none = await post(gateway.url, listTools, {});
  t.is(none.status, 401);
  t.regex(none.headers.get('www-authenticate') ?? '', /^ApiKey/);
  t.is((await post(gateway.url, listTools, { 'x-api-key': 'pk_live_wrong' })).status, 401);
  t.is((await post(gateway.url, listTools, { authorization: `Bearer ${key}` })).status, 200);
  const basic = Buffer.from(`${key}:`).toString('base64');
  t.is((await post(gateway.url, listTools, { authorization: `Basic ${basic}` })).status, 200);
  const inUrl = await fetch(`${gateway.url}/mcp?api_key=${key}`, {
    method: 'POST',
    body: JSON.stringify(listTools),
  });
  t.is(inUrl.status, 400);
});

test('only the public host and this machine may be called, and only by pages of allowed origins', async (t) => {
  const [, port] = new URL(gateway.url).host.split(':');
  for (const host of ['almanac.example', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
    t.is(await statusWith({ host }), 200, host);
  for (const host of ['evil.example', 'almanac.example.evil.example', 'localhost.evil.example'])
    t.is(await statusWith({ host }), 403, host);
  for (const origin of ['https://almanac.example', 'https://dashboard.example', `http://127.0.0.1:${port}`])
    t.is(await statusWith({ origin, host: `127.0.0.1:${port}` }), 200, origin);
  for (const origin of ['https://evil.example', 'http://almanac.example', 'null'])
    t.is(await statusWith({ origin }), 403, origin);
});

test('batches, long bodies, other methods and endless subscriptions are refused', async (t) => {
  const batch = await post(gateway.url, [listTools], { 'x-api-key': key });
  t.is(batch.status, 400);
  t.like(await batch.json(), { error: { code: 'invalid_body' } });
  const long = { ...listTools, params: { filler: 'x'.repeat(64 * 1024) } };
  t.is((await post(gateway.url, long, { 'x-api-key': key })).status, 413);
  const get = await fetch(`${gateway.url}/mcp`, {
    headers: { 'x-api-key': key, accept: 'text/event-stream' },
  });
  t.is(get.status, 405);
  t.is(get.headers.get('allow'), 'POST, OPTIONS');
  t.is((await post(gateway.url, '{', { 'x-api-key': key })).status, 400);
});

/** A list of tools as clients of 2026-07-28 ask for it. */
const modern = {
  ...listTools,
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const ofModern = (method: string) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method });

/** The status, and the code of the protocol if it is one of its errors. */
async function refusal(message: string | object, headers: Record<string, string>): Promise<unknown[]> {
  const answer = await post(gateway.url, message, { 'x-api-key': key, ...headers });
  const text = await answer.text(); // compared with the OpenAPI document
  if (text === '' || answer.headers.get('content-type') !== 'application/json') return [answer.status];
  const { error } = JSON.parse(text) as { error?: { code: unknown } };
  return [answer.status, error?.code];
}

test('refusals of the protocol have the status and the form that the OpenAPI document declares', async (t) => {
  t.deepEqual(await refusal('{', {}), [400, -32700]);
  t.deepEqual(await refusal(listTools, { accept: 'text/html' }), [406, -32000]);
  t.deepEqual(await refusal(listTools, { 'content-type': 'text/plain' }), [415, -32000]);
  t.deepEqual(await refusal({ jsonrpc: '2.0', method: 'notifications/initialized' }, {}), [202]);
  t.deepEqual(await refusal(modern, ofModern('tools/list')), [200, undefined]);
  t.deepEqual(await refusal(modern, ofModern('tools/call')), [400, -32020]);
  const other = { ...modern, method: 'prompts/list' };
  t.deepEqual(await refusal(other, ofModern('prompts/list')), [404, -32601]);
});

test('wrong arguments are named, with what is allowed, as wrong parameters of a URL are', async (t) => {
  const client = await connect(gateway.url, key);
  for (const [name, given, param, message] of [
    ['search', {}, 'q', '"q" is required.'],
    ['search', { q: 5 }, 'q', '"q" must be text.'],
    ['search', { q: '' }, 'q', '"q" must have at least 1 character.'],
    ['search', { q: 'GDP', limit: 51 }, 'limit', '"limit" must be at most 50.'],
    [
      'search',
      { query: 'GDP' },
      'query',
      /^"query" is not a known argument\. Did you mean "q"\? Known names: q, /,
    ],
    ['latest', { ids: 'GDP' }, 'ids', '"ids" must be a list.'],
    ['latest', { ids: [] }, 'ids', '"ids" must have at least 1 item.'],
    ['latest', { ids: ['GDP', 5] }, 'ids.1', '"ids.1" must be text.'],
    [
      'get_series',
      { ids: ['GDP'], frequency: 'month' },
      'frequency',
      /^"frequency" is "month", but must be one of weekly, /,
    ],
    [
      'get_series',
      { ids: ['GDP'], from: '31/03/2024' },
      'from',
      /^"from" must be a date that exists, YYYY-MM-DD, or /,
    ],
    ['compare', { ids: ['GDP'], as_of_a: '2024-03-31' }, 'as_of_b', '"as_of_b" is required.'],
    ['revisions', { id: 'GDP', date: 'March' }, 'date', /^"date" must be a date that exists/],
    [
      'describe',
      { id: 'GDP', as_of: '2024-02-30' },
      'as_of',
      '"as_of" must be a date, YYYY-MM-DD, that exists.',
    ],
  ] as const) {
    const error = errorOf(await client.callTool({ name, arguments: given }));
    t.like(error, { code: 'invalid_parameter', param });
    if (typeof message === 'string') t.is(error.message, message);
    else t.regex(error.message, message);
  }
  await client.close();
});

test('402 and 429 are results of a tool, with the code of the route', async (t) => {
  const client = await accounts.newClient('free'); // four calls a second
  await accounts.charge(client, 999); // of 1,000 a month
  const message = {
    ...listTools,
    method: 'tools/call',
    params: { name: 'latest', arguments: { ids: ['A'] } },
  };
  const ask = async () => {
    const text = await (await post(gateway.url, message, { 'x-api-key': client.key })).text();
    const [, data = ''] = /^data: (\{.*)$/m.exec(text) ?? [];
    const { result } = JSON.parse(data) as { result: CallToolResult };
    return result.isError === true ? errorOf(result).code : 'answered';
  };
  const answers: string[] = [];
  // On a busy machine twelve may take three seconds.
  await until('there is each refusal', async () => {
    answers.push(...(await Promise.all(Array.from({ length: 12 }, ask))));
    return answers.includes('quota_exceeded') && answers.includes('rate_limited');
  });
  t.is(answers.filter((answer) => answer === 'answered').length, 1);
});

test('more messages in a second than the plan allows are 429 by HTTP', async (t) => {
  const client = await accounts.newClient('free');
  const ask = async () => (await post(gateway.url, listTools, { 'x-api-key': client.key })).status;
  const statuses = new Set<number>();
  // On a busy machine six may take longer than a second.
  await until('one is refused', async () => {
    for (const status of await Promise.all(Array.from({ length: 6 }, ask))) statuses.add(status);
    return statuses.has(429);
  });
  t.deepEqual([...statuses].toSorted(), [200, 429]);
});

test('the client of the SDK reports a refused key as such', async (t) => {
  for (const mode of Object.values(modes))
    await t.throwsAsync(connect(gateway.url, 'pk_live_wrong', mode), { message: /401|[Uu]nauthorized/ });
});

test('a tool with two reads works under a plan that allows one request at once', async (t) => {
  const { key: narrow } = await accounts.newClient('enterprise');
  const client = await connect(gateway.url, narrow);
  t.teardown(() => client.close());
  const given = { ids: ['GDP'], as_of_a: '2024-03-31', as_of_b: '2024-06-30' };
  const result = await client.callTool({ name: 'compare', arguments: given });
  t.falsy(result.isError, JSON.stringify(result.content));
});
