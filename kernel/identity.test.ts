import { createHash, createHmac, generateKeyPairSync, hkdfSync } from 'node:crypto';
import test from 'ava';
import jsonwebtoken from 'jsonwebtoken';
import { fakeClock } from '../test/services/harness.ts';
import { createOpener, createSealer, type Identity, type Open, type Seal } from './identity.ts';

const secret = 'a secret of the tests, long enough';
const identity: Identity = {
  scope: 'client',
  accountId: 'acct_1',
  keyId: 'key_1',
  keyHash: null,
  sessionId: null,
  plan: 'pro',
  features: ['vintages'],
  operator: false,
  asOf: null,
};
const serviceKey = Buffer.from(hkdfSync('sha256', secret, '', 'almanac identity for data-api', 32));

const kid = createHash('sha256').update(serviceKey).digest('hex').slice(0, 16);
const claims = { identity, iss: 'almanac-gateway', aud: 'data-api' };
const header = (extra: object = {}) => ({ header: { alg: 'HS256', typ: 'identity+jwt', kid, ...extra } });

const target = '/v1/series/GDP?limit=3';
const opens = (open: Open, header: string | undefined) => open(header, 'GET', target);
const seals = (seal: Seal, who = identity) => seal(who, 'GET', target);
const tokenIn = (header: string) => header.split('~')[0];

/** Binds a token to the call used in these tests, as a gateway does. */
function bound(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'almanac calls to data-api', 32));
  const text = `${token.slice(token.lastIndexOf('.') + 1)}\nGET\n${target}`;
  return `${token}~${createHmac('sha256', key).update(text).digest('base64url')}`;
}

test('a token sealed for a service is valid there and nowhere else', (t) => {
  const token = seals(createSealer(secret, 'data-api'));
  t.deepEqual(opens(createOpener(secret, 'data-api'), token), identity);
  t.is(opens(createOpener(secret, 'accounts-api'), token), null);
  t.is(opens(createOpener('another secret, as long as the first', 'data-api'), token), null);
});

test('what is sealed for one call is refused for every other method, path and query', (t) => {
  const seal = createSealer(secret, 'data-api');
  const open = createOpener(secret, 'data-api');
  const header = seals(seal);
  t.deepEqual(open(header, 'GET', target), identity);
  t.deepEqual(open(header, 'GET', target), identity, 'a read may be sent twice');
  for (const [method, other] of [
    ['HEAD', target],
    ['DELETE', target],
    ['GET', '/v1/series/GDP?limit=4'],
    ['GET', '/v1/series/GDP'],
    ['GET', `${target}&x`],
    ['GET', '/v1/series/gdp?limit=3'],
    ['', `GET\n${target}`],
  ] as const)
    t.is(open(header, method, other), null, `${method} ${other}`);

  const [token = '', binding = ''] = header.split('~');
  const other = seals(seal, { ...identity, accountId: 'acct_2' });
  for (const [what, forged] of Object.entries({
    'the token alone': token,
    'an empty binding': `${token}~`,
    'the binding of another token': `${token}~${other.split('~')[1] ?? ''}`,
    'another binding': `${token}~${'A'.repeat(43)}`,
    'a longer binding': `${header}A`,
    'two bindings': `${header}~${binding}`,
  }))
    t.is(open(forged, 'GET', target), null, what);
});

test('a credential is signed only once in half a minute', (t) => {
  const seal = createSealer(secret, 'data-api');
  t.is(tokenIn(seals(seal)), tokenIn(seals(seal)));
  t.not(tokenIn(seals(seal)), tokenIn(seals(seal, { ...identity, plan: 'free' })));
});

test('a token is refused from the instant of its expiry, even if it was opened before', (t) => {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const token = seals(createSealer(secret, 'data-api', clock));
  const cached = createOpener(secret, 'data-api', undefined, clock);
  t.deepEqual(opens(cached, token), identity);
  clock.advance(59_999);
  t.deepEqual(opens(cached, token), identity, 'from the cache');
  t.deepEqual(opens(createOpener(secret, 'data-api', undefined, clock), token), identity, 'verified anew');
  clock.advance(1);
  t.is(opens(cached, token), null, 'from the cache');
  t.is(opens(cached, token), null, 'once more');
  t.is(opens(createOpener(secret, 'data-api', undefined, clock), token), null, 'verified anew');
});

