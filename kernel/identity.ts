// The identity of a caller: a signed, short-lived token that the gateway sends to the services, bound to one method and URL. It is signed with HS256
// and a key derived per service, so a token for one service is invalid at another. Each token names its key by `kid`, so that a secret can be
// replaced without failed calls. The binding is an HMAC of each call, with a second derived key.
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { systemClock, type Clock } from './clock.ts';
import { sha256 } from './credentials/sha256.ts';
import { features, type Feature } from './plans.ts';

/** The header with the token; the gateway first removes every inbound `x-almanac-*` header. */
export const identityHeader = 'x-almanac-identity';

export type Service = 'data-api' | 'accounts-api' | 'publisher';

export interface Identity {
  /** `client`: a caller of the API. `internal`: the gateway itself, for `/internal/*`. */
  scope: 'client' | 'internal';
  /** Null on public endpoints. */
  accountId: string | null;
  /** Set if the caller sent an API key. */
  keyId: string | null;
  /** The SHA-256 of the key as sent: of its current value, or of the one before its rotation. */
  keyHash: string | null;
  /** Set if the caller sent a session. */
  sessionId: string | null;
  plan: string | null;
  features: readonly Feature[];
  /** Whether the session is an operator's with a recent sign-in; only for `/v1/operator/*`. */
  operator: boolean;
  /** The day, `YYYY-MM-DD`, that the key is pinned to: answers hold only what was published by then. Null: no such key. */
  asOf: string | null;
}

export const anonymous: Identity = {
  scope: 'client',
  accountId: null,
  keyId: null,
  keyHash: null,
  sessionId: null,
  plan: null,
  features: [],
  operator: false,
  asOf: null,
};

const issuer = 'almanac-gateway';
const tokenType = 'identity+jwt';
const lifetimeSeconds = 60;
const clocksDifferSeconds = 30; // the tolerance for a gateway's clock that is ahead of a service's
const reuseSeconds = 30; // half of a token's life, so that a sent token is valid for at least another 30 s
const cacheMax = 10_000;
/** Separates a token from its binding to a call, 32 bytes. The binding has no time of its own: it expires with its token. */
const divider = '~';
const bindingLength = 43;

/** Seals an identity for one call. @param target the path and query as sent. @returns the value of the header. */
export type Seal = (identity: Identity, method: string, target: string) => string;

/** Opens the headers of calls. */
export interface Open {
  /** The identity, or null. @param target the path and query as received. */
  (header: string | undefined, method: string, target: string): Identity | null;
  /** Why it refuses a header, for operators. It mentions clocks only to a gateway that has the secret. */
  whyRefused(header: string): string;
}

const identitySchema = z.object({
  scope: z.enum(['client', 'internal']),
  accountId: z.string().nullable(),
  keyId: z.string().nullable(),
  keyHash: z.string().nullable().default(null), // the previous version of the gateway does not send it
  sessionId: z.string().nullable(),
  plan: z.string().nullable(),
  features: z.array(z.enum(features)),
  operator: z.boolean().default(false), // the previous version of the gateway does not send it
  asOf: z.iso.date().nullable().default(null),
});

/**
 * Seals identities for a service. The token of an identity is reused for 30 s, which saves signing a token on every call: pass the same object for
 * the same identity, and do not change it.
 */
export function createSealer(secret: string, service: Service, clock: Clock = systemClock): Seal {
  const { key, kid, bindingKey } = serviceKeys(secret, service);
  const tokens = new WeakMap<Identity, { token: string; madeAt: number; staleAt: number }>();
  function tokenOf(identity: Identity, now: number): string {
    const known = tokens.get(identity);
    if (known !== undefined && known.madeAt <= now && now < known.staleAt) return known.token; // clocks can also be set back
    const token = jsonwebtoken.sign({ identity, iat: Math.floor(now / 1000) }, key, {
      algorithm: 'HS256',
      issuer,
      audience: service,
      expiresIn: lifetimeSeconds,
      header: { alg: 'HS256', typ: tokenType, kid },
    });
    tokens.set(identity, { token, madeAt: now, staleAt: now + reuseSeconds * 1000 });
    return token;
  }
  return (identity, method, target) => {
    const token = tokenOf(identity, clock.now().getTime());
    return `${token}${divider}${bindingOf(bindingKey, token, method, target).toString('base64url')}`;
  };
}

/**
 * Opens headers that were sealed for a service: the identity, or null if the token is missing, forged, expired, for another service or bound to
 * another call. The body is not bound, as it is read later.
 * @param previousSecret that gateways may still use while the secret is being replaced.
 */
