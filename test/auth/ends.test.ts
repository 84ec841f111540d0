// Each way to end access to an account ends all access to it and does not affect other accounts: sessions, keys, Google, the account.
import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { setPassword, setStatus } from '../../accounts-api/operator/account-access.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type Answer,
  type Ask,
} from '../services/accounts-service.ts';
import { untilWaiting } from '../run/until.ts';
import { silentLog } from '../services/harness.ts';
import { eventsIn } from '../services/outbox.ts';
import { from, newEmail, newPassword } from '../services/sign-in.ts';
import { returnFromGoogle, holdersOf, signInByGoogle, type Holder } from './holders.ts';
import { startOddIssuer } from './issuers.ts';

const issuer = await startOddIssuer();
const service = await startAccountsService(undefined, undefined, { signIn: { google: issuer.settings } });
const { password, passwordHash, newHolder, newSession, mailLink, accountOf, areIn } =
  await holdersOf(service);
const { db } = service.deps;
const jobs = openJobs(db.sequelize, service.databaseUrl, silentLog);
const operatorDeps = { ...service.deps, jobs };
test.after.always(async () => {
  await jobs.close();
  await service.close();
  await issuer.close();
});

const ask = (holder: Holder, method: string, target: string, body?: object): Promise<Answer> =>
  service.signedIn(holder, target, { method, headers: from(), ...(body === undefined ? {} : { body }) });
const anybody = (target: string, body: object): Promise<Answer> =>
  service.anonymously(target, { body, headers: from() });

type Key = { id: string; key: string };
async function newKey(t: ExecutionContext, holder: Holder): Promise<Key> {
  return dataOf(t, await ask(holder, 'POST', '/v1/keys', { name: 'k' }), 201) as Key;
}
async function newWebhook(t: ExecutionContext, { accountId, ...holder }: Holder): Promise<{ id: string }> {
  await db.accounts.update({ plan: 'pro' }, { where: { id: accountId } });
  const wish = { url: 'https://hooks.example.org/events', events: ['key.created'] };
  return dataOf(t, await ask({ accountId, ...holder }, 'POST', '/v1/webhooks', wish), 201) as { id: string };
}
async function works({ key }: Key): Promise<boolean> {
  const hash = createHash('sha256').update(key).digest('hex');
  return (await service.heartbeats.lookUp(hash))[0] !== null;
}

let people = 0;
const googlePerson = () => ({
  sub: `ends-${(people += 1)}`,
  email: `ends-${people}@gmail.com`,
  email_verified: true,
});
async function linkGoogle(t: ExecutionContext, holder: Holder) {
  const claims = googlePerson();
  const started = await ask(holder, 'POST', '/auth/google/link');
  const { result } = await returnFromGoogle(service, issuer, started, claims);
  t.is(result.get('google_linked'), '1');
  return claims;
}
/** The account that a Google user signs in to. */
async function accountOfGoogle(claims: ReturnType<typeof googlePerson>): Promise<string | undefined> {
  const signedIn = await signInByGoogle(service, issuer, claims);
  return 'session' in signedIn ? signedIn.session.accountId : undefined;
}

