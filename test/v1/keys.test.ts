// /v1/keys: shown once, revoked at once, hidden from other accounts. Its limits: keys-limits.test.ts.
import { createHash } from 'node:crypto';
import test from 'ava';
import { QueryTypes } from 'sequelize';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';
import { createLog } from '../../kernel/log/log.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service.close());

type NewKey = KeyRecord & { key: string };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function credentialOf(key: string): Promise<unknown> {
  return (await service.heartbeats.lookUp(sha256(key)))[0];
}

async function list(client: Client): Promise<KeyRecord[]> {
  return ((await service.as(client, '/v1/keys')).body as { data: KeyRecord[] }).data;
}

test('a new key is shown once, well-formed, and works at once', async (t) => {
  const client = await service.newClient();
  const answer = await service.as(client, '/v1/keys', { body: { name: 'laptop' } });
  const made = dataOf(t, answer, 201) as NewKey;
  t.true(isWellFormedApiKey(made.key));
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.like(await credentialOf(made.key), {
    account_id: client.accountId,
    key_id: made.id,
    plan: 'free',
    active: true,
  });

  const shown = (await list(client)).find((key) => key.id === made.id);
  t.deepEqual(shown, {
    id: made.id,
    name: 'laptop',
    masked: `pk_live_${made.key.slice(8, 12)}…${made.key.slice(-4)}`,
    status: 'active',
    created_at: '2026-11-20T10:00:00Z',
    last_used_at: null,
    expires_at: null,
    revoked_at: null,
    scopes: ['data', 'read', 'manage'],
    addresses: null,
    as_of: null,
    old_value_ends_at: null,
  });
});

