import test from 'ava';
import { startTestGateway } from './stand-ins.ts';

const gateway = await startTestGateway();
test.after.always(() => gateway.close());

const vintageCalls = [
  '/v1/series/A?vintage=2024-01-01',
  '/v1/series/A?vintag%65=2024-01-01',
  '/v1/series/A/latest?vintage=2024-01-01',
  '/v1/series/A?release=first',
  '/v1/series/A/vintages',
  '/v1/commodities?vintage=',
];

test('vintages need the Pro plan: 403 names it, costs nothing and asks no room', async (t) => {
  for (const plan of ['free', 'starter']) {
    const { account, key } = gateway.accounts.addAccount({ plan, limit: 1000 });
    for (const path of vintageCalls) {
      const response = await fetch(gateway.url + path, { headers: { 'x-api-key': key } });
      t.is(response.status, 403, path);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      t.is(error.code, 'plan_required');
      t.regex(error.message, /\bPro\b/);
    }
    t.is(account.used, 0);
    t.false(gateway.dataApi.received.some(({ identity }) => identity?.accountId === account.id));
  }
});

test('the Pro plan reads vintages', async (t) => {
  const { key } = gateway.accounts.addAccount({ plan: 'pro' });
  for (const path of vintageCalls) {
    t.is((await fetch(gateway.url + path, { headers: { 'x-api-key': key } })).status, 200, path);
  }
});

test('an inactive subscription is 402 on data and may still see its account and pay', async (t) => {
  const { account, key } = gateway.accounts.addAccount({ plan: 'pro', active: false });
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.is(response.status, 402);
  t.is(((await response.json()) as { error: { code: string } }).error.code, 'subscription_inactive');
  t.is(account.used, 0);
  t.is((await fetch(`${gateway.url}/v1/account`, { headers: { 'x-api-key': key } })).status, 200);
  t.is((await fetch(`${gateway.url}/v1/billing/portal`, { headers: { 'x-api-key': key } })).status, 200);
});

test('a plan that was taken out of the file leaves its accounts with the free one', async (t) => {
  const { key } = gateway.accounts.addAccount({ plan: 'gone' });
  t.is((await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).status, 200);
  t.is(gateway.dataApi.received.at(-1)?.identity?.plan, 'free');
});
