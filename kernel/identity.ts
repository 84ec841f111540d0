// The identity of a caller: a signed, short-lived token that the gateway sends to the services.
// Hides the signature: HS256 with a key derived per service, so a token for one service is invalid at another. Each token names its
// key by `kid`, so that a secret can be replaced without failed calls.
import { hkdfSync } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { systemClock, type Clock } from './clock.ts';
import { sha256 } from './credentials/sha256.ts';
import { features, type Feature } from './plans.ts';

/** The header with the token; the gateway first removes every inbound `x-almanac-*` header. */
export const identityHeader = 'x-almanac-identity';

export type Service = 'data-api' | 'accounts-api';

export interface Identity {
  /** `client`: a caller of the API. `internal`: the gateway itself, for `/internal/*`. */
  scope: 'client' | 'internal';
  /** Null on public endpoints. */
  accountId: string | null;
  /** Set if the caller sent an API key. */
  keyId: string | null;
  /** Set if the caller sent a session. */
  sessionId: string | null;
  plan: string | null;
  features: readonly Feature[];
}

export const anonymous: Identity = {
  scope: 'client',
  accountId: null,
  keyId: null,
  sessionId: null,
  plan: null,
  features: [],
};

const issuer = 'almanac-gateway';
const tokenType = 'identity+jwt';
const lifetimeSeconds = 60;
const clocksDifferSeconds = 30; // that a gateway's clock may be ahead of a service's
const reuseSeconds = 30; // a token is reused for half its life, so the one sent is always valid for another 30 s
const cacheMax = 10_000;

const identitySchema: z.ZodType<Identity> = z.object({
  scope: z.enum(['client', 'internal']),
  accountId: z.string().nullable(),
  keyId: z.string().nullable(),
  sessionId: z.string().nullable(),
  plan: z.string().nullable(),
  features: z.array(z.enum(features)),
});

/**
 * Seals identities for a service. The token of an identity is reused for 30 s, which saves signing on every call: pass
 * the same object for the same identity. It must not change.
 */
export function createSealer(
  secret: string,
  service: Service,
  clock: Clock = systemClock,
): (identity: Identity) => string {
  const { key, kid } = serviceKey(secret, service);
  const tokens = new WeakMap<Identity, { token: string; staleAt: number }>();
  return (identity) => {
    const now = clock.now().getTime();
    const known = tokens.get(identity);
    if (known !== undefined && known.staleAt > now) return known.token;
    const token = jsonwebtoken.sign({ identity, iat: Math.floor(now / 1000) }, key, {
      algorithm: 'HS256',
      issuer,
      audience: service,
      expiresIn: lifetimeSeconds,
      header: { alg: 'HS256', typ: tokenType, kid },
    });
    tokens.set(identity, { token, staleAt: now + reuseSeconds * 1000 });
    return token;
  };
}

/**
 * Opens tokens sealed for a service: the identity, or null if the token is missing, forged, expired or for another service.
 * @param previousSecret that gateways may still seal with while the secret is being replaced.
 */
export function createOpener(
  secret: string,
  service: Service,
  previousSecret?: string,
  clock: Clock = systemClock,
): (token: string | undefined) => Identity | null {
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const keys = new Map(secrets.map((each) => serviceKey(each, service)).map(({ key, kid }) => [kid, key]));
  const cache = new LRUCache<string, { identity: Identity; expiresAt: number }>({ max: cacheMax });
  return (token) => {
    if (token === undefined) return null;
    const known = cache.get(token);
    const now = clock.now().getTime();
    if (known !== undefined) {
      if (known.expiresAt > now) return known.identity;
      cache.delete(token);
      return null;
    }
    const opened = verify(token, keys, service, now);
    if (opened === null) return null;
    cache.set(token, opened);
    return opened.identity;
  };
}

function verify(
  token: string,
  keys: ReadonlyMap<string, Buffer>,
  service: Service,
  now: number,
): { identity: Identity; expiresAt: number } | null {
  try {
    // `kid` only selects one of the keys here; it is never used as a path, a URL or part of a statement.
    const key = keys.get(jsonwebtoken.decode(token, { complete: true })?.header.kid ?? '');
    if (key === undefined) return null;
    const { header, payload } = jsonwebtoken.verify(token, key, {
      algorithms: ['HS256'],
      issuer,
      audience: service,
      complete: true,
      clockTimestamp: Math.floor(now / 1000),
    });
    // jsonwebtoken checks neither `typ` nor `crit`, accepts a token without `exp` or with one in years, and one for several audiences.
    if (typeof payload === 'string' || typeof payload.exp !== 'number' || payload.aud !== service)
      return null;
    if (payload.exp > now / 1000 + lifetimeSeconds + clocksDifferSeconds) return null;
    if (header.typ !== tokenType || 'crit' in header) return null;
    const identity = identitySchema.safeParse(payload['identity']);
    return identity.success ? { identity: identity.data, expiresAt: payload.exp * 1000 } : null;
  } catch (error) {
    if (error instanceof jsonwebtoken.JsonWebTokenError) return null;
    throw error;
  }
}

function serviceKey(secret: string, service: Service): { key: Buffer; kid: string } {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `almanac identity for ${service}`, 32));
  return { key, kid: sha256(key).slice(0, 16) };
}