test('a token of a gateway whose clock is ahead is accepted up to half a minute, and refused beyond', (t) => {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  for (const [aheadMs, isAccepted] of [
    [0, true],
    [30_000, true],
    [31_000, false],
  ] as const) {
    const ahead = fakeClock(new Date(clock.now().getTime() + aheadMs).toISOString());
    const header = seals(createSealer(secret, 'data-api', ahead));
    const opened = opens(createOpener(secret, 'data-api', undefined, clock), header);
    t.is(opened !== null, isAccepted, `${aheadMs} ms`);
  }
});

test('a gateway whose clock is set back seals with the new time at once', (t) => {
  const clock = fakeClock('2026-11-24T10:00:00.000Z');
  const seal = createSealer(secret, 'data-api', clock);
  const early = tokenIn(seals(seal));
  clock.set('2026-11-20T10:00:00.000Z');
  const header = seals(seal);
  t.not(tokenIn(header), early);
  t.deepEqual(opens(createOpener(secret, 'data-api', undefined, clock), header), identity);
});

test('a refusal names the clock and its difference, or the secret if that is wrong', (t) => {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const open = createOpener(secret, 'data-api', undefined, clock);
  const whyAt = (aheadMs: number) => {
    const gateway = fakeClock(new Date(clock.now().getTime() + aheadMs).toISOString());
    const header = seals(createSealer(secret, 'data-api', gateway));
    t.is(opens(open, header), null);
    return open.whyRefused(header);
  };
  t.is(whyAt(-90_000), 'The clock of the gateway is 60 to 90 s behind that of data-api: synchronise both.');
  t.is(whyAt(90_000), 'The clock of the gateway is 90 to 120 s ahead of that of data-api: synchronise both.');
  t.regex(whyAt(-4 * 86_400_000), / 345570 to 345600 s behind /);
  const other = seals(createSealer('another secret, as long as the first', 'data-api', clock));
  t.is(open.whyRefused(other), 'IDENTITY_SECRET must be the same for both.');
  t.is(open.whyRefused('forged'), 'IDENTITY_SECRET must be the same for both.');
  t.is(
    open.whyRefused(createSealer(secret, 'data-api', clock)(identity, 'GET', '/another')),
    'The identity was sealed for another call.',
  );
});

test('a token is reused while it is valid for at least another half minute, and then replaced', (t) => {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const seal = createSealer(secret, 'data-api', clock);
  const first = tokenIn(seals(seal));
  clock.advance(29_999);
  t.is(tokenIn(seals(seal)), first);
  clock.advance(1);
  const second = seals(seal);
  t.not(tokenIn(second), first);
  clock.advance(59_999);
  t.deepEqual(opens(createOpener(secret, 'data-api', undefined, clock), second), identity);
});

