// The operator's commands next to a running service: the same rules apply, they affect the service's next call, and they are audited.
import { createHash } from 'node:crypto';
import test from 'ava';
import { isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
} from '../../test/services/accounts-service.ts';
import { createAccount, createKey, listAccounts, listKeys, revokeKey, setPlan, usage } from './operator.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service.close());

async function works(key: string): Promise<boolean> {
  const hash = createHash('sha256').update(key).digest('hex');
  return (await service.heartbeats.lookUp(hash))[0] !== null;
}

test('one account is created per e-mail address, whatever its letter case, and is found by id or e-mail address', async (t) => {
  const made = await createAccount(service.deps, { email: 'Ada@Example.org', name: 'Ada', plan: 'starter' });
  t.like(made, { email: 'Ada@Example.org', name: 'Ada', plan: 'starter', status: 'active', active_keys: 0 });
  const again = { email: 'ada@example.ORG', plan: 'free' };
  await t.throwsAsync(createAccount(service.deps, again), { code: 'email_taken' });
  t.like(await usage(service.deps, made.id), { plan: 'starter', used: 0, limit: 25_000 });
  t.like(await usage(service.deps, 'ADA@example.org'), { plan: 'starter' });
});

test('of 20 concurrent creations of an account for one e-mail address, one succeeds', async (t) => {
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      createAccount(service.deps, {
        email: i % 2 === 0 ? 'race@example.org' : 'RACE@example.org',
        plan: 'free',
      }),
    ),
  );
  t.is(made.filter((each) => each.status === 'fulfilled').length, 1);
});

test('a plan is changed with its audit row, or not at all', async (t) => {
  const { id } = await createAccount(service.deps, { email: 'unaudited@example.org', plan: 'free' });
  await service.deps.db.sequelize.query(
    `alter table accounts.audit_events add constraint none_of_this check (account_id <> '${id}') not valid`,
  );
  await t.throwsAsync(setPlan(service.deps, id, 'starter'), { message: /none_of_this/ });
  await service.deps.db.sequelize.query('alter table accounts.audit_events drop constraint none_of_this');
  t.like(await usage(service.deps, id), { plan: 'free' });
});

test('faults in an account, a plan or a reference are described in words', async (t) => {
  const email = 'wrong@example.org';
  await t.throwsAsync(createAccount(service.deps, { email: 'nobody', plan: 'free' }), {
    message: '"email" must be an e-mail address.',
  });
  await t.throwsAsync(createAccount(service.deps, { email, plan: 'gold' }), {
    message: 'There is no plan "gold". Plans: free, starter, pro, enterprise.',
  });
  await t.throwsAsync(usage(service.deps, email), {
    message: `There is no account with the id or e-mail address "${email}".`,
  });
  await t.throwsAsync(listKeys(service.deps, 'acct_unknown'), { code: 'not_found' });
  await t.throwsAsync(setPlan(service.deps, 'acct_unknown', 'free'), { code: 'not_found' });
  await t.throwsAsync(createKey(service.deps, 'acct_unknown', 'x'), { code: 'not_found' });
});

test('all accounts are listed with the number of their active keys', async (t) => {
  const { accountId } = await service.newClient('pro');
  await createKey(service.deps, accountId, 'second');
  const bare = await createAccount(service.deps, { email: 'bare@example.org', plan: 'free' });
  const accounts = await listAccounts(service.deps);
  t.like(
    accounts.find((account) => account.id === accountId),
    { plan: 'pro', active_keys: 2 },
  );
  t.like(
    accounts.find((account) => account.id === bare.id),
    { plan: 'free', active_keys: 0 },
  );
});

test("a key made by the operator works at once, and holds one of the account's three places", async (t) => {
  const client = await service.newClient();
  const made = await createKey(service.deps, client.accountId, 'from the console');
  t.true(isWellFormedApiKey(made.key));
  t.true(await works(made.key));
  await createKey(service.deps, client.accountId, 'third');
  await t.throwsAsync(createKey(service.deps, client.accountId, 'fourth'), { code: 'key_limit_reached' });
  assertError(
    t,
    await service.as(client, '/v1/keys', { body: { name: 'fourth' } }),
    409,
    'key_limit_reached',
  );
  const keys = await listKeys(service.deps, client.accountId);
  t.is(keys.length, 3);
  t.false(JSON.stringify(keys).includes(made.key));
});

test('a key can be revoked by its id, its mask or its value, and the next lookup does not find it', async (t) => {
  const client = await service.newClient();
  for (const name of ['id', 'masked', 'key'] as const) {
    const made = await createKey(service.deps, client.accountId, name);
    const revoked = await revokeKey(service.deps, made[name]);
    t.like(revoked, { id: made.id, status: 'revoked' });
    t.false(await works(made.key));
  }
  t.true(await works(client.key));
  const statuses = (await listKeys(service.deps, client.accountId)).map((key) => key.status);
  t.deepEqual(statuses, ['active', 'revoked', 'revoked', 'revoked']);
});

test('the hourly limit of new keys does not apply to the operator', async (t) => {
  const client = await service.newClient();
  for (let n = 2; n <= 12; n += 1)
    await revokeKey(service.deps, (await createKey(service.deps, client.accountId, 'k')).id);
  t.is((await listKeys(service.deps, client.accountId)).length, 12);
});

test('a mask of several keys revokes none of them, and an unknown value is not repeated', async (t) => {
  const client = await service.newClient();
  const [one, two] = [
    await createKey(service.deps, client.accountId, 'one'),
    await createKey(service.deps, client.accountId, 'two'),
  ];
  await service.deps.db.keys.update({ mask: 'pk_live_same…same' }, { where: { id: [one.id, two.id] } });
  const error = await t.throwsAsync(revokeKey(service.deps, 'pk_live_same…same'), { code: 'conflict' });
  t.true(error.message.includes(one.id) && error.message.includes(two.id));
  t.true((await works(one.key)) && (await works(two.key)));
  const unknown = `${one.key.slice(0, -1)}_`;
  const missing = await t.throwsAsync(revokeKey(service.deps, unknown), { code: 'not_found' });
  t.false(missing.message.includes(unknown.slice(0, 20)));
});

test('a plan set by the operator is visible in the account at once, and every change is audited', async (t) => {
  const client = await service.newClient('free');
  await setPlan(service.deps, client.accountId, 'pro');
  t.like(dataOf(t, await service.as(client, '/v1/account')), { plan: 'pro' });
  await revokeKey(service.deps, client.keyId);
  const rows = await service.deps.db.auditEvents.findAll({
    where: { accountId: client.accountId },
    order: ['eventNo'],
  });
  t.deepEqual(
    rows.map((row) => [row.action, row.actorKind, row.actorId]),
    [
      ['account.created', 'operator', null],
      ['key.created', 'operator', null],
      ['account.plan_changed', 'operator', null],
      ['key.revoked', 'operator', null],
    ],
  );
  t.deepEqual(rows[2]?.detail, { before: 'free', plan: 'pro' });
});
