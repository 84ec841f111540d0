// Two-factor sign-in with an authenticator app: the second step, which nothing can bypass, and how the app is set up and turned off.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { setRole } from '../../accounts-api/operator/account-access.ts';
import { renewAuthenticators } from '../../accounts-api/sessions/renew-authenticators.ts';
import { createSecrets } from '../../accounts-api/secrets.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type Answer,
  type SignedIn,
} from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { from, newEmail, newPassword } from '../services/sign-in.ts';
import { recordSecret } from '../run/traces.ts';
import { codeAt, enrolHolder, wrongCodeAt, type Enrolled } from './authenticator.ts';
import { returnFromGoogle, holdersOf, type Holder } from './holders.ts';
import { startOddIssuer } from './issuers.ts';
import { mailJobs } from './mail-jobs.ts';

const issuer = await startOddIssuer();
const service = await startAccountsService(undefined, undefined, { signIn: { google: issuer.settings } });
const { password, newHolder, newSession, mailLink, areIn } = await holdersOf(service);
test.after.always(async () => {
  await service.close();
  await issuer.close();
});
const { clock, deps } = service;
const minuteMs = 60_000;
const stepMs = 30_000;

/** A user with an app. */
async function newEnrolled(): Promise<Holder & { app: Enrolled }> {
  const holder = await newHolder();
  return { ...holder, app: await enrolHolder(service, holder, { password }) };
}
const logIn = (body: object, headers = from()) => service.anonymously('/auth/login', { body, headers });
const secondStep = (token: string, code: string, headers = from()) =>
  service.anonymously('/auth/login/second-factor', { body: { sign_in_token: token, code }, headers });
const turnOff = (by: SignedIn, body: object) =>
  service.signedIn(by, '/auth/second-factor/turn-off', { body });
const stateOf = async (t: ExecutionContext, by: SignedIn) =>
  dataOf(t, await service.signedIn(by, '/auth/second-factor')) as Record<string, unknown>;

/** Completes the first step. @returns the token of the second one. */
async function firstStep(t: ExecutionContext, { email }: { email: string }): Promise<string> {
  const { sign_in_token: token } = dataOf(t, await logIn({ email, password }), 202) as Record<string, string>;
  return recordSecret(token ?? '');
}

test.serial(
  'the right password of an account with an app opens no session; password and code do',
  async (t) => {
    const { app, email, accountId } = await newEnrolled();
    const sessionsBefore = await deps.db.sessions.count({ where: { accountId } });
    const answer = await logIn({ email, password });
    t.is(answer.status, 202);
    t.deepEqual(Object.keys(dataOf(t, answer, 202) as object).toSorted(), ['expires_at', 'sign_in_token']);
    t.is(await deps.db.sessions.count({ where: { accountId } }), sessionsBefore);
    const token = (dataOf(t, answer, 202) as { sign_in_token: string }).sign_in_token;
    const wrong = await secondStep(token, wrongCodeAt(app.secret, clock.now()));
    t.is(assertError(t, wrong, 401, 'invalid_credentials').param, 'code');
    const done = dataOf(t, await secondStep(token, app.nextCode())) as Record<string, string>;
    t.regex(done['session_token'] ?? '', /^sess_/);
    t.regex(done['device_token'] ?? '', /^dev_/);
    t.is(await deps.db.sessions.count({ where: { accountId } }), sessionsBefore + 1);
    const [event] = await deps.db.auditEvents.findAll({ where: { accountId }, order: [['eventNo', 'DESC']] });
    t.like(event?.detail, { how: 'password', second_factor: 'totp' });
  },
);

