// Sessions: opened at every sign-in, ended at once and everywhere, accepted in only one header.
import test from 'ava';
import { fakeClock } from '../services/harness.ts';
import { projectPlans, startServices } from '../services/services.ts';
import { from, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { codeOf, dataIn, peopleOf, sessionIn } from './people.ts';

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const mailbox = await startMailbox();
// Plans without a limit per second, which is not tested here.
const all = projectPlans().all.map((plan) => ({ ...plan, calls_second: 10_000 }));
const plans = { ...projectPlans(), all, get: (id: string) => all.find((plan) => plan.id === id) };
const services = await startServices({
  clock,
  plans,
  mail: { smtpUrl: mailbox.smtpUrl },
});
const people = peopleOf(services);
const { ask, post, get, logIn, newPerson } = people;
test.after.always(async () => {
  await services.close();
  await mailbox.close();
});

const isIn = async (session: string) => (await get('/v1/account', session)).status === 200;

test.serial(
  'a token that comes along at sign-in is never taken over: the new one differs, the old one ends',
  async (t) => {
    const { email, password, session } = await newPerson();
    const headers = { ...from(), 'x-session-token': session };
    const next = sessionIn(await ask('POST', '/auth/login', { body: { email, password }, headers }));
    t.not(next, session);
    t.true(await isIn(next));
    t.false(await isIn(session));
    const planted = `sess_${'a'.repeat(16)}.${'A'.repeat(43)}`;
    const own = sessionIn(
      await ask('POST', '/auth/login', {
        body: { email, password },
        headers: { ...from(), 'x-session-token': planted },
      }),
    );
    t.not(own, planted);
    t.false(await isIn(planted));
  },
);

test.serial(
  'after logout a token is worth nothing, on the very next request and on every endpoint',
  async (t) => {
    const { session } = await newPerson();
    const answer = await post('/auth/logout', {}, session);
    t.is(answer.status, 204);
    t.is(answer.headers.get('clear-site-data'), '"cache", "storage"');
    for (const target of ['/v1/account', '/v1/keys', '/v1/usage', '/auth/sessions']) {
      t.is((await get(target, session)).status, 401, target);
    }
    t.is((await post('/auth/logout', {}, session)).status, 401);
  },
);

test.serial('a password change ends every other session and gives the current one a new token', async (t) => {
  const { email, password, session } = await newPerson();
  const other = await logIn(email, password);
  const next = newPassword();
  const answer = await post('/auth/change-password', { current: password, new: next }, session);
  t.is(answer.status, 200, answer.text);
  t.deepEqual([await isIn(session), await isIn(other), await isIn(sessionIn(answer))], [false, false, true]);
  t.is(
    codeOf(await ask('POST', '/auth/login', { body: { email, password }, headers: from() })),
    'invalid_credentials',
  );
  t.truthy(await logIn(email, next));
  t.regex((await mailbox.next(email, 'password was changed')).text, /If it was not you/);
});

test.serial('a password cannot be changed to itself, which only its holder learns', async (t) => {
  const { password, session } = await newPerson();
  const refused = await post('/auth/change-password', { current: password, new: password }, session);
  t.like(refused, { status: 400, json: { error: { code: 'invalid_body', param: 'new' } } });
  t.true(await isIn(session));
  const wrong = newPassword();
  const guessed = await post('/auth/change-password', { current: wrong, new: wrong }, session);
  t.is(codeOf(guessed), 'invalid_credentials');
});

test.serial('a reset by e-mail ends every session and key link, and signs nobody in', async (t) => {
  const { email, session } = await newPerson();
  t.is((await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() })).status, 202);
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  const password = newPassword();
  const answer = await ask('POST', '/auth/set-password', { body: { token, password }, headers: from() });
  t.is(answer.status, 200);
  t.deepEqual(Object.keys(dataIn(answer)), ['device_token']);
  t.false(await isIn(session));
  t.truthy(await logIn(email, password));
});

test.serial(
  'closing the account ends its sessions and keys, and needs a sign-in within the hour',
  async (t) => {
    const { email, password, session } = await newPerson();
    const { key } = dataIn(await post('/v1/keys', { name: 'k' }, session)) as { key: string };
    clock.advance(60 * 60_000 + 1);
    t.is(codeOf(await ask('DELETE', '/v1/account', { session })), 'reauthentication_required');
    t.is(codeOf(await services.call('/v1/account', { method: 'DELETE', key })), 'forbidden');
    const fresh = await logIn(email, password);
    t.is((await ask('DELETE', '/v1/account', { session: fresh })).status, 204);
    t.false(await isIn(fresh));
    t.false(await isIn(session));
    t.is((await services.call('/v1/account', { key })).status, 401);
    t.is(
      codeOf(await ask('POST', '/auth/login', { body: { email, password }, headers: from() })),
      'invalid_credentials',
    );
    t.regex((await mailbox.next(email, 'closed')).text, /deleted/);
  },
);

