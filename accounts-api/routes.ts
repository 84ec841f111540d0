// The URL table of this service. config/gateway.config.yml decides which credentials a path accepts.
import type { Route } from '../kernel/http/server.ts';
import { changeAccount, readAccount } from './account/account.ts';
import { closeAccount } from './account/closing.ts';
import { listPlans } from './account/plans.ts';
import { listAuditEvents } from './audit.ts';
import { exchangeGoogleCode, finishGoogle, linkGoogle, startGoogle, unlinkGoogle } from './auth/google.ts';
import { changePassword, forgotPassword, setPassword } from './auth/password-change.ts';
import { beginPasskeySignIn, passkeySignIn } from './auth/passkeys/passkey-sign-in.ts';
import * as passkeys from './auth/passkeys/passkeys.ts';
import * as secondFactor from './auth/second-factor/enrolment.ts';
import { finishSignIn } from './auth/second-factor/pending.ts';
import { findSessions } from './sessions/session-credentials.ts';
import { deleteOneSession, deleteOtherSessions, listSessions, logOut } from './sessions/sessions.ts';
import { logIn, readMethods } from './auth/sign-in.ts';
import { resendVerification, signUp, verifyEmail } from './auth/sign-up.ts';
import { beginCheckout } from './billing/checkout.ts';
import { claimKey, readCheckoutState } from './billing/claim.ts';
import { openPortal } from './purchases/portal.ts';
import { inboxPath, readBillingState, receiveStripeEvent } from './billing/inbox.ts';
import type { ServiceDeps } from './deps.ts';
import type { Endpoint } from './endpoint.ts';
import type { InternalEndpoint } from './internal-endpoint.ts';
import { changeFollow, createFollow, deleteFollow, listFollows } from './follows/follows.ts';
import { showUnsubscribe, unsubscribe } from './follows/unsubscribe.ts';
import { heartbeat } from './heartbeat/heartbeat.ts';
import { changeKey } from './keys/change-key.ts';
import { endOldValue, rotateKey } from './keys/rotate-key.ts';
import { createKey, deleteKey, listKeys } from './keys/keys.ts';
import { listKeysOfAccount, revokeKeyOfAccount } from './operator/account-keys.ts';
import { changeOneAccount, listAllAccounts, readOneAccount } from './operator/accounts.ts';
import { listPlansWithAccounts } from './operator/plans.ts';
import { listPurchases, movePurchase } from './purchases/purchases.ts';
import { listUsageHistory, readUsage } from './usage/usage.ts';
import { listDeliveries, readDelivery, redeliver, testWebhook } from './webhooks/deliveries.ts';
import { recoverDeliveries } from './webhooks/recover.ts';
import * as webhooks from './webhooks/webhooks.ts';