test.serial(
  'who signs in anew keeps the session until the code is right, and then has the new one alone',
  async (t) => {
    const { app, ...person } = await newEnrolled();
    const own = await newSession(person.accountId);
    const by = { accountId: person.accountId, sessionId: own.sessionId };
    const first = await service.signedIn(by, '/auth/login', {
      body: { email: person.email, password },
      headers: from(),
    });
    const { sign_in_token } = dataOf(t, first, 202) as Record<string, string>;
    t.deepEqual(await areIn(own.name), [true]);
    const body = { sign_in_token, code: app.nextCode() };
    const second = await service.signedIn(by, '/auth/login/second-factor', { body, headers: from() });
    t.is(second.status, 200);
    t.deepEqual(await areIn(own.name), [false]);
  },
);

test.serial('the first step is worth one sign-in, for five minutes, to the account as it was', async (t) => {
  const person = await newEnrolled();
  const { app } = person;
  const [used, late, outdated, ended] = [
    await firstStep(t, person),
    await firstStep(t, person),
    await firstStep(t, person),
    await firstStep(t, person),
  ];
  t.is((await secondStep(used, app.nextCode())).status, 200);
  assertError(t, await secondStep(used, app.nextCode()), 410, 'gone');
  assertError(t, await secondStep('x'.repeat(43), app.nextCode()), 410, 'gone');
  await service.signedIn(person, '/auth/sessions', { method: 'DELETE' });
  assertError(t, await secondStep(ended, app.nextCode()), 410, 'gone');
  const again = await firstStep(t, person);
  clock.advance(5 * minuteMs);
  assertError(t, await secondStep(late, app.nextCode()), 410, 'gone');
  assertError(t, await secondStep(again, app.nextCode()), 410, 'gone');
  await deps.db.accounts.increment('credentialVersion', { where: { id: person.accountId } });
  assertError(t, await secondStep(outdated, app.nextCode()), 410, 'gone');
});

test.serial(
  'of two second steps with one code at once, one is accepted; afterwards the code is worth nothing',
  async (t) => {
    const person = await newEnrolled();
    const tokens = [await firstStep(t, person), await firstStep(t, person)] as const;
    const code = person.app.nextCode();
    const answers = await Promise.all(tokens.map((token) => secondStep(token, code)));
    t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401]);
    const other = tokens[answers[0]?.status === 200 ? 1 : 0];
    t.is((await secondStep(other, code)).status, 401);
    t.is((await turnOff(person, { password, code })).status, 401, 'nor for another act');
    t.is((await secondStep(other, person.app.nextCode())).status, 200);
  },
);

test.serial(
  'a clock may be off by at most one step, and an earlier code is refused after a later one',
  async (t) => {
    const person = await newEnrolled();
    clock.advance(10 * stepMs);
    const codeOff = (steps: number) =>
      codeAt(person.app.secret, new Date(clock.now().getTime() + steps * stepMs));
    const token = await firstStep(t, person);
    for (const steps of [-2, 2]) t.is((await secondStep(token, codeOff(steps))).status, 401, `${steps}`);
    t.is((await secondStep(token, codeOff(-1))).status, 200);
    t.is((await secondStep(await firstStep(t, person), codeOff(1))).status, 200);
    for (const steps of [-1, 0, 1])
      t.is((await secondStep(await firstStep(t, person), codeOff(steps))).status, 401, `${steps}`);
  },
);

test.serial('an app counts once a code has confirmed it, within a quarter of an hour', async (t) => {
  const holder = await newHolder();
  const begin = async () => {
    const answer = await service.signedIn(holder, '/auth/second-factor/totp', { body: { password } });
    return dataOf(t, answer) as { secret: string; otpauth_uri: string };
  };
  const confirm = (code: string) =>
    service.signedIn(holder, '/auth/second-factor/totp/confirm', { body: { code } });
  assertError(t, await confirm('123456'), 410, 'gone');
  const first = await begin();
  const uri = new URL(first.otpauth_uri);
  t.is(uri.searchParams.get('secret'), recordSecret(first.secret));
  t.is(decodeURIComponent(uri.pathname), `/Almanac almanac.example:${holder.email}`);
  assertError(t, await confirm(wrongCodeAt(first.secret, clock.now())), 401, 'invalid_credentials');
  t.is((await logIn({ email: holder.email, password })).status, 200, 'it does not count yet');
  clock.advance(15 * minuteMs);
  assertError(t, await confirm(codeAt(first.secret, clock.now())), 410, 'gone');

  const second = await begin();
  recordSecret(second.secret);
  t.is((await confirm(codeAt(first.secret, clock.now()))).status, 401, 'the newest secret alone');
  t.is((await stateOf(t, holder))['totp'], null);
  const code = codeAt(second.secret, clock.now());
  t.is((await confirm(code)).status, 200);
  t.like(await stateOf(t, holder), { recovery_codes_left: 10, required: false });
  const again = await service.signedIn(holder, '/auth/second-factor/totp', { body: { password } });
  assertError(t, again, 409, 'conflict');
  assertError(t, await confirm(code), 409, 'conflict');
  const token = await firstStep(t, holder);
  t.is((await secondStep(token, code)).status, 401, 'the code that confirmed it is used');
});