test.serial('a session ends after 24 hours without a call, and after 14 days whatever happens', async (t) => {
  const { session } = await newPerson();
  const hour = 60 * 60_000;
  clock.advance(23 * hour);
  t.true(await isIn(session), 'a call moves the idle end');
  clock.advance(23 * hour);
  t.true(await isIn(session));
  clock.advance(24 * hour);
  t.false(await isIn(session), '24 hours without a call');

  const second = (await newPerson()).session;
  for (let hours = 0; hours < 14 * 24 - 12; hours += 12) {
    clock.advance(12 * hour);
    t.true(await isIn(second), `after ${hours + 12} hours`);
  }
  clock.advance(12 * hour);
  t.false(await isIn(second), 'after 14 days of use');
});

test.serial('a token in the query, in the body or in a cookie is not looked at', async (t) => {
  const { session } = await newPerson();
  for (const target of [`/v1/account?session_token=${session}`, `/v1/account?X-Session-Token=${session}`]) {
    t.is((await services.call(target)).status, 401);
  }
  for (const headers of [
    { cookie: `session=${session}; X-Session-Token=${session}` },
    { authorization: `Bearer ${session}` },
    { 'x-api-key': session },
    { x_session_token: session },
  ]) {
    t.is((await services.call('/v1/account', { headers })).status, 401, JSON.stringify(Object.keys(headers)));
  }
  t.is((await post('/auth/logout', { session_token: session })).status, 401);
  t.true(await isIn(session));
});

test.serial('a session gives no access to data, and an API key none to passwords and sessions', async (t) => {
  const { session } = await newPerson();
  const { key } = dataIn(await post('/v1/keys', { name: 'k' }, session)) as { key: string };
  for (const target of ['/v1/series/GDP', '/v1/series/GDP/latest', '/v1/funds', '/v1/trade']) {
    t.is(codeOf(await get(target, session)), 'unauthorized', target);
  }
  const headers = { 'x-api-key': key };
  for (const [method, target] of [
    ['POST', '/auth/logout'],
    ['POST', '/auth/change-password'],
    ['POST', '/auth/set-password'],
    ['GET', '/auth/sessions'],
    ['DELETE', '/auth/sessions'],
    ['POST', '/auth/google/link'],
  ] as const) {
    t.is(codeOf(await ask(method, target, { headers })), 'forbidden', target);
    t.is(codeOf(await ask(method, `${target}?api_key=${key}`)), 'forbidden', target);
  }
  const change = { email: 'new@example.org', password: 'x' };
  const answer = await services.call('/v1/account', {
    method: 'PATCH',
    key,
    body: JSON.stringify(change),
    headers: { 'content-type': 'application/json' },
  });
  t.is(codeOf(answer), 'forbidden');
  const renamed = await services.call('/v1/account', {
    method: 'PATCH',
    key,
    body: JSON.stringify({ name: 'By key' }),
    headers: { 'content-type': 'application/json' },
  });
  t.is(renamed.status, 200);
});

test.serial(
  'a key and a session in one request are refused where both are accepted, and the session is ignored elsewhere',
  async (t) => {
    const { session } = await newPerson();
    const { key } = dataIn(await post('/v1/keys', { name: 'k' }, session)) as { key: string };
    const both = { 'x-session-token': session };
    t.is(codeOf(await services.call('/v1/account', { key, headers: both })), 'unauthorized');
    t.is(
      codeOf(await services.call('/v1/series/NONE', { key, headers: both })),
      'not_found',
      'past the credential',
    );
  },
);

test.serial('the list of sessions shows where each was opened; ending one ends only that one', async (t) => {
  const { email, password, session } = await newPerson();
  const headers = { ...from(), 'user-agent': 'Tests/1.0 \t(left)' };
  const second = sessionIn(await ask('POST', '/auth/login', { body: { email, password }, headers }));
  const third = await logIn(email, password);
  const { data } = (await get('/auth/sessions', second)).json as { data: Record<string, unknown>[] };
  t.is(data.length, 3);
  const own = data.find((row) => row['current'] === true);
  t.like(own, { ip: headers['x-forwarded-for'], id: second.split('.')[0] });
  t.regex(String(own?.['user_agent']), /^Tests\/1\.0/);
  t.false(JSON.stringify(data).includes(second.split('.')[1] ?? '?'));
  t.is((await ask('DELETE', `/auth/sessions/${third.split('.')[0]}`, { session: second })).status, 204);
  t.deepEqual([await isIn(session), await isIn(second), await isIn(third)], [true, true, false]);
  t.like((await ask('DELETE', '/auth/sessions', { session: second })).json, { data: { ended: 1 } });
  t.deepEqual([await isIn(session), await isIn(second)], [false, true]);
});

