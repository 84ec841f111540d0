// Bulk files are charged per file: one call for all ranges that a key reads on a day, at all gateways together.
import test from 'ava';
import { createKey } from '../../accounts-api/operator/operator.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { fakeClock } from '../services/harness.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway, type Answer } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const plans = unhurried(projectPlans());
const one = await startTestGateway({ accounts, plans });
const other = await startTestGateway({ accounts, plans });
const ofTomorrow = await startTestGateway({ accounts, plans, clock: fakeClock('2026-11-21T12:00:00.000Z') });
test.after.always(async () => {
  await one.close();
  await other.close();
  await ofTomorrow.close();
  await accounts.close();
});

const answerPart: Answer = ({ headers, method }, response) => {
  const body = method === 'HEAD' ? '' : 'part';
  response.writeHead(headers.range === undefined ? 200 : 206, { 'content-length': '4', etag: '"a"' });
  response.end(body);
};
const refuseRange: Answer = (_request, response) => response.writeHead(416, { 'content-length': '0' }).end();
one.dataApi.answer = answerPart;
other.dataApi.answer = answerPart;
ofTomorrow.dataApi.answer = answerPart;

const file = '/v1/bulk/observations.current.1.parquet';

async function read(url: string, key: string, name = file, method = 'GET'): Promise<number> {
  const response = await fetch(url + name, { method, headers: { 'x-api-key': key, range: 'bytes=0-3' } });
  await response.arrayBuffer();
  return response.status;
}

/** Resolves when the ledger has this many calls of the account, and this many are billed, in the ledger and in the month. */
async function untilCounted(
  client: { accountId: string; keyId: string },
  calls: number,
  charged: number,
): Promise<void> {
  await until(`${calls} calls, ${charged} of them charged`, async () => {
    const sum = sumOf(await accounts.ledger(client));
    return sum.calls === calls && sum.billed === charged && (await accounts.used(client)) === charged;
  });
}

test.serial('200 ranges of one file cost one call, and each reaches data-api with its range', async (t) => {
  const client = await accounts.newClient('pro');
  const before = one.dataApi.received.length;
  t.is(await read(one.url, client.key, file, 'HEAD'), 206);
  for (let batch = 0; batch < 20; batch += 1) {
    const statuses = await Promise.all(Array.from({ length: 10 }, () => read(one.url, client.key)));
    t.deepEqual(new Set(statuses), new Set([206]));
  }
  t.is(one.dataApi.received.slice(before).filter(({ headers }) => headers.range === 'bytes=0-3').length, 201);
  await untilCounted(client, 201, 1);
});

test.serial('concurrent ranges at two gateways cost one call together', async (t) => {
  const client = await accounts.newClient('pro');
  const urls = [one.url, other.url, one.url, other.url, one.url, other.url];
  t.deepEqual(new Set(await Promise.all(urls.map((url) => read(url, client.key)))), new Set([206]));
  await untilCounted(client, 6, 1);
  await read(other.url, client.key);
  await untilCounted(client, 7, 1);
});

test.serial('another file, another key and another day each cost another call', async (t) => {
  const client = await accounts.newClient('pro');
  const second = await createKey(accounts.deps, client.accountId, 'second');
  await read(one.url, client.key);
  await read(one.url, client.key, '/v1/bulk/observations.vintages.1.parquet');
  await read(one.url, second.key);
  await until('three calls are charged', async () => (await accounts.used(client)) === 3);
  await read(ofTomorrow.url, client.key);
  await until('four calls are charged', async () => (await accounts.used(client)) === 4);
  t.pass();
});

test.serial('a refused range costs nothing, and the next served one is charged', async (t) => {
  const client = await accounts.newClient('pro');
  one.dataApi.answer = refuseRange;
  t.is(await read(one.url, client.key), 416);
  one.dataApi.answer = answerPart;
  await untilCounted(client, 1, 0);
  t.is(await read(one.url, client.key), 206);
  t.is(await read(one.url, client.key), 206);
  await untilCounted(client, 3, 1);
});

test.serial(
  'with the last call of the month a file can be read to its end, and no other file can be begun',
  async (t) => {
    const client = await accounts.newClient('pro');
    await read(one.url, client.key);
    await untilCounted(client, 1, 1);
    await accounts.deps.db.sequelize.query(
      'update accounts.quota_months set used = 249999 where account_id = $1',
      {
        bind: [client.accountId],
      },
    );
    const [another, third] = ['/v1/bulk/a.current.1.parquet', '/v1/bulk/b.current.1.parquet'];
    await until('the file is served', async () => (await read(other.url, client.key, another)) === 206);
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => read(other.url, client.key, another)),
    );
    t.deepEqual(new Set(statuses), new Set([206]));
    t.is(await read(other.url, client.key, third), 402);
  },
);