test.serial(
  'to set up, turn off or make recovery codes takes the password, and what is there a code',
  async (t) => {
    const { app, ...person } = await newEnrolled();
    const stranger = newPassword();
    const paths = ['turn-off', 'recovery-codes'] as const;
    for (const path of paths) {
      const ask = (body: object) => service.signedIn(person, `/auth/second-factor/${path}`, { body });
      assertError(t, await ask({ code: app.nextCode() }), 400, 'invalid_body');
      t.is(
        assertError(t, await ask({ password: stranger, code: app.nextCode() }), 401, 'invalid_credentials')
          .param,
        'password',
      );
      const wrong = await ask({ password, code: wrongCodeAt(app.secret, clock.now()) });
      t.is(assertError(t, wrong, 401, 'invalid_credentials').param, 'code');
    }
    t.is((await turnOff(person, { password, code: app.nextCode() })).status, 204);
    assertError(t, await turnOff(person, { password, code: app.nextCode() }), 409, 'conflict');
    t.is((await logIn({ email: person.email, password })).status, 200);
    t.like(await stateOf(t, person), { totp: null, recovery_codes_left: 0 });

    const begin = (by: SignedIn, body: object) => service.signedIn(by, '/auth/second-factor/totp', { body });
    assertError(t, await begin(person, {}), 400, 'invalid_body');
    assertError(t, await begin(person, { password: stranger }), 401, 'invalid_credentials');
    const google = await newHolder({ hasPassword: false });
    t.is((await begin(google, {})).status, 200, 'without a password a recent sign-in');
    clock.advance(60 * minuteMs + 1);
    assertError(t, await begin(google, {}), 401, 'reauthentication_required');
  },
);

test.serial(
  'a recovery code replaces a code once, however it is spelled; new ones end the old',
  async (t) => {
    const { app, ...person } = await newEnrolled();
    const [one = '', two = '', three = ''] = app.recoveryCodes;
    t.is(new Set(app.recoveryCodes).size, 10);
    const spelled = `  ${one.toUpperCase().replaceAll('-', ' ')}`;
    t.is((await secondStep(await firstStep(t, person), spelled)).status, 200);
    t.is((await secondStep(await firstStep(t, person), one)).status, 401);
    t.is((await stateOf(t, person))['recovery_codes_left'], 9);
    const tokens = [await firstStep(t, person), await firstStep(t, person)];
    const both = await Promise.all(tokens.map((token) => secondStep(token, two)));
    t.deepEqual(both.map(({ status }) => status).toSorted(), [200, 401], 'also at once');
    const over = await firstStep(t, person);
    t.is((await secondStep(over, app.nextCode())).status, 200);
    t.is((await secondStep(over, three)).status, 410);
    t.is((await stateOf(t, person))['recovery_codes_left'], 8, 'a sign-in that is over spends none');

    const body = { password, code: app.nextCode() };
    const made = dataOf(t, await service.signedIn(person, '/auth/second-factor/recovery-codes', { body }));
    const [fresh = ''] = (made as { recovery_codes: string[] }).recovery_codes.map((each) =>
      recordSecret(each),
    );
    t.is((await secondStep(await firstStep(t, person), three)).status, 401);
    t.is((await secondStep(await firstStep(t, person), fresh)).status, 200);
  },
);

