import test from 'ava';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const gateway = await startTestGateway({ accounts });
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

const vintageCalls = [
  '/v1/series/A?vintage=2024-01-01',
  '/v1/series/A?vintag%65=2024-01-01',
  '/v1/series/A/latest?vintage=2024-01-01',
  '/v1/series/A?release=first',
  '/v1/series/A/vintages',
  '/v1/series/A/triangle',
  '/v1/commodities?vintage=',
];

test.serial('vintages need the Pro plan: 403 names it, costs nothing and calls no service', async (t) => {
  for (const plan of ['free', 'starter']) {
    const client = await accounts.newClient(plan);
    const { accountId, key } = client;
    for (const path of vintageCalls) {
      const response = await fetch(gateway.url + path, { headers: { 'x-api-key': key } });
      t.is(response.status, 403, path);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      t.is(error.code, 'plan_required');
      t.regex(error.message, /\bPro\b/);
    }
    await until('the calls are settled', async () => {
      return sumOf(await accounts.ledger(client)).calls === vintageCalls.length;
    });
    t.is(await accounts.used(client), 0);
    t.false(gateway.dataApi.received.some(({ identity }) => identity?.accountId === accountId));
  }
});

test.serial('the Pro plan reads vintages', async (t) => {
  const { key } = await accounts.newClient('pro');
  for (const path of vintageCalls) {
    t.is((await fetch(gateway.url + path, { headers: { 'x-api-key': key } })).status, 200, path);
  }
});

test.serial('with an inactive subscription data is 402, but the account and payment work', async (t) => {
  const client = await accounts.newClient('pro');
  const { accountId, key } = client;
  await accounts.deps.db.accounts.update({ subscriptionState: 'inactive' }, { where: { id: accountId } });
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.is(response.status, 402);
  t.is(((await response.json()) as { error: { code: string } }).error.code, 'subscription_inactive');
  await until('the call is settled', async () => sumOf(await accounts.ledger(client)).calls === 1);
  t.is(await accounts.used(client), 0);
  t.is((await fetch(`${gateway.url}/v1/account`, { headers: { 'x-api-key': key } })).status, 200);
  t.not((await fetch(`${gateway.url}/v1/billing/portal`, { headers: { 'x-api-key': key } })).status, 402);
});

test.serial('accounts of a plan that was removed from the file are on the free one', async (t) => {
  const { accountId, key } = await accounts.newClient('pro');
  await accounts.deps.db.accounts.update({ plan: 'gone' }, { where: { id: accountId } });
  t.is((await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).status, 200);
  t.is(gateway.dataApi.received.at(-1)?.identity?.plan, 'free');
});

test.serial('the end or renewal of a subscription applies to the next call', async (t) => {
  const { accountId, key } = await accounts.newClient('pro');
  for (const [subscriptionState, status] of [
    ['active', 200],
    ['inactive', 402],
    ['active', 200],
  ] as const) {
    const { db } = accounts.deps;
    await db.inTransaction((transaction) =>
      db.accounts.update({ subscriptionState }, { where: { id: accountId }, transaction }),
    );
    t.is((await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).status, status);
  }
});

test.serial('the exact limits of a changed plan apply to the next call', async (t) => {
  const { accountId, key } = await accounts.newClient('free');
  for (const [plan, status] of [
    ['free', 403],
    ['pro', 200],
    ['starter', 403],
  ] as const) {
    await setPlan(accounts.deps, accountId, plan);
    const response = await fetch(`${gateway.url}/v1/series/A?vintage=2024-01-01`, {
      headers: { 'x-api-key': key },
    });
    t.is(response.status, status, plan);
  }
});
