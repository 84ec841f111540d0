// Strangers who try passwords of an account cannot delay callers with a session of it or a link to its mailbox.
import test from 'ava';
import { limits } from '../../accounts-api/auth/throttle.ts';
import { assertError, startAccountsService, type Answer } from '../services/accounts-service.ts';
import { newEmail, newIp, newNetwork, newPassword } from '../services/sign-in.ts';
import { holdersOf, type Holder } from './holders.ts';

const service = await startAccountsService();
const { password, newHolder, newSession, newSignUp, mailLink } = await holdersOf(service);
test.after.always(() => service.close());

const logIn = (email: string, ip: string) =>
  service.anonymously('/auth/login', {
    body: { email, password: newPassword() },
    headers: { 'x-forwarded-for': ip },
  });

/** The number of nine wrong passwords that are compared. */
async function compared(attempt: () => Promise<Answer>): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 9 }, attempt));
  return answers.filter(({ status }) => status === 401).length;
}

const changePassword = (holder: Holder, current: string, ip: string) =>
  service.signedIn(holder, '/auth/change-password', {
    body: { current, new: newPassword() },
    headers: { 'x-forwarded-for': ip },
  });

/** Where an owner proves the password besides at sign-in: `prepare` gives the e-mail address and the call with the right one. */
const sites: {
  what: string;
  prepare: () => Promise<{ email: string; prove: (ip: string) => Promise<Answer> }>;
}[] = [
  {
    what: 'changing the password',
    async prepare() {
      const holder = await newHolder();
      return { email: holder.email, prove: (ip) => changePassword(holder, password, ip) };
    },
  },
  {
    what: 'asking for a new e-mail address',
    async prepare() {
      const holder = await newHolder();
      const ask = { method: 'PATCH', body: { email: newEmail(), password } };
      return {
        email: holder.email,
        prove: (ip) =>
          service.signedIn(holder, '/v1/account', { ...ask, headers: { 'x-forwarded-for': ip } }),
      };
    },
  },
  {
    what: 'finishing a sign-up',
    async prepare() {
      const { email, token } = await newSignUp();
      const body = { token, password };
      return {
        email,
        prove: (ip) =>
          service.anonymously('/auth/verify-email', { body, headers: { 'x-forwarded-for': ip } }),
      };
    },
  },
  {
    what: 'confirming an e-mail address',
    async prepare() {
      const holder = await newHolder();
      const body = { token: await mailLink(holder, 'verify_email'), password };
      return {
        email: holder.email,
        prove: (ip) =>
          service.anonymously('/auth/verify-email', { body, headers: { 'x-forwarded-for': ip } }),
      };
    },
  },
];

for (const { what, prepare } of sites) {
  test.serial(`wrong passwords of strangers for the same account do not delay: ${what}`, async (t) => {
    const { email, prove } = await prepare();
    t.is(await compared(() => logIn(email, newIp())), 6);
    t.is((await prove(newIp())).status, 200);
  });
  test.serial(`wrong passwords of strangers at the same IP address do not delay: ${what}`, async (t) => {
    const { prove } = await prepare();
    const nextIp = newNetwork();
    for (let i = 0; i < limits.failures.points; i += 1) await logIn(newEmail(), nextIp());
    assertError(t, await logIn(newEmail(), nextIp()), 429, 'rate_limited');
    t.is((await prove(nextIp())).status, 200);
  });
}

test.serial('all sessions of an account have one limit together, and delay no sign-in', async (t) => {
  const holder = await newHolder();
  const { sessionId } = await newSession(holder.accountId);
  const sessions = [holder, { ...holder, sessionId }];
  let tries = 0;
  const guess = () => changePassword(sessions[(tries += 1) % 2] ?? holder, newPassword(), newIp());
  t.is(await compared(guess), 6);
  t.is((await logIn(holder.email, newIp())).status, 401);
});

test.serial('all links to a mailbox have one limit together', async (t) => {
  const { email } = await newSignUp();
  const tokens = [(await newSignUp(email)).token, (await newSignUp(email.toUpperCase())).token];
  let tries = 0;
  const guess = () =>
    service.anonymously('/auth/verify-email', {
      body: { token: tokens[(tries += 1) % 2], password: newPassword() },
      headers: { 'x-forwarded-for': newIp() },
    });
  t.is(await compared(guess), 6);
});
