// Identifies the caller: reads the API key or the session from the request, checks its format, looks it up, and refuses a call without a valid one
// with 401, or with 429 if too many from the same IP address fail. On operator-only routes everyone else gets 404. A key without the call's scope, or
// from an address that it does not allow, gets 403 before plan and quota are checked, so the call is not charged. A session is looked up on every
// call, a key only if it is not cached. An ended credential is refused on the next request.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { hashApiKey, isWellFormedApiKey, looksLikeApiKey } from '../../kernel/credentials/api-key.ts';
import { fail, Failure } from '../../kernel/errors.ts';
import type { Identity } from '../../kernel/identity.ts';
import { missingFeatureText, planOf, type Plan, type Plans } from '../../kernel/plans.ts';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { parseSessionToken } from '../../kernel/credentials/session-token.ts';
import type { KeyScope } from '../../kernel/credentials/key-access.ts';
import type { Accounts, Credential, KeyAccess } from '../accounts-client.ts';
import type { CredentialFailures } from '../limits/failed-credentials.ts';
import { callOf, enterStage, type Call, type Caller } from '../call.ts';
import type { Journal } from '../heartbeat/journal.ts';
import type { Policy } from '../policy.ts';
import { patternOf } from '../routes.ts';

export interface CredentialOptions {
  accounts: Pick<Accounts, 'session'>;
  /** Finds the owner of a key; null if the key is invalid. @throws Failure unavailable. */
  findKey(keyHash: string): Credential | null | Promise<Credential | null>;
  failures: CredentialFailures;
  journal: Pick<Journal, 'touch'>;
  plans: Plans;
}

export const credentialAction = z.strictObject({
  accept: z.array(z.enum(['key', 'session'])).min(1),
  /** Whether a call without a credential passes, without a caller. */
  optional: z.boolean().default(false),
  /** The paths that need the scope `manage` although their method only reads. */
  manage: z.array(z.string()).default([]),
  /** Only an operator's session with a recent sign-in passes. */
  only: z.enum(['operators']).optional(),
});

/** The scope that a key needs for a call, by its method and path. Routes that accept no sessions are data routes. */
export function keyScopesOf({
  accept,
  manage,
}: z.output<typeof credentialAction>): (method: string, path: string) => KeyScope {
  const managing = manage.map(patternOf);
  return (method, path) => {
    if (!accept.includes('session')) return 'data';
    const isReading = method === 'GET' || method === 'HEAD';
    return isReading && !managing.some((pattern) => pattern.test(path)) ? 'read' : 'manage';
  };
}

export function credential(options: CredentialOptions, action: z.output<typeof credentialAction>): Policy {
  const { accounts, findKey, failures } = options;
  const { accept, optional, only } = action;
  const scopeOf = keyScopesOf(action);
  return (request, _response, next) => {
    const call = callOf(request);
    enterStage(call, 'credential');
    if (optional && Object.values(call.presented).every((given) => given.length === 0)) return next();
    const presented = presentedCredential(request.socket, call, accept);
    if (typeof presented === 'string') return refuse(request, presented);
    failures.admit(call.clientIp, presented.hash);
    const found = find(presented);
    if (found instanceof Promise) return found.then((owner) => finish(request, presented, owner, next));
    finish(request, presented, found, next);
  };

  /** Sets the caller. @throws Failure unauthorized if the credential does not exist, otherwise as `acceptCaller` does. */
  function finish(
    request: IncomingMessage,
    { hash, session }: Presented,
    found: Credential | null,
    next: () => void,
  ): void {
    const call = callOf(request);
    if (found === null) return refuse(request, session === undefined ? unknownKey : endedSession, hash);
    failures.accepted(hash);
    addPinHeader(call, found);
    if (only === 'operators') requireOperator(found);
    acceptCaller(options, call, found, scopeOf(request.method ?? '', call.path));
    next();
  }

  /**
   * Counts a failed credential. @param hash of the credential, if it was looked up.
   * @throws Failure unauthorized, or rate_limited if too many from the IP address fail.
   */
  function refuse(request: IncomingMessage, message: string, hash?: string): never {
    const call = callOf(request);
    const headers = { 'www-authenticate': challengesOf(request, call) };
    throw failures.failed(call.clientIp, hash, new Failure('unauthorized', message, { headers }));
  }

  function find({ hash, session }: Presented): Credential | null | Promise<Credential | null> {
    if (session === undefined) return findKey(hash);
    const name = parseSessionToken(session);
    return name && accounts.session(name);
  }
}

