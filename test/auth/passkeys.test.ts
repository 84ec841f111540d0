// Passkeys: refused ones, the proof required to add or remove one, and that a sign-in with one counts as two factors.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { instantText } from '../../kernel/clock.ts';
import { removeSecondFactor, setRole, setStatus } from '../../accounts-api/operator/account-access.ts';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { recordSecret } from '../run/traces.ts';
import { assertError, dataOf, startAccountsService, type SignedIn } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { from, newPassword } from '../services/sign-in.ts';
import { enrolHolder, wrongCodeAt } from './authenticator.ts';
import { holdersOf, type Holder } from './holders.ts';
import { mailJobs } from './mail-jobs.ts';
import { Passkey, passkeysOf, presentOnly, type Wrong } from './passkey-authenticator.ts';

const service = await startAccountsService();
const strict = await startAccountsService(undefined, undefined, {
  signIn: { operatorSecondFactor: 'required' },
});
const plain = await startAccountsService(undefined, undefined, {
  signIn: { publicUrl: 'http://almanac.example' },
});
const { password, newHolder, newSession, areIn } = await holdersOf(service);
test.after.always(() => Promise.all([service.close(), strict.close(), plain.close()]));
const { begin, finish, beginSignIn, finishSignIn, optionsIn, add, signIn } = passkeysOf(service);
const { clock, deps } = service;
const minuteMs = 60_000;

/** A user with a passkey. */
async function newOwner(counts = false): Promise<Holder & { passkey: Passkey; id: string }> {
  const holder = await newHolder();
  return { ...holder, ...(await add(holder, { password }, { passkey: new Passkey({ counts }) })) };
}
const remove = (by: SignedIn, id: string, body: object) =>
  service.signedIn(by, `/auth/passkeys/${id}/remove`, { body });
const listOf = async (t: ExecutionContext, by: SignedIn) =>
  dataOf(t, await service.signedIn(by, '/auth/passkeys')) as { name: string; last_used_at: string | null }[];
/** Asserts that a passkey is refused, for a reason. */
function assertRefused(t: ExecutionContext, answer: Parameters<typeof assertError>[1], why: RegExp): void {
  const { message, param } = assertError(t, answer, 401, 'invalid_credentials');
  t.regex(message, why);
  t.is(param, 'credential');
}
/** The `operator` state of a session as reported to the gateway. */
async function operatorOf(of: typeof service, token: string): Promise<string | undefined> {
  const session = await of.deps.db.sessions.findByPk(token.split('.')[0] ?? '');
  const { body } = await of.internally('/internal/sessions', {
    sessions: [`${session?.id}.${session?.secretHash}`],
  });
  return (body as { sessions: ({ operator: string } | null)[] }).sessions[0]?.operator;
}
const tokenIn = (t: ExecutionContext, answer: Parameters<typeof dataOf>[1]): string => {
  const token = (dataOf(t, answer) as { session_token: string }).session_token;
  recordSecret(token.split('.')[1] ?? '');
  return token;
};

test.serial(
  'a passkey is added, signs in without password and code, and is listed with its last use',
  async (t) => {
    const { passkey, id, accountId, email, ...session } = await newOwner();
    const by = { accountId, ...session };
    t.like(await listOf(t, by), [{ id, name: 'Laptop', last_used_at: null }]);
    clock.advance(minuteMs);
    const answer = await signIn(passkey);
    t.regex((dataOf(t, answer) as { device_token: string }).device_token, /^dev_/);
    const opened = tokenIn(t, answer).split('.')[0] ?? '';
    t.is((await deps.db.sessions.findByPk(opened))?.accountId, accountId);
    t.like(await listOf(t, by), [{ last_used_at: instantText(clock.now()) }]);
    const [event] = await deps.db.auditEvents.findAll({ where: { accountId }, order: [['eventNo', 'DESC']] });
    t.like(event, { action: 'session.created', subject: opened });
    t.like(event?.detail, { how: 'passkey' });
    t.is(
      (await service.anonymously('/auth/login', { body: { email, password }, headers: from() })).status,
      200,
    );

    await enrolHolder(service, by, { password });
    t.is((await signIn(passkey)).status, 200, 'an app makes no difference');
  },
);