export const endpoints = [
  ['GET', '/v1/plans', listPlans],
  ['GET', '/v1/account', readAccount],
  ['PATCH', '/v1/account', changeAccount],
  ['DELETE', '/v1/account', closeAccount],
  ['GET', '/v1/account/audit', listAuditEvents],
  ['GET', '/v1/keys', listKeys],
  ['POST', '/v1/keys', createKey],
  ['PATCH', '/v1/keys/:id', changeKey],
  ['DELETE', '/v1/keys/:id', deleteKey],
  ['POST', '/v1/keys/:id/rotate', rotateKey],
  ['DELETE', '/v1/keys/:id/old-value', endOldValue],
  ['GET', '/v1/usage', readUsage],
  ['GET', '/v1/usage/history', listUsageHistory],
  ['GET', '/v1/webhooks', webhooks.listWebhooks],
  ['POST', '/v1/webhooks', webhooks.createWebhook],
  ['DELETE', '/v1/webhooks', webhooks.deleteWebhookById],
  ['GET', '/v1/webhooks/:id', webhooks.readWebhook],
  ['PATCH', '/v1/webhooks/:id', webhooks.changeWebhook],
  ['DELETE', '/v1/webhooks/:id', webhooks.deleteWebhook],
  ['POST', '/v1/webhooks/:id/rotate-secret', webhooks.rotateSecret],
  ['POST', '/v1/webhooks/:id/test', testWebhook],
  ['POST', '/v1/webhooks/:id/recover', recoverDeliveries],
  ['GET', '/v1/webhooks/:id/deliveries', listDeliveries],
  ['GET', '/v1/webhooks/:id/deliveries/:delivery', readDelivery],
  ['POST', '/v1/webhooks/:id/deliveries/:delivery/redeliver', redeliver],
  ['GET', '/v1/follows', listFollows],
  ['POST', '/v1/follows', createFollow],
  ['PATCH', '/v1/follows/:id', changeFollow],
  ['DELETE', '/v1/follows/:id', deleteFollow],
  ['GET', '/v1/unsubscribe', showUnsubscribe],
  ['POST', '/v1/unsubscribe', unsubscribe],

  ['POST', '/v1/checkout', beginCheckout],
  ['POST', '/v1/checkout/state', readCheckoutState],
  ['GET', '/v1/account/key/:token', claimKey],
  ['GET', '/v1/billing/portal', openPortal],
  ['GET', '/v1/billing/purchases', listPurchases],
  ['POST', '/v1/billing/purchases/:id/take', movePurchase],
  ['POST', inboxPath, receiveStripeEvent],

  ['GET', '/v1/operator/accounts', listAllAccounts],
  ['GET', '/v1/operator/accounts/:id', readOneAccount],
  ['PATCH', '/v1/operator/accounts/:id', changeOneAccount],
  ['GET', '/v1/operator/accounts/:id/keys', listKeysOfAccount],
  ['DELETE', '/v1/operator/accounts/:id/keys/:key', revokeKeyOfAccount],
  ['GET', '/v1/operator/plans', listPlansWithAccounts],
  ['GET', '/auth/methods', readMethods],
  ['POST', '/auth/signup', signUp],
  ['POST', '/auth/verify-email', verifyEmail],
  ['POST', '/auth/verify-email/resend', resendVerification],
  ['POST', '/auth/login', logIn],
  ['POST', '/auth/login/second-factor', finishSignIn],
  ['POST', '/auth/logout', logOut],
  ['POST', '/auth/change-password', changePassword],
  ['POST', '/auth/forgot-password', forgotPassword],
  ['POST', '/auth/set-password', setPassword],
  ['GET', '/auth/sessions', listSessions],
  ['DELETE', '/auth/sessions', deleteOtherSessions],
  ['DELETE', '/auth/sessions/:id', deleteOneSession],
  ['GET', '/auth/second-factor', secondFactor.readSecondFactor],
  ['POST', '/auth/second-factor/totp', secondFactor.beginTotp],
  ['POST', '/auth/second-factor/totp/confirm', secondFactor.confirmTotp],
  ['POST', '/auth/second-factor/turn-off', secondFactor.turnOffSecondFactor],
  ['POST', '/auth/second-factor/recovery-codes', secondFactor.renewRecoveryCodes],
  ['GET', '/auth/passkeys', passkeys.listPasskeys],
  ['POST', '/auth/passkeys', passkeys.addPasskey],
  ['POST', '/auth/passkeys/options', passkeys.beginPasskey],
  ['PATCH', '/auth/passkeys/:id', passkeys.changePasskey],
  ['POST', '/auth/passkeys/:id/remove', passkeys.removePasskey],
  ['POST', '/auth/login/passkey', passkeySignIn],
  ['POST', '/auth/login/passkey/options', beginPasskeySignIn],
  ['GET', '/auth/google/start', startGoogle],
  ['GET', '/auth/google/callback', finishGoogle],
  ['POST', '/auth/google/exchange', exchangeGoogleCode],
  ['POST', '/auth/google/link', linkGoogle],
  ['DELETE', '/auth/google/link', unlinkGoogle],
] as const satisfies readonly (readonly [Route['method'], string, Endpoint])[];

/** The endpoints for the gateway itself. */
const internalEndpoints: Readonly<Record<string, InternalEndpoint>> = {
  '/internal/billing': readBillingState,
  '/internal/heartbeat': heartbeat,
  '/internal/sessions': findSessions,
};

// Bodies to /auth/* contain only an e-mail address, a password or a token; those with a passkey have a limit of their own.
const authBodyBytesMax = 4 * 1024;

/** The endpoints as routes of the server. */
export function toRoutes(deps: ServiceDeps): Route[] {
  return [
    ...endpoints.map(
      ([method, path, { handler, admit, acceptsRawBody, acceptsAnyBody, bodyBytesMax }]): Route => ({
        method,
        path,
        scope: 'client',
        handler: handler(deps),
        admit: admit?.(deps),
        acceptsRawBody,
        acceptsAnyBody,
        bodyBytesMax: bodyBytesMax ?? (path.startsWith('/auth/') ? authBodyBytesMax : undefined),
      }),
    ),
    ...Object.entries(internalEndpoints).map(([path, handler]): Route => ({
      method: 'POST',
      path,
      scope: 'internal',
      handler: handler(deps),
    })),
  ];
}