test.serial(
  'someone who prepared an account for somebody else has no access after the owner’s reset: no key, no session, no webhook, no Google',
  async (t) => {
    const [prepared, other] = [await newHolder({ verified: false }), await newHolder()];
    const prepare = async (holder: Holder) => ({
      revoked: await newKey(t, holder),
      key: await newKey(t, holder),
      google: await linkGoogle(t, holder),
      webhook: await newWebhook(t, holder),
      session: (await newSession(holder.accountId)).name,
    });
    const [theirs, others] = [await prepare(prepared), await prepare(other)];
    await ask(prepared, 'DELETE', `/v1/keys/${theirs.revoked.id}`);
    const revokedAt = (await db.keys.findByPk(theirs.revoked.id))?.revokedAt;
    service.clock.advance(1000);

    const token = await mailLink(prepared, 'reset_password');
    dataOf(t, await anybody('/auth/set-password', { token, password: newPassword() }));
    t.not(await accountOfGoogle(theirs.google), prepared.accountId);
    t.false(await works(theirs.key));
    t.deepEqual(await areIn(theirs.session), [false]);
    t.is(await db.webhooks.findByPk(theirs.webhook.id), null);
    const deleted = { accountId: prepared.accountId, action: 'webhook.deleted', actorKind: 'visitor' };
    t.is(await db.auditEvents.count({ where: { ...deleted, subject: theirs.webhook.id } }), 1);
    t.like(dataOf(t, await ask(prepared, 'GET', '/v1/account')), {
      email_verified: true,
      google_linked: false,
      active_keys: 0,
    });
    t.deepEqual((await db.keys.findByPk(theirs.revoked.id))?.revokedAt, revokedAt, 'revoked when it was');
    const audited = await db.auditEvents.findAll({
      where: { accountId: prepared.accountId, action: 'key.revoked' },
      order: ['eventNo'],
    });
    t.deepEqual(
      audited.map(({ subject, actorKind }) => [subject, actorKind]),
      [
        [theirs.revoked.id, 'session'],
        [theirs.key.id, 'visitor'],
      ],
    );
    const reported = (await eventsIn(service.databaseUrl)).filter(({ type }) => type === 'key.revoked');
    t.deepEqual(
      reported.map(({ accountId, data }) => [accountId, data['key']]),
      [theirs.revoked.id, theirs.key.id].map((id) => [prepared.accountId, id]),
    );

    t.is(await accountOfGoogle(others.google), other.accountId);
    t.true(await works(others.key));
    t.deepEqual(await areIn(others.session), [true]);
    t.truthy(await db.webhooks.findByPk(others.webhook.id));
  },
);

test.serial('a reset for a proved e-mail address leaves keys and the Google link in place', async (t) => {
  const holder = await newHolder();
  const [key, google] = [await newKey(t, holder), await linkGoogle(t, holder)];
  const { emailVerifiedAt } = await accountOf(holder);
  service.clock.advance(1000);
  const token = await mailLink(holder, 'reset_password');
  dataOf(t, await anybody('/auth/set-password', { token, password: newPassword() }));
  t.true(await works(key));
  t.is(await accountOfGoogle(google), holder.accountId);
  t.deepEqual((await accountOf(holder)).emailVerifiedAt, emailVerifiedAt, 'proved when it was');
});

test.serial('an account without a password cannot change it', async (t) => {
  const holder = await newHolder({ hasPassword: false });
  const wish = { current: password, new: newPassword() };
  assertError(t, await ask(holder, 'POST', '/auth/change-password', wish), 409, 'conflict');
  t.is((await accountOf(holder)).passwordHash, null);
});

test.serial(
  'an unlinked Google identity no longer opens the account, and those of others still do',
  async (t) => {
    const [holder, other] = [await newHolder(), await newHolder()];
    const [google, others] = [await linkGoogle(t, holder), await linkGoogle(t, other)];
    t.like(dataOf(t, await ask(other, 'GET', '/v1/account')), { google_linked: true });
    t.is((await ask(holder, 'DELETE', '/auth/google/link')).status, 204);
    t.like(dataOf(t, await ask(holder, 'GET', '/v1/account')), { google_linked: false });
    t.not(await accountOfGoogle(google), holder.accountId);
    t.is(await accountOfGoogle(others), other.accountId);
  },
);

test.serial('the same subject at another issuer is somebody else', async (t) => {
  const holder = await newHolder();
  const claims = await linkGoogle(t, holder);
  await db.sequelize.query('update accounts.identities set issuer = $1 where account_id = $2', {
    bind: ['https://issuer.example', holder.accountId],
  });
  t.not(await accountOfGoogle(claims), holder.accountId);
});

/** The calls that end sessions. `left`: whether the caller's session and another one remain valid; `opens`: whether a new one is opened. */
const ends: Record<
  string,
  {
    act: (holder: Holder, otherSessionId: string) => Promise<Answer | object>;
    left: [boolean, boolean];
    opens?: true;
    hasPassword?: false;
    verified?: false;
  }
