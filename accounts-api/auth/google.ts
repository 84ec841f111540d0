// Sign-in with Google: the browser goes to Google and back, and the dashboard exchanges a one-time code for a session. One cookie binds the flow to
// the browser that began it. The nonce and the PKCE verifier are derived from the cookie, so no secret is stored. No URL ever contains a token.
// Without Google's settings, these endpoints answer 404.
import { createHmac, randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { UniqueConstraintError } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { notify } from '../jobs/jobs.ts';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { findAccount } from '../models/find-account.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { accountOf, link, type Refusal } from './google-account.ts';
import {
  deleteFlowsOf,
  lockLinkTarget,
  insertLinkFlow,
  insertSignInFlow,
  storeCode,
  consumeCode,
  consumeFlow,
} from '../sessions/google.sql.ts';
import { deleteIdentitiesOf } from './identities.sql.ts';
import type { FlowSecrets, GoogleIdentity, OpenId } from './google-openid.ts';
import { finishFirstStep, firstStepReply, secondStepAnswer } from './second-factor/pending.ts';
import { freshSince, refuseOperator, requireFresh, sessionAnswer } from '../sessions/sessions.ts';
import { clientInfoOf } from '../sessions/client-info.ts';

const flowLastsMs = 10 * 60_000;
const codeLastsMs = 60_000;
const defaultReturnTo = '/dashboard';

// A page of this service, as a path only: no host, second slash, backslash or encoding.
const returnTo = z
  .string()
  .max(512, 'is too long')
  .regex(
    /^\/(?:[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*\/?)?$/,
    'must be the path of a page here, such as /dashboard/keys',
  );
const startQuery = {
  return_to: returnTo.default(defaultReturnTo).describe('The path to which the browser finally returns.'),
};

export const startGoogle = endpoint({
  summary: 'Sends the browser to Google, to sign in.',
  requester: 'anyone',
  query: startQuery,
  answers: { 302: null },
  errors: ['method_not_allowed', 'not_found', 'unavailable'],
  headers: ['Location', 'Referrer-Policy', 'Set-Cookie'],
  needs: ({ openId }) => openId,
  handler: async (deps, { query, request }, openId) => {
    refuseHead(request);
    const { url, cookie } = await begin(deps, openId, { returnTo: query.return_to, sessionId: null });
    return redirect(url, cookie);
  },
});

export const linkGoogle = endpoint({
  summary: 'Starts linking Google to the account: returns the URL to send the browser to.',
  description:
    'Needs a sign-in within the last hour, also when the browser returns from Google. The account of an operator cannot be linked in this way.',
  requester: 'signed_in',
  query: startQuery,
  answers: { 200: z.object({ url: z.url() }) },
  errors: ['forbidden', 'reauthentication_required', 'not_found', 'unavailable'],
  headers: ['Set-Cookie'],
  needs: ({ openId }) => openId,
  handler: async (deps, { requester, query }, openId) => {
    const account = await findAccount(deps, requester.accountId);
    refuseOperator(
      account,
      'Sign in with Google instead: that links it, if Google operates the mailbox of the account.',
    );
    await requireFresh(deps, requester, account);
    const flow = { returnTo: query.return_to, sessionId: requester.sessionId };
    const { url, cookie } = await begin(deps, openId, flow);
    return one({ url }, { headers: cookie });
  },
});

/**
 * Stores a flow and binds it to the browser. @param sessionId the session whose account is linked; null: to sign in.
 * @returns Google's URL, and the headers that set the cookie.
 */
async function begin(
  deps: ServiceDeps,
  openId: OpenId,
  { returnTo, sessionId }: { returnTo: string; sessionId: string | null },
): Promise<{ url: string; cookie: CookieHeader }> {
  const cookie = randomBytes(32).toString('base64url');
  const state = randomBytes(32).toString('base64url');
  const url = await openId.authorizationUrl(secretsOf(state, cookie));
  const expiresAt = new Date(deps.clock.now().getTime() + flowLastsMs);
  const flow = { stateHash: sha256(state), cookieHash: sha256(cookie), returnTo, expiresAt };
  if (sessionId === null) await insertSignInFlow(deps.db, flow);
  else if (!(await insertLinkFlow(deps.db, flow, sessionId))) {
    fail('unauthorized', 'The session has ended. Sign in again.');
  }
  return { url, cookie: cookieHeader(deps, cookie, flowLastsMs / 1000) };
}

export const finishGoogle = endpoint({
  summary: 'The redirect URI of Google: sends the browser on to `return_to`.',
  description:
    'The fragment has a `google_code` to exchange, `google_linked=1`, or `google_error`. Only browsers redirected by Google call this.',
  requester: 'anyone',
  acceptsAnyQuery: true,
  answers: { 302: null },
  errors: ['method_not_allowed', 'not_found', 'rate_limited'],
  headers: ['Location', 'Referrer-Policy'],
  needs: ({ openId }) => openId,
  handler: async (deps, { request }, openId) => {
    refuseHead(request);
    const clientInfo = clientInfoOf(request);
    await deps.throttle.token(clientInfo.ip);
    const query = new URL(request.url, deps.settings.publicUrl).searchParams;
    const state = query.get('state') ?? '';
    const cookie = readCookie(deps, request) ?? '';
    const stateHash = sha256(state);
    const now = deps.clock.now();
    const flow = await consumeFlow(deps.db, { stateHash, cookieHash: sha256(cookie), now });
    const back = (result: string) =>
      redirect(`${deps.settings.publicUrl}${flow?.return_to ?? defaultReturnTo}#${result}`);

    if (flow === null) return back(refused('expired'));
    if (query.has('error')) return back('google_error=denied');
    const identity = await openId.identityOf(query, secretsOf(state, cookie)).catch((error: unknown) => {
      deps.log.warn(
        { event: 'google_refused', err: error, ip: clientInfo.ip },
        'an answer from Google was invalid',
      );
      return null;
    });
    if (identity === null) return back('google_error=failed');
    const linkTo = flow.link_account_id;
    return back(await resultOf(deps, identity, { linkTo, stateHash, ip: clientInfo.ip, now }));
  },
});

/**
 * Links the identity, or stores a code for the account that it signs in to. @param linkTo the account that the flow links; null: to sign in. @returns
 * the URL fragment.
 */
async function resultOf(
  deps: ServiceDeps,
  identity: GoogleIdentity,
  { linkTo, stateHash, ip, now }: { linkTo: string | null; stateHash: string; ip: string; now: Date },
): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  const expiresAt = new Date(now.getTime() + codeLastsMs);
  try {
    return await deps.db.inTransaction(async (transaction) => {
      if (linkTo !== null) {
        const since = freshSince(deps, { role: null });
        if (!(await lockLinkTarget(deps.db, transaction, { stateHash, since }))) return refused('expired');
        const linked = await link(deps, transaction, { accountId: linkTo, identity, ip });
        return 'refusal' in linked ? refused('identity_taken') : 'google_linked=1';
      }
      const found = await accountOf(deps, transaction, identity, ip);
      if ('refusal' in found) return refused(found.refusal);
      const { accountId } = found;
      await storeCode(deps.db, transaction, { stateHash, codeHash: sha256(code), accountId, expiresAt });
      return `google_code=${code}`;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintError) return refused('link_needed'); // a concurrent request used the e-mail address
    throw error;
  }
}

export const exchangeGoogleCode = endpoint({
  summary: 'Exchanges a `google_code` for a session: once, within a minute, in the same browser.',
  requester: 'anyone',
  body: z.strictObject({
    code: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the code from the URL'),
  }),
  answers: { 200: sessionAnswer, 202: secondStepAnswer },
  errors: ['gone', 'not_found', 'rate_limited'],
  headers: ['Set-Cookie'],
  needs: ({ openId }) => openId,
  handler: async (deps, { body: { code }, request }) => {
    const clientInfo = clientInfoOf(request);
    await deps.throttle.token(clientInfo.ip);
    const cookieHash = sha256(readCookie(deps, request) ?? '');
    const now = deps.clock.now();
    const session = await deps.db.inLedgerTransaction(async (transaction) => {
      const accountId = await consumeCode(deps.db, transaction, { codeHash: sha256(code), cookieHash, now });
      if (accountId === null) {
        fail('gone', 'This sign-in was already completed or took too long. Start again.');
      }
      const account = await deps.db.accounts.findByPk(accountId, { transaction, rejectOnEmpty: true });
      const first = { clientInfo, how: 'google', knownDevice: false } as const;
      return finishFirstStep(deps, transaction, account, first);
    });
    return firstStepReply(session, {}, cookieHeader(deps, '', 0));
  },
});

export const unlinkGoogle = endpoint({
  summary: 'Unlinks Google from an account that has a password.',
  description: 'Needs a sign-in within the last hour.',
  requester: 'signed_in',
  answers: { 204: null },
  errors: ['reauthentication_required', 'conflict', 'not_found'],
  needs: ({ openId }) => openId,
  handler: async (deps, { requester }) => {
    const account = await findAccount(deps, requester.accountId);
    const { id: accountId, email } = account;
    if (account.passwordHash === null) {
      fail('conflict', 'Google is the only sign-in method of this account. Set a password first.');
    }
    await requireFresh(deps, requester, account);
    await deps.db.inLedgerTransaction(async (transaction) => {
      const count = await deleteIdentitiesOf(deps.db, transaction, accountId);
      if (count === 0) fail('not_found', 'The account is not linked to Google.');
      await deleteFlowsOf(deps.db, transaction, accountId); // after the identity, so that a code made meanwhile is also deleted
      await audit(deps, transaction, { accountId, actor: requester.actor, action: 'google.unlinked' });
      await notify(deps, transaction, 'google_unlinked', email);
    });
    return { status: 204 };
  },
});

function refused(refusal: Refusal | 'expired'): string {
  return `google_error=${refusal}`;
}

/** The nonce that Google must return, and the proof that the code was requested here; both are derived from the cookie. */
function secretsOf(state: string, cookie: string): FlowSecrets {
  const derive = (what: string) => createHmac('sha256', cookie).update(`google ${what}`).digest('base64url');
  return { state, nonce: derive('nonce'), verifier: derive('verifier') };
}

/** Refuses HEAD: a prefetch must neither begin a flow nor consume one. */
function refuseHead(request: Request): void {
  if (request.method === 'HEAD')
    fail('method_not_allowed', 'This path supports GET.', { headers: { allow: 'GET' } });
}

function redirect(url: string, cookie?: CookieHeader) {
  return { status: 302 as const, headers: { 'referrer-policy': 'no-referrer', location: url, ...cookie } };
}

/** The prefix `__Host-` prevents other hosts of the domain from setting the cookie; browsers accept it over HTTPS only. */
function cookieName(deps: ServiceDeps): string {
  return isHttps(deps) ? '__Host-almanac_google' : 'almanac_google';
}

type CookieHeader = Readonly<Record<'set-cookie', string>>;

function cookieHeader(deps: ServiceDeps, value: string, maxAgeSeconds: number): CookieHeader {
  const secure = isHttps(deps) ? '; Secure' : '';
  const lasting = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  return { 'set-cookie': `${cookieName(deps)}=${value}; ${lasting}` };
}

function readCookie(deps: ServiceDeps, request: Request): string | undefined {
  const prefix = `${cookieName(deps)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length);
}

function isHttps(deps: ServiceDeps): boolean {
  return deps.settings.publicUrl.startsWith('https:');
}