test('a forged, stale, foreign or malformed token is refused', (t) => {
  const open = createOpener(secret, 'data-api');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const sign = (payload: object, options: jsonwebtoken.SignOptions) =>
    jsonwebtoken.sign(payload, serviceKey, options);
  const valid = sign({ ...claims }, { expiresIn: 60, ...header() });
  t.deepEqual(opens(open, bound(valid)), identity);

  const none = `${Buffer.from(`{"alg":"none","typ":"identity+jwt","kid":"${kid}"}`).toString('base64url')}.${valid.split('.')[1]}.`;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const byHand = (head: object, body: object) => {
    const signed = `${part({ alg: 'HS256', typ: 'identity+jwt', kid, ...head })}.${part(body)}`;
    return `${signed}.${createHmac('sha256', serviceKey).update(signed).digest('base64url')}`;
  };
  const soon = Math.floor(Date.now() / 1000) + 30;
  t.deepEqual(opens(open, bound(byHand({}, { ...claims, exp: soon }))), identity);

  const refused: Record<string, string | undefined> = {
    missing: undefined,
    empty: '',
    'alg none': none,
    'alg NONE': byHand({ alg: 'NONE' }, { ...claims, exp: soon }),
    'alg nOnE': byHand({ alg: 'nOnE' }, { ...claims, exp: soon }),
    'exp as text': byHand({}, { ...claims, exp: String(soon) }),
    'nbf to come': byHand({}, { ...claims, exp: soon, nbf: soon }),
    'several audiences': byHand({}, { ...claims, exp: soon, aud: ['data-api', 'accounts-api'] }),
    'an ID token': byHand({ typ: 'JWT' }, { ...claims, exp: soon }),
    'a key that it names itself': jsonwebtoken.sign({ ...claims }, privateKey, {
      algorithm: 'RS256',
      expiresIn: 60,
      header: {
        alg: 'RS256',
        typ: 'identity+jwt',
        kid: '../../etc/passwd',
        jku: 'https://evil.example/jwks',
      },
    }),
    'no kid': byHand({ kid: undefined }, { ...claims, exp: soon }),
    'an unknown kid': byHand({ kid: '0123456789abcdef' }, { ...claims, exp: soon }),
    'a kid that is a path': byHand({ kid: '../../dev/null' }, { ...claims, exp: soon }),
    'a kid that is SQL': byHand({ kid: "' or 1=1 --" }, { ...claims, exp: soon }),
    'a kid of the prototype': byHand({ kid: '__proto__' }, { ...claims, exp: soon }),
    'a kid that is a list': byHand({ kid: [kid] }, { ...claims, exp: soon }),
    'the right kid over another key': jsonwebtoken.sign({ ...claims }, 'another key', {
      expiresIn: 60,
      ...header(),
    }),
    'no exp': sign({ ...claims }, header()),
    expired: sign({ ...claims, exp: 1 }, header()),
    'valid for years': byHand({}, { ...claims, exp: soon + 1e9 }),
    'valid for two minutes': byHand({}, { ...claims, exp: soon + 90 }),
    'no identity': byHand({}, { ...claims, identity: undefined, exp: soon }),
    'an identity that is null': byHand({}, { ...claims, identity: null, exp: soon }),
    'an identity without a scope': byHand(
      {},
      { ...claims, identity: { ...identity, scope: undefined }, exp: soon },
    ),
    'unknown features': byHand({}, { ...claims, identity: { ...identity, features: 'all' }, exp: soon }),
    'an account that is a number': byHand(
      {},
      { ...claims, identity: { ...identity, accountId: 1 }, exp: soon },
    ),
    'wrong typ': sign({ ...claims }, { expiresIn: 60, header: { alg: 'HS256', typ: 'JWT', kid } }),
    crit: sign({ ...claims }, { expiresIn: 60, ...header({ crit: ['x'] }) }),
    'wrong issuer': sign(
      { ...claims, iss: 'me' },
      {
        expiresIn: 60,
        ...header(),
      },
    ),
    'wrong audience': sign(
      { ...claims, aud: 'accounts-api' },
      {
        expiresIn: 60,
        ...header(),
      },
    ),
    'another algorithm': sign(
      { ...claims },
      { expiresIn: 60, algorithm: 'HS512', header: { alg: 'HS512', typ: 'identity+jwt', kid } },
    ),
    'an asymmetric algorithm': jsonwebtoken.sign({ ...claims }, privateKey, {
      algorithm: 'RS256',
      expiresIn: 60,
    }),
    tampered: `${valid.slice(0, -3)}abc`,
  };
  for (const [what, token] of Object.entries(refused)) t.is(opens(open, bound(token)), null, what);
});

test('a secret is replaced without failed calls: the previous one is accepted as long as it is set, and not after', (t) => {
  const next = 'the secret that takes its place, as long';
  const [sealedBefore, sealedAfter] = [secret, next].map((each) => seals(createSealer(each, 'data-api')));
  const services = {
    before: createOpener(secret, 'data-api'),
    meanwhile: createOpener(next, 'data-api', secret),
    after: createOpener(next, 'data-api'),
  };
  t.deepEqual(
    Object.values(services).map((open) => [
      opens(open, sealedBefore) !== null,
      opens(open, sealedAfter) !== null,
    ]),
    [
      [true, false],
      [true, true],
      [false, true],
    ],
  );
  t.is(
    opens(createOpener(next, 'accounts-api', secret), sealedBefore),
    null,
    'still for its own service alone',
  );
});