test.serial('a challenge is used once, also by two at once, whatever came of it', async (t) => {
  const { passkey, ...holder } = await newOwner();
  const options = optionsIn(await beginSignIn());
  assertRefused(t, await finishSignIn(passkey.get(options, { flags: presentOnly })), /could not be verified/);
  assertError(t, await finishSignIn(passkey.get(options)), 410, 'gone');

  const again = passkey.get(optionsIn(await beginSignIn()));
  const answers = await Promise.all([finishSignIn(again), finishSignIn(again)]);
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 410]);

  const adding = optionsIn(await begin(holder, { password }));
  const another = new Passkey();
  t.is((await finish(holder, another.create(adding))).status, 201);
  assertError(t, await finish(holder, new Passkey().create(adding)), 410, 'gone');
  assertError(t, await finishSignIn(another.get(adding)), 410, 'gone');
  const made = { challenge: Buffer.alloc(32, 7).toString('base64url'), rpId: 'almanac.example' };
  assertError(t, await finishSignIn(passkey.get(made)), 410, 'gone');
});

test.serial('a challenge lasts five minutes', async (t) => {
  const { passkey, ...holder } = await newOwner();
  const adding = [optionsIn(await begin(holder, { password })), optionsIn(await begin(holder, { password }))];
  const entering = [optionsIn(await beginSignIn()), optionsIn(await beginSignIn())];
  clock.advance(5 * minuteMs - 1);
  t.is((await finish(holder, new Passkey().create(adding[0] ?? { challenge: '' }))).status, 201);
  t.is((await finishSignIn(passkey.get(entering[0] ?? { challenge: '' }))).status, 200);
  clock.advance(1);
  assertError(t, await finish(holder, new Passkey().create(adding[1] ?? { challenge: '' })), 410, 'gone');
  assertError(t, await finishSignIn(passkey.get(entering[1] ?? { challenge: '' })), 410, 'gone');
});

test.serial('a passkey is added by the session that began it, to the account as it was', async (t) => {
  const [holder, stranger] = [await newHolder(), await newHolder()];
  const options = optionsIn(await begin(holder, { password }));
  assertError(t, await finish(stranger, new Passkey().create(options)), 410, 'gone');
  const { sessionId } = await newSession(holder.accountId);
  assertError(t, await finish({ ...holder, sessionId }, new Passkey().create(options)), 410, 'gone');
  t.is((await finish(holder, new Passkey().create(options))).status, 201);

  const started = optionsIn(await begin(stranger, { password }));
  await setRole(deps, stranger.accountId, 'operator');
  assertError(t, await finish(stranger, new Passkey().create(started)), 410, 'gone');
});

const forgedResponses: Record<string, { wrong: Wrong; why: RegExp }> = {
  'for another origin': { wrong: { origin: 'https://almanac.example.evil.example' }, why: /origin/ },
  'for another port': { wrong: { origin: 'https://almanac.example:8443' }, why: /origin/ },
  'for another host': { wrong: { rpId: 'evil.example' }, why: /RP ID/ },
  'without verifying its holder': { wrong: { flags: presentOnly }, why: /could not be verified/ },
  'for another purpose': { wrong: { type: 'payment.get' }, why: /type/ },
};
for (const [what, { wrong, why }] of Object.entries(forgedResponses))
  test.serial(`a passkey that answers ${what} is neither added nor signs in`, async (t) => {
    const { passkey, ...holder } = await newOwner();
    assertRefused(t, await signIn(passkey, wrong), why);
    const options = optionsIn(await begin(holder, { password }));
    assertRefused(t, await finish(holder, new Passkey().create(options, wrong)), why);
    t.is((await listOf(t, holder)).length, 1);
    t.is((await signIn(passkey)).status, 200);
  });

test.serial('a passkey signs in to its own account alone, by its own key', async (t) => {
  const [one, two] = [await newOwner(), await newOwner()];
  t.is((await signIn(one.passkey, { userHandle: one.passkey.userHandle })).status, 200);
  assertRefused(t, await signIn(one.passkey, { userHandle: two.passkey.userHandle }), /another account/);
  assertRefused(t, await signIn(one.passkey, { signer: two.passkey }), /signature is not right/);
  assertRefused(t, await signIn(new Passkey(), { userHandle: one.passkey.userHandle }), /not known here/);
  const options = optionsIn(await begin(two, { password }));
  assertError(t, await finish(two, one.passkey.create(options)), 409, 'conflict');
});

test.serial('a count of signatures that does not rise is refused, and audited', async (t) => {
  const { passkey, id, accountId } = await newOwner(true);
  t.is((await signIn(passkey)).status, 200);
  t.is((await signIn(passkey, { count: 7 })).status, 200);
  for (const count of [7, 6, 0]) assertRefused(t, await signIn(passkey, { count }), /count of signatures/);
  const events = await deps.db.auditEvents.findAll({ where: { accountId, action: 'passkey.refused' } });
  t.deepEqual(
    events.map(({ subject, detail }) => [subject, detail['count']]),
    [7, 6, 0].map((signed) => [id, { stored: 7, signed }]),
  );
  t.is((await signIn(passkey, { count: 8 })).status, 200);
  const races = [optionsIn(await beginSignIn()), optionsIn(await beginSignIn())];
  const answers = await Promise.all(races.map((each) => finishSignIn(passkey.get(each, { count: 9 }))));
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401], 'also at once');
});