test('the value of a key is in no list, no log line, no audit row and no other table', async (t) => {
  const lines: string[] = [];
  const log = createLog('accounts-api', 'trace', { write: (line) => void lines.push(line) });
  const service = await startAccountsService('2026-11-20T10:00:00.000Z', log);
  t.teardown(() => service.close());
  const client = await service.newClient();
  const headers = { 'idempotency-key': 'leak test' };
  const { key } = dataOf(
    t,
    await service.as(client, '/v1/keys', { body: { name: 'secret' }, headers }),
    201,
  ) as NewKey;
  const listed = await service.as(client, '/v1/keys');
  t.false(JSON.stringify(listed.body).includes(key));
  t.false(lines.join('').includes(key));
  const tables = await service.deps.db.sequelize.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'accounts'`,
    { type: QueryTypes.SELECT },
  );
  t.true(tables.length >= 7);
  for (const { name } of tables) {
    const rows = await service.deps.db.sequelize.query(`select * from accounts.${name}`, {
      type: QueryTypes.SELECT,
    });
    t.false(JSON.stringify(rows).includes(key), name);
  }
});

test('a revoked key is unknown on the next lookup, and its slot is free', async (t) => {
  const client = await service.newClient();
  t.truthy(await credentialOf(client.key));
  const { id: keyId } = dataOf(
    t,
    await service.as(client, '/v1/keys', { body: { name: 'one' } }),
    201,
  ) as NewKey;
  const answer = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
  t.is(answer.status, 204);
  t.is(answer.body, '');
  t.is(await credentialOf(client.key), null);
  for (const name of ['two', 'three']) {
    dataOf(t, await service.as({ ...client, keyId }, '/v1/keys', { body: { name } }), 201);
  }
});

test('a key is replaced without a moment that has none: make the next, put it in place, revoke the old one', async (t) => {
  const client = await service.newClient();
  const next = dataOf(t, await service.as(client, '/v1/keys', { body: { name: 'next' } }), 201) as NewKey;
  t.truthy(await credentialOf(client.key));
  t.truthy(await credentialOf(next.key));
  const byNext = { ...client, keyId: next.id };
  t.is((await service.as(byNext, `/v1/keys/${client.keyId}`, { method: 'DELETE' })).status, 204);
  t.is(await credentialOf(client.key), null);
  t.truthy(await credentialOf(next.key));
});

test('a renamed key has its new name and is the same key; setting the same name changes nothing', async (t) => {
  const client = await service.newClient();
  const rename = (name: unknown, keyId = client.keyId) =>
    service.as(client, `/v1/keys/${keyId}`, { method: 'PATCH', body: { name } });
  const [before] = await list(client);
  const renamed = { ...before, name: 'Production' };
  for (let times = 0; times < 2; times += 1) t.deepEqual(dataOf(t, await rename(' Production ')), renamed);
  t.deepEqual(await list(client), [renamed]);
  t.truthy(await credentialOf(client.key));
  const where = { subject: client.keyId, action: 'key.renamed' as const };
  t.is(await service.deps.db.auditEvents.count({ where }), 1);
  for (const name of ['', ' ', 'x'.repeat(101), 7, null, undefined])
    assertError(t, await rename(name), 400, 'invalid_body');
  const empty = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'PATCH', body: {} });
  const { message } = assertError(t, empty, 400, 'invalid_body');
  t.is(message, 'The body must have "name", "scopes" or "addresses".');
  const stranger = await service.newClient();
  assertError(t, await rename('mine', stranger.keyId), 404, 'not_found');
  t.deepEqual(
    (await list(stranger)).map(({ name }) => name !== 'mine'),
    [true],
  );
});

test('revoking again is 204 and changes neither the instant nor the audit', async (t) => {
  const client = await service.newClient();
  await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
  const [before] = await list(client);
  const again = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
  t.is(again.status, 204);
  const [after] = await list(client);
  t.is(after?.status, 'revoked');
  t.deepEqual(after, before);
  const where = { subject: client.keyId, action: 'key.revoked' as const };
  t.is(await service.deps.db.auditEvents.count({ where }), 1);
});

test("another account's key is not found, and goes on working", async (t) => {
  const [owner, stranger] = [await service.newClient(), await service.newClient()];
  assertError(
    t,
    await service.as(stranger, `/v1/keys/${owner.keyId}`, { method: 'DELETE' }),
    404,
    'not_found',
  );
  assertError(t, await service.as(stranger, '/v1/keys/key_nothing', { method: 'DELETE' }), 404, 'not_found');
  t.truthy(await credentialOf(owner.key));
  t.false((await list(stranger)).some((key) => key.id === owner.keyId));
});

test.serial(
  'the active keys of an account are counted and listed first, however many have ended',
  async (t) => {
    const [client, other] = [await service.newClient(), await service.newClient()];
    const earlier = service.clock.now().toISOString();
    t.teardown(() => service.clock.set(earlier));
    const make = async (by: Client, name: string, seconds: number) => {
      service.clock.advance(1000);
      const expires_at = new Date(Date.parse(earlier) + seconds * 1000).toISOString();
      return dataOf(t, await service.as(by, '/v1/keys', { body: { name, expires_at } }), 201) as NewKey;
    };
    const revoked = await make(client, 'revoked', 3600);
    await make(client, 'expired', 60);
    await make(other, 'expired elsewhere', 60);
    await service.as(client, `/v1/keys/${revoked.id}`, { method: 'DELETE' });
    await make(client, 'lasting', 3600);
    service.clock.set(earlier);
    service.clock.advance(60_000 - 1);
    t.like(dataOf(t, await service.as(client, '/v1/account')), { active_keys: 3 });
    service.clock.advance(1);
    t.like(dataOf(t, await service.as(client, '/v1/account')), { active_keys: 2 });
    t.like(dataOf(t, await service.as(other, '/v1/account')), { active_keys: 1 });
    t.deepEqual(
      (await list(client)).map(({ name, status }) => [name, status]),
      [
        ['lasting', 'active'],
        ['first', 'active'],
        ['expired', 'expired'],
        ['revoked', 'revoked'],
      ],
    );
    // The next key gets the slot of an expired key of the same account, and of no other account.
    await make(client, 'next', 3600);
    const slots = async (accountId: string) =>
      (await service.deps.db.keys.findAll({ where: { accountId }, order: ['createdAt'] })).map(
        ({ slot }) => slot,
      );
    t.deepEqual((await slots(client.accountId)).toSorted(), [1, 2, 3, null, null]);
    t.deepEqual(await slots(other.accountId), [1, 2]);
  },
);

const nameRule = 'must have 1 to 100 characters, none of them a control character';
const unknown = 'is not a known field. Known names: name, expires_at, scopes, addresses, as_of';
for (const [what, body, param, rule] of [
  ['a slot', { name: 'x', slot: 2 }, 'slot', unknown],
  ['an account', { name: 'x', account_id: 'acct_other' }, 'account_id', unknown],
  ['a value', { name: 'x', key: 'pk_live_mine' }, 'key', unknown],
  ['no name', {}, 'name', `is required: it ${nameRule}`],
  ['an empty name', { name: '  ' }, 'name', nameRule],
  ['a name that is no text', { name: ['x'] }, 'name', nameRule],
  ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name', nameRule],
  ['a name with a line break', { name: 'a\nb' }, 'name', nameRule],
  ['a name that turns its direction', { name: 'txt.\u202eexe' }, 'name', nameRule],
  ['a name with half a character', { name: 'a\ud800' }, 'name', nameRule],
  ...['2027-02-30T00:00:00Z', '2027-01-31', '2027-01-31T00:00:00', 1_801_353_600, ''].map(
    (expires_at) =>
      [
        `the expiry ${JSON.stringify(expires_at)}, which is no instant`,
        { name: 'x', expires_at },
        'expires_at',
        'must be an instant, such as 2027-01-31T00:00:00Z',
      ] as const,
  ),
  [
    'an expiry after the year 9999, which no answer can state',
    { name: 'x', expires_at: '9999-12-31T23:00:00-05:00' },
    'expires_at',
    'must be before the year 10000 (UTC)',
  ],
  [
    'an expiry that is past',
    { name: 'x', expires_at: '2026-11-20T10:00:00Z' },
    'expires_at',
    'must be in the future',
  ],
] as const) {
  test(`a key is refused that is asked for with ${what}`, async (t) => {
    const client = await service.newClient();
    const error = assertError(t, await service.as(client, '/v1/keys', { body }), 400, 'invalid_body');
    t.is(error.param, param);
    t.is(error.message, `"${param}" ${rule}.`);
    t.is((await list(client)).length, 1);
  });
}

test('a body that is not a JSON object, or is too large, is refused', async (t) => {
  const client = await service.newClient();
  for (const body of ['{"name":', '[]', '"x"', 'null']) {
    const { message } = assertError(t, await service.as(client, '/v1/keys', { body }), 400, 'invalid_body');
    t.is(
      message,
      body === '{"name":' ? 'The body is not valid JSON in UTF-8.' : 'The body must be a JSON object.',
    );
  }
  assertError(t, await service.as(client, '/v1/keys', { method: 'POST' }), 400, 'invalid_body');
  const large = JSON.stringify({ name: 'x'.repeat(70_000) });
  assertError(t, await service.as(client, '/v1/keys', { body: large }), 413, 'payload_too_large');
  const form = { body: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  assertError(t, await service.as(client, '/v1/keys', form), 415, 'unsupported_media_type');
});

test('a body cannot reach the prototype of objects', async (t) => {
  const client = await service.newClient();
  const body = '{"name":"x","__proto__":{"slot":9},"constructor":{"prototype":{"slot":9}}}';
  assertError(t, await service.as(client, '/v1/keys', { body }), 400, 'invalid_body');
  t.is(({} as { slot?: number }).slot, undefined);
});

test('without a credential, and without a sealed identity, nothing is shown or changed', async (t) => {
  assertError(t, await service.anonymously('/v1/keys'), 401, 'unauthorized');
  assertError(t, await service.anonymously('/v1/keys', { body: { name: 'x' } }), 401, 'unauthorized');
  t.is((await fetch(`${service.url}/v1/keys`)).status, 401);
});

test('a page never repeats or loses a key, and a damaged cursor is refused', async (t) => {
  const client = await service.newClient();
  const ids = [client.keyId];
  for (let i = 0; i < 4; i += 1) {
    const made = dataOf(
      t,
      await service.as(client, '/v1/keys', { body: { name: `key ${i}` } }),
      201,
    ) as NewKey;
    ids.push(made.id);
    if (i < 3) await service.as(client, `/v1/keys/${made.id}`, { method: 'DELETE' });
  }
  const seen: KeyRecord[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${cursor}`;
    const { body } = await service.as(client, `/v1/keys${query}`);
    const { data, pagination } = body as { data: KeyRecord[]; pagination: { next_cursor: string | null } };
    seen.push(...data);
    cursor = pagination.next_cursor;
  } while (cursor !== null);
  t.deepEqual(seen.map((key) => key.id).toSorted(), ids.toSorted());
  t.deepEqual(
    seen.map((key) => key.status),
    ['active', 'active', 'revoked', 'revoked', 'revoked'],
  );
  const key = `key_${'a'.repeat(20)}`;
  for (const text of [
    'x',
    'true 2026-99-99 key_',
    `true 2026-99-99T00:00:00.000Z ${key}`,
    `true -271821-04-20T00:00:00.000Z ${key}`,
    `true +275760-09-13T00:00:00.000Z ${key}`,
  ]) {
    const damaged = Buffer.from(text).toString('base64url');
    assertError(t, await service.as(client, `/v1/keys?cursor=${damaged}`), 400, 'invalid_cursor');
  }
});