/** Adds the header that names the day the key is pinned to, whatever the outcome of the call. */
export function addPinHeader(call: Call, { asOf }: Credential): void {
  if (asOf !== null) call.head.push('x-as-of', asOf);
}

/**
 * Makes the owner of a credential the caller. @param needed the scope of the call. @throws Failure `forbidden` if the key may not make the call,
 * `plan_required` if the key is pinned to a day, or an MCP tool call sets `as_of`, and the plan lacks `pinned_keys`.
 */
export function acceptCaller(
  { plans, journal }: Pick<CredentialOptions, 'plans' | 'journal'>,
  call: Call,
  found: Credential,
  needed: KeyScope,
): void {
  if (found.access !== null) requireAccess(found.access, needed, call.clientIp);
  const plan = planOf(plans, found.plan);
  const asOf = call.asOf ?? found.asOf;
  if (asOf !== null && !plan.features.includes('pinned_keys'))
    fail('plan_required', missingFeatureText(plans, 'pinned_keys', plan.name));
  setCaller(call, asOf === found.asOf ? found : { ...found, asOf }, plan);
  if (found.keyId !== null) journal.touch(found.keyId);
}

/**
 * @throws Failure not_found for everyone else, as for an unknown path, so that nobody learns who is an operator; forbidden if the operator lacks a
 * required second factor; reauthentication_required if the last sign-in is too old, or was made without the second factor that the account has.
 */
function requireOperator({ operator }: Credential): void {
  if (operator === 'no') fail('not_found', 'No endpoint exists at this path.');
  if (operator === 'unenrolled')
    fail(
      'forbidden',
      'Operators need a second factor on this installation. Set up an authenticator app or a passkey under Security, or an app with POST /auth/second-factor/totp.',
    );
  if (operator === 'stale')
    fail(
      'reauthentication_required',
      'You signed in more than 15 minutes ago, or without the second factor of the account. Sign in again to do this, with a passkey or a code if you have one.',
    );
}

/** @throws Failure forbidden, with the address that was seen or the scope that is needed. */
function requireAccess({ scopes, isAllowedFrom }: KeyAccess, needed: KeyScope, clientIp: string): void {
  if (isAllowedFrom?.(clientIp) === false)
    fail(
      'forbidden',
      `This API key does not work from ${clientIp}, which is not among its allowed addresses. They can be changed by PATCH /v1/keys/{id}, or under Keys in the dashboard.`,
    );
  if (!scopes.includes(needed))
    fail(
      'forbidden',
      `This call needs an API key with the scope "${needed}"; this key has ${scopes.map((scope) => `"${scope}"`).join(' and ')}. Scopes can be changed by PATCH /v1/keys/{id}, or under Keys in the dashboard.`,
    );
}

/** The single credential of a call. */
interface Presented {
  /** The SHA-256 of the key or the session token. */
  readonly hash: string;
  /** The token, if it is a session. */
  readonly session: string | undefined;
}

export const unknownKey = 'The API key is unknown or was revoked.';
const endedSession = 'The session is invalid or has ended. Sign in again.';

/**
 * The caller and identity by the hash of the key, or the session id. The same objects are reused while their values are unchanged, because `createSealer` caches tokens by
 * identity object.
 */
const contexts = new LRUCache<string, { caller: Caller; identity: Identity }>({ max: 10_000 });

