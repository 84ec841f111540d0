// Sign-in with Google: the browser goes there and back, and the dashboard gets a session for a one-time code.
// One cookie binds the way to the browser that began it; nonce and PKCE verifier are derived from it, so nothing secret is
// stored. No token ever stands in a URL. Where Google is not set up, these endpoints do not exist.
import { createHmac, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { UniqueConstraintError } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { parseBody, parseQuery } from '../../kernel/http/params.ts';
import { findAccount } from '../account/account.ts';
import { signedInOf } from '../requester.ts';
import type { SignInDeps } from '../deps.ts';
import { sendOne } from '../envelope.ts';
import { noParameters } from '../fields.ts';
import { accountOf, link, type Refusal } from './google-account.ts';
import {
  deleteFlowsOf,
  holdLinkTarget,
  insertLinkFlow,
  insertSignInFlow,
  storeCode,
  takeCode,
  takeFlow,
} from './google.sql.ts';
import { deleteIdentitiesOf } from './identities.sql.ts';
import { createOpenId, type FlowSecrets, type OpenId } from './openid.ts';
import { openSession, requireFresh } from './sessions.ts';
import { clientInfoOf } from '../client-info.ts';

const flowLastsMs = 10 * 60_000;
const codeLastsMs = 60_000;
const defaultReturnTo = '/dashboard';

// A page of this service, by its path alone: no host, no second slash, no backslash, nothing encoded.
const returnTo = z
  .string()
  .max(512, 'is too long')
  .regex(
    /^\/(?:[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*\/?)?$/,
    'must be the path of a page here, such as /dashboard/keys',
  );
const startQuery = z.object({ return_to: returnTo.default(defaultReturnTo) });
const exchangeBody = z.strictObject({
  code: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the code from the URL'),
});

export interface GoogleHandlers {
  start: Handler;
  callback: Handler;
  exchange: Handler;
  beginLink: Handler;
  unlink: Handler;
}

export function google(deps: SignInDeps): GoogleHandlers {
  const { google: settings, publicUrl } = deps.settings;
  if (settings === undefined) {
    const absent: Handler = () => fail('not_found', 'Sign-in with Google is not set up here.');
    return { start: absent, callback: absent, exchange: absent, beginLink: absent, unlink: absent };
  }
  const openId = createOpenId(settings, `${publicUrl}/auth/google/callback`);
  return {
    start: start(deps, openId),
    callback: callback(deps, openId),
    exchange: exchange(deps),
    beginLink: beginLink(deps, openId),
    unlink: unlink(deps),
  };
}

/** GET /auth/google/start?return_to=: sends the browser to Google. */
function start(deps: SignInDeps, openId: OpenId): Handler {
  return async (request, response) => {
    refuseHead(request);
    const { return_to } = parseQuery(startQuery, request.url);
    const url = await begin(deps, openId, response, { returnTo: return_to, sessionId: null });
    redirect(response, url);
  };
}

/** POST /auth/google/link → {url}, to send the browser to: adds Google to the account of a session not older than an hour. */
function beginLink(deps: SignInDeps, openId: OpenId): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    const { return_to } = parseQuery(startQuery, request.url);
    await requireFresh(deps, caller);
    const flow = { returnTo: return_to, sessionId: caller.sessionId };
    sendOne(response, 200, { url: await begin(deps, openId, response, flow) });
  };
}

/** Stores a flow and binds it to the browser. @param sessionId that of the account to link; null: to sign in. @returns Google's URL. */
async function begin(
  deps: SignInDeps,
  openId: OpenId,
  response: Response,
  { returnTo, sessionId }: { returnTo: string; sessionId: string | null },
): Promise<string> {
  const cookie = randomBytes(32).toString('base64url');
  const state = randomBytes(32).toString('base64url');
  const url = await openId.authorizationUrl(secretsOf(state, cookie));
  const expiresAt = new Date(deps.clock.now().getTime() + flowLastsMs);
  const flow = { stateHash: sha256(state), cookieHash: sha256(cookie), returnTo, expiresAt };
  if (sessionId === null) await insertSignInFlow(deps.db, flow);
  else if (!(await insertLinkFlow(deps.db, flow, sessionId))) {
    fail('unauthorized', 'The session has ended: sign in again.');
  }
  setCookie(deps, response, cookie, flowLastsMs / 1000);
  return url;
}

/**
 * GET /auth/google/callback: the browser comes back. It is sent on to the page where it began, which finds behind `#`
 * `google_code` to exchange, `google_linked`, or `google_error`.
 */
