// Renewing the freshness of a session, or adding a sign-in method, requires at least the freshness that it grants: a stolen session cannot extend its
// own.
import test, { type ExecutionContext } from 'ava';
import { setRole } from '../../accounts-api/operator/account-access.ts';
import {
  assertError,
  startAccountsService,
  type Answer,
  type SignedIn,
} from '../services/accounts-service.ts';
import { newEmail, newPassword } from '../services/sign-in.ts';
import { returnFromGoogle, holdersOf, signInByGoogle, type Holder } from './holders.ts';
import { startOddIssuer } from './issuers.ts';

const issuer = await startOddIssuer();
const service = await startAccountsService(undefined, undefined, { signIn: { google: issuer.settings } });
const { password, newHolder, newSession, mailLink } = await holdersOf(service);
test.after.always(async () => {
  await service.close();
  await issuer.close();
});
const { deps, clock } = service;
const minuteMs = 60_000;

let thieves = 0;
/** A user whose mailbox is not operated by Google, so that nothing is linked automatically. */
const thief = () => ({
  sub: `thief ${(thieves += 1)}`,
  email: `thief-${thieves}@elsewhere.example`,
  email_verified: true,
});
const link = (by: SignedIn) => service.signedIn(by, '/auth/google/link', { method: 'POST' });
const firstPassword = (by: SignedIn) =>
  service.signedIn(by, '/auth/set-password', { body: { password: newPassword() } });
const otherEmail = (by: SignedIn, more: object = {}) =>
  service.signedIn(by, '/v1/account', { method: 'PATCH', body: { email: newEmail(), ...more } });
const unlink = (by: SignedIn) => service.signedIn(by, '/auth/google/link', { method: 'DELETE' });
const close = (by: SignedIn) => service.signedIn(by, '/v1/account', { method: 'DELETE' });

async function newOperator(wish: { hasPassword?: boolean } = {}): Promise<Holder> {
  const holder = await newHolder(wish);
  await setRole(deps, holder.accountId, 'operator');
  return holder;
}
/** Whether accounts-api reports a session to gateways as an operator's and fresh. */
async function operatorOf(name: string): Promise<unknown> {
  const { body } = await service.internally('/internal/sessions', { sessions: [name] });
  return (body as { sessions: ({ operator: unknown } | null)[] }).sessions[0]?.operator;
}
const refused = (t: ExecutionContext, answer: Answer) => assertError(t, answer, 403, 'forbidden');

/** Each way of adding a sign-in method with only a session, and the account for the attempt. */
const waysIn: Readonly<Record<string, { hasPassword: boolean; go: (by: SignedIn) => Promise<Answer> }>> = {
  'links a Google identity to an account with a password': { hasPassword: true, go: link },
  'links a Google identity to an account without one': { hasPassword: false, go: link },
  'sets a first password': { hasPassword: false, go: firstPassword },
  'asks for another e-mail address of an account without a password': { hasPassword: false, go: otherEmail },
};
for (const [way, { hasPassword, go }] of Object.entries(waysIn)) {
  test.serial(`an operator's session, fresh or old, ${way}: never`, async (t) => {
    const operator = await newOperator({ hasPassword });
    for (const minutes of [0, 14, 6, 30, 20]) {
      clock.advance(minutes * minuteMs);
      t.regex(refused(t, await go(operator)).message, /operator/);
    }
    t.is(
      await deps.db.accounts.count({ where: { id: operator.accountId, passwordHash: null } }),
      hasPassword ? 0 : 1,
    );
  });
  test.serial(`a holder's session ${way} within an hour of the sign-in, and not later`, async (t) => {
    const holder = await newHolder({ hasPassword });
    clock.advance(60 * minuteMs + 1);
    assertError(t, await go(holder), 401, 'reauthentication_required');
    const fresh = { ...holder, ...(await newSession(holder.accountId)) };
    clock.advance(60 * minuteMs);
    const answer = await go(fresh);
    t.is(answer.status, 200, JSON.stringify(answer.body));
  });
}

test.serial(
  'an operator changes passwords and the e-mail address by the password, at any age of the session',
  async (t) => {
    const operator = await newOperator();
    clock.advance(20 * minuteMs);
    assertError(t, await otherEmail(operator, { password: newPassword() }), 401, 'invalid_credentials');
    t.is((await otherEmail(operator, { password })).status, 200);
    const body = { current: password, new: newPassword() };
    t.is((await service.signedIn(operator, '/auth/change-password', { body })).status, 200);
  },
);

test.serial(
  'an operator unlinks Google and closes the account within fifteen minutes of the sign-in, and not later',
  async (t) => {
    const operator = await newHolder();
    const { result } = await returnFromGoogle(service, issuer, await link(operator), thief());
    t.is(result.get('google_linked'), '1');
    await setRole(deps, operator.accountId, 'operator');
    clock.advance(15 * minuteMs + 1);
    for (const go of [unlink, close]) {
      const error = assertError(t, await go(operator), 401, 'reauthentication_required');
      t.regex(error.message, /15 minutes/);
    }
    const fresh = { ...operator, ...(await newSession(operator.accountId)) };
    clock.advance(15 * minuteMs);
    t.is((await unlink(fresh)).status, 204);
    t.is((await close(fresh)).status, 204);
  },
);

test.serial('a stolen operator’s session that is 20 minutes old does not become a fresh one', async (t) => {
  const operator = await newOperator();
  const stolen = await newSession(operator.accountId);
  t.is(await operatorOf(stolen.name), 'fresh');
  clock.advance(20 * minuteMs);
  t.is(await operatorOf(stolen.name), 'stale');
  const by = { accountId: operator.accountId, sessionId: stolen.sessionId };
  for (const go of [link, firstPassword, otherEmail]) t.true((await go(by)).status >= 400);
  t.deepEqual(await signInByGoogle(service, issuer, { ...thief(), email: operator.email }), {
    error: 'link_needed',
  });
  t.is(await operatorOf(stolen.name), 'stale', 'nothing that it does makes it fresher');
});

test.serial(
  'a link to Google is not made if, when the browser is back, the session is too old or the account an operator’s',
  async (t) => {
    const late = await newHolder();
    clock.advance(55 * minuteMs);
    const started = await link(late);
    clock.advance(6 * minuteMs);
    t.is((await returnFromGoogle(service, issuer, started, thief())).result.get('google_error'), 'expired');

    const promoted = await newHolder();
    const before = await link(promoted);
    await setRole(deps, promoted.accountId, 'operator');
    t.is((await returnFromGoogle(service, issuer, before, thief())).result.get('google_error'), 'expired');
  },
);

test.serial('links mailed before an account becomes an operator’s no longer work', async (t) => {
  const holder = await newHolder({ hasPassword: false });
  const token = await mailLink(holder, 'change_email', newEmail());
  await setRole(deps, holder.accountId, 'operator');
  const answer = await service.signedIn(holder, '/auth/verify-email', { body: { token } });
  assertError(t, answer, 410, 'gone');
});