test.serial(
  'codes are guessed five times and then ever more slowly, whatever the password does',
  async (t) => {
    const person = await newEnrolled();
    await guessUntilRefused(t, person);
    const done = dataOf(t, await turnOffAndOn(t, person)) as { device_token: string };
    t.truthy(done.device_token, 'a session is counted apart');
  },
);

/** Guesses codes until a guess has to wait, which is the seventh unless the wait after the sixth, of a second, has ended meanwhile. */
async function guessUntilRefused(t: ExecutionContext, { app, email }: { app: Enrolled; email: string }) {
  const guess = async () => secondStep(await firstStep(t, { email }), wrongCodeAt(app.secret, clock.now()));
  let answer: Answer;
  let guesses = 0;
  do {
    answer = await guess();
    guesses += 1;
  } while (answer.status === 401 && guesses < 12);
  assertError(t, answer, 429, 'rate_limited');
  t.true(guesses > 6, `${guesses}`);
}

/** Turns the factor off with the session, and signs in. */
async function turnOffAndOn(t: ExecutionContext, { app, ...person }: Holder & { app: Enrolled }) {
  t.is((await turnOff(person, { password, code: app.nextCode() })).status, 204);
  return logIn({ email: person.email, password });
}

test.serial('strangers who know the password and guess codes do not delay a known device', async (t) => {
  const { app, email } = await newEnrolled();
  const finished = await secondStep(await firstStep(t, { email }), app.nextCode());
  const { device_token } = dataOf(t, finished) as { device_token: string };
  await guessUntilRefused(t, { app, email });
  const known = dataOf(t, await logIn({ email, password, device_token }), 202) as { sign_in_token: string };
  t.is((await secondStep(known.sign_in_token, app.nextCode())).status, 200);
});

test.serial('a new password by a mailed link leaves the second factor unchanged', async (t) => {
  const { email, accountId, app } = await newEnrolled();
  const next = newPassword();
  const body = { token: await mailLink({ accountId }, 'reset_password'), password: next };
  t.is((await service.anonymously('/auth/set-password', { body, headers: from() })).status, 200);
  const { sign_in_token: token } = dataOf(t, await logIn({ email, password: next }), 202) as Record<
    string,
    string
  >;
  t.is((await secondStep(token ?? '', app.nextCode())).status, 200);
});

test.serial(
  'a mailed link that confirms an address does not sign anybody in without a code, unless the visitor is',
  async (t) => {
    const { app, ...person } = await newEnrolled();
    const confirm = async (more: object, by?: SignedIn) => {
      const body = { token: await mailLink(person, 'change_email', newEmail()), ...more };
      const ask = { body, headers: from() };
      return by === undefined
        ? service.anonymously('/auth/verify-email', ask)
        : service.signedIn(by, '/auth/verify-email', ask);
    };
    const { sign_in_token: token } = dataOf(t, await confirm({ password }), 202) as Record<string, string>;
    t.is((await secondStep(token ?? '', app.nextCode())).status, 200);
    t.is(
      (await confirm({}, await newSession(person.accountId).then((made) => ({ ...person, ...made })))).status,
      200,
    );
  },
);

test.serial(
  'Google’s own factor counts, unless the account has an app: then a code is needed, too',
  async (t) => {
    const holder = await newHolder();
    const claims = { sub: `sub of ${holder.email}`, email: holder.email, email_verified: true };
    const linking = await service.signedIn(holder, '/auth/google/link', { method: 'POST' });
    t.is((await returnFromGoogle(service, issuer, linking, claims)).result.get('google_linked'), '1');
    const signIn = async () => {
      const started = await service.anonymously('/auth/google/start');
      const { result, cookie } = await returnFromGoogle(service, issuer, started, claims);
      const body = { code: result.get('google_code') };
      return service.anonymously('/auth/google/exchange', { body, headers: { ...from(), cookie } });
    };
    t.is((await signIn()).status, 200);
    const app = await enrolHolder(service, holder, { password });
    const { sign_in_token: token } = dataOf(t, await signIn(), 202) as Record<string, string>;
    t.is((await secondStep(token ?? '', app.nextCode())).status, 200);
  },
);