function callback(deps: SignInDeps, openId: OpenId): Handler {
  return async (request, response) => {
    refuseHead(request);
    const clientInfo = clientInfoOf(request);
    await deps.throttle.token(clientInfo.ip);
    const query = new URL(request.url, deps.settings.publicUrl).searchParams;
    const state = query.get('state') ?? '';
    const cookie = readCookie(deps, request) ?? '';
    const stateHash = sha256(state);
    const now = deps.clock.now();
    const flow = await takeFlow(deps.db, { stateHash, cookieHash: sha256(cookie), now });
    if (flow === null)
      return redirect(response, `${deps.settings.publicUrl}${defaultReturnTo}#google_error=expired`);
    const back = (result: string) =>
      redirect(response, `${deps.settings.publicUrl}${flow.return_to}#${result}`);

    if (query.has('error')) return back('google_error=denied');
    const identity = await openId.identityOf(query, secretsOf(state, cookie)).catch((error: unknown) => {
      deps.log.warn(
        { event: 'google_refused', err: error, ip: clientInfo.ip },
        'an answer from Google was not right',
      );
      return null;
    });
    if (identity === null) return back('google_error=failed');

    const code = randomBytes(32).toString('base64url');
    const expiresAt = new Date(now.getTime() + codeLastsMs);
    const linkTo = flow.link_account_id;
    const result = await deps.db
      .inTransaction(async (transaction): Promise<string> => {
        if (linkTo !== null) {
          if (!(await holdLinkTarget(deps.db, transaction, stateHash))) return refused('expired');
          const linked = await link(deps, transaction, { accountId: linkTo, identity, ip: clientInfo.ip });
          return 'refusal' in linked ? refused('identity_taken') : 'google_linked=1';
        }
        const found = await accountOf(deps, transaction, identity, clientInfo.ip);
        if ('refusal' in found) return refused(found.refusal);
        const { accountId } = found;
        await storeCode(deps.db, transaction, { stateHash, codeHash: sha256(code), accountId, expiresAt });
        return `google_code=${code}`;
      })
      .catch((error: unknown) => {
        if (error instanceof UniqueConstraintError) return refused('link_needed'); // the address was taken this moment
        throw error;
      });
    return back(result);
  };
}

/** POST /auth/google/exchange {code} → {session_token, expires_at}: once, within a minute, in the same browser. */
function exchange(deps: SignInDeps): Handler {
  return async (request, response) => {
    parseQuery(noParameters, request.url);
    const { code } = parseBody(exchangeBody, request.body);
    const clientInfo = clientInfoOf(request);
    await deps.throttle.token(clientInfo.ip);
    const cookieHash = sha256(readCookie(deps, request) ?? '');
    const now = deps.clock.now();
    const answer = await deps.db.inTransaction(async (transaction) => {
      const accountId = await takeCode(deps.db, transaction, { codeHash: sha256(code), cookieHash, now });
      if (accountId === null)
        fail('gone', 'This sign-in was finished already, or took too long: begin again.');
      return openSession(deps, transaction, accountId, { clientInfo, how: 'google' });
    });
    setCookie(deps, response, '', 0);
    sendOne(response, 200, answer);
  };
}

/** DELETE /auth/google/link → 204: takes Google away from an account that has a password. */
function unlink(deps: SignInDeps): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    parseQuery(noParameters, request.url);
    const { id: accountId, email, passwordHash } = await findAccount(deps, caller.accountId);
    if (passwordHash === null) {
      fail('conflict', 'Google is the only way into this account: set a password first.');
    }
    await requireFresh(deps, caller);
    const at = deps.clock.now();
    await deps.db.inTransaction(async (transaction) => {
      const count = await deleteIdentitiesOf(deps.db, transaction, accountId);
      if (count === 0) fail('not_found', 'The account is not linked to Google.');
      await deleteFlowsOf(deps.db, transaction, accountId); // after the identity: a code minted meanwhile ends too
      await audit(deps, transaction, { accountId, actor: caller.actor, action: 'google.unlinked' });
      const notice = { mail: 'notice', notice: 'google_unlinked', email, at: at.toISOString() } as const;
      await deps.jobs.enqueue(transaction, notice);
    });
    response.set('cache-control', 'no-store').status(204).end();
  };
}

function refused(refusal: Refusal | 'expired'): string {
  return `google_error=${refusal}`;
}

/** What Google must echo and what proves that the code was asked for here; both follow from the cookie. */
function secretsOf(state: string, cookie: string): FlowSecrets {
  const derive = (what: string) => createHmac('sha256', cookie).update(`google ${what}`).digest('base64url');
  return { state, nonce: derive('nonce'), verifier: derive('verifier') };
}

/** A look ahead must neither begin a way nor use one up. */
function refuseHead(request: Request): void {
  if (request.method === 'HEAD')
    fail('method_not_allowed', 'This path takes GET.', { headers: { allow: 'GET' } });
}

function redirect(response: Response, url: string): void {
  response
    .set('cache-control', 'no-store')
    .set('referrer-policy', 'no-referrer')
    .status(302)
    .set('location', url)
    .end();
}

/** `__Host-` keeps other hosts of the domain from planting it; browsers take that prefix over HTTPS only. */
function cookieName(deps: SignInDeps): string {
  return isHttps(deps) ? '__Host-almanac_google' : 'almanac_google';
}

function setCookie(deps: SignInDeps, response: Response, value: string, maxAgeSeconds: number): void {
  const secure = isHttps(deps) ? '; Secure' : '';
  response.set(
    'set-cookie',
    `${cookieName(deps)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}

function readCookie(deps: SignInDeps, request: Request): string | undefined {
  const prefix = `${cookieName(deps)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length);
}

function isHttps(deps: SignInDeps): boolean {
  return deps.settings.publicUrl.startsWith('https:');
}
