// /v1/operator/accounts/{id}/keys: the keys of an account, masked, and their revocation; and /v1/operator/plans.
import { createHash } from 'node:crypto';
import test from 'ava';
import { createKey } from '../../../accounts-api/operator/operator.ts';
import { holdersOf, type Holder } from '../../auth/holders.ts';
import { assertError, dataOf, startAccountsService } from '../../services/accounts-service.ts';

const service = await startAccountsService('2026-11-20T10:00:00.000Z');
const { newHolder } = await holdersOf(service);
let operator: Holder;
test.before(async () => {
  operator = await newHolder();
});
test.after.always(() => service.close());

const ask = (path: string, method = 'GET') => service.asOperator(operator, `/v1/operator${path}`, { method });

async function works(key: string): Promise<boolean> {
  const hash = createHash('sha256').update(key).digest('hex');
  return (await service.heartbeats.lookUp(hash))[0] !== null;
}

test.serial('the keys of an account are the same as for its holder, page by page', async (t) => {
  const client = await service.newClient();
  await createKey(service.deps, client.accountId, 'second');
  const own = (await service.as(client, '/v1/keys')).body as { data: object[] };
  const answer = await ask(`/accounts/${client.accountId}/keys`);
  t.deepEqual((answer.body as { data: object[] }).data, own.data);
  t.false(JSON.stringify(answer.body).includes(client.key));
  const first = (await ask(`/accounts/${client.accountId}/keys?limit=1`)).body as {
    data: object[];
    pagination: { next_cursor: string };
  };
  const cursor = first.pagination.next_cursor;
  const rest = (await ask(`/accounts/${client.accountId}/keys?limit=1&cursor=${cursor}`)).body as {
    data: object[];
  };
  t.deepEqual([...first.data, ...rest.data], own.data);
  assertError(t, await ask('/accounts/acct_nobody/keys'), 404, 'not_found');
});

test.serial(
  'a key revoked by an operator is refused on the next call, and a repetition gets the same answer',
  async (t) => {
    const client = await service.newClient();
    const path = `/accounts/${client.accountId}/keys/${client.keyId}`;
    t.true(await works(client.key));
    t.is((await ask(path, 'DELETE')).status, 204);
    t.false(await works(client.key));
    t.is((await ask(path, 'DELETE')).status, 204);
  },
);

test.serial('a key can be revoked only under its own account', async (t) => {
  const [client, other] = [await service.newClient(), await service.newClient()];
  for (const path of [
    `/accounts/${other.accountId}/keys/${client.keyId}`,
    `/accounts/${client.accountId}/keys/key_nobody`,
    `/accounts/acct_nobody/keys/${client.keyId}`,
  ])
    assertError(t, await ask(path, 'DELETE'), 404, 'not_found');
  t.true(await works(client.key));
});

test.serial('each plan reports its number of accounts', async (t) => {
  const counted = async () => {
    const { data } = (await ask('/plans')).body as { data: { id: string; accounts: number }[] };
    return Object.fromEntries(data.map(({ id, accounts }) => [id, accounts]));
  };
  const before = await counted();
  t.deepEqual(Object.keys(before), ['free', 'starter', 'pro', 'enterprise']);
  await service.newClient('pro');
  const { accountId } = await service.newClient('starter');
  await service.deps.db.accounts.update({ plan: 'discontinued' }, { where: { id: accountId } });
  t.deepEqual(await counted(), {
    ...before,
    pro: (before['pro'] ?? 0) + 1,
    free: (before['free'] ?? 0) + 1, // accounts of a removed plan have the free plan
  });
  const plans = (await service.anonymously('/v1/plans')).body as { data: object[] };
  const ofOperator = dataOf(t, await ask('/plans')) as object[];
  for (const [i, plan] of plans.data.entries()) t.like(ofOperator[i], plan);
});
