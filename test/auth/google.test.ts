// Sign-in with Google, through the gateway, against a real OpenID Connect server and a malicious one.
import { createHash, createHmac } from 'node:crypto';
import test from 'ava';
import jsonwebtoken from 'jsonwebtoken';
import { discover } from '../../accounts-api/auth/google-openid.ts';
import { assertError, startAccountsService } from '../services/accounts-service.ts';
import { fakeClock } from '../services/harness.ts';
import { startServices } from '../services/services.ts';
import { from, newEmail, newPassword, startMailbox } from '../services/sign-in.ts';
import { browserOf, person, type Flow } from './google-browser.ts';
import { otherKey, publicPem, startOddIssuer, startRealIssuer, type Claims } from './issuers.ts';
import { codeOf, peopleOf, sessionIn } from './people.ts';

const clock = fakeClock(new Date().toISOString());
const [mailbox, real, odd] = [await startMailbox(), await startRealIssuer(), await startOddIssuer()];
const settings = { clock, mail: { smtpUrl: mailbox.smtpUrl } };
const realServices = await startServices({ ...settings, signIn: { google: real.settings } });
const services = await startServices({ ...settings, signIn: { google: odd.settings } });
test.after.always(async () => {
  await realServices.close();
  await services.close();
  await Promise.all([mailbox.close(), real.close(), odd.close()]);
});
const { ask, get, post } = peopleOf(services);

const { begin, beginLink, returnFromGoogle, returnFromGoogleAs, exchange, signIn } = browserOf(services, odd);