/** Sets the caller of the call from its credential. */
export function setCaller(call: Call, found: Credential, plan: Plan): void {
  const { accountId, keyId, keyHash, sessionId, active, asOf } = found;
  const operator = found.operator === 'fresh';
  const id = keyHash ?? sessionId ?? '';
  let context = contexts.get(id);
  const isSame =
    context?.caller.accountId === accountId &&
    context.caller.plan === plan &&
    context.caller.active === active &&
    context.identity.operator === operator &&
    context.identity.asOf === asOf;
  if (context === undefined || !isSame) {
    const { id: planId, features } = plan;
    context = {
      caller: { accountId, keyId, plan, active },
      identity: {
        ...{ scope: 'client', accountId, keyId, keyHash, sessionId },
        ...{ plan: planId, features, operator, asOf },
      },
    };
    contexts.set(id, context);
  }
  call.caller = context.caller;
  call.identity = context.identity;
}

/**
 * The keys in an `Authorization` header: that of `Bearer <key>`; of `Basic`, the distinct ones of user name and password that begin like a key.
 * @returns an empty list for other schemes and for Basic without a key: those credentials are for another server, such as a proxy.
 */
export function keysInAuthorization(value: string): readonly string[] {
  const bearer = /^bearer +(\S+)$/i.exec(value)?.[1];
  if (bearer !== undefined) return [bearer];
  const basic = /^basic +([\w+/-]+=*)$/i.exec(value)?.[1];
  if (basic === undefined) return [];
  const [, user = '', password = ''] =
    /^([^:]*):?([^]*)$/.exec(Buffer.from(basic, 'base64').toString()) ?? [];
  return [...new Set([user.trim(), password.trim()])].filter(looksLikeApiKey);
}

/**
 * The single credential of a call: the SHA-256 of a well-formed key (in X-API-Key, Authorization or `api_key`), or a session if sessions are
 * accepted; a session that is not accepted is ignored. @returns the problem as a text if there is not exactly one.
 */
function presentedCredential(
  connection: Connection,
  call: Call,
  accept: readonly ('key' | 'session')[],
): Presented | string {
  const { keyHeaders, authorizations, keyParameters, sessionHeaders } = call.presented;
  if (
    keyHeaders.length > 1 ||
    authorizations.length > 1 ||
    keyParameters.length > 1 ||
    sessionHeaders.length > 1
  ) {
    return 'Send each credential only once.';
  }
  const [header] = keyHeaders;
  const [authorization] = authorizations;
  const [parameter] = keyParameters;
  const key = header ?? authorization ?? parameter;
  const session = accept.includes('session') ? sessionHeaders[0] : undefined;
  if ((authorization ?? key) !== key || (parameter ?? key) !== key) {
    return 'The request contains different API keys. Send one, in the X-API-Key header.';
  }
  if (key !== undefined && session !== undefined) {
    return 'Send an API key or a session, not both. They may belong to different accounts.';
  }
  if (session !== undefined) return { hash: sha256(session), session };
  if (key === undefined) {
    const hint = sessionHeaders.length > 0 ? 'A session is not accepted here. ' : '';
    return `${hint}An API key is required. Send it in the X-API-Key header, or as the user name or the password of Basic authentication.`;
  }
  return presentedKey(connection, key);
}

const lastKey = Symbol('last key');
/** A connection with the last key received on it: most clients send the same key with each call. */
type Connection = Socket & { [lastKey]?: { key: string; presented: Presented } };

/** Checks and hashes a key unless it is the last one received on the connection. */
function presentedKey(connection: Connection, key: string): Presented | string {
  const last = connection[lastKey];
  if (last?.key === key) return last.presented;
  if (!isWellFormedApiKey(key)) return 'The API key is incomplete or mistyped.';
  const presented = { hash: hashApiKey(key), session: undefined };
  connection[lastKey] = { key, presented };
  return presented;
}

/**
 * The WWW-Authenticate challenges, for clients that send a password only when challenged: LibreOffice, or a browser that opens a link. A page's
 * script gets no challenge, as the browser would show its own dialog over the page.
 */
function challengesOf(request: IncomingMessage, call: Call): string {
  const mode = request.headers['sec-fetch-mode'];
  const isScript = (mode !== undefined && mode !== 'navigate') || call.presented.sessionHeaders.length > 0;
  return isScript ? 'ApiKey' : 'ApiKey, Basic realm="Almanac", charset="UTF-8"';
}