test.serial('setting up an app ends all sessions except the one that did it', async (t) => {
  const { accountId } = await newHolder();
  const [own, other] = [await newSession(accountId), await newSession(accountId)];
  await enrolHolder(service, { accountId, sessionId: own.sessionId }, { password });
  t.deepEqual(await areIn(own.name, other.name), [true, false]);
});

test.serial('a stolen session and the password make no fresher session without a code', async (t) => {
  const { app, ...person } = await newEnrolled();
  await setRole(deps, person.accountId, 'operator');
  const operatorOf = async (token: string) => {
    const session = await deps.db.sessions.findByPk(token.split('.')[0] ?? '');
    const name = `${session?.id}.${session?.secretHash}`;
    const { body } = await service.internally('/internal/sessions', { sessions: [name] });
    return (body as { sessions: { operator: string }[] }).sessions[0]?.operator;
  };
  const signedIn = dataOf(t, await secondStep(await firstStep(t, person), app.nextCode())) as Record<
    string,
    string
  >;
  const stolen = signedIn['session_token'] ?? '';
  t.is(await operatorOf(stolen), 'fresh');
  clock.advance(20 * minuteMs);
  const by = { accountId: person.accountId, sessionId: stolen.split('.')[0] ?? '' };
  const body = { current: password, new: newPassword() };
  const changed = dataOf(t, await service.signedIn(by, '/auth/change-password', { body })) as Record<
    string,
    string
  >;
  t.is(await operatorOf(recordSecret(changed['session_token'] ?? '')), 'stale');
});

test.serial('every act is mailed to the holder', async (t) => {
  const { app, ...person } = await newEnrolled();
  await secondStep(await firstStep(t, person), app.recoveryCodes[0] ?? '');
  const body = { password, code: app.nextCode() };
  await service.signedIn(person, '/auth/second-factor/recovery-codes', { body });
  await turnOff(person, { password, code: app.nextCode() });
  const jobs = await mailJobs(service.databaseUrl);
  const reported = jobs.flatMap(({ data }) =>
    data.mail === 'notice' && data.email === person.email ? [data.notice] : [],
  );
  const all = ['recovery_code_used', 'recovery_codes_made', 'totp_enrolled', 'totp_removed'];
  t.deepEqual(reported.toSorted(), all);
});

test.serial(
  'no row has a secret or a recovery code that could be read, and a new key takes over the secrets',
  async (t) => {
    const { app, accountId, email } = await newEnrolled();
    const rows = await deps.db.sequelize.query<{ row: string }>(
      `select row_to_json(app)::text || row_to_json(code)::text as row
     from accounts.authenticators as app join accounts.recovery_codes as code using (account_id) where account_id = $1`,
      { bind: [accountId], type: QueryTypes.SELECT },
    );
    t.is(rows.length, 10);
    const raw = Buffer.from(app.secret).toString('base64');
    for (const { row } of rows)
      for (const secret of [app.secret, app.secret.toLowerCase(), raw, ...app.recoveryCodes])
        t.false(row.includes(secret.replaceAll('-', '')));
    const next = 'the next key of the installation, long enough';
    await renewAuthenticators({ ...deps, log: silentLog }, createSecrets([next, testIdentitySecret]));
    const refused = await secondStep(await firstStep(t, { email }), app.nextCode());
    assertError(t, refused, 503, 'unavailable');
    await renewAuthenticators({ ...deps, log: silentLog }, createSecrets([testIdentitySecret, next]));
    t.is((await secondStep(await firstStep(t, { email }), app.nextCode())).status, 200);
  },
);
