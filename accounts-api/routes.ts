// Every path of accounts-api, on one screen.
import type { Route } from '../kernel/http/server.ts';
import { changeAccount, closeAccount, readAccount } from './account/account.ts';
import { listAuditEvents } from './audit.ts';
import type { SignInDeps } from './deps.ts';
import { google } from './auth/google.ts';
import { findCredentials, grantQuota, leaseCredentialCache, settleBatch } from './quota/internal.ts';
import { createKey, deleteKey, listKeys } from './keys/keys.ts';
import { changePassword, forgotPassword, setPassword } from './auth/password-change.ts';
import { listPlans } from './account/plans.ts';
import { topUpQuota } from './quota/allotments.ts';
import { deleteOneSession, deleteOtherSessions, listSessions, logOut } from './auth/sessions.ts';
import { logIn } from './auth/sign-in.ts';
import { resendVerification, signUp, verifyEmail } from './auth/sign-up.ts';
import { listUsageHistory, readUsage } from './usage/usage.ts';

// Whatever is sent to /auth/* is an e-mail address, a password or a token.
const bodyBytesMax = 4 * 1024;

export function routes(deps: SignInDeps): Route[] {
  return [
    ...accountRoutes(deps),
    ...authRoutes(deps),
    { method: 'POST', path: '/internal/credentials', scope: 'internal', handler: findCredentials(deps) },
    {
      method: 'POST',
      path: '/internal/credential-cache/lease',
      scope: 'internal',
      handler: leaseCredentialCache(deps),
    },
    { method: 'POST', path: '/internal/quota/take', scope: 'internal', handler: grantQuota(deps) },
    { method: 'POST', path: '/internal/quota/top-up', scope: 'internal', handler: topUpQuota(deps) },
    { method: 'POST', path: '/internal/quota/settle', scope: 'internal', handler: settleBatch(deps) },
  ];
}

/** By API key or session; `/v1/plans` by anybody. */
function accountRoutes(deps: SignInDeps): Route[] {
  return [
    { method: 'GET', path: '/v1/plans', scope: 'client', handler: listPlans(deps) },
    { method: 'GET', path: '/v1/account', scope: 'client', handler: readAccount(deps) },
    { method: 'PATCH', path: '/v1/account', scope: 'client', handler: changeAccount(deps) },
    { method: 'DELETE', path: '/v1/account', scope: 'client', handler: closeAccount(deps) },
    { method: 'GET', path: '/v1/account/audit', scope: 'client', handler: listAuditEvents(deps) },
    { method: 'GET', path: '/v1/keys', scope: 'client', handler: listKeys(deps) },
    { method: 'POST', path: '/v1/keys', scope: 'client', handler: createKey(deps) },
    { method: 'DELETE', path: '/v1/keys/:id', scope: 'client', handler: deleteKey(deps) },
    { method: 'GET', path: '/v1/usage', scope: 'client', handler: readUsage(deps) },
    { method: 'GET', path: '/v1/usage/history', scope: 'client', handler: listUsageHistory(deps) },
  ];
}

/** By anybody, or by session; never by API key. */
function authRoutes(deps: SignInDeps): Route[] {
  const { start, callback, exchange, beginLink, unlink } = google(deps);
  const handlers: [Route['method'], string, Route['handler']][] = [
    ['POST', '/auth/signup', signUp(deps)],
    ['POST', '/auth/verify-email', verifyEmail(deps)],
    ['POST', '/auth/verify-email/resend', resendVerification(deps)],
    ['POST', '/auth/login', logIn(deps)],
    ['POST', '/auth/logout', logOut(deps)],
    ['POST', '/auth/change-password', changePassword(deps)],
    ['POST', '/auth/forgot-password', forgotPassword(deps)],
    ['POST', '/auth/set-password', setPassword(deps)],
    ['GET', '/auth/sessions', listSessions(deps)],
    ['DELETE', '/auth/sessions', deleteOtherSessions(deps)],
    ['DELETE', '/auth/sessions/:id', deleteOneSession(deps)],
    ['GET', '/auth/google/start', start],
    ['GET', '/auth/google/callback', callback],
    ['POST', '/auth/google/exchange', exchange],
    ['POST', '/auth/google/link', beginLink],
    ['DELETE', '/auth/google/link', unlink],
  ];
  return handlers.map(([method, path, handler]) => ({
    method,
    path,
    handler,
    scope: 'client',
    bodyBytesMax,
  }));
}
