// No secret is stored: after all kinds of requests, no table and no log line contains a secret that was issued or entered.
import { createHash, createHmac } from 'node:crypto';
import test from 'ava';
import { createLog } from '../../kernel/log/log.ts';
import { startServices } from '../services/services.ts';
import { dump } from '../start/sinks.ts';
import { newEmail, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { startOddIssuer } from './issuers.ts';
import { dataIn, peopleOf, sessionIn } from './people.ts';

const lines: string[] = [];
const log = createLog('all services', 'trace', { write: (line) => void lines.push(line) });
const [mailbox, issuer] = [await startMailbox(), await startOddIssuer()];
const services = await startServices({
  log,
  mail: { smtpUrl: mailbox.smtpUrl },
  signIn: { mailGoesOut: true, google: issuer.settings },
});
const { ask, get, post } = peopleOf(services, mailbox);
test.after.always(async () => {
  await services.close();
  await Promise.all([mailbox.close(), issuer.close()]);
});

test.serial(
  'neither a table nor a log holds a password, a key, a token of a session, an e-mail or a device, or a secret of Google’s',
  async (t) => {
    const secrets = new Map<string, string>();
    const record = (what: string, secret: string) => {
      secrets.set(what, secret);
      return secret;
    };
    const recordSession = (what: string, token: string) => {
      record(`${what}, its secret half`, token.split('.')[1] ?? '');
      return record(what, token);
    };
    const email = newEmail();

    // Sign up, confirm, sign in with a wrong and a right password.
    const password = record('password', newPassword());
    await post('/auth/signup', { email, password });
    const link = record('link of the sign-up', tokenIn(await mailbox.next(email)));
    await post('/auth/verify-email', {
      token: link,
      password: record('wrong password at the link', newPassword()),
    });
    recordSession('first session', sessionIn(await post('/auth/verify-email', { token: link, password })));
    await post('/auth/login', { email, password: record('wrong password', newPassword()) });
    await post('/auth/login', { email: newEmail(), password: record('password of nobody', newPassword()) });
    const loggedIn = await post('/auth/login', { email, password });
    const session = recordSession('second session', sessionIn(loggedIn));
    record('device token', String(dataIn(loggedIn)['device_token']));

    // Keys: created, used in every place, mistyped, revoked.
    const made = await ask('POST', '/v1/keys', {
      session,
      body: { name: 'k' },
      headers: { 'idempotency-key': 'once' },
    });
    const key = record('API key', String(dataIn(made)['key']));
    await services.call('/v1/series/NONE', { key });
    await services.call(`/v1/series/NONE?api_key=${key}`);
    await services.call(`/v1/account?api_key=${key}`);
    await services.call(`/v1/series/${key}`, { key });
    await services.call(`/auth/sessions?api_key=${key}`);
    await services.call('/v1/account', { key: record('mistyped key', `${key.slice(0, -1)}!`) });
    await ask('DELETE', `/v1/keys/${String(dataIn(made)['id'])}`, { session });

    // A password forgotten and set, then changed; an e-mail address changed.
    await post('/auth/forgot-password', { email });
    const reset = record('link of the reset', tokenIn(await mailbox.next(email, 'Set a new password')));
    await post('/auth/set-password', { token: reset, password: record('second password', newPassword()) });
    const again = sessionIn(await post('/auth/login', { email, password: secrets.get('second password') }));
    recordSession('third session', again);
    const change = { current: secrets.get('second password'), new: record('third password', newPassword()) };
    const changed = recordSession(
      'fourth session',
      sessionIn(await post('/auth/change-password', change, again)),
    );
    const next = { email: `next-${email}`, password: change.new };
    await ask('PATCH', '/v1/account', { session: changed, body: next });
    record('link of the new e-mail address', tokenIn(await mailbox.next(next.email)));

    // Google: sent there, returned, and the one-time code exchanged.
    const started = await services.call('/auth/google/start', { redirect: 'manual' });
    const cookie = /^([^=]+=([^;]+));/.exec(started.headers.get('set-cookie') ?? '');
    record('cookie of the way to Google', cookie?.[2] ?? '');
    const params = new URL(started.headers.get('location') ?? '').searchParams;
    const nonce = record('nonce', params.get('nonce') ?? '');
    const state = record('state', params.get('state') ?? '');
    const verifier = createHmac('sha256', cookie?.[2] ?? '')
      .update('google verifier')
      .digest('base64url');
    record('PKCE verifier', verifier);
    t.is(createHash('sha256').update(verifier).digest('base64url'), params.get('code_challenge') ?? '');
    issuer.idToken = (proper, sign) => {
      const token = sign({
        ...proper,
        nonce,
        sub: 'secret-test',
        email: 'secret-test@gmail.com',
        email_verified: true,
      });
      return record('ID token', token);
    };
    const headers = { cookie: cookie?.[1] ?? '' };
    const googleCode = record('code of Google', 'a-code-that-google-gave-0123456789');
    const callback = await services.call(`/auth/google/callback?code=${googleCode}&state=${state}`, {
      redirect: 'manual',
      headers,
    });
    const code = record(
      'one-time code',
      /google_code=([\w-]+)/.exec(callback.headers.get('location') ?? '')?.[1] ?? '',
    );
    const exchanged = await ask('POST', '/auth/google/exchange', { body: { code }, headers });
    recordSession('session by Google', sessionIn(exchanged));
    record('client secret', issuer.settings.clientSecret);
    await get('/v1/account/audit', changed);

    t.true(secrets.size > 24);
    for (const [what, secret] of secrets) t.true(secret.length >= 8, what);
    const tables = await dump(async (text) => ({ rows: await services.database.query(text) }));
    t.true(tables.size > 20);
    t.true([...tables.keys()].some((name) => name.startsWith('jobs.')));
    t.true(tables.get('accounts.accounts')?.includes(email), 'the dump reads what is there');
    for (const [what, secret] of secrets) {
      for (const [name, text] of tables) t.false(text.includes(secret), `${what} in ${name}`);
    }
    const logged = lines.join('');
    t.regex(logged, /sign_in_refused/);
    for (const [what, secret] of secrets) t.false(logged.includes(secret), `${what} in the log`);
  },
);

test.serial(
  'the log and the audit record sign-ins, failures and changes: who, when, where; one line each',
  async (t) => {
    const [email, password] = [newEmail(), newPassword()];
    await post('/auth/signup', { email, password });
    const token = tokenIn(await mailbox.next(email));
    const session = sessionIn(await post('/auth/verify-email', { token, password }));
    const forged = 'Browser/1.0 {"level":50,"msg":"forged"}';
    await ask('POST', '/auth/login', {
      body: { email, password: newPassword() },
      headers: { 'user-agent': forged },
    });
    const line = lines.findLast((each) => each.includes('sign_in_refused')) ?? '';
    const entry = JSON.parse(line) as Record<string, unknown>;
    t.is(entry['user_agent'], forged, 'inside its field');
    t.like(entry, { ip: '127.0.0.1', event: 'sign_in_refused' });
    t.regex(String(entry['account_id']), /^acct_/);
    t.regex(String(entry['time']), /^\d{4}-\d\d-\d\dT/);
    t.true(lines.every((each) => each.trimEnd().split('\n').length === 1));

    const audit = (await get('/v1/account/audit', session)).json as {
      data: { at: string; action: string; actor: { kind: string }; detail: Record<string, unknown> }[];
    };
    t.deepEqual(
      audit.data.map(({ action }) => action),
      ['session.created', 'account.created'],
    );
    t.like(audit.data[0], { actor: { kind: 'session' }, detail: { ip: '127.0.0.1', how: 'sign_up' } });
  },
);

test.serial(
  'a fault inside answers 500 without a stack, a statement or a name of a table, and the log has its cause',
  async (t) => {
    const [email, password] = [newEmail(), newPassword()];
    await post('/auth/signup', { email, password });
    const token = tokenIn(await mailbox.next(email));
    const session = sessionIn(await post('/auth/verify-email', { token, password }));
    await services.database.query('alter table accounts.sessions rename column ip to ip_gone');
    const answer = await get('/auth/sessions', session);
    await services.database.query('alter table accounts.sessions rename column ip_gone to ip');
    t.is(answer.status, 500);
    t.notRegex(answer.text, /column|select|accounts\.|at \w+ \(|node_modules/i);
    t.regex(lines.join(''), /column.*does not exist/);
  },
);
