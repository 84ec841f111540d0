// Every end of access to an account also ends its Google flows, so that none of them restores the access.
import test from 'ava';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { setPassword, setStatus } from '../../accounts-api/operator/account-access.ts';
import { parseSessionToken } from '../../kernel/credentials/session-token.ts';
import { untilWaiting } from '../run/until.ts';
import { silentLog } from '../services/harness.ts';
import { startServices } from '../services/services.ts';
import { from, newEmail, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { browserOf, person, type Flow } from './google-browser.ts';
import { startOddIssuer } from './issuers.ts';
import { codeOf, dataIn, peopleOf, sessionIn } from './people.ts';

const [mailbox, issuer] = await Promise.all([startMailbox(), startOddIssuer()]);
const services = await startServices({
  mail: { smtpUrl: mailbox.smtpUrl },
  signIn: { google: issuer.settings },
});
const jobs = openJobs(services.accounts.db.sequelize, services.databaseUrl, silentLog);
test.after.always(async () => {
  await jobs.close();
  await services.close();
  await Promise.all([mailbox.close(), issuer.close()]);
});
const operator = { ...services.accounts, jobs };
const { ask } = peopleOf(services);
const { begin, beginLink, returnFromGoogle, returnFromGoogleAs, exchange, signIn } = browserOf(
  services,
  issuer,
);

/** A user with a password and two sessions: the owner's, and one that was stolen. */
interface Household {
  email: string;
  password: string;
  owner: string;
  thief: string;
}

async function newHousehold(): Promise<Household> {
  const [email, password] = [newEmail(), newPassword()];
  const body = { email, password };
  const thief = sessionIn(await ask('POST', '/auth/signup', { body, headers: from() }));
  const owner = sessionIn(await ask('POST', '/auth/login', { body, headers: from() }));
  return { email, password, owner, thief };
}

/** Makes a call of the owner, and asserts the status. */
async function must(
  status: number,
  method: string,
  target: string,
  { body, session }: { body?: unknown; session?: string } = {},
): Promise<void> {
  const answer = await ask(method, target, {
    headers: from(),
    ...(body === undefined ? {} : { body }),
    ...(session === undefined ? {} : { session }),
  });
  if (answer.status !== status) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`);
}

const startLink = (session: string) => ask('POST', '/auth/google/link', { session, headers: from() });

async function resetByMail({ email }: Household): Promise<void> {
  await must(202, 'POST', '/auth/forgot-password', { body: { email } });
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  await must(200, 'POST', '/auth/set-password', { body: { token, password: newPassword() } });
}

/** The ways of ending all access to an account. */
const ends: Record<string, (household: Household) => Promise<unknown>> = {
  'a password change': ({ owner, password }) =>
    must(200, 'POST', '/auth/change-password', {
      session: owner,
      body: { current: password, new: newPassword() },
    }),
  'a reset by e-mail': resetByMail,
  'the end of all other sessions': ({ owner }) => must(200, 'DELETE', '/auth/sessions', { session: owner }),
  'a change of the e-mail address': async ({ owner, password }) => {
    const email = newEmail();
    await must(200, 'PATCH', '/v1/account', { session: owner, body: { email, password } });
    const token = tokenIn(await mailbox.next(email));
    await must(200, 'POST', '/auth/verify-email', { body: { token, password } });
  },
  'a password set by the operator': ({ email }) =>
    setPassword(operator, email, { password: newPassword(), lengthMin: 8 }),
  'disabling the account': ({ email }) => setStatus(operator, email, 'disabled'),
  'disabling the account, though it is enabled again': async ({ email }) => {
    await setStatus(operator, email, 'disabled');
    await setStatus(operator, email, 'active');
  },
  'closing the account': ({ owner }) => must(204, 'DELETE', '/v1/account', { session: owner }),
};

/** The ways of ending the session that began a link, and with it the flow. */
const endsOfTheSession: typeof ends = {
  'signing out': ({ thief }) => must(204, 'POST', '/auth/logout', { session: thief }),
  'ending that one session': ({ owner, thief }) =>
    must(204, 'DELETE', `/auth/sessions/${parseSessionToken(thief)?.id}`, { session: owner }),
};

const newCredentials = `update accounts.accounts set credential_version = credential_version + 1 where email = $1`;
const disabled = `update accounts.accounts set status = 'disabled' where email = $1`;
const unlinked = `delete from accounts.identities using accounts.accounts where account_id = id and accounts.email = $1`;

const flowsLeft = (email: string) =>
  services.database.query(
    `select from accounts.google_flows as flow
     join accounts.accounts as account on account.id in (flow.link_account_id, flow.code_account_id)
     where account.email = $1`,
    [email],
  );

for (const [what, end] of Object.entries({ ...ends, ...endsOfTheSession })) {
  test.serial(`a link to Google that has begun does not outlive ${what}`, async (t) => {
    const household = await newHousehold();
    const flow = await beginLink(household.thief);
    await end(household);
    t.is((await flowsLeft(household.email)).length, 0);
    const claims = person();
    t.is((await returnFromGoogleAs(claims, flow)).get('google_error'), 'expired');
    const { session } = await signIn(claims);
    const opened = await ask('GET', '/v1/account', { session: session ?? '' });
    t.is(dataIn(opened)['email'], claims.email, 'the identity opens no account but its own');
  });
}

for (const [what, end] of Object.entries(ends)) {
  test.serial(`a code from Google that was not exchanged yet does not outlive ${what}`, async (t) => {
    const household = await newHousehold();
    const claims = person();
    t.is((await returnFromGoogleAs(claims, await beginLink(household.owner))).get('google_linked'), '1');
    const flow = await begin();
    const code = (await returnFromGoogleAs(claims, flow)).get('google_code') ?? '';
    await end(household);
    t.is((await flowsLeft(household.email)).length, 0);
    t.is(codeOf(await exchange(code, flow.cookie)), 'gone');
  });
}

test.serial('neither a link that has begun nor a code outlives unlinking', async (t) => {
  const household = await newHousehold();
  const claims = person();
  await returnFromGoogleAs(claims, await beginLink(household.owner));
  const [flow, link] = [await begin(), await beginLink(household.thief)];
  const code = (await returnFromGoogleAs(claims, flow)).get('google_code') ?? '';
  await must(204, 'DELETE', '/auth/google/link', { session: household.owner });
  t.is(codeOf(await exchange(code, flow.cookie)), 'gone');
  t.is((await returnFromGoogleAs(person(), link)).get('google_error'), 'expired');
});

test.serial(
  'a stranger who signed up with an e-mail address first has no flow left once its owner resets it',
  async (t) => {
    const stranger = await newHousehold();
    const flows = [await beginLink(stranger.thief), await beginLink(stranger.owner)];
    await resetByMail(stranger);
    for (const flow of flows) t.is((await returnFromGoogleAs(person(), flow)).get('google_error'), 'expired');
    t.is(codeOf(await ask('POST', '/auth/google/link', { session: stranger.thief })), 'unauthorized');
  },
);

test.serial(
  'an identity that is unlinked while Google confirms it no longer opens the account',
  async (t) => {
    const household = await newHousehold();
    const claims = person();
    await returnFromGoogleAs(claims, await beginLink(household.owner));
    const flow = await begin();
    issuer.idToken = (proper, sign) => sign({ ...proper, nonce: flow.nonce, ...claims });
    const answered = await whileUncommitted([household.email], unlinked, () => returnFromGoogle(flow));
    const opened = await exchange(answered.result.get('google_code') ?? '', flow.cookie);
    const account = await ask('GET', '/v1/account', { session: sessionIn(opened) });
    t.is(dataIn(account)['email'], claims.email, 'a new account, not the one that it was taken from');
  },
);

test.serial('the end of one session leaves the flows of another', async (t) => {
  const household = await newHousehold();
  const flow = await beginLink(household.owner);
  await endsOfTheSession['signing out']?.(household);
  t.is((await returnFromGoogleAs(person(), flow)).get('google_linked'), '1');
});

test.serial(
  'new credentials and a disabled account end flows and codes, whichever statement wrote them',
  async (t) => {
    for (const statement of [newCredentials, disabled]) {
      const household = await newHousehold();
      const claims = person();
      await returnFromGoogleAs(claims, await beginLink(household.owner));
      const [flow, link] = [await begin(), await beginLink(household.thief)];
      const code = (await returnFromGoogleAs(claims, flow)).get('google_code') ?? '';
      await services.database.query(statement, [household.email]);
      t.is(codeOf(await exchange(code, flow.cookie)), 'gone', statement);
      t.is((await returnFromGoogleAs(person(), link)).get('google_error'), 'expired', statement);
    }
  },
);

test.serial('a link flow requested while its session ends does not begin', async (t) => {
  const { thief } = await newHousehold();
  const ended = 'delete from accounts.sessions where id = $1';
  const answer = await whileUncommitted([parseSessionToken(thief)?.id], ended, () => startLink(thief));
  t.is(codeOf(answer), 'unauthorized');
});

test.serial('a link that Google answers just as the password changes is refused', async (t) => {
  const household = await newHousehold();
  const link = await beginLink(household.thief);
  const claims = person();
  issuer.idToken = (proper, sign) => sign({ ...proper, nonce: link.nonce, ...claims });
  const linked = await whileUncommitted([household.email], newCredentials, () => returnFromGoogle(link));
  t.is(linked.result.get('google_error'), 'expired');
});

test.serial('a code that is exchanged just as the password changes is refused', async (t) => {
  const household = await newHousehold();
  const claims = person();
  await returnFromGoogleAs(claims, await beginLink(household.owner));
  const flow = await begin();
  const code = (await returnFromGoogleAs(claims, flow)).get('google_code') ?? '';
  const answer = await whileUncommitted([household.email], newCredentials, () => exchange(code, flow.cookie));
  t.is(codeOf(answer), 'gone');
});

for (const [what, begins, expected] of [
  ['signed in to with Google', (_: Household, flow: Flow) => returnFromGoogle(flow), 'google_code'],
  ['linked to Google', ({ owner }: Household) => startLink(owner), 'unauthorized'],
] as const)
  test.serial(`an account is closed while it is being ${what}, and neither fails`, async (t) => {
    const household = await newHousehold();
    const claims = person();
    await returnFromGoogleAs(claims, await beginLink(household.owner));
    const flow = await begin();
    issuer.idToken = (proper, sign) => sign({ ...proper, nonce: flow.nonce, ...claims });
    // The account is deleted, and waits for its rows.
    const aSession = 'select from accounts.sessions where id = $1 for update';
    const both = async () => {
      const closing = ask('DELETE', '/v1/account', { session: household.owner, headers: from() });
      await untilWaiting(services.database.query);
      return Promise.all([closing, begins(household, flow)]);
    };
    const [closed, begun] = await whileUncommitted(
      [parseSessionToken(household.thief)?.id],
      aSession,
      both,
      2,
    );
    t.is(closed.status, 204, closed.text);
    t.is('location' in begun ? [...begun.result.keys()].join() : codeOf(begun), expected);
  });

test.serial('a session that is being opened by a code ends with all others', async (t) => {
  const household = await newHousehold();
  const claims = person();
  await returnFromGoogleAs(claims, await beginLink(household.owner));
  const flow = await begin();
  const code = (await returnFromGoogleAs(claims, flow)).get('google_code') ?? '';
  // The exchange has consumed the code and stored the session, and waits to write its audit row.
  const lockStatement = 'lock table accounts.audit_events in share mode';
  const both = async () => {
    const exchanging = exchange(code, flow.cookie);
    await untilWaiting(services.database.query);
    return Promise.all([
      exchanging,
      ask('DELETE', '/auth/sessions', { session: household.owner, headers: from() }),
    ]);
  };
  const [exchanged, ended] = await whileUncommitted([], lockStatement, both, 2);
  t.is(ended.status, 200, ended.text);
  t.is((await ask('GET', '/v1/account', { session: sessionIn(exchanged) })).status, 401);
});

/** Runs a call while a statement is executed but not committed, and commits once the call waits for it or has ended. */
async function whileUncommitted<T>(
  values: unknown[],
  statement: string,
  call: () => Promise<T>,
  waiting = 1,
): Promise<T> {
  const pending = await services.database.transaction(async (transaction) => {
    await transaction.query(statement, values);
    const asked = call();
    await Promise.race([asked, untilWaiting(services.database.query, waiting)]);
    return { asked };
  });
  return pending.asked;
}