test.serial('another account’s session, key and audit are as good as not there', async (t) => {
  const [a, b] = [await newPerson(), await newPerson()];
  const bKey = dataIn(await post('/v1/keys', { name: 'k' }, b.session));
  const bId = b.session.split('.')[0];
  t.is((await ask('DELETE', `/auth/sessions/${bId}`, { session: a.session })).status, 404);
  t.is((await ask('DELETE', `/v1/keys/${String(bKey['id'])}`, { session: a.session })).status, 404);
  t.true(await isIn(b.session));
  const audit = (await get('/v1/account/audit', a.session)).json as { data: { subject: string }[] };
  t.false(JSON.stringify(audit).includes(String(bKey['id'])));
  t.is((await services.call('/v1/account', { key: String(bKey['key']) })).status, 200);
});

test.serial(
  'requests that race a logout are answered or refused, and none that starts after it is answered',
  async (t) => {
    const { session } = await newPerson();
    const racing = Array.from({ length: 20 }, () => get('/v1/account', session));
    t.is((await post('/auth/logout', {}, session)).status, 204);
    const after = await Promise.all(Array.from({ length: 20 }, () => get('/v1/account', session)));
    t.true(after.every(({ status }) => status === 401));
    t.true((await Promise.all(racing)).every(({ status }) => status === 200 || status === 401));
  },
);

test.serial('a sign-in that races a password change leaves no session of the old password', async (t) => {
  const { email, password, session } = await newPerson();
  const device = String(
    dataIn(await ask('POST', '/auth/login', { body: { email, password }, headers: from() }))['device_token'],
  );
  const body = { email, password, device_token: device };
  const racing = Array.from({ length: 4 }, () => ask('POST', '/auth/login', { body, headers: from() }));
  const changed = await post('/auth/change-password', { current: password, new: newPassword() }, session);
  t.is(changed.status, 200, changed.text);
  for (const answer of await Promise.all(racing)) {
    if (answer.status === 200) t.false(await isIn(sessionIn(answer)));
    else t.is(codeOf(answer), 'invalid_credentials');
  }
  t.true(await isIn(sessionIn(changed)));
});

test.serial('the twenty-first session ends the one used least recently', async (t) => {
  const { email, password, session } = await newPerson();
  const opened = [session];
  for (let i = 0; i < 20; i += 1) {
    clock.advance(1000);
    opened.push(await logIn(email, password));
  }
  t.deepEqual(
    [await isIn(opened[0] ?? ''), await isIn(opened[1] ?? ''), await isIn(opened[20] ?? '')],
    [false, true, true],
  );
});

test.serial('a body that is not JSON is refused as such, also where no body is expected', async (t) => {
  const { session } = await newPerson();
  for (const target of ['/auth/logout', '/auth/verify-email/resend', '/auth/google/link']) {
    const text = await ask('POST', target, { session, body: 'x', headers: { 'content-type': 'text/plain' } });
    t.is(text.status, 415, target);
    const broken = await ask('POST', target, { session, body: '{' });
    t.is(broken.status, 400, target);
    t.is(codeOf(broken), 'invalid_body', target);
  }
  t.is((await ask('GET', '/v1/account', { session })).status, 200, 'the session has not ended');
});

test.serial(
  'answers of accounts and sign-in are never cached, never sniffed, for HTTPS alone, and open to no other origin',
  async (t) => {
    const { session } = await newPerson();
    for (const [method, target] of [
      ['GET', '/v1/account'],
      ['GET', '/v1/keys'],
      ['GET', '/auth/sessions'],
      ['GET', '/v1/usage/history?format=csv'],
    ] as const) {
      const answer = await ask(method, target, {
        session,
        headers: { origin: 'https://evil.example', 'x-forwarded-proto': 'https' },
      });
      t.is(answer.status, 200, target);
      t.is(answer.headers.get('strict-transport-security'), 'max-age=31536000', target);
      t.is(answer.headers.get('cache-control'), 'no-store', target);
      t.is(answer.headers.get('x-content-type-options'), 'nosniff', target);
      t.false(
        [...answer.headers.keys()].some((name) => name.startsWith('access-control-')),
        target,
      );
    }
    const preflight = await ask('OPTIONS', '/auth/login', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    t.is(preflight.headers.get('access-control-allow-origin'), null);
  },
);