test.serial('an account has at most ten passkeys, also when two are added at once', async (t) => {
  const holder = await newHolder();
  for (let made = 1; made <= 9; made += 1) await add(holder, { password });
  const started = [
    optionsIn(await begin(holder, { password })),
    optionsIn(await begin(holder, { password })),
  ];
  const answers = await Promise.all(started.map((each) => finish(holder, new Passkey().create(each))));
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409]);
  assertError(t, await begin(holder, { password }), 409, 'conflict');
  t.is((await listOf(t, holder)).length, 10);
});

test.serial('a removed passkey signs in no longer, at once, and the other sessions end', async (t) => {
  const { passkey, id, accountId } = await newOwner();
  const [own, other] = [await newSession(accountId), await newSession(accountId)];
  const by = { accountId, sessionId: own.sessionId };
  const stranger = await newHolder();
  assertError(t, await remove(stranger, id, { password }), 404, 'not_found');
  const started = optionsIn(await beginSignIn());
  t.is((await remove(by, id, { password })).status, 204);
  assertRefused(t, await finishSignIn(passkey.get(started)), /not known here/);
  t.deepEqual(await areIn(own.name, other.name), [true, false]);
  assertError(t, await remove(by, id, { password }), 404, 'not_found');
});

test.serial('a passkey is renamed by its holder alone', async (t) => {
  const [owner, stranger] = [await newOwner(), await newHolder()];
  const rename = (by: SignedIn, name: string) =>
    service.signedIn(by, `/auth/passkeys/${owner.id}`, { method: 'PATCH', body: { name } });
  assertError(t, await rename(stranger, 'Mine'), 404, 'not_found');
  assertError(t, await rename(owner, ' '), 400, 'invalid_body');
  t.like(dataOf(t, await rename(owner, 'Key ring')), { id: owner.id, name: 'Key ring' });
  t.like(await listOf(t, owner), [{ name: 'Key ring' }]);
});

test.serial('to add or remove one takes the password, and a code where there is an app', async (t) => {
  const { passkey, id, ...holder } = await newOwner();
  const tries = [(body: object) => begin(holder, body), (body: object) => remove(holder, id, body)];
  for (const ask of tries) {
    t.is(assertError(t, await ask({}), 400, 'invalid_body').param, 'password');
    t.is(
      assertError(t, await ask({ password: newPassword() }), 401, 'invalid_credentials').param,
      'password',
    );
  }
  const app = await enrolHolder(service, holder, { password });
  for (const ask of tries) {
    t.is(assertError(t, await ask({ password }), 400, 'invalid_body').param, 'code');
    const code = wrongCodeAt(app.secret, clock.now());
    t.is(assertError(t, await ask({ password, code }), 401, 'invalid_credentials').param, 'code');
  }
  t.is((await begin(holder, { password, code: app.nextCode() })).status, 200);
  t.is((await remove(holder, id, { password, code: app.nextCode() })).status, 204);
  t.is((await signIn(passkey)).status, 401);

  const google = await newHolder({ hasPassword: false });
  t.is((await begin(google, {})).status, 200, 'without a password a recent sign-in');
  clock.advance(60 * minuteMs + 1);
  assertError(t, await begin(google, {}), 401, 'reauthentication_required');
});

test.serial('a disabled account is closed to its passkeys, and a closed one has none', async (t) => {
  const { passkey, accountId, sessionId } = await newOwner();
  await setStatus(deps, accountId, 'disabled');
  assertError(t, await signIn(passkey), 403, 'forbidden');
  await setStatus(deps, accountId, 'active');
  t.is((await signIn(passkey)).status, 200);
  const again = await newSession(accountId);
  t.not(again.sessionId, sessionId);
  const by = { accountId, sessionId: again.sessionId };
  t.is((await service.signedIn(by, '/v1/account', { method: 'DELETE' })).status, 204);
  assertRefused(t, await signIn(passkey), /not known here/);
  const rows = await deps.db.sequelize.query('select from accounts.passkeys where account_id = $1', {
    bind: [accountId],
    type: QueryTypes.SELECT,
  });
  t.is(rows.length, 0);
});

