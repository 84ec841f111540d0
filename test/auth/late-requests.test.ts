// Requests that overlap with the end of their credential or their account: the gateway has checked the credential before.
import test, { type ExecutionContext } from 'ava';
import type { KeyRecord } from '../../accounts-api/keys/keys.ts';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { setRole, setStatus } from '../../accounts-api/operator/account-access.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { absoluteDays } from '../../accounts-api/sessions/session-limits.ts';
import { fanOut } from '../../accounts-api/webhooks/fan-out.ts';
import { utcMonth } from '../../kernel/clock.ts';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { recordSecret } from '../run/traces.ts';
import { untilWaiting } from '../run/until.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type Answer,
  type Client,
} from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { from } from '../services/sign-in.ts';
import { codeAt } from './authenticator.ts';
import { holdersOf, type Holder } from './holders.ts';

const service = await startAccountsService();
const { password, newHolder, mailLink } = await holdersOf(service);
const { db } = service.deps;
const jobs = openJobs(db.sequelize, service.databaseUrl, silentLog);
test.after.always(async () => {
  await jobs.close();
  await service.close();
});

const url = 'https://hooks.example.org/events';
const webhook = { url, events: ['key.created'] };
const ask = (by: Client | Holder, path: string, body?: object, method?: string): Promise<Answer> => {
  const asked = { headers: from(), ...(body && { body }), ...(method && { method }) };
  return 'keyId' in by ? service.as(by, path, asked) : service.signedIn(by, path, asked);
};
const month = utcMonth(service.clock.now());

/** An account with webhooks and two keys, and its holder. */
async function newAccount(t: ExecutionContext) {
  const holder = await newHolder();
  await setPlan(service.deps, holder.accountId, 'pro');
  const newKey = async (name: string) =>
    (dataOf(t, await ask(holder, '/v1/keys', { name }), 201) as KeyRecord).id;
  const client: Client = { accountId: holder.accountId, keyId: await newKey('own') };
  const otherKey = await newKey('other');
  const { id } = dataOf(t, await ask(holder, '/v1/webhooks', webhook), 201) as { id: string };
  return { holder, client, otherKey, webhookId: id };
}

/** What would give lasting access to the account, or to its events. */
const grants: Record<
  string,
  (by: Client | Holder, of: { otherKey: string; webhookId: string }) => Promise<Answer>
> = {
  'creates no key': (by) => ask(by, '/v1/keys', { name: 'late' }),
  'rotates no key': (by, { otherKey }) => ask(by, `/v1/keys/${otherKey}/rotate`, {}),
  'widens no key': (by, { otherKey }) =>
    ask(by, `/v1/keys/${otherKey}`, { addresses: null, scopes: ['data'] }, 'PATCH'),
  'creates no webhook': (by) => ask(by, '/v1/webhooks', { ...webhook, url: `${url}/late` }),
  'changes no webhook': (by, { webhookId }) =>
    ask(by, `/v1/webhooks/${webhookId}`, { url: `${url}/late` }, 'PATCH'),
  'gives no webhook a new secret': (by, { webhookId }) =>
    ask(by, `/v1/webhooks/${webhookId}/rotate-secret`, {}),
};

for (const [what, act] of Object.entries(grants))
  test.serial(
    `a request whose key was revoked, or whose session was ended, since it was checked ${what}`,
    async (t) => {
      const { holder, client, ...of } = await newAccount(t);
      t.is((await ask(holder, `/v1/keys/${client.keyId}`, undefined, 'DELETE')).status, 204);
      assertError(t, await act(client, of), 401, 'unauthorized');
      t.is((await ask(holder, '/auth/logout', undefined, 'POST')).status, 204);
      assertError(t, await act(holder, of), 401, 'unauthorized');
    },
  );

/** @returns a request with the value of a new key, after that key was rotated. */
async function lateValue(t: ExecutionContext, overlap_hours: number) {
  const { holder, client, otherKey } = await newAccount(t);
  const rotate = async (body: object) =>
    dataOf(t, await ask(holder, `/v1/keys/${client.keyId}/rotate`, body)) as { key: string };
  const keyHash = hashApiKey((await rotate({ overlap_hours: 0 })).key);
  const caller = { ...client, keyHash };
  await rotate({ overlap_hours });
  return { holder, client, act: () => ask(caller, `/v1/keys/${otherKey}/rotate`, { overlap_hours: 0 }) };
}

test.serial(
  'a request whose key was rotated without overlap since it was checked rotates no key',
  async (t) => {
    const { act } = await lateValue(t, 0);
    assertError(t, await act(), 401, 'unauthorized');
  },
);

test.serial('a request with an old value rotates a key until that value is ended', async (t) => {
  const { act, holder, client } = await lateValue(t, 1);
  t.is((await act()).status, 200);
  const ended = await ask(holder, `/v1/keys/${client.keyId}/old-value`, undefined, 'DELETE');
  t.is(ended.status, 204);
  assertError(t, await act(), 401, 'unauthorized');
});