test('a key is not created if the client cannot read the answer, but is revoked in any case', async (t) => {
  const client = await service.newClient();
  const headers = { accept: 'text/html' };
  const refused = await service.as(client, '/v1/keys', { body: { name: 'x' }, headers });
  assertError(t, refused, 406, 'not_acceptable');
  t.is((await list(client)).length, 1);
  const answer = await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE', headers });
  t.is(answer.status, 204);
  t.is(answer.headers.get('cache-control'), 'no-store');
});

test('an unknown parameter is refused by name', async (t) => {
  const client = await service.newClient();
  const error = assertError(t, await service.as(client, '/v1/keys?limt=2'), 400, 'invalid_parameter');
  t.regex(error.message, /Did you mean "limit"/);
});

test('creating or revoking a key writes an audit row that names the actor', async (t) => {
  const client = await service.newClient();
  const made = dataOf(t, await service.as(client, '/v1/keys', { body: { name: 'audited' } }), 201) as NewKey;
  await service.as({ ...client, keyId: made.id }, `/v1/keys/${client.keyId}`, { method: 'DELETE' });
  const rows = await service.deps.db.auditEvents.findAll({
    where: { accountId: client.accountId },
    order: ['eventNo'],
  });
  t.deepEqual(
    rows.map((row) => [row.action, row.actorKind, row.actorId, row.subject]),
    [
      ['account.created', 'operator', null, client.accountId],
      ['key.created', 'operator', null, client.keyId],
      ['key.created', 'key', client.keyId, made.id],
      ['key.revoked', 'key', made.id, client.keyId],
    ],
  );
});

test('audit rows cannot be changed or deleted', async (t) => {
  await service.newClient();
  const { sequelize } = service.deps.db;
  await t.throwsAsync(sequelize.query(`update accounts.audit_events set action = 'key.created'`), {
    message: /only takes new rows/,
  });
  await t.throwsAsync(sequelize.query('delete from accounts.audit_events'), {
    message: /only takes new rows/,
  });
});
