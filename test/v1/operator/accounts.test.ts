// /v1/operator/accounts: the list of all accounts for an operator, and the operator's changes of an account.
import test from 'ava';
import type { AccountRecord } from '../../../accounts-api/account/account.ts';
import { createAccount } from '../../../accounts-api/operator/operator.ts';
import { setRole } from '../../../accounts-api/operator/account-access.ts';
import { holdersOf, type Holder } from '../../auth/holders.ts';
import { assertError, dataOf, startAccountsService } from '../../services/accounts-service.ts';

const service = await startAccountsService('2026-11-20T10:00:00.000Z');
const { newHolder, accountOf } = await holdersOf(service);
let operator: Holder;
test.before(async () => {
  operator = await newHolder();
  await setRole(service.deps, operator.accountId, 'operator');
});
test.after.always(() => service.close());

const ask = (path: string, body?: object) =>
  service.asOperator(operator, `/v1/operator/accounts${path}`, body && { method: 'PATCH', body });
const patch = (id: string, body: object) => ask(`/${id}`, body);

interface Row {
  id: string;
  email: string;
  used: number;
}
async function idsOf(query: string): Promise<string[]> {
  const { body } = await ask(`?${query}`);
  return (body as { data: Row[] }).data.map(({ id }) => id);
}

test('an account is listed with plan, status, role, keys and the calls of the month, and with nothing secret', async (t) => {
  const client = await service.newClient('starter');
  t.is(await service.charge(client, 7), 7);
  const { email } = await accountOf(client);
  const { body } = await ask(`?q=${client.accountId}`);
  t.deepEqual((body as { data: object[] }).data, [
    {
      id: client.accountId,
      email,
      name: null,
      plan: 'starter',
      status: 'active',
      role: null,
      subscription_state: 'none',
      created_at: '2026-11-20T10:00:00Z',
      active_keys: 1,
      used: 7,
      limit: 25_000,
    },
  ]);
});

test('accounts are found by a part of the address or name in any letter case, by id, plan, status and role', async (t) => {
  const made = async (email: string, name: string, plan: string) =>
    (await createAccount(service.deps, { email, name, plan })).id;
  const ada = await made('Ada.Lovelace@Engines.example', 'Countess', 'pro');
  const bob = await made('bob_100@engines.example', 'Bob', 'free');
  t.deepEqual(await idsOf('q=lovelace&sort=email'), [ada]);
  t.deepEqual(await idsOf('q=ENGINES&sort=email'), [ada, bob]);
  t.deepEqual(await idsOf('q=countess'), [ada]);
  t.deepEqual(await idsOf(`q=${bob}`), [bob]);
  t.deepEqual(await idsOf('q=b_1'), [bob], 'a sign of LIKE is a sign');
  t.deepEqual(await idsOf('q=b_b'), []);
  t.deepEqual(await idsOf('q=engines&plan=free'), [bob]);
  t.is((await patch(bob, { status: 'disabled' })).status, 200);
  t.deepEqual(await idsOf('q=engines&status=disabled'), [bob]);
  t.deepEqual(await idsOf('q=engines&status=active'), [ada]);
  t.deepEqual(await idsOf(`role=operator&q=${operator.email}`), [operator.accountId]);
  t.deepEqual(await idsOf('role=operator&q=engines'), []);
});

test('accounts whose plan was removed from the file are listed and found under the free plan, which they have', async (t) => {
  const { accountId } = await service.newClient();
  await service.deps.db.accounts.update({ plan: 'discontinued' }, { where: { id: accountId } });
  t.deepEqual(await idsOf(`q=${accountId}&plan=free`), [accountId]);
  const { body } = await ask(`?q=${accountId}&fields=plan,limit`);
  t.deepEqual((body as { data: object[] }).data, [{ plan: 'free', limit: 1_000 }]);
});

test('an unknown plan, status, role, sort or parameter is refused with the allowed values', async (t) => {
  for (const [query, param, rule] of [
    ['plan=gold', 'plan', /must be one of free, starter, pro, enterprise/],
    ['status=gone', 'status', /must be one of active, disabled/],
    ['role=admin', 'role', /must be operator|must be one of operator/],
    ['sort=used', 'sort', /must be one of/],
    ['q=', 'q', /must not be empty/],
    ['email=a', 'email', /./],
  ] as const) {
    const error = assertError(t, await ask(`?${query}`), 400, 'invalid_parameter');
    t.is(error.param, param);
    t.regex(error.message, rule);
  }
});

