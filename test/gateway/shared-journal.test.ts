// Several gateways with one JOURNAL_DIR and the same port, like containers that share a volume, or hosts on one machine: each stores its own usage.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { listen } from '../../kernel/http/server.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { until } from '../run/until.ts';
import { passOn, startRecordingUpstream } from './recording-upstream.ts';

// Gateway processes charge calls to the month of the machine's clock.
const accounts = await startAccountsService(new Date().toISOString());
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
const dataApi = await startRecordingUpstream('data-api');
const journals = mkdtempSync(path.join(tmpdir(), 'almanac-shared-journal-'));
test.after.always(async () => {
  await accountsApi.close();
  await dataApi.close();
  await accounts.close();
  rmSync(journals, { recursive: true });
});

async function freePort(): Promise<string> {
  const server = createServer();
  const { port } = new URL(await listen(server as never, '127.0.0.1', 0));
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The number of calls in files. */
function storedEntries(): number {
  const files = readdirSync(journals, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  );
  const lines = files.flatMap((name) =>
    readFileSync(path.join(journals, name), 'utf8').split('\n').slice(0, -1),
  );
  return lines
    .map((line) => JSON.parse(line) as { list: string; row: { calls: number } })
    .reduce((sum, { list, row }) => sum + (list === 'usage' ? row.calls : 0), 0);
}

test('gateways with the same JOURNAL_DIR and port neither lose nor repeat usage, and a successor sends that of a killed one', async (t) => {
  const { key, ...client } = await accounts.newClient('enterprise');
  const port = await freePort();
  const start = (host: string) =>
    startGatewayProcess({
      ...{ DATA_API_URL: dataApi.url, ACCOUNTS_API_URL: accountsApi.url },
      ...{ HOST: host, PORT: port, JOURNAL_DIR: journals },
    });
  let served = 0;
  const call = async ({ url }: { url: string }, times: number) => {
    for (let i = 0; i < times; i += 1) {
      const { status } = await fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': key } });
      if (status === 200) served += 1;
    }
  };
  // Usage is not accepted, so it is only in the files.
  const away = Promise.withResolvers<void>();
  accountsApi.answerOurselves = (request, response) => {
    const hasUsage = request.url === '/internal/heartbeat' && !request.body.includes('"batch":null');
    if (!hasUsage) return passOn(accounts.url, request, response);
    void away.promise.then(() => passOn(accounts.url, request, response));
  };
  const [killed, other] = await Promise.all([start('127.0.0.1'), start('127.0.0.2')]);
  t.teardown(() => killed.stop('SIGKILL'));
  t.teardown(() => other.stop('SIGKILL'));
  await call(killed, 3);
  await call(other, 2);
  await until('all is in files', () => storedEntries() === 5);
  await call(other, 1); // goes into the batch after the one being sent
  await killed.stop('SIGKILL');
  const successor = await start('127.0.0.1');
  t.teardown(() => successor.stop('SIGKILL'));
  await call(other, 4);
  await call(successor, 2);
  t.is(served, 12);
  away.resolve();
  t.is(await other.stop('SIGTERM'), 0);
  t.is(await successor.stop('SIGTERM'), 0);
  t.is(storedEntries(), 0);
  t.like(sumOf(await accounts.ledger(client)), { calls: served, billed: served });
});
