// A key gets a new value, and the old one works until the requested instant.
import { createHash } from 'node:crypto';
import test from 'ava';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { createKey, revokeKey } from '../../accounts-api/operator/operator.ts';
import { assertError, dataOf, startAccountsService, type Client } from '../services/accounts-service.ts';

const hour = 60 * 60_000;
const start = '2026-11-20T10:00:00.000Z';
const service = await startAccountsService(start);
test.after.always(() => service.close());
test.afterEach.always(() => service.clock.set(start));

const rotate = (client: Client, body: object = {}) =>
  service.as(client, `/v1/keys/${client.keyId}/rotate`, { body });
const endOld = (client: Client) =>
  service.as(client, `/v1/keys/${client.keyId}/old-value`, { method: 'DELETE' });
const found = async (key: string) => {
  const [credential] = await service.heartbeats.lookUp(createHash('sha256').update(key).digest('hex'));
  return credential?.key_id;
};
type Rotated = KeyRecord & { key: string };

test.serial('both values are the same key until the old one ends, to the millisecond', async (t) => {
  const client = await service.newClient();
  const rotated = dataOf(t, await rotate(client, { overlap_hours: 2 })) as Rotated;
  t.like(rotated, {
    id: client.keyId,
    name: 'first',
    status: 'active',
    old_value_ends_at: '2026-11-20T12:00:00Z',
  });
  t.is(rotated.masked, `pk_live_${rotated.key.slice(8, 12)}…${rotated.key.slice(-4)}`);
  t.not(rotated.key, client.key);
  service.clock.advance(2 * hour - 1);
  t.deepEqual([await found(client.key), await found(rotated.key)], [client.keyId, client.keyId]);
  const [old] = await service.heartbeats.lookUp(createHash('sha256').update(client.key).digest('hex'));
  t.is(old?.expires_in_ms, 1, 'the gateway ends it by itself');
  service.clock.advance(1);
  t.deepEqual([await found(client.key), await found(rotated.key)], [undefined, client.keyId]);
  const { data } = (await service.as(client, '/v1/keys')).body as { data: KeyRecord[] };
  t.like(data[0], { old_value_ends_at: null, masked: rotated.masked });
  t.is(data.length, 1, 'no slot is taken');
  t.like(dataOf(t, await rotate(client)), { old_value_ends_at: '2026-11-21T12:00:00Z' }, 'a day by default');
});

test.serial('a request whose fields are all optional needs no body', async (t) => {
  const client = await service.newClient();
  const path = `/v1/keys/${client.keyId}/rotate`;
  t.like(dataOf(t, await service.as(client, path, { method: 'POST' })), { id: client.keyId });
  assertError(t, await service.as(client, path, { method: 'POST', body: [] }), 400, 'invalid_body');
  const noRename = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'PATCH' });
  assertError(t, noRename, 400, 'invalid_body');
});

test.serial(
  'the old value can be ended at once, alone or with the key, or by a rotation without overlap',
  async (t) => {
    const client = await service.newClient();
    const second = (dataOf(t, await rotate(client, { overlap_hours: 168 })) as Rotated).key;
    const refused = assertError(t, await rotate(client, { overlap_hours: 1 }), 409, 'conflict');
    t.true(refused.message.includes('2026-11-27T10:00:00Z'), 'a lost answer cannot end what is in use');
    t.is((await endOld(client)).status, 204);
    t.is((await endOld(client)).status, 204, 'also when repeated');
    t.deepEqual([await found(client.key), await found(second)], [undefined, client.keyId]);
    const third = (dataOf(t, await rotate(client, { overlap_hours: 5 })) as Rotated).key;
    const fourth = (dataOf(t, await rotate(client, { overlap_hours: 0 })) as Rotated).key;
    t.deepEqual(
      [await found(second), await found(third), await found(fourth)],
      [undefined, undefined, client.keyId],
    );
    await rotate(client);
    await revokeKey(service.deps, fourth); // a leaked old value also identifies its key
    t.is(await found(fourth), undefined);
    assertError(t, await rotate(client, { overlap_hours: 0 }), 409, 'conflict');
  },
);

test.serial(
  'the old value ends with the key at the latest, and a key cannot rotate a key with more access',
  async (t) => {
    const { accountId, keyId } = await service.newClient();
    const expires_at = new Date(service.clock.now().getTime() + hour).toISOString();
    const made = await service.as({ accountId, keyId }, '/v1/keys', { body: { name: 'short', expires_at } });
    const short = dataOf(t, made, 201) as Rotated;
    const rotated = dataOf(t, await rotate({ accountId, keyId: short.id })) as Rotated;
    service.clock.advance(hour);
    t.deepEqual([await found(short.key), await found(rotated.key)], [undefined, undefined]);
    const { id: bound } = await createKey(service.deps, accountId, 'bound', { scopes: ['manage'] });
    const path = `/v1/keys/${keyId}/rotate`;
    assertError(t, await service.as({ accountId, keyId: bound }, path, { body: {} }), 403, 'forbidden');
    t.is(
      (await service.as({ accountId, keyId: bound }, `/v1/keys/${bound}/rotate`, { body: {} })).status,
      200,
    );
    const stranger = await service.newClient();
    assertError(t, await service.as(stranger, path, { body: {} }), 404, 'not_found');
    const old = { method: 'DELETE' };
    assertError(t, await service.as(stranger, `/v1/keys/${keyId}/old-value`, old), 404, 'not_found');
    for (const overlap_hours of [-1, 169, 1.5, '24']) {
      const refused = await service.as({ accountId, keyId }, path, { body: { overlap_hours } });
      t.is(assertError(t, refused, 400, 'invalid_body').param, 'overlap_hours');
    }
  },
);
