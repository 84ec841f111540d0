// The limits of /v1/keys: three active keys, and ten new keys per hour.
import { createHash } from 'node:crypto';
import test from 'ava';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { instantText } from '../../kernel/clock.ts';
import { holdersOf } from '../auth/holders.ts';
import { assertError, dataOf, startAccountsService, type Client } from '../services/accounts-service.ts';

const service = await startAccountsService('2026-11-20T10:00:00.000Z');
test.after.always(() => service.close());

type NewKey = KeyRecord & { key: string };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function credentialOf(key: string): Promise<unknown> {
  return (await service.heartbeats.lookUp(sha256(key)))[0];
}

async function list(client: Client): Promise<KeyRecord[]> {
  return ((await service.as(client, '/v1/keys')).body as { data: KeyRecord[] }).data;
}

test('of 100 keys asked for at once, exactly three are made and the others get the reason', async (t) => {
  const client = await service.newClient();
  const { newSession } = await holdersOf(service);
  const holder = { ...client, ...(await newSession(client.accountId)) };
  await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      service.signedIn(holder, '/v1/keys', { body: { name: `key ${i}` } }),
    ),
  );
  t.is(answers.filter((answer) => answer.status === 201).length, 3);
  for (const answer of answers.filter((each) => each.status !== 201)) {
    assertError(t, answer, 409, 'key_limit_reached');
  }
  t.is((await list(client)).filter((key) => key.status === 'active').length, 3);
});

test('the eleventh key within an hour is refused, with the time when the next can be created', async (t) => {
  const client = await service.newClient(); // the key created by the operator also counts
  for (let i = 2; i <= 10; i += 1) {
    const { id } = dataOf(
      t,
      await service.as(client, '/v1/keys', { body: { name: `key ${i}` } }),
      201,
    ) as NewKey;
    await service.as(client, `/v1/keys/${id}`, { method: 'DELETE' });
  }
  const answer = await service.as(client, '/v1/keys', { body: { name: 'eleventh' } });
  assertError(t, answer, 429, 'rate_limited');
  t.is(answer.headers.get('retry-after'), '3600');
});

test('the database itself refuses a fourth active key', async (t) => {
  const client = await service.newClient();
  for (const name of ['second', 'third']) {
    dataOf(t, await service.as(client, '/v1/keys', { body: { name } }), 201);
  }
  const fourth = (slot: number | null) =>
    service.deps.db.keys.create({
      id: `key_${'a'.repeat(20)}`,
      accountId: client.accountId,
      name: 'fourth',
      hash: sha256('fourth'),
      mask: 'pk_live_abcd…wxyz',
      slot,
      createdAt: service.clock.now(),
      expiresAt: null,
    });
  await t.throwsAsync(fourth(3), { name: 'SequelizeUniqueConstraintError' });
  await t.throwsAsync(fourth(4), { message: /api_keys_slot_check/ });
  await t.throwsAsync(fourth(null), { message: /violates check constraint/ });
});

test.serial(
  'an expired key stops working on the instant, is listed as expired, and gives its slot to the next',
  async (t) => {
    const client = await service.newClient();
    const expires = instantText(new Date(service.clock.now().getTime() + 60_000));
    const short = dataOf(
      t,
      await service.as(client, '/v1/keys', { body: { name: 'short', expires_at: expires } }),
      201,
    ) as NewKey;
    t.is(short.expires_at, expires);
    dataOf(t, await service.as(client, '/v1/keys', { body: { name: 'third' } }), 201);
    assertError(
      t,
      await service.as(client, '/v1/keys', { body: { name: 'fourth' } }),
      409,
      'key_limit_reached',
    );
    t.truthy(await credentialOf(short.key));

    const earlier = service.clock.now().toISOString();
    service.clock.advance(60_000);
    try {
      t.is(await credentialOf(short.key), null);
      dataOf(t, await service.as(client, '/v1/keys', { body: { name: 'fourth' } }), 201);
      const keys = await list(client);
      t.deepEqual(
        keys.map((key) => key.status),
        ['active', 'active', 'active', 'expired'],
      );
      t.like(keys[3], { id: short.id, revoked_at: null });
    } finally {
      service.clock.set(earlier);
    }
  },
);

test.serial('ten keys per hour are counted per account, and the hour to the millisecond', async (t) => {
  const [client, other] = [await service.newClient(), await service.newClient()];
  const make = async (by: Client) => {
    const answer = await service.as(by, '/v1/keys', { body: { name: 'k' } });
    if (answer.status === 201) {
      const { id } = (answer.body as { data: NewKey }).data;
      await service.as(by, `/v1/keys/${id}`, { method: 'DELETE' });
    }
    return answer;
  };
  const earlier = service.clock.now().toISOString();
  t.teardown(() => service.clock.set(earlier));
  for (let i = 2; i <= 10; i += 1) {
    service.clock.advance(1000);
    t.is((await make(client)).status, 201);
  }
  service.clock.set(earlier);
  service.clock.advance(60 * 60_000 - 1);
  const refused = await make(client);
  assertError(t, refused, 429, 'rate_limited');
  t.is(refused.headers.get('retry-after'), '1');
  t.is((await make(other)).status, 201);
  service.clock.advance(1);
  t.is((await make(client)).status, 201, 'an hour after the first of the ten');
  assertError(t, await make(client), 429, 'rate_limited');
});
