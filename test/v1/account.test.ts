// /v1/account: the fields that the holder sees, and the few that the holder may change.
import test from 'ava';
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

test('an account is shown to its own credential', async (t) => {
  const client = await service.newClient('pro');
  const account = await service.deps.db.accounts.findByPk(client.accountId);
  t.deepEqual(dataOf(t, await service.as(client, '/v1/account')), {
    id: client.accountId,
    email: account?.email,
    email_verified: true,
    has_password: false,
    google_linked: false,
    name: null,
    plan: 'pro',
    status: 'active',
    subscription_state: 'none',
    subscription: null,
    created_at: '2026-11-20T10:00:00Z',
    notifications: { usage: true, key_expiry: true },
    mail_refused_at: null,
    role: null,
    active_keys: 1,
    key_limit: 3,
  });
});

test('a plan that was removed from the file counts as the free one', async (t) => {
  const client = await service.newClient();
  await service.deps.db.accounts.update({ plan: 'gold' }, { where: { id: client.accountId } });
  t.like(dataOf(t, await service.as(client, '/v1/account')), { plan: 'free' });
  t.like(dataOf(t, await service.as(client, '/v1/usage')), { plan: 'free', limit: 1000 });
});

test('the name can be changed, without surrounding blanks, and the audit names the actor', async (t) => {
  const client = await service.newClient();
  const answer = await service.as(client, '/v1/account', {
    method: 'PATCH',
    body: { name: '  Zoë Müller ' },
  });
  t.like(dataOf(t, answer), { id: client.accountId, name: 'Zoë Müller' });
  t.like(dataOf(t, await service.as(client, '/v1/account')), { name: 'Zoë Müller' });
  const where = { accountId: client.accountId, action: 'account.updated' as const };
  const [event, ...others] = await service.deps.db.auditEvents.findAll({ where });
  t.like(event, { actorKind: 'key', actorId: client.keyId, subject: client.accountId });
  t.deepEqual(event?.detail, { name: 'Zoë Müller' });
  t.is(others.length, 0);
});

test('each kind of notification is turned off and on by itself, and the audit says so', async (t) => {
  const client = await service.newClient();
  const change = (notifications: unknown) =>
    service.as(client, '/v1/account', { method: 'PATCH', body: { notifications } });
  t.like(dataOf(t, await change({ usage: false })), { notifications: { usage: false, key_expiry: true } });
  t.like(dataOf(t, await change({ usage: true, key_expiry: false })), {
    notifications: { usage: true, key_expiry: false },
  });
  const where = { accountId: client.accountId, action: 'account.updated' as const };
  const events = await service.deps.db.auditEvents.findAll({ where, order: ['eventNo'] });
  t.deepEqual(events[0]?.detail, { notifications: { usage: false } });
  for (const wrong of [{ usage: 'no' }, { usage: null }, { all: true }, 'none', []]) {
    assertError(t, await change(wrong), 400, 'invalid_body');
  }
});

for (const field of [
  'id',
  'email',
  'plan',
  'status',
  'subscription_state',
  'subscriptionState',
  'email_verified',
  'role',
  'stripe_customer_id',
  'created_at',
  'quota',
]) {
  test(`the holder cannot change ${field}`, async (t) => {
    const client = await service.newClient();
    const before = dataOf(t, await service.as(client, '/v1/account'));
    const body = { name: 'x', [field]: 'enterprise' };
    const answer = await service.as(client, '/v1/account', { method: 'PATCH', body });
    t.is(assertError(t, answer, 400, 'invalid_body').param, field);
    t.deepEqual(dataOf(t, await service.as(client, '/v1/account')), before);
  });
}

const nameRule = 'must have 1 to 100 characters, none of them a control character';
for (const [body, param, rule] of [
  ...[null, '', { first: 'a' }, 'a\u0000b'].map((name) => [{ name }, 'name', nameRule] as const),
  ...['x', '', 5, null].map((email) => [{ email }, 'email', 'must be an e-mail address'] as const),
  [{ email: `a@${'b.'.repeat(130)}org` }, 'email', 'must have at most 254 characters'],
  [{ email: 'a@example.org', password: 5 }, 'password', 'must be text'],
  [{ notifications: { usage: 'no' } }, 'notifications.usage', 'must be true or false'],
  [{ notifications: { key_expiry: null } }, 'notifications.key_expiry', 'must be true or false'],
] as const) {
  test(`a change to ${JSON.stringify(body)} is refused, and the allowed values are named`, async (t) => {
    const client = await service.newClient();
    const answer = await service.as(client, '/v1/account', { method: 'PATCH', body });
    const error = assertError(t, answer, 400, 'invalid_body');
    t.is(error.param, param);
    t.is(error.message, `"${param}" ${rule}.`);
  });
}

test('a change without a field to change is refused, and the fields are listed', async (t) => {
  const client = await service.newClient();
  for (const body of [{}, { password: 'x' }]) {
    const answer = await service.as(client, '/v1/account', { method: 'PATCH', body });
    const { message, param } = assertError(t, answer, 400, 'invalid_body');
    t.is(message, 'The body must have "name", "email" or "notifications".');
    t.is(param, undefined);
  }
});

test('the credential of an account that is gone is refused', async (t) => {
  const client = await service.newClient();
  await service.deps.db.accounts.destroy({ where: { id: client.accountId } });
  assertError(t, await service.as(client, '/v1/account'), 401, 'unauthorized');
  assertError(t, await service.as(client, '/v1/usage'), 401, 'unauthorized');
  assertError(t, await service.as(client, '/v1/keys', { body: { name: 'x' } }), 401, 'unauthorized');
});

test('pages of the audit, the newest first, repeat and lose nothing; a cursor that is damaged, of another list or another account is refused', async (t) => {
  const client = await service.newClient();
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await service.as(client, '/v1/account', { method: 'PATCH', body: { name } });
  const seen: { action: string; detail: object }[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${cursor}`;
    const { body } = await service.as(client, `/v1/account/audit${query}`);
    const page = body as { data: typeof seen; pagination: { next_cursor: string | null } };
    t.true(page.data.length === 2 || page.pagination.next_cursor === null);
    seen.push(...page.data);
    cursor = page.pagination.next_cursor;
  } while (cursor !== null);
  t.deepEqual(
    seen.map(({ action }) => action),
    [...names.map(() => 'account.updated'), 'key.created', 'account.created'],
  );
  t.deepEqual(
    seen.slice(0, names.length).map(({ detail }) => detail),
    names.toReversed().map((name) => ({ name })),
  );
  for (const text of ['x', 'audit', 'audit -1', 'audit 1 ', `audit ${'9'.repeat(16)}`]) {
    const damaged = Buffer.from(text).toString('base64url');
    const answer = await service.as(client, `/v1/account/audit?cursor=${damaged}`);
    t.is(assertError(t, answer, 400, 'invalid_cursor').param, 'cursor');
  }
  const { body } = await service.as(client, '/v1/account/audit?limit=1');
  const own = (body as { pagination: { next_cursor: string } }).pagination.next_cursor;
  t.is((await service.as(client, `/v1/account/audit?cursor=${own}`)).status, 200);
  const elsewhere = await service.as(client, `/v1/keys?cursor=${own}`);
  const another = await service.as(await service.newClient(), `/v1/account/audit?cursor=${own}`);
  for (const answer of [elsewhere, another]) assertError(t, answer, 400, 'invalid_cursor');
});
