import test from 'ava';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { identityHeader } from '../../kernel/identity.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const gateway = await startTestGateway({ accounts });
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

test.serial('a keyed call reaches data-api with the sealed identity of its account', async (t) => {
  const { accountId, key } = await accounts.newClient('pro');
  const response = await fetch(`${gateway.url}/v1/series/CPI.PK?from=2024`, {
    headers: { 'x-api-key': key },
  });
  t.is(response.status, 200);
  t.deepEqual(await response.json(), { success: true });
  const received = gateway.dataApi.received.at(-1);
  t.is(received?.url, '/v1/series/CPI.PK?from=2024');
  t.like(received?.identity, { accountId, keyHash: hashApiKey(key) });
  t.deepEqual(received?.identity?.features, ['vintages', 'bulk', 'webhooks', 'pinned_keys']);
  t.truthy(received?.headers[identityHeader]);
  t.is(received?.headers['x-api-key'], undefined);
  t.is(received?.headers['x-request-id'], response.headers.get('x-request-id') ?? undefined);
});

test.serial('a keyed call records the last use of its key', async (t) => {
  const { keyId, key } = await accounts.newClient('pro');
  const usedAt = async () => (await accounts.deps.db.keys.findByPk(keyId))?.lastUsedAt?.toISOString();
  t.is(await usedAt(), undefined);
  t.is((await fetch(`${gateway.url}/v1/account`, { headers: { 'x-api-key': key } })).status, 200);
  await until('the use is noted', async () => (await usedAt()) !== undefined);
  t.is(await usedAt(), noon);
});