test.serial('a stranger with a Google account signs in, end to end against a real server', async (t) => {
  const flow = await browserOf(realServices, odd).begin('?return_to=/dashboard/keys');
  t.is(flow.authorization.searchParams.get('code_challenge_method'), 'S256');
  t.is(flow.authorization.searchParams.get('scope'), 'openid email profile');
  const callback = new URL(await real.logIn(flow.authorization.href, 'zoe'));
  const answer = await realServices.call(`/auth/google/callback${callback.search}`, {
    redirect: 'manual',
    headers: { ...from(), cookie: flow.cookie },
  });
  const location = answer.headers.get('location') ?? '';
  t.regex(location, /^https:\/\/almanac\.example\/dashboard\/keys#google_code=[\w-]{43}$/);
  const people = peopleOf(realServices);
  const body = { code: location.split('google_code=')[1] };
  const headers = { cookie: flow.cookie, ...from() };
  const exchanged = await people.ask('POST', '/auth/google/exchange', { body, headers });
  t.is(exchanged.status, 200, exchanged.text);
  t.like((await people.get('/v1/account', sessionIn(exchanged))).json, {
    data: {
      email: 'zoe@gmail.com',
      email_verified: true,
      name: 'Name of zoe',
      has_password: false,
      google_linked: true,
    },
  });
});

test.serial(
  'the same identity signs in to the same account, whatever its current e-mail address',
  async (t) => {
    const claims = person();
    const first = await signIn(claims);
    const second = await signIn({ ...claims, email: 'moved@gmail.com' });
    const idOf = async (session: string | null) => (await get('/v1/account', session ?? '')).json;
    const account = await idOf(first.session);
    t.like(account, { data: { email: claims.email } });
    t.deepEqual(await idOf(second.session), account, 'the e-mail address is never taken from Google');
  },
);

test.serial(
  'another identity with the e-mail address of an account is refused, verified by Google or not',
  async (t) => {
    const claims = person();
    await signIn(claims);
    t.is((await signIn({ ...claims, sub: 'somebody-else' })).error, 'identity_taken');
  },
);

test.serial(
  'a password account is linked by itself only where Google runs the mailbox and the account has proved it',
  async (t) => {
    const proved = async (email: string) => {
      const password = newPassword();
      await ask('POST', '/auth/signup', { body: { email, password }, headers: from() });
      await services.database.query(
        'update accounts.accounts set email_verified_at = now() where email = $1',
        [email],
      );
    };
    const gmail = person();
    await proved(gmail.email);
    t.is((await signIn({ ...gmail, email_verified: false })).error, 'email_unverified');
    t.truthy((await signIn(gmail)).session);
    t.regex((await mailbox.next(gmail.email, 'Google was linked')).text, /added/);

    const elsewhere = { ...person(), email: newEmail() };
    await proved(elsewhere.email);
    t.is((await signIn(elsewhere)).error, 'link_needed', 'Google does not run that mailbox');
    for (const hd of ['', 'example.com', 'org', 'mail.example.org', true]) {
      t.is((await signIn({ ...elsewhere, hd })).error, 'link_needed', `nor does one that hosts ${hd}`);
    }
    t.truthy((await signIn({ ...elsewhere, hd: 'Example.org' })).session, 'the hosted domain does');
  },
);

test.serial(
  'an account whose e-mail address nobody has proved is never linked by it: neither order of pre-hijacking works',
  async (t) => {
    const victim = person();
    const password = newPassword();
    await ask('POST', '/auth/signup', { body: { email: victim.email, password }, headers: from() });
    t.is(
      (await signIn(victim)).error,
      'link_needed',
      'the attacker was first: the victim’s sign-in is not linked to it',
    );

    const owner = person();
    t.truthy((await signIn(owner)).session);
    const duplicate = await ask('POST', '/auth/signup', {
      body: { email: owner.email, password },
      headers: from(),
    });
    t.is(codeOf(duplicate), 'email_taken', 'the victim was first');
    const login = await ask('POST', '/auth/login', {
      body: { email: owner.email, password },
      headers: from(),
    });
    t.is(codeOf(login), 'invalid_credentials', 'a Google-only account has no password to guess');
  },
);

test.serial(
  'a disabled account is neither linked nor signed in to, though Google runs its mailbox',
  async (t) => {
    const owner = person();
    await ask('POST', '/auth/signup', {
      body: { email: owner.email, password: newPassword() },
      headers: from(),
    });
    await services.database.query(
      "update accounts.accounts set email_verified_at = now(), status = 'disabled' where email = $1",
      [owner.email],
    );
    t.is((await signIn(owner)).error, 'account_disabled');
    const linked = `select from accounts.identities join accounts.accounts a on a.id = account_id where a.email = $1`;
    t.is((await services.database.query(linked, [owner.email])).length, 0);
  },
);

for (const email_verified of [false, 'true', 'false', 1, undefined, null]) {
  test.serial(`email_verified: ${JSON.stringify(email_verified)} proves nothing`, async (t) => {
    t.is((await signIn({ ...person(), email_verified })).error, 'email_unverified');
  });
}

for (const sub of ['', 'x'.repeat(256), 'a\u0000b', 'é', 5, null, ['a']]) {
  test.serial(
    `a subject that is ${JSON.stringify(sub)?.slice(0, 20)} is refused in the browser`,
    async (t) => {
      t.is((await signIn({ ...person(), sub })).error, 'failed');
    },
  );
}

test.serial(
  'a subject of 255 characters signs in, and an e-mail address of 300 proves nothing',
  async (t) => {
    t.truthy((await signIn({ ...person(), sub: 'x'.repeat(255) })).session);
    const email = `${'x'.repeat(300)}@gmail.com`;
    t.is((await signIn({ ...person(), email })).error, 'email_unverified');
  },
);

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const lies: Record<string, (proper: Claims, sign: (claims: Claims) => string) => string> = {
  'a signature of another key': (proper) =>
    jsonwebtoken.sign(proper, otherKey, { algorithm: 'RS256', keyid: 'one' }),
  'a damaged signature': (proper, sign) => `${sign(proper).slice(0, -6)}AAAAAA`,
  'no signature (alg none)': (proper) => `${base64({ alg: 'none' })}.${base64(proper)}.`,
  'alg NONE with a signature': (proper, sign) =>
    `${base64({ alg: 'NONE', kid: 'one' })}.${base64(proper)}.${sign(proper).split('.')[2]}`,
  'HS256 with the public key as the secret': (proper) => {
    const signed = `${base64({ alg: 'HS256', typ: 'JWT', kid: 'one' })}.${base64(proper)}`;
    return `${signed}.${createHmac('sha256', publicPem()).update(signed).digest('base64url')}`;
  },
  'another issuer': (proper, sign) => sign({ ...proper, iss: 'https://accounts.google.com' }),
  'another audience': (proper, sign) => sign({ ...proper, aud: 'somebody else' }),
  'several audiences and another authorised party': (proper, sign) =>
    sign({ ...proper, aud: [proper['aud'], 'b'], azp: 'b' }),
  'an end that has passed': (proper, sign) => sign({ ...proper, iat: 1_000_000_000, exp: 1_000_000_300 }),
  'no end': (proper, sign) => {
    const { exp: _exp, ...rest } = proper;
    return sign(rest);
  },
  'another nonce': (proper, sign) => sign({ ...proper, nonce: 'another' }),
  'no nonce': (proper, sign) => {
    const { nonce: _nonce, ...rest } = proper;
    return sign(rest);
  },
  'no subject': (proper, sign) => {
    const { sub: _sub, ...rest } = proper;
    return sign(rest);
  },
};

for (const [what, lie] of Object.entries(lies)) {
  test.serial(`an ID token with ${what} is refused`, async (t) => {
    const flow = await begin();
    const claims = person();
    odd.idToken = (proper, sign) => lie({ ...proper, ...claims, nonce: flow.nonce }, sign);
    const { result } = await returnFromGoogle(flow);
    t.is(result.get('google_error'), 'failed');
    t.is(result.get('google_code'), null);
    const rows = await services.database.query('select from accounts.accounts where email = $1', [
      claims.email,
    ]);
    t.is(rows.length, 0);
  });
}

test.serial(
  'a callback with no state, a foreign, damaged or used one, or without the cookie is refused',
  async (t) => {
    const claims = person();
    const flow = await begin();
    odd.idToken = (proper, sign) => sign({ ...proper, ...claims, nonce: flow.nonce });
    const foreign = await begin();
    const expired = async (at: Pick<Flow, 'cookie' | 'state'>, query?: string) =>
      t.is((await returnFromGoogle(at, query)).result.get('google_error'), 'expired');
    await expired({ cookie: flow.cookie, state: '' }, 'code=c');
    await expired({ cookie: flow.cookie, state: foreign.state });
    await expired({ cookie: '', state: flow.state });
    await expired({ cookie: foreign.cookie, state: flow.state });
    await expired({ cookie: flow.cookie, state: `${flow.state}x` });
    t.truthy(
      (await returnFromGoogle(flow)).result.get('google_code'),
      'none of that used up the flow of its owner',
    );
    await expired(flow);
  },
);

test.serial('a Google flow is valid for ten minutes', async (t) => {
  const flow = await begin();
  clock.advance(10 * 60_000);
  t.is((await returnFromGoogle(flow)).result.get('google_error'), 'expired');
});

test.serial('the PKCE verifier that is sent matches the challenge that was shown', async (t) => {
  const claims = person();
  t.truthy((await signIn(claims)).session);
  const flow = await begin();
  odd.idToken = (proper, sign) => sign({ ...proper, ...claims, nonce: flow.nonce });
  await returnFromGoogle(flow);
  const verifier = odd.exchanged.at(-1)?.get('code_verifier') ?? '';
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  t.is(challenge, flow.authorization.searchParams.get('code_challenge') ?? '');
  t.is(odd.exchanged.at(-1)?.get('redirect_uri'), 'https://almanac.example/auth/google/callback');
});

test.serial(
  'the one-time code is valid once, for a minute, in its own browser, and no URL contains a token',
  async (t) => {
    const claims = person();
    const codeFor = async () => {
      const flow = await begin();
      odd.idToken = (proper, sign) => sign({ ...proper, ...claims, nonce: flow.nonce });
      const { location, result } = await returnFromGoogle(flow);
      t.false(location.includes('sess_'));
      t.regex(location, /^https:\/\/almanac\.example\/dashboard#google_code=[\w-]{43}$/);
      return { flow, code: result.get('google_code') ?? '' };
    };
    const { flow, code } = await codeFor();
    t.is(codeOf(await exchange(code, '')), 'gone');
    t.is(codeOf(await exchange(code, (await begin()).cookie)), 'gone');
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code, flow.cookie)));
    t.is(answers.filter(({ status }) => status === 200).length, 1);
    const late = await codeFor();
    clock.advance(60_000);
    t.is(codeOf(await exchange(late.code, late.flow.cookie)), 'gone');
  },
);

