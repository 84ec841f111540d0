// When a mailed link is valid: for its purpose only, until its expiry, once, and only while the account state that it is bound to is unchanged.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import type { Purpose } from '../../accounts-api/mail/mail-tokens.sql.ts';
import { setStatus } from '../../accounts-api/operator/account-access.ts';
import { assertError, startAccountsService } from '../services/accounts-service.ts';
import { newEmail, newIp, newPassword } from '../services/sign-in.ts';
import { holdersOf } from './holders.ts';

const service = await startAccountsService();
const { password, newHolder, newSignUp, signUpLink, mailLink, accountOf } = await holdersOf(service);
const { db } = service.deps;
test.after.always(() => service.close());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const redeem = (target: '/auth/verify-email' | '/auth/set-password', token: string, proof = password) =>
  service.anonymously(target, {
    body: { token, password: proof },
    headers: { 'x-forwarded-for': newIp() },
  });
/** The four purposes: a new link, the endpoint that uses it, and its lifetime. */
const links: Record<
  Purpose,
  { make(): Promise<string>; target: '/auth/verify-email' | '/auth/set-password'; lastsMs: number }
> = {
  sign_up: {
    make: async () => (await newSignUp()).token,
    target: '/auth/verify-email',
    lastsMs: 24 * hourMs,
  },
  verify_email: {
    make: async () => mailLink(await newHolder({ verified: false }), 'verify_email'),
    target: '/auth/verify-email',
    lastsMs: 24 * hourMs,
  },
  change_email: {
    make: async () => mailLink(await newHolder(), 'change_email', newEmail()),
    target: '/auth/verify-email',
    lastsMs: 24 * hourMs,
  },
  reset_password: {
    make: async () => mailLink(await newHolder(), 'reset_password'),
    target: '/auth/set-password',
    lastsMs: hourMs,
  },
};
const other = {
  '/auth/verify-email': '/auth/set-password',
  '/auth/set-password': '/auth/verify-email',
} as const;
const proofFor = (target: string) => (target === '/auth/set-password' ? newPassword() : password);

for (const [purpose, { make, target, lastsMs }] of Object.entries(links)) {
  test.serial(
    `a link to ${purpose} is valid for that only, and no longer at its expiry instant`,
    async (t) => {
      const [token, late] = [await make(), await make()];
      const elsewhere = other[target];
      assertError(t, await redeem(elsewhere, token, proofFor(elsewhere)), 410, 'gone');
      service.clock.advance(lastsMs - 1);
      const answer = await redeem(target, token, proofFor(target));
      t.is(answer.status, 200, JSON.stringify(answer.body));
      service.clock.advance(1);
      assertError(t, await redeem(target, late, proofFor(target)), 410, 'gone');
    },
  );

  test.serial(`a link to ${purpose} is invalid once used`, async (t) => {
    const token = await make();
    const first = await redeem(target, token, proofFor(target));
    t.is(first.status, 200, JSON.stringify(first.body));
    // Here only its use ends it, even if other state has changed with it.
    await db.sequelize.query(
      `update accounts.accounts set credential_version = token.credential_version
       from accounts.mail_tokens as token where token.account_id = accounts.id and token.used_at is not null`,
    );
    assertError(t, await redeem(target, token, proofFor(target)), 410, 'gone');
  });
}

for (const purpose of ['verify_email', 'change_email', 'reset_password'] as const) {
  const { target } = links[purpose];
  const makeFor = async () => {
    const holder = await newHolder({ verified: purpose !== 'verify_email' });
    const to = purpose === 'change_email' ? newEmail() : undefined;
    return { holder, link: () => mailLink(holder, purpose, to) };
  };

  test.serial(
    `a link to ${purpose} is invalid after the password or the e-mail address has changed`,
    async (t) => {
      const { holder, link } = await makeFor();
      const token = await link();
      await db.accounts.increment('credentialVersion', { where: { id: holder.accountId } });
      assertError(t, await redeem(target, token, proofFor(target)), 410, 'gone');
    },
  );

  test.serial(
    `a link to ${purpose} mailed to a disabled account is invalid until it is enabled`,
    async (t) => {
      const { holder, link } = await makeFor();
      await setStatus(service.deps, holder.accountId, 'disabled');
      const token = await link();
      assertError(t, await redeem(target, token, proofFor(target)), 410, 'gone');
      await db.accounts.update({ status: 'active' }, { where: { id: holder.accountId } });
      t.is((await redeem(target, token, proofFor(target))).status, 200);
    },
  );
}

test.serial(
  'each sign-up becomes the account of its own e-mail address, and leaves the others as they were',
  async (t) => {
    const [first, second] = [await newSignUp(), await newSignUp()];
    const again = await newSignUp(second.email);
    const isMade = async (email: string) => (await db.accounts.findOne({ where: { email } })) !== null;
    t.is((await redeem('/auth/verify-email', second.token)).status, 200);
    t.deepEqual([await isMade(first.email), await isMade(second.email)], [false, true]);
    assertError(t, await redeem('/auth/verify-email', again.token), 409, 'email_taken');
    t.is((await redeem('/auth/verify-email', first.token)).status, 200);
    t.true(await isMade(first.email));
    const left = await db.sequelize.query<{ id: string }>('select id from accounts.signups', {
      type: QueryTypes.SELECT,
    });
    const ids = new Set(left.map(({ id }) => id));
    t.deepEqual(
      [first, second, again].map(({ signupId }) => ids.has(signupId)),
      [false, false, true],
      'what has become an account keeps no password hash',
    );
  },
);

test.serial('a sign-up expires after a day, even if its e-mail was sent late', async (t) => {
  const signup = await newSignUp();
  service.clock.advance(23 * hourMs);
  const late = await signUpLink(signup);
  service.clock.advance(hourMs);
  assertError(t, await redeem('/auth/verify-email', late), 410, 'gone');
  t.is(await db.accounts.findOne({ where: { email: signup.email } }), null);
});

test.serial('a link changes nothing of another account', async (t) => {
  const [holder, bystander] = [await newHolder({ verified: false }), await newHolder({ verified: false })];
  const before = (await accountOf(bystander)).toJSON();
  for (const purpose of ['verify_email', 'change_email', 'reset_password'] as const) {
    const token = await mailLink(holder, purpose, purpose === 'change_email' ? newEmail() : undefined);
    const answer = await redeem(links[purpose].target, token);
    t.is(answer.status, 200, JSON.stringify(answer.body));
  }
  t.deepEqual((await accountOf(bystander)).toJSON(), before);
});