> = {
  'signing out': { act: (holder) => ask(holder, 'POST', '/auth/logout'), left: [false, true] },
  'ending the other session': {
    act: (holder, otherSessionId) => ask(holder, 'DELETE', `/auth/sessions/${otherSessionId}`),
    left: [true, false],
  },
  'ending all other sessions': {
    act: (holder) => ask(holder, 'DELETE', '/auth/sessions'),
    left: [true, false],
  },
  'signing in with a session': {
    act: ({ email, ...holder }) => ask({ email, ...holder }, 'POST', '/auth/login', { email, password }),
    left: [false, true],
    opens: true,
  },
  'a changed password': {
    act: (holder) => ask(holder, 'POST', '/auth/change-password', { current: password, new: newPassword() }),
    left: [false, false],
    opens: true,
  },
  'a first password': {
    act: (holder) => ask(holder, 'POST', '/auth/set-password', { password: newPassword() }),
    left: [false, false],
    opens: true,
    hasPassword: false,
  },
  'a password set by a mailed link': {
    act: async (holder) =>
      anybody('/auth/set-password', {
        token: await mailLink(holder, 'reset_password'),
        password: newPassword(),
      }),
    left: [false, false],
  },
  'a password set by the operator': {
    act: ({ accountId }) => setPassword(operatorDeps, accountId, { password: newPassword(), lengthMin: 8 }),
    left: [false, false],
  },
  'a confirmed e-mail address': {
    act: async (holder) =>
      ask(holder, 'POST', '/auth/verify-email', { token: await mailLink(holder, 'verify_email') }),
    left: [false, false],
    opens: true,
    verified: false,
  },
  'a new e-mail address': {
    act: async (holder) =>
      ask(holder, 'POST', '/auth/verify-email', {
        token: await mailLink(holder, 'change_email', newEmail()),
      }),
    left: [false, false],
    opens: true,
  },
  'the end of the account': { act: (holder) => ask(holder, 'DELETE', '/v1/account'), left: [false, false] },
  'disabling and enabling the account': {
    async act({ accountId }) {
      await setStatus(service.deps, accountId, 'disabled');
      return setStatus(service.deps, accountId, 'active');
    },
    left: [false, false],
  },
};

for (const [what, { act, left, opens, hasPassword = true, verified = true }] of Object.entries(ends)) {
  test.serial(`${what} ends exactly the intended sessions, at once`, async (t) => {
    const [{ email, accountId }, other] = [await newHolder({ hasPassword, verified }), await newHolder()];
    const [own, otherSession] = [await newSession(accountId), await newSession(accountId)];
    const others = await newSession(other.accountId);
    const answer = await act({ email, accountId, sessionId: own.sessionId }, otherSession.sessionId);
    if ('headers' in answer) t.true(answer.status < 300, JSON.stringify(answer));
    t.deepEqual(await areIn(own.name, otherSession.name, others.name), [...left, true]);
    const [row] = await db.sequelize.query<{ n: number }>(
      `select count(*)::int as n from accounts.audit_events
       where account_id = $1 and action = 'session.created' and detail->>'ip' <> '192.0.2.1'`,
      { bind: [accountId], type: QueryTypes.SELECT },
    );
    t.is(row?.n, opens === undefined ? 0 : 1);
  });
}

const weak: Record<
  string,
  { param: string; hasPassword: boolean; act: (holder: Holder, weak: string) => Promise<Answer> }
> = {
  'changed by its holder': {
    param: 'new',
    hasPassword: true,
    act: (holder, next) => ask(holder, 'POST', '/auth/change-password', { current: password, new: next }),
  },
  'set for the first time': {
    param: 'password',
    hasPassword: false,
    act: (holder, next) => ask(holder, 'POST', '/auth/set-password', { password: next }),
  },
  'set by a mailed link': {
    param: 'password',
    hasPassword: true,
    act: async (holder, next) =>
      anybody('/auth/set-password', { token: await mailLink(holder, 'reset_password'), password: next }),
  },
};

for (const [how, { param, hasPassword, act }] of Object.entries(weak)) {
  test.serial(
    `a password that is short, common or the own e-mail address is refused, and changes nothing: ${how}`,
    async (t) => {
      const holder = await newHolder({ hasPassword });
      const before = (await accountOf(holder)).toJSON();
      for (const next of ['short7!', 'password1', holder.email]) {
        t.is(assertError(t, await act(holder, next), 400, 'invalid_body').param, param);
      }
      t.deepEqual((await accountOf(holder)).toJSON(), before);
    },
  );
}

test.serial('a session of another account that is sent with a sign-in stays open', async (t) => {
  const [holder, other] = [await newHolder(), await newHolder()];
  const others = await newSession(other.accountId);
  const along = { ...other, sessionId: others.sessionId };
  dataOf(t, await ask(along, 'POST', '/auth/login', { email: holder.email, password }));
  t.deepEqual(await areIn(others.name), [true]);
});

