// Every endpoint with a key enforces the key's scopes and allowed addresses. Refused calls cost nothing.
import test from 'ava';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { createKey } from '../../accounts-api/operator/operator.ts';
import { projectRoot } from '../../kernel/project.ts';
import { isFredPath } from '../../kernel/wire/error-form.ts';
import { until } from '../run/until.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const gateway = await startTestGateway({ accounts, trustedProxyHops: 1 });
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

const file = parse(readFileSync(path.join(projectRoot, 'config/gateway.config.yml'), 'utf8')) as {
  apiEndpoints: Record<string, Route | Route[]>;
  pipelines: Record<
    string,
    { apiEndpoints: string[]; policies: { credential?: { action: { accept: string[]; only?: string } } }[] }
  >;
};
interface Route {
  methods: string[];
  paths: string[];
}

interface Refusal {
  error: { code: string; message: string };
}

async function refusalOf(response: Response) {
  const { error } = (await response.json()) as Refusal;
  return { status: response.status, code: error.code, message: error.message };
}

async function keyWith(access: Parameters<typeof createKey>[3]) {
  const { accountId } = await accounts.newClient('enterprise');
  const { id, key } = await createKey(accounts.deps, accountId, 'bound', access);
  return { accountId, keyId: id, key };
}

for (const [name, { apiEndpoints, policies }] of Object.entries(file.pipelines)) {
  const action = policies.find((each) => each.credential)?.credential?.action;
  if (action === undefined || action.only !== undefined) continue;
  test.serial(`every endpoint of the pipeline "${name}" needs its scope`, async (t) => {
    const keys = {
      data: (await keyWith({ scopes: ['read', 'manage'] })).key,
      read: (await keyWith({ scopes: ['data', 'manage'] })).key,
      manage: (await keyWith({ scopes: ['data', 'read'] })).key,
    };
    const routes = apiEndpoints
      .flatMap((endpoint) => file.apiEndpoints[endpoint] ?? [])
      .flatMap(({ methods, paths }) => paths.flatMap((at) => methods.map((method) => ({ method, at }))))
      .filter(({ method }) => method !== 'OPTIONS');
    const before = gateway.dataApi.received.length;
    for (const { method, at } of routes) {
      const isRead = method === 'GET' && at !== '/v1/billing/portal';
      const needed = !action.accept.includes('session') ? 'data' : isRead ? 'read' : 'manage';
      const url = gateway.url + at.replace(/:\w+/g, 'x');
      const response = await fetch(url, { method, headers: { 'x-api-key': keys[needed] } });
      t.is(response.status, 403, `${method} ${at}`);
      const text = await response.text();
      t.true(
        text.includes(isFredPath(at) ? 'scope' : `needs an API key with the scope \\"${needed}\\"`),
        text,
      );
    }
    t.is(gateway.dataApi.received.length, before, 'no service is asked');
  });
}

test.serial('a key with one scope can make the calls of that scope', async (t) => {
  const status = async (access: Parameters<typeof createKey>[3], at: string, method = 'GET') =>
    (await fetch(gateway.url + at, { method, headers: { 'x-api-key': (await keyWith(access)).key } })).status;
  t.is(await status({ scopes: ['data'] }, '/v1/series/A'), 200);
  t.is(await status({ scopes: ['read'] }, '/v1/usage'), 200);
  t.is(await status({ scopes: ['read'] }, '/v1/usage', 'HEAD'), 200);
  t.is(await status({ scopes: ['manage'] }, `/v1/webhooks/wh_${'a'.repeat(20)}/test`, 'POST'), 404);
  t.is(await status({ scopes: ['data'] }, '/v1/operator/plans'), 404, 'nobody learns that it is there');
});

test.serial(
  'a key works from its addresses only, as the trusted proxy names them, and a refused call costs nothing',
  async (t) => {
    const client = await keyWith({ addresses: ['203.0.113.0/24', '2001:db8::/32'] });
    const from = (address: string, at = '/v1/series/A') =>
      fetch(gateway.url + at, { headers: { 'x-api-key': client.key, 'x-forwarded-for': address } });
    for (const address of [
      '203.0.113.0',
      '203.0.113.255',
      '::ffff:203.0.113.9',
      '2001:db8:1::1',
      '198.51.100.7, 203.0.113.7',
    ])
      t.is((await from(address)).status, 200, address);
    for (const [address, seen = address] of [
      ['203.0.112.255'],
      ['203.0.114.0'],
      ['2001:db9::1'],
      ['203.0.113.7, 198.51.100.7', '198.51.100.7'],
    ] as const) {
      for (const at of ['/v1/series/A', '/v1/usage', '/v1/billing/portal']) {
        const refused = await refusalOf(await from(address, at));
        t.like(refused, { status: 403, code: 'forbidden' });
        t.true(refused.message.includes(`does not work from ${seen},`), refused.message);
        t.false(
          refused.message.includes('203.0.113.0/24'),
          'who has found a key does not learn from where it works',
        );
      }
    }
    t.is(gateway.dataApi.received.filter(({ identity }) => identity?.keyId === client.keyId).length, 5);
    await until('the calls are settled', async () => sumOf(await accounts.ledger(client)).calls >= 5);
    t.deepEqual(sumOf(await accounts.ledger(client)), { calls: 5, billed: 5 });
  },
);

test.serial('a change of a key applies to the next call at every gateway', async (t) => {
  const other = await startTestGateway({ accounts });
  t.teardown(() => other.close());
  const client = await keyWith({});
  const { key: manager } = await createKey(accounts.deps, client.accountId, 'manager');
  const statuses = async () =>
    Promise.all(
      [gateway.url, other.url].map(
        async (url) => (await fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': client.key } })).status,
      ),
    );
  const change = (body: object) =>
    fetch(`${gateway.url}/v1/keys/${client.keyId}`, {
      method: 'PATCH',
      headers: { 'x-api-key': manager, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  t.deepEqual(await statuses(), [200, 200]);
  for (const [wish, status] of [
    [{ scopes: ['read'] }, 403],
    [{ scopes: ['data'] }, 200],
    [{ addresses: ['192.0.2.1'] }, 403],
    [{ addresses: ['127.0.0.0/8', '::1'] }, 200],
  ] as const) {
    t.is((await change(wish)).status, 200);
    t.deepEqual(await statuses(), [status, status], JSON.stringify(wish));
  }
});
