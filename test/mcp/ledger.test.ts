// The cost of tool calls: the ledger has the reads of answered calls, even if others fail, are refused or lose their client;
// and who may call /mcp at all. TEST_MCP_CALLS is the number of mixed calls (1,000 by default).
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import test from 'ava';
import { startRecordingUpstream, startTestGateway, noon } from '../gateway/recording-upstream.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { connect, errorOf, modes } from './mcp-client.ts';

const mixedCalls = Number(process.env['TEST_MCP_CALLS'] ?? 1_000);
const accounts = await startAccountsService(noon);
const dataApi = await startRecordingUpstream('data-api');
/** Answers wait until the client has disconnected, fail, or are sent at once, depending on the id. */
const series = { success: true, data: [], count: 0, pagination: { next_cursor: null, count: 0 } };
let waitingCount = 0;
dataApi.answer = ({ url }, response) => {
  if (url.includes('HELD')) return void (waitingCount += 1);
  response.setHeader('content-type', 'application/json');
  response.statusCode = url.includes('NONE') ? 404 : 200;
  const error = { code: 'not_found', message: 'There is none.' };
  return response.end(JSON.stringify(url.includes('NONE') ? { success: false, error } : series));
};
const plans = unhurried(projectPlans());
const gateway = await startTestGateway({
  ...{ accounts, plans, dataApiUrls: [dataApi.url], publicUrl: 'https://almanac.example' },
  dashboardOrigins: ['https://dashboard.example'],
});
test.after.always(async () => {
  await gateway.close();
  await dataApi.close();
  await accounts.close();
});

const toolCall = (ids: string) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'latest', arguments: { ids: ids.split(',') } },
});

test.serial(
  'discovery and refused arguments cost nothing, a tool its reads, a failed tool nothing',
  async (t) => {
    const client = await accounts.newClient('pro');
    for (const mode of Object.values(modes)) {
      const mcp = await connect(gateway.url, client.key, mode);
      await mcp.listTools();
      t.true((await mcp.callTool({ name: 'latest', arguments: { ids: [] } })).isError);
      await mcp.callTool({ name: 'latest', arguments: { ids: ['A', 'B'] } });
      t.is(errorOf(await mcp.callTool({ name: 'latest', arguments: { ids: ['NONE'] } })).code, 'not_found');
      await mcp.close();
    }
    await until('the ledger has all', async () => sumOf(await accounts.ledger(client)).calls === 9);
    t.is(sumOf(await accounts.ledger(client)).billed, 6);
    t.deepEqual(
      (await accounts.ledger(client)).map(({ endpoint, status_class }) => [endpoint, status_class]),
      [
        ['series', 2],
        ['series', 4],
      ],
    );
  },
);

test.serial('of mixed calls with clients that leave, the ledger has those that were answered', async (t) => {
  const client = await accounts.newClient('enterprise');
  let answered = 0;
  let left = 0;
  let unsure = 0; // their answers may have been sent whole before the gateway knew that they left
  const kinds = ['A', 'A,B', 'NONE', 'HELD', 'killed'] as const;
  async function one(i: number): Promise<void> {
    const kind = kinds[i % kinds.length] ?? 'A';
    const body = JSON.stringify(toolCall(kind === 'killed' ? 'A' : kind));
    const sent = httpRequest(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'x-api-key': client.key, 'content-length': String(Buffer.byteLength(body)) },
      },
    });
    sent.end(body);
    if (kind === 'HELD') {
      const before = waitingCount;
      await until('the read has begun', () => waitingCount > before);
      sent.once('error', () => undefined);
      sent.destroy();
      left += 1;
      return;
    }
    if (kind === 'killed') {
      sent.once('error', () => undefined);
      if (i % 2 === 0) {
        await once(sent, 'socket');
        unsure += 1;
      }
      sent.destroy();
      left += 1;
      return;
    }
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
    let text = '';
    for await (const piece of response) text += String(piece);
    if (!text.includes('"isError":true')) answered += kind.split(',').length;
  }
  for (let i = 0; i < mixedCalls; i += 10)
    await Promise.all(Array.from({ length: 10 }, (_, k) => one(i + k)));
  t.is(answered, Math.floor(mixedCalls / 5) * 3);
  t.is(left, Math.floor(mixedCalls / 5) * 2);
  await until('the ledger has all', async () => sumOf(await accounts.ledger(client)).billed >= answered);
  await gateway.gateway.close(); // it reports everything
  const { billed } = sumOf(await accounts.ledger(client));
  t.true(billed >= answered && billed <= answered + unsure, `${answered} answered, ${billed} billed`);
});