test('a single account shows everything that its holder sees, and its usage', async (t) => {
  const client = await service.newClient('pro');
  await service.charge(client, 3);
  const own = dataOf(t, await service.as(client, '/v1/account')) as AccountRecord;
  t.like(dataOf(t, await ask(`/${client.accountId}`)), {
    ...own,
    usage: { month: '2026-11-01', used: 3, limit: 250_000, remaining: 249_997 },
  });
  assertError(t, await ask('/acct_nobody'), 404, 'not_found');
});

test('plan and status are changed together or not at all, and a repetition changes nothing', async (t) => {
  const holder = await newHolder();
  const { accountId } = holder;
  t.like(dataOf(t, await patch(accountId, { plan: 'pro', status: 'disabled' })), {
    plan: 'pro',
    status: 'disabled',
  });
  const { credentialVersion } = await accountOf(holder);
  dataOf(t, await patch(accountId, { status: 'disabled' }));
  t.is((await accountOf(holder)).credentialVersion, credentialVersion);
  t.like(dataOf(t, await patch(accountId, { status: 'active' })), { plan: 'pro', status: 'active' });

  const payer = await newHolder();
  await service.deps.db.accounts.update({ subscriptionState: 'active' }, { where: { id: payer.accountId } });
  const refused = await patch(payer.accountId, { plan: 'free', status: 'disabled' });
  t.regex(assertError(t, refused, 409, 'conflict').message, /subscription/);
  t.like(await accountOf(payer), { plan: 'free', status: 'active' });
});

test('a disabled account is signed out', async (t) => {
  const { accountId } = await newHolder();
  dataOf(t, await patch(accountId, { status: 'disabled' }));
  t.is(await service.deps.db.sessions.count({ where: { accountId } }), 0);
});

test('an operator cannot be disabled by another operator, nor with a stolen session, but the plan can change', async (t) => {
  const colleague = await newHolder();
  await setRole(service.deps, colleague.accountId, 'operator');
  for (const { accountId } of [colleague, operator]) {
    const error = assertError(
      t,
      await patch(accountId, { plan: 'pro', status: 'disabled' }),
      409,
      'conflict',
    );
    t.regex(error.message, /command line/);
    t.like(await service.deps.db.accounts.findByPk(accountId), { status: 'active', plan: 'free' });
  }
  t.like(dataOf(t, await patch(colleague.accountId, { plan: 'pro' })), { plan: 'pro', role: 'operator' });
  await setRole(service.deps, colleague.accountId, null);
});

test('nothing else of an account can be changed: neither its role, nor its address, nor its password', async (t) => {
  const { accountId } = await newHolder();
  const before = (await service.deps.db.accounts.findByPk(accountId))?.toJSON();
  for (const [body, param] of [
    [{}, undefined],
    [{ plan: 'gold' }, 'plan'],
    [{ status: 'closed' }, 'status'],
    [{ plan: 'pro', role: 'operator' }, 'role'],
    [{ plan: 'pro', email: 'x@example.org' }, 'email'],
    [{ plan: 'pro', password: 'x' }, 'password'],
  ] as const)
    t.is(assertError(t, await patch(accountId, body), 400, 'invalid_body').param, param);
  t.deepEqual((await service.deps.db.accounts.findByPk(accountId))?.toJSON(), before);
  assertError(t, await patch('acct_nobody', { plan: 'pro' }), 404, 'not_found');
});

test('accounts-api answers 404 to calls without an operator’s sealed identity', async (t) => {
  const client = await service.newClient();
  const holder = await newHolder();
  for (const [method, path] of [
    ['GET', '/v1/operator/accounts'],
    ['GET', `/v1/operator/accounts/${client.accountId}`],
    ['PATCH', `/v1/operator/accounts/${client.accountId}`],
    ['GET', `/v1/operator/accounts/${client.accountId}/keys`],
    ['DELETE', `/v1/operator/accounts/${client.accountId}/keys/${client.keyId}`],
    ['GET', '/v1/operator/plans'],
  ] as const) {
    const options = { method, ...(method === 'PATCH' ? { body: { plan: 'pro' } } : {}) };
    for (const answer of [
      await service.anonymously(path, options),
      await service.as(client, path, options),
      await service.signedIn(holder, path, options),
      await service.signedIn(operator, path, options),
    ])
      assertError(t, answer, 404, 'not_found');
  }
  t.like(await accountOf(client), { plan: 'free' });
});
