// The calls that gateways serve while accounts-api is unavailable.
import test from 'ava';
import { startAccountsService } from '../services/accounts-service.ts';
import { startProxy } from '../services/proxy.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

test('while accounts-api is unavailable a gateway serves cached keys, answers 503 to others, and serves these once it is back', async (t) => {
  const accounts = await startAccountsService(noon);
  t.teardown(() => accounts.close());
  const way = await startProxy(Number(new URL(accounts.url).port));
  t.teardown(() => way.close());
  const gateway = await startTestGateway({ accounts, accountsApiUrls: [`http://127.0.0.1:${way.port}`] });
  t.teardown(() => gateway.close());
  const [cached, other] = [await accounts.newClient(), await accounts.newClient()];
  const call = async ({ key }: { key: string }) =>
    (await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).status;
  t.is(await call(cached), 200);
  way.cut();
  t.is(await call(cached), 200);
  t.is(await call(other), 503);
  way.restore();
  await until('it is served', async () => (await call(other)) === 200);
  t.is(await call(cached), 200);
});