export function createOpener(
  secret: string,
  service: Service,
  previousSecret?: string,
  clock: Clock = systemClock,
): Open {
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const keys = new Map(secrets.map((each) => serviceKeys(each, service)).map((each) => [each.kid, each]));
  const cache = new LRUCache<string, Opened>({ max: cacheMax });
  function openToken(token: string, now: number): Opened | null {
    const known = cache.get(token);
    if (known !== undefined) {
      if (known.expiresAt > now) return known;
      cache.delete(token);
      return null;
    }
    const opened = verify(token, keys, service, now);
    if (opened !== null) cache.set(token, opened);
    return opened;
  }
  const open = (header: string | undefined, method: string, target: string) => {
    const token = tokenIn(header);
    if (header === undefined || token === null) return null;
    const opened = openToken(token, clock.now().getTime());
    if (opened === null) return null;
    const given = Buffer.from(header.slice(token.length + divider.length), 'base64url');
    const expected = bindingOf(opened.bindingKey, token, method, target);
    return given.length === expected.length && timingSafeEqual(expected, given) ? opened.identity : null;
  };
  return Object.assign(open, {
    whyRefused: (header: string) =>
      whyRefused(payloadOf(tokenIn(header) ?? '', keys, service)?.iat, service, clock.now().getTime()),
  });
}

/** The token in a header; null if the header is malformed. */
function tokenIn(header: string | undefined): string | null {
  const end = (header?.length ?? 0) - bindingLength - divider.length;
  return header === undefined || header[end] !== divider ? null : header.slice(0, end);
}

/** @param sealedAt of a token sealed with the secret, in seconds since 1970 by the gateway's clock. It was sent up to 30 s later. */
function whyRefused(sealedAt: number | undefined, service: Service, now: number): string {
  if (sealedAt === undefined) return 'IDENTITY_SECRET must be the same for both.';
  const behind = now / 1000 - sealedAt;
  const [least, most] = behind < 0 ? [-behind, -behind + reuseSeconds] : [behind - reuseSeconds, behind];
  const isOff = behind >= lifetimeSeconds || behind < -clocksDifferSeconds;
  if (!isOff) return 'The identity was sealed for another call.';
  return `The clock of the gateway is ${least.toFixed(0)} to ${most.toFixed(0)} s ${behind < 0 ? 'ahead of' : 'behind'} that of ${service}: synchronise both.`;
}

/** Binds a token to a call; only a holder of the secret can bind it to another one. The signature represents the token. */
function bindingOf(key: KeyObject, token: string, method: string, target: string): Buffer {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return createHmac('sha256', key).update(`${signature}\n${method}\n${target}`).digest();
}

interface Opened {
  identity: Identity;
  expiresAt: number;
  /** Derived from the secret that sealed the token. */
  bindingKey: KeyObject;
}

/** The payload of a token that was sealed with the secret at any time. */
function payloadOf(
  token: string,
  keys: ReadonlyMap<string, ServiceKeys>,
  service: Service,
): { iat: number } | undefined {
  const always = { ignoreExpiration: true } as const;
  const payload = checked(token, keys, service, always)?.payload;
  return typeof payload === 'object' && typeof payload.iat === 'number' ? { iat: payload.iat } : undefined;
}

function verify(
  token: string,
  keys: ReadonlyMap<string, ServiceKeys>,
  service: Service,
  now: number,
): Opened | null {
  const found = checked(token, keys, service, { clockTimestamp: Math.floor(now / 1000) });
  if (found === null) return null;
  const { header, payload, bindingKey } = found;
  // jsonwebtoken checks neither `typ` nor `crit`, accepts a token without `exp` or with one in years, and one for several audiences.
  if (typeof payload === 'string' || typeof payload.exp !== 'number' || payload.aud !== service) return null;
  if (payload.exp > now / 1000 + lifetimeSeconds + clocksDifferSeconds) return null;
  if (header.typ !== tokenType || 'crit' in header) return null;
  const identity = identitySchema.safeParse(payload['identity']);
  if (!identity.success) return null;
  return { identity: identity.data, expiresAt: payload.exp * 1000, bindingKey };
}

/** The content of a token whose signature, issuer and audience are valid and which has not expired; otherwise null. */
function checked(
  token: string,
  keys: ReadonlyMap<string, ServiceKeys>,
  service: Service,
  time: { ignoreExpiration: true } | { clockTimestamp: number },
) {
  try {
    // `kid` only selects a key of this map; it is never used as a path, a URL or part of a statement.
    const known = keys.get(jsonwebtoken.decode(token, { complete: true })?.header.kid ?? '');
    if (known === undefined) return null;
    const { header, payload } = jsonwebtoken.verify(token, known.key, {
      algorithms: ['HS256'],
      issuer,
      audience: service,
      complete: true,
      ...time,
    });
    return { header, payload, bindingKey: known.bindingKey };
  } catch (error) {
    if (error instanceof jsonwebtoken.JsonWebTokenError) return null;
    throw error;
  }
}

interface ServiceKeys {
  /** Signs tokens. */
  key: Buffer;
  kid: string;
  /** Binds tokens to calls. */
  bindingKey: KeyObject;
}

function serviceKeys(secret: string, service: Service): ServiceKeys {
  const derived = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `almanac ${purpose} ${service}`, 32));
  const key = derived('identity for');
  return { key, kid: sha256(key).slice(0, 16), bindingKey: createSecretKey(derived('calls to')) };
}
