// What gateways serve with Redis while accounts-api is away.
import test from 'ava';
import { startAccountsService } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { startProxy } from '../services/proxy.ts';
import { startRedis } from '../services/redis.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

test('a gateway that has just started serves the keys in the cache even if accounts-api goes before its first call', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const accounts = await startAccountsService(noon, silentLog, { redisUrl: redis.url });
  t.teardown(() => accounts.close());
  const way = await startProxy(Number(new URL(accounts.url).port));
  t.teardown(() => way.close());
  const start = async () => {
    const accountsApiUrls = [`http://127.0.0.1:${way.port}`];
    const gateway = await startTestGateway({ accounts, redisUrl: redis.url, accountsApiUrls });
    t.teardown(() => gateway.close());
    return gateway;
  };
  const { key } = await accounts.newClient();
  const call = async (url: string) =>
    (await fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': key } })).status;
  const first = await start();
  await until('the key is in the cache', async () => {
    t.is(await call(first.url), 200); // draws calls in advance
    return String(await redis.command('keys', 'almanac:credential:*')) !== '';
  });
  const second = await start();
  way.cut();
  t.is(await call(second.url), 200);
  way.mend();
});
