// POST /internal/heartbeat, the keys: their owners, according to PostgreSQL at that moment.
import { createHash } from 'node:crypto';
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { start } from '../../accounts-api/main.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { until, within } from '../run/until.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
} from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { from, newEmail, newPassword, testSignIn } from '../services/sign-in.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService();
});
test.after.always(() => service.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const lookUp = (...hashes: string[]) => service.heartbeats.lookUp(...hashes);

test('credentials come in the order of the hashes, with null for an unknown one', async (t) => {
  const [free, pro] = [await service.newClient('free'), await service.newClient('pro')];
  const expected = (client: typeof free, plan: string) => ({
    account_id: client.accountId,
    key_id: client.keyId,
    plan,
    active: true,
    expires_in_ms: null,
    scopes: ['data', 'read', 'manage'],
    addresses: null,
    as_of: null,
  });
  const found = await lookUp(sha256(pro.key), sha256('unknown'), sha256(free.key), sha256(pro.key));
  const named = found.map((each) => each && (({ block: _block, ...credential }) => credential)(each));
  t.deepEqual(named, [expected(pro, 'pro'), null, expected(free, 'free'), expected(pro, 'pro')]);
  t.deepEqual(await lookUp(), []);
});

test('a key’s answer has the ms until it expires, independent of the gateway’s clock', async (t) => {
  const client = await service.newClient('free');
  const expiresAt = new Date(service.clock.now().getTime() + 90_000);
  await service.deps.db.keys.update({ expiresAt }, { where: { id: client.keyId } });
  const [found] = await lookUp(sha256(client.key));
  t.like(found, { expires_in_ms: 90_000 });
});

test('signing up, signing in, making a key and signing out do not wait for changes of other accounts', async (t) => {
  const own = await startAccountsService();
  const { sequelize } = own.deps.db;
  t.teardown(async () => {
    await sequelize.query('delete from accounts.gateways');
    await own.close();
  });
  const other = await own.newClient('free');
  const client = await own.newClient('free');
  // The lease of a gateway that is gone ends in an hour: a change of the other account waits that long.
  await sequelize.query(
    `insert into accounts.gateways (life, seen, leased_until)
     values (gen_random_uuid(), 0, clock_timestamp() + interval '1 hour')`,
  );
  const changing = setPlan(own.deps, other.accountId, 'pro');
  await until('the change waits', async () => {
    const rows = await sequelize.query('select from accounts.changes', {
      type: QueryTypes.SELECT,
    });
    return rows.length > 0;
  });
  const [email, password] = [newEmail(), newPassword()];
  const at = (path: string) =>
    within(path, own.anonymously(path, { body: { email, password }, headers: from() }), 30_000);
  t.is((await at('/auth/signup')).status, 201);
  const session = dataOf(t, await at('/auth/login')) as { session_token: string };
  const made = await within('a key', own.as(client, '/v1/keys', { body: { name: 'second' } }), 30_000);
  t.is(made.status, 201);
  const [sessionId = ''] = session.session_token.split('.');
  const account = await own.deps.db.accounts.findOne({ where: { email } });
  const holder = { accountId: account?.id ?? '', sessionId };
  const out = await within('signing out', own.signedIn(holder, '/auth/logout', { method: 'POST' }), 30_000);
  t.is(out.status, 204);
  await sequelize.query('delete from accounts.gateways');
  await within('the change', changing);
});

test('a changed plan, an unpaid subscription and a disabled account apply to the next lookup', async (t) => {
  const client = await service.newClient('free');
  const hash = sha256(client.key);
  await setPlan(service.deps, client.accountId, 'pro');
  t.like((await lookUp(hash))[0], { plan: 'pro', active: true });
  const where = { id: client.accountId };
  await service.deps.db.accounts.update({ subscriptionState: 'inactive' }, { where });
  t.like((await lookUp(hash))[0], { active: false });
  await service.deps.db.accounts.update({ subscriptionState: 'active', status: 'disabled' }, { where });
  t.deepEqual(await lookUp(hash), [null]);
});

test('a batch has at most 500 hashes; 501 are refused, and so is anything that is not a hash', async (t) => {
  const hashes = Array.from({ length: 500 }, (_, i) => sha256(String(i)));
  t.deepEqual(
    await lookUp(...hashes),
    Array.from({ length: 500 }, () => null),
  );
  for (const keys of [[...hashes, sha256('more')], ['pk_live_x'], [sha256('x').toUpperCase()], 'x']) {
    assertError(t, await service.heartbeats.post({ keys: keys as string[] }), 400, 'invalid_body');
  }
  const raw = await service.heartbeats.post({ keys: ['pk_live_x'] });
  t.is(assertError(t, raw, 400, 'invalid_body').message, '"keys.0" must be the SHA-256 of a key, in hex.');
});

test('a client cannot reach the internal endpoints, whatever credential it has', async (t) => {
  const client = await service.newClient('enterprise');
  for (const path of ['/internal/heartbeat', '/internal/sessions']) {
    assertError(t, await service.as(client, path, { body: { keys: [] } }), 404, 'not_found');
    assertError(t, await service.anonymously(path, { body: {} }), 404, 'not_found');
    t.is((await fetch(service.url + path, { method: 'POST' })).status, 401);
  }
});

test('the service says whether it is alive, and whether its database answers', async (t) => {
  t.is((await fetch(`${service.url}/healthz`)).status, 200);
  await until('it is ready', async () => (await fetch(`${service.url}/readyz`)).status === 200);
  const cutOff = await start({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing',
    identitySecret: testIdentitySecret,
    plans: service.deps.plans,
    signIn: testSignIn,
    redisUrl: undefined,
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: service.clock,
  });
  t.is((await fetch(`${cutOff.url}/healthz`)).status, 200);
  const notReady = await fetch(`${cutOff.url}/readyz`);
  t.is(notReady.status, 503);
  t.like(await notReady.json(), { error: { code: 'unavailable' } });
  await cutOff.close();
});
