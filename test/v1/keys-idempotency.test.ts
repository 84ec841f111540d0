// POST /v1/keys with an Idempotency-Key: a retried request creates no second key.
import test from 'ava';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';
import { assertError, dataOf, startAccountsService, type Client } from '../services/accounts-service.ts';

const service = await startAccountsService();
test.after.always(() => service.close());

type NewKey = KeyRecord & { key: string };

async function list(client: Client): Promise<KeyRecord[]> {
  return ((await service.as(client, '/v1/keys')).body as { data: KeyRecord[] }).data;
}

test('a retry with the same Idempotency-Key makes no second key, and is shown the first without its value', async (t) => {
  const client = await service.newClient();
  const ask = { body: { name: 'once' }, headers: { 'idempotency-key': '"a1"' } };
  const first = await service.as(client, '/v1/keys', ask);
  const { key, ...record } = dataOf(t, first, 201) as NewKey;
  t.true(isWellFormedApiKey(key));
  t.is(first.headers.get('idempotent-replayed'), null);
  const spelledOtherwise = { body: '{ "name" : "once" }', headers: { 'idempotency-key': 'a1' } };
  const retry = await service.as(client, '/v1/keys', spelledOtherwise);
  t.deepEqual(dataOf(t, retry, 201), record);
  t.is(retry.headers.get('idempotent-replayed'), 'true');
  t.is((await list(client)).length, 2);
});

test('an Idempotency-Key belongs to one body and one account', async (t) => {
  const [one, other] = [await service.newClient(), await service.newClient()];
  const headers = { 'idempotency-key': 'shared' };
  dataOf(t, await service.as(one, '/v1/keys', { body: { name: 'a' }, headers }), 201);
  assertError(
    t,
    await service.as(one, '/v1/keys', { body: { name: 'b' }, headers }),
    422,
    'idempotency_mismatch',
  );
  dataOf(t, await service.as(other, '/v1/keys', { body: { name: 'b' }, headers }), 201);
  for (const unfit of ['""', 'x'.repeat(256)]) {
    const ask = { body: { name: 'a' }, headers: { 'idempotency-key': unfit } };
    assertError(t, await service.as(one, '/v1/keys', ask), 400, 'invalid_request');
  }
});

test('20 requests at once with one Idempotency-Key make one key; the others are replayed or asked to wait', async (t) => {
  const client = await service.newClient();
  const ask = { body: { name: 'race' }, headers: { 'idempotency-key': 'race' } };
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.as(client, '/v1/keys', ask)));
  t.is((await list(client)).length, 2);
  t.is(answers.filter((answer) => JSON.stringify(answer.body).includes('"key":')).length, 1);
  for (const answer of answers.filter((each) => each.status !== 201)) {
    assertError(t, answer, 409, 'idempotency_in_progress');
    t.is(answer.headers.get('retry-after'), '1');
  }
});

test('a failure is not stored for its Idempotency-Key, so the retry runs', async (t) => {
  const client = await service.newClient();
  const made: string[] = [];
  for (const name of ['two', 'three'])
    made.push((dataOf(t, await service.as(client, '/v1/keys', { body: { name } }), 201) as NewKey).id);
  const ask = { body: { name: 'later' }, headers: { 'idempotency-key': 'later' } };
  assertError(t, await service.as(client, '/v1/keys', ask), 409, 'key_limit_reached');
  await service.as(client, `/v1/keys/${made[0]}`, { method: 'DELETE' });
  t.truthy((dataOf(t, await service.as(client, '/v1/keys', ask), 201) as NewKey).key);
});

test('a request with an Idempotency-Key is refused if its account was closed since its credential was checked', async (t) => {
  const client = await service.newClient();
  await service.deps.db.accounts.destroy({ where: { id: client.accountId } });
  const ask = { body: { name: 'late' }, headers: { 'idempotency-key': 'late' } };
  assertError(t, await service.as(client, '/v1/keys', ask), 401, 'unauthorized');
});
