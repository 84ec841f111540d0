// The scopes and addresses of a key: set, changed, shown, and never more than those of the key that grants them.
import test from 'ava';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { createKey } from '../../accounts-api/operator/operator.ts';
import { holdersOf } from '../auth/holders.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
} from '../services/accounts-service.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service.close());

const everything = { scopes: ['data', 'read', 'manage'], addresses: null };
const office = ['203.0.113.0/24', '2001:db8::/32'];

/** An account with an unrestricted key and a restricted one. */
async function twoKeys(access: { scopes: string[]; addresses?: string[] }) {
  const client = await service.newClient();
  const { id } = await createKey(service.deps, client.accountId, 'bound', access);
  return { client, bound: { accountId: client.accountId, keyId: id } };
}

test('a key may do everything from everywhere unless it is made or changed otherwise', async (t) => {
  const client = await service.newClient();
  const body = {
    name: 'k',
    scopes: ['manage', 'data', 'data'],
    addresses: [' 2001:DB8::/32', '203.0.113.7'],
  };
  const made = dataOf(t, await service.as(client, '/v1/keys', { body }), 201) as KeyRecord;
  const shown = { scopes: ['data', 'manage'], addresses: ['2001:db8::/32', '203.0.113.7'] };
  t.like(made, shown);
  const list = (await service.as(client, '/v1/keys')).body as { data: KeyRecord[] };
  t.like(
    list.data.find(({ id }) => id === made.id),
    shown,
  );
  t.like(
    list.data.find(({ id }) => id === client.keyId),
    everything,
  );
  const change = (changes: object) =>
    service.as(client, `/v1/keys/${made.id}`, { method: 'PATCH', body: changes });
  t.like(dataOf(t, await change({ scopes: ['read'] })), { ...shown, scopes: ['read'], name: 'k' });
  t.like(dataOf(t, await change({ addresses: null, name: 'all' })), {
    name: 'all',
    scopes: ['read'],
    addresses: null,
  });
  const rows = await service.deps.db.auditEvents.findAll({
    where: { subject: made.id },
    order: [['eventNo', 'ASC']],
  });
  t.deepEqual(
    rows.map(({ action }) => action),
    ['key.created', 'key.access_changed', 'key.renamed', 'key.access_changed'],
  );
  t.like(rows[1]?.detail, { before: shown, scopes: ['read'], addresses: shown.addresses });
  await service.as(client, `/v1/keys/${made.id}`, { method: 'DELETE' });
  assertError(t, await change({ scopes: ['data'] }), 409, 'conflict');
});

test('invalid scopes and addresses are refused by name', async (t) => {
  const client = await service.newClient();
  for (const [param, changes, message] of [
    ['scopes', { scopes: [] }],
    ['scopes.0', { scopes: ['write'] }, '"scopes.0" is "write", but must be one of data, read, manage.'],
    ['scopes', { scopes: 'data' }],
    ['addresses', { addresses: [] }],
    ['addresses', { addresses: Array(21).fill('203.0.113.7') }],
    [
      'addresses.0',
      { addresses: ['203.0.113.0/33'] },
      '"addresses.0" is "203.0.113.0/33", but must be an address or a range, such as 203.0.113.0/24.',
    ],
  ] as const) {
    const refused = await service.as(client, '/v1/keys', { body: { name: 'k', ...changes } });
    const error = assertError(t, refused, 400, 'invalid_body');
    t.is(error.param, param);
    if (message !== undefined) t.is(error.message, message);
    const change = { method: 'PATCH', body: changes };
    assertError(t, await service.as(client, `/v1/keys/${client.keyId}`, change), 400, 'invalid_body');
  }
  const nothing = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'PATCH', body: {} });
  assertError(t, nothing, 400, 'invalid_body');
});

test('a key cannot grant more access than it has, to a new key, another key or itself', async (t) => {
  const { client, bound } = await twoKeys({ scopes: ['read', 'manage'], addresses: office });
  const made = await service.as(bound, '/v1/keys', { body: { name: 'like its maker' } });
  t.like(dataOf(t, made, 201), { scopes: ['read', 'manage'], addresses: office });
  const narrower = { scopes: ['read'], addresses: ['203.0.113.7'] };
  const { id } = dataOf(t, made, 201) as KeyRecord;
  const change = (key: string, changes: object) =>
    service.as(bound, `/v1/keys/${key}`, { method: 'PATCH', body: changes });
  t.like(dataOf(t, await change(id, narrower)), narrower);
  await service.as(bound, `/v1/keys/${id}`, { method: 'DELETE' });
  for (const [param, changes] of [
    ['scopes', { scopes: ['data'] }],
    ['scopes', { scopes: ['data', 'read'] }],
    ['addresses', { addresses: null }],
    ['addresses', { addresses: ['203.0.112.0/23'] }],
    ['addresses', { addresses: ['203.0.113.7', '198.51.100.7'] }],
  ] as const) {
    const refused = await service.as(bound, '/v1/keys', { body: { name: 'more', ...changes } });
    t.is(assertError(t, refused, 403, 'forbidden').param, param);
    assertError(t, await change(bound.keyId, changes), 403, 'forbidden');
    assertError(t, await change(client.keyId, changes), 403, 'forbidden');
  }
  t.deepEqual(
    (await service.deps.db.keys.findAll({ where: { accountId: client.accountId, revokedAt: null } })).map(
      ({ scopes, addresses }) => ({ scopes, addresses }),
    ).length,
    2,
  );
  const { newSession } = await holdersOf(service);
  const session = { accountId: client.accountId, ...(await newSession(client.accountId)) };
  const all = await service.signedIn(session, `/v1/keys/${bound.keyId}`, {
    method: 'PATCH',
    body: everything,
  });
  t.like(dataOf(t, all), everything);
});