for (const state of ['active', 'inactive'] as const) {
  test.serial(`an account whose subscription is ${state} is not closed`, async (t) => {
    const holder = await newHolder();
    const key = await newKey(t, holder);
    await db.accounts.update({ subscriptionState: state }, { where: { id: holder.accountId } });
    const error = assertError(t, await ask(holder, 'DELETE', '/v1/account'), 409, 'conflict');
    t.regex(error.message, /subscription/);
    t.like(dataOf(t, await ask(holder, 'GET', '/v1/account')), { subscription_state: state });
    t.true(await works(key));
  });
}

/** A column of an account that changes after a proof was accepted and before it takes effect. */
const changes = {
  'another password or e-mail address': 'credential_version = credential_version + 1',
  'another status': `status = 'disabled'`,
};
/** A subscription prevents only the end of the account: a proof of its holder stays right. */
const subscription = `subscription_state = 'active'`;
/** The changes made with a proof. Each waits for the row of the account before it changes anything. */
const effects: Record<
  string,
  { ask: (holder: Holder) => Promise<[string, Ask]>; left: (holder: Holder) => Promise<boolean> }
> = {
  'a sign-in': {
    ask: ({ email }) => Promise.resolve(['/auth/login', { body: { email, password } }]),
    left: async ({ accountId }) => (await sessionsOf(accountId)) === 1,
  },
  'a requested new e-mail address': {
    ask: () => Promise.resolve(['/v1/account', { method: 'PATCH', body: { email: newEmail(), password } }]),
    left: async ({ accountId }) =>
      (await db.auditEvents.count({ where: { accountId, action: 'email.change_asked' } })) === 0,
  },
  'a changed password': {
    ask: () =>
      Promise.resolve(['/auth/change-password', { body: { current: password, new: newPassword() } }]),
    left: async (holder) => (await accountOf(holder)).passwordHash === passwordHash,
  },
  'a password set by a mailed link': {
    ask: async (holder) => [
      '/auth/set-password',
      { body: { token: await mailLink(holder, 'reset_password'), password: newPassword() } },
    ],
    left: async (holder) => (await accountOf(holder)).passwordHash === passwordHash,
  },
  'a confirmed e-mail address': {
    ask: async (holder) => [
      '/auth/verify-email',
      { body: { token: await mailLink(holder, 'change_email', newEmail()) } },
    ],
    left: async (holder) => (await accountOf(holder)).email === holder.email,
  },
  'the end of the account': {
    ask: () => Promise.resolve(['/v1/account', { method: 'DELETE' }]),
    left: async ({ accountId }) => (await db.accounts.findByPk(accountId)) !== null,
  },
};

async function sessionsOf(accountId: string): Promise<number> {
  const [row] = await db.sequelize.query<{ n: number }>(
    'select count(*)::int as n from accounts.sessions where account_id = $1',
    { bind: [accountId], type: QueryTypes.SELECT },
  );
  return row?.n ?? 0;
}

/** The status of the answer to a call for an account that changes once the call waits for its row. */
async function statusAfter(
  assignment: string,
  holder: Holder,
  [target, { headers, ...rest }]: [string, Ask],
): Promise<number> {
  let answering: Promise<Answer> | undefined;
  await db.inTransaction(async (transaction) => {
    await db.sequelize.query(`update accounts.accounts set ${assignment} where id = $1`, {
      bind: [holder.accountId],
      transaction,
    });
    answering =
      target === '/auth/login'
        ? service.anonymously(target, { ...rest, headers: { ...from(), ...headers } })
        : service.signedIn(holder, target, { ...rest, headers: { ...from(), ...headers } });
    await untilWaiting(db.read);
  });
  return (await answering)?.status ?? 0;
}

for (const [what, effect] of Object.entries(effects)) {
  for (const [change, assignment] of Object.entries(changes)) {
    test.serial(`${what} has no effect if ${change} happens in between`, async (t) => {
      await newHolder(); // one that looks like this one before the change
      const holder = await newHolder();
      const status = await statusAfter(assignment, holder, await effect.ask(holder));
      t.true([401, 409, 410].includes(status), String(status));
      t.true(await effect.left(holder));
    });
  }
  const prevents = what === 'the end of the account';
  test.serial(
    `${what} has ${prevents ? 'no' : 'its'} effect if a subscription begins in between`,
    async (t) => {
      const holder = await newHolder();
      const status = await statusAfter(subscription, holder, await effect.ask(holder));
      t.is(status, prevents ? 409 : 200);
      t.is(await effect.left(holder), prevents);
    },
  );
}
