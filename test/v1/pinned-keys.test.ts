// Keys that are pinned to a day: created, shown and rotated; the day never changes; they only read data and need a plan with pinned keys.
import test from 'ava';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { createKey, setPlan } from '../../accounts-api/operator/operator.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService('2026-11-20T23:59:59.000Z');
});
test.after.always(() => service.close());

const day = '2020-01-01';
const make = (client: Client, wish: object) =>
  service.as(client, '/v1/keys', { body: { name: 'backtest', ...wish } });

test('a key can be pinned to a day at its creation; the answer, the lists, the audit and the gateway show the day', async (t) => {
  const client = await service.newClient('pro');
  const made = dataOf(t, await make(client, { as_of: day }), 201) as KeyRecord & { key: string };
  const shown = { as_of: day, scopes: ['data'], addresses: null };
  t.like(made, shown);
  const { data } = (await service.as(client, '/v1/keys')).body as { data: KeyRecord[] };
  t.deepEqual(
    data.map(({ id, as_of: asOf }) => [id, asOf]).sort(),
    [
      [client.keyId, null],
      [made.id, day],
    ].sort(),
  );
  const csv = (await service.as(client, '/v1/keys?fields=name,as_of&format=csv')).body as string;
  t.deepEqual(csv.trim().split(/\r?\n/).sort(), [`backtest,${day}`, 'first,', 'name,as_of']);
  const [event] = await service.deps.db.auditEvents.findAll({ where: { subject: made.id } });
  t.like(event, { action: 'key.created' });
  t.like(event?.detail, shown);
  const [credential, plain] = await service.heartbeats.lookUp(...[made.key, client.key].map(hashApiKey));
  t.like(credential, { key_id: made.id, as_of: day, scopes: ['data'] });
  t.like(plain, { key_id: client.keyId, as_of: null });
});

test('an invalid day, one before 1900 or one in the future is refused, and today is accepted', async (t) => {
  const client = await service.newClient('pro');
  for (const [asOf, message] of [
    ['2026-11-21', '"as_of" must not be in the future; today is 2026-11-20 (UTC).'],
    ['9999-12-31', '"as_of" must not be in the future; today is 2026-11-20 (UTC).'],
    ['1899-12-31', '"as_of" must not be before 1900-01-01.'],
    ['2020-02-30', '"as_of" must be a date, YYYY-MM-DD, that exists.'],
    ['2020', '"as_of" must be a date, YYYY-MM-DD, that exists.'],
    ['2020-01-01T00:00:00Z', '"as_of" must be a date, YYYY-MM-DD, that exists.'],
  ] as const) {
    const error = assertError(t, await make(client, { as_of: asOf }), 400, 'invalid_body');
    t.deepEqual([error.param, error.message], ['as_of', message]);
  }
  assertError(t, await make(client, { as_of: 20200101 }), 400, 'invalid_body');
  t.like(dataOf(t, await make(client, { as_of: '2026-11-20' }), 201), { as_of: '2026-11-20' });
  t.like(dataOf(t, await make(client, { as_of: null }), 201), {
    as_of: null,
    scopes: ['data', 'read', 'manage'],
  });
});

test('the day of a key never changes: a change that names it is refused, and a rotation preserves it', async (t) => {
  const client = await service.newClient('pro');
  const { id } = dataOf(t, await make(client, { as_of: day }), 201) as KeyRecord;
  const change = (key: string, body: object) =>
    service.as(client, `/v1/keys/${key}`, { method: 'PATCH', body });
  for (const key of [id, client.keyId])
    for (const asOf of ['2021-01-01', day, null]) {
      const error = assertError(t, await change(key, { name: 'other', as_of: asOf }), 400, 'invalid_body');
      t.is(error.param, 'as_of');
      t.regex(error.message, /cannot be changed: .*Make another key, with POST \/v1\/keys\.$/);
    }
  t.like(dataOf(t, await change(id, { name: 'renamed', addresses: ['203.0.113.7'] })), {
    ...{ name: 'renamed', as_of: day, scopes: ['data'], addresses: ['203.0.113.7'] },
  });
  const rotated = dataOf(t, await service.as(client, `/v1/keys/${id}/rotate`, { body: {} })) as KeyRecord & {
    key: string;
  };
  t.like(rotated, { id, name: 'renamed', as_of: day, scopes: ['data'], addresses: ['203.0.113.7'] });
  const [found] = await service.heartbeats.lookUp(hashApiKey(rotated.key));
  t.like(found, { key_id: id, as_of: day });
});

test('the old value of a rotated key has the same day', async (t) => {
  const client = await service.newClient('pro');
  const made = dataOf(t, await make(client, { as_of: day }), 201) as KeyRecord & { key: string };
  dataOf(t, await service.as(client, `/v1/keys/${made.id}/rotate`, { body: {} }));
  const [old] = await service.heartbeats.lookUp(hashApiKey(made.key));
  t.like(old, { key_id: made.id, as_of: day });
});

test('a pinned key only reads data: any other scope is refused, at its creation and later', async (t) => {
  const client = await service.newClient('pro');
  const wishes = [['data', 'read'], ['data', 'manage'], ['manage'], ['data', 'read', 'manage']];
  for (const scopes of wishes) {
    const error = assertError(t, await make(client, { as_of: day, scopes }), 400, 'invalid_body');
    t.is(error.param, 'scopes');
    t.regex(error.message, /^"scopes" must be \["data"\] for a key that is pinned to a day/);
  }
  const { id } = dataOf(t, await make(client, { as_of: day, scopes: ['data'] }), 201) as KeyRecord;
  const change = (scopes: string[]) =>
    service.as(client, `/v1/keys/${id}`, { method: 'PATCH', body: { scopes } });
  for (const scopes of wishes)
    t.is(assertError(t, await change(scopes), 400, 'invalid_body').param, 'scopes');
  t.like(dataOf(t, await change(['data'])), { scopes: ['data'], as_of: day });
  const other = await service.newClient('pro');
  const { id: keyId } = await createKey(service.deps, other.accountId, 'manager', { scopes: ['manage'] });
  const manager = { accountId: other.accountId, keyId };
  t.is(assertError(t, await make(manager, { as_of: day }), 403, 'forbidden').param, 'scopes');
});

test('under a plan without pinned keys they are refused: 403 names the plan that has them', async (t) => {
  const client = await service.newClient('starter');
  const error = assertError(t, await make(client, { as_of: day }), 403, 'plan_required');
  t.deepEqual(
    [error.param, error.message],
    [
      'as_of',
      'This requires the Pro plan, which includes pinned keys; this account is on Starter. See GET /v1/plans.',
    ],
  );
  await setPlan(service.deps, client.accountId, 'pro');
  const made = dataOf(t, await make(client, { as_of: day }), 201) as KeyRecord;
  await setPlan(service.deps, client.accountId, 'free');
  dataOf(t, await service.as(client, `/v1/keys/${made.id}`, { method: 'PATCH', body: { name: 'n' } }));
  t.is((await service.as(client, `/v1/keys/${made.id}`, { method: 'DELETE' })).status, 204);
});