test.serial(
  'the cookie is for this host alone, out of reach of scripts, and only sent over HTTPS',
  async (t) => {
    const answer = await services.call('/auth/google/start', { redirect: 'manual', headers: from() });
    t.regex(
      answer.headers.get('set-cookie') ?? '',
      /^__Host-almanac_google=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    t.is(answer.headers.get('referrer-policy'), 'no-referrer');
    t.is(answer.headers.get('cache-control'), 'no-store');
  },
);

for (const target of [
  '//evil',
  '/\\evil',
  'https:evil',
  'https://evil.example',
  '/%0d%0aX: y',
  'javascript:alert(1)',
  '/a//b',
  '/.//evil.example',
  '/../x',
  'dashboard',
  '/a?b',
  '/a#b',
  `/${'a'.repeat(600)}`,
]) {
  test.serial(`a return address of ${JSON.stringify(target.slice(0, 40))} is refused`, async (t) => {
    const answer = await services.call(`/auth/google/start?return_to=${encodeURIComponent(target)}`, {
      redirect: 'manual',
      headers: from(),
    });
    t.is(answer.status, 400);
    t.is(answer.headers.get('location'), null);
    const rule =
      target.length > 512
        ? 'is too long'
        : `is "${target}", but must be the path of a page here, such as /dashboard/keys`;
    t.like(answer.json, { error: { param: 'return_to', message: `"return_to" ${rule}.` } });
  });
}

test.serial('an invalid code is refused, and the message states where to get one', async (t) => {
  const { cookie } = await begin();
  for (const code of ['', 'x', `${'x'.repeat(43)}=`, 'x'.repeat(44)]) {
    const answer = await exchange(code, cookie);
    t.like(answer.json, {
      error: { code: 'invalid_body', message: '"code" must be the code from the URL.' },
    });
  }
});

test.serial('a HEAD uses up no callback', async (t) => {
  const claims = person();
  const flow = await begin();
  odd.idToken = (proper, sign) => sign({ ...proper, ...claims, nonce: flow.nonce });
  const target = `/auth/google/callback?code=c&state=${flow.state}`;
  const head = await services.call(target, { method: 'HEAD', headers: { ...from(), cookie: flow.cookie } });
  t.is(head.status, 405);
  t.truthy((await returnFromGoogle(flow)).result.get('google_code'));
});

test.serial('refusing at Google leads back without a session and stores nothing', async (t) => {
  const flow = await begin();
  const { result } = await returnFromGoogle(flow, `error=access_denied&state=${flow.state}`);
  t.is(result.get('google_error'), 'denied');
});

test.serial(
  'Google is linked by hand with a fresh session, unlinked with a password, and never the last way in',
  async (t) => {
    const claims = person();
    const [email, password] = [newEmail(), newPassword()];
    const session = sessionIn(
      await ask('POST', '/auth/signup', { body: { email, password }, headers: from() }),
    );
    const linkWith = async (token: string) => returnFromGoogleAs(claims, await beginLink(token));
    t.is((await linkWith(session)).get('google_linked'), '1');
    t.truthy((await signIn(claims)).session, 'with the identity alone');
    const other = sessionIn(
      await ask('POST', '/auth/signup', { body: { email: `other-${email}`, password }, headers: from() }),
    );
    t.is((await linkWith(other)).get('google_error'), 'identity_taken');

    clock.advance(61 * 60_000);
    t.is(codeOf(await ask('DELETE', '/auth/google/link', { session })), 'reauthentication_required');
    t.is(codeOf(await ask('POST', '/auth/google/link', { session })), 'reauthentication_required');
    const fresh = sessionIn(await ask('POST', '/auth/login', { body: { email, password }, headers: from() }));
    t.is((await ask('DELETE', '/auth/google/link', { session: fresh })).status, 204);
    t.is((await ask('DELETE', '/auth/google/link', { session: fresh })).status, 404);
    await mailbox.next(email, 'Google was unlinked');

    const only = (await signIn({ ...person() })).session ?? '';
    t.is(codeOf(await ask('DELETE', '/auth/google/link', { session: only })), 'conflict');
    const set = await post('/auth/set-password', { password: newPassword() }, only);
    t.is(set.status, 200, set.text);
    t.is((await ask('DELETE', '/auth/google/link', { session: sessionIn(set) })).status, 204);
  },
);

test.serial('without Google’s settings its endpoints answer 404', async (t) => {
  const none = await startAccountsService();
  try {
    for (const [method, target] of [
      ['GET', '/auth/google/start'],
      ['GET', '/auth/google/callback'],
      ['POST', '/auth/google/exchange'],
      ['POST', '/auth/google/link'],
      ['DELETE', '/auth/google/link'],
    ] as const) {
      assertError(t, await none.anonymously(target, { method }), 404, 'not_found');
    }
  } finally {
    await none.close();
  }
});

// These run last, as they replace the key that other tests use.
test.serial(
  'a new signing key is accepted at once, and the keys are not asked for at every sign-in',
  async (t) => {
    t.truthy((await signIn(person())).session);
    const asked = odd.keysAsked;
    t.truthy((await signIn(person())).session);
    t.is(odd.keysAsked, asked);
    for (let i = 1; i <= 3; i += 1) {
      odd.replaceKey();
      t.truthy((await signIn(person())).session);
      t.truthy((await signIn(person())).session);
      t.is(odd.keysAsked, asked + i);
    }
    const flow = await begin();
    odd.idToken = (proper) =>
      jsonwebtoken.sign({ ...proper, ...person(), nonce: flow.nonce }, otherKey, {
        algorithm: 'RS256',
        keyid: 'unpublished',
      });
    t.is((await returnFromGoogle(flow)).result.get('google_error'), 'failed');
    t.is(odd.keysAsked, asked + 4, 'once');
    clock.advance(5 * 60_000);
    t.truthy((await signIn(person())).session);
    t.is(odd.keysAsked, asked + 5);
  },
);

test.serial('an answer of the issuer that does not end is cut off', async (t) => {
  const enough = 32 * 1024 * 1024; // a generous limit of the bytes buffered by the sockets between them
  t.teardown(() => (odd.endless = null));
  const cutOff = async (path: string, call: () => Promise<unknown>) => {
    odd.endless = { path, bytes: 0 };
    await call();
    t.true(odd.endless.bytes < enough, `${path}: ${odd.endless.bytes} bytes were sent`);
    odd.endless = null;
  };
  odd.replaceKey(); // so that the keys are requested
  for (const path of ['/token', '/jwks']) {
    await cutOff(path, async () => t.is((await signIn(person())).error, 'failed'));
  }
  await cutOff('/.well-known/openid-configuration', () => t.throwsAsync(discover(odd.settings)));
  t.truthy((await signIn(person())).session);
});