test.serial(
  'an operator with a passkey is fresh by it, for a quarter of an hour, and not by the password',
  async (t) => {
    const { passkey, id, ...operator } = await newOwner();
    const { accountId, email } = operator;
    await setRole(deps, accountId, 'operator');
    const byPasskey = tokenIn(t, await signIn(passkey));
    const body = { email, password };
    const byPassword = tokenIn(t, await service.anonymously('/auth/login', { body, headers: from() }));
    t.is(await operatorOf(service, byPasskey), 'fresh');
    t.is(await operatorOf(service, byPassword), 'stale');
    const sessionOf = (token: string) => ({ accountId, sessionId: token.split('.')[0] ?? '' });
    const weak = sessionOf(byPassword);
    for (const answer of [
      await begin(weak, { password }),
      await remove(weak, id, { password }),
      await service.signedIn(weak, '/auth/second-factor/totp', { body: { password } }),
      await service.signedIn(weak, '/v1/account', { method: 'DELETE' }),
    ])
      assertError(t, answer, 401, 'reauthentication_required');
    t.is((await begin(sessionOf(byPasskey), { password })).status, 200);
    clock.advance(15 * minuteMs + 1);
    t.is(await operatorOf(service, byPasskey), 'stale');
    assertError(t, await begin(sessionOf(byPasskey), { password }), 401, 'reauthentication_required');

    const change = { current: password, new: newPassword() };
    const changed = await service.signedIn(sessionOf(byPasskey), '/auth/change-password', { body: change });
    t.is(await operatorOf(service, tokenIn(t, changed)), 'stale', 'the password makes nothing fresher');
  },
);

test.serial('where operators need a second factor, a passkey is one', async (t) => {
  const holders = await holdersOf(strict);
  const passkeys = passkeysOf(strict);
  const holder = await holders.newHolder();
  await setRole(strict.deps, holder.accountId, 'operator');
  const { token, sessionId } = await holders.newSession(holder.accountId);
  const by = { accountId: holder.accountId, sessionId };
  t.is(await operatorOf(strict, token), 'unenrolled');
  const { passkey } = await passkeys.add(by, { password: holders.password });
  t.is(await operatorOf(strict, token), 'fresh', 'who adds it has proved it');
  t.like(dataOf(t, await strict.signedIn(by, '/auth/second-factor')), { passkeys: 1, required: true });
  t.is(await operatorOf(strict, tokenIn(t, await passkeys.signIn(passkey))), 'fresh');

  const jobs = openJobs(strict.deps.db.sequelize, strict.databaseUrl, silentLog);
  t.teardown(() => jobs.close());
  await removeSecondFactor({ ...strict.deps, jobs }, holder.email);
  t.is(await operatorOf(strict, token), 'unenrolled');
  assertRefused(t, await passkeys.signIn(passkey), /not known here/);
});

test.serial('every act is mailed to the holder', async (t) => {
  const { id, ...holder } = await newOwner();
  await remove(holder, id, { password });
  const jobs = await mailJobs(service.databaseUrl);
  const reported = jobs.flatMap(({ data }) =>
    data.mail === 'notice' && data.email === holder.email ? [data.notice] : [],
  );
  t.deepEqual(reported.toSorted(), ['passkey_added', 'passkey_removed']);
});

test.serial('what is no answer of a browser is refused before anything is looked up', async (t) => {
  const { passkey } = await newOwner();
  const right = passkey.get(optionsIn(await beginSignIn()));
  const with_ = (response: object) => ({ ...right, response: { ...right.response, ...response } });
  const empty = Buffer.from('{}').toString('base64url');
  for (const credential of [
    {},
    { ...right, id: '' },
    { ...right, id: 'a'.repeat(1365) },
    { ...right, type: 'password' },
    with_({ clientDataJSON: 'AAAA' }),
    with_({ clientDataJSON: empty }),
    with_({ signature: 'a b' }),
  ])
    assertError(t, await finishSignIn(credential), 400, 'invalid_body');
  assertError(t, await finishSignIn({ ...right, more: 'a'.repeat(17 * 1024) }), 413, 'payload_too_large');
  assertRefused(t, await finishSignIn(with_({ authenticatorData: 'AAAA' })), /authenticator data/i);
});

test.serial('passkeys are off for an origin for which browsers offer none', async (t) => {
  const methods = async (of: typeof service) =>
    (dataOf(t, await of.anonymously('/auth/methods')) as { passkeys: unknown }).passkeys;
  t.deepEqual(await methods(service), { origin: 'https://almanac.example' });
  t.is(await methods(plain), null);
  const path = '/auth/login/passkey/options';
  assertError(t, await plain.anonymously(path, { method: 'POST' }), 404, 'not_found');
});
