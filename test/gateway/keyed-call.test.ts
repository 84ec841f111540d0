import test from 'ava';
import { identityHeader } from '../../kernel/identity.ts';
import { startTestGateway } from './stand-ins.ts';

const gateway = await startTestGateway();
test.after.always(() => gateway.close());

test('a keyed call reaches data-api with the sealed identity of its account', async (t) => {
  const { account, key } = gateway.accounts.addAccount({ plan: 'pro' });
  const response = await fetch(`${gateway.url}/v1/series/CPI.PK?from=2024`, {
    headers: { 'x-api-key': key },
  });
  t.is(response.status, 200);
  t.deepEqual(await response.json(), { success: true });
  const received = gateway.dataApi.received.at(-1);
  t.is(received?.url, '/v1/series/CPI.PK?from=2024');
  t.is(received?.identity?.accountId, account.id);
  t.deepEqual(received?.identity?.features, ['vintages', 'bulk', 'webhooks']);
  t.truthy(received?.headers[identityHeader]);
  t.is(received?.headers['x-api-key'], undefined);
  t.is(received?.headers['x-request-id'], response.headers.get('x-request-id') ?? undefined);
});