test.serial(
  'a request with a key of an account that was disabled since it was checked creates no key',
  async (t) => {
    const { client } = await newAccount(t);
    await setStatus(service.deps, client.accountId, 'disabled');
    assertError(t, await ask(client, '/v1/keys', { name: 'late' }), 401, 'unauthorized');
  },
);

test.serial(
  'an operator whose session, or whose role, has ended since it was checked changes no account',
  async (t) => {
    const [operator, { accountId }] = [await newHolder(), await newHolder()];
    const disable = () =>
      service.asOperator(operator, `/v1/operator/accounts/${accountId}`, {
        method: 'PATCH',
        body: { status: 'disabled' },
      });
    assertError(t, await disable(), 404, 'not_found');
    await setRole(service.deps, operator.accountId, 'operator');
    t.is((await ask(operator, '/auth/logout', undefined, 'POST')).status, 204);
    assertError(t, await disable(), 401, 'unauthorized');
    t.is((await db.accounts.findByPk(accountId))?.status, 'active');
  },
);

test.serial(
  'a session that has ended since it was checked changes no e-mail address without the password',
  async (t) => {
    const holder = await newHolder();
    const token = await mailLink(holder, 'change_email', `new-${holder.email}`);
    t.is((await ask(holder, '/auth/logout', undefined, 'POST')).status, 204);
    assertError(t, await ask(holder, '/auth/verify-email', { token }), 401, 'unauthorized');
    const answer = await service.anonymously('/auth/verify-email', {
      body: { token, password },
      headers: from(),
    });
    t.is(answer.status, 200);
  },
);

test.serial('a session that has ended since it was checked confirms no authenticator app', async (t) => {
  const holder = await newHolder();
  const begun = dataOf(t, await ask(holder, '/auth/second-factor/totp', { password })) as { secret: string };
  const code = codeAt(recordSecret(begun.secret), service.clock.now());
  t.is((await ask(holder, '/auth/logout', undefined, 'POST')).status, 204);
  assertError(t, await ask(holder, '/auth/second-factor/totp/confirm', { code }), 401, 'unauthorized');
});

/** Closes an account whose first calls of a month are charged at the same time. @param table that closing waits for. */
async function closeDuringCharge(t: ExecutionContext, lock: string) {
  const { holder, client } = await newAccount(t);
  let answers: Promise<Answer>[] = [];
  await db.inLedgerTransaction(async (transaction) => {
    await db.sequelize.query(lock, { transaction });
    const closing = ask(holder, '/v1/account', undefined, 'DELETE');
    await untilWaiting(db.read);
    const reported = service.heartbeats.report({
      charges: [{ account_id: client.accountId, month, calls: 1 }],
      last_used: [{ key_id: client.keyId, at: service.clock.now().toISOString() }],
    });
    await untilWaiting(db.read, 2);
    answers = [closing, reported];
  });
  t.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [204, 200],
  );
}

for (const [when, lock] of [
  ['before its row is deleted', 'select from accounts.webhooks for update'],
  ['after its row was deleted', 'lock table accounts.audit_events in share mode'],
] as const)
  test.serial(
    `an account is closed while its first calls of a month are charged, ${when}, and neither fails`,
    (t) => closeDuringCharge(t, lock),
  );

test.serial(
  'an account is closed while a worker turns its events into messages, and neither fails',
  async (t) => {
    const { holder, webhookId } = await newAccount(t);
    let answers: [Promise<Answer>, Promise<number>] | undefined;
    await db.inLedgerTransaction(async (transaction) => {
      await db.webhooks.findByPk(webhookId, { transaction, lock: true });
      const closing = ask(holder, '/v1/account', undefined, 'DELETE');
      await untilWaiting(db.read);
      const making = fanOut({ ...service.deps, jobs });
      await Promise.race([making, untilWaiting(db.read, 2)]);
      answers = [closing, making];
    });
    const [closed, events] = await Promise.all(answers ?? []);
    t.is(closed?.status, 204);
    t.is(typeof events, 'number');
  },
);

test.serial('a request whose key or session expired since it was checked creates no key', async (t) => {
  const { holder, client } = await newAccount(t);
  const day = 24 * 60 * 60_000;
  const expires_at = new Date(service.clock.now().getTime() + day).toISOString();
  const { id: keyId } = dataOf(t, await ask(holder, '/v1/keys', { name: 'short', expires_at }), 201) as {
    id: string;
  };
  const { act } = await lateValue(t, 24);
  const late = (by: Client | Holder) => ask(by, '/v1/keys', { name: 'late' });
  service.clock.advance(day);
  assertError(t, await late({ ...client, keyId }), 401, 'unauthorized');
  assertError(t, await act(), 401, 'unauthorized');
  service.clock.advance((absoluteDays - 1) * day);
  assertError(t, await late(holder), 401, 'unauthorized');
});
