// The requester, from the gateway's sealed identity: an account, and the key or session that the call was made with.
import { fail } from '../kernel/errors.ts';
import type { ServiceCall } from '../kernel/http/server.ts';
import type { Actor } from './models/audit-event.ts';

export interface Requester {
  accountId: string;
  /** For the audit row of a change. */
  actor: Actor;
}

/** @throws Failure `unauthorized` if the call has neither a key nor a session. */
export function requesterOf(call: ServiceCall): Requester {
  const { accountId, keyId, sessionId } = call.identity;
  if (accountId !== null && keyId !== null) {
    return { accountId, actor: { actorKind: 'key', actorId: keyId } };
  }
  if (accountId !== null && sessionId !== null) {
    return { accountId, actor: { actorKind: 'session', actorId: sessionId } };
  }
  return fail('unauthorized', 'Send an API key in X-API-Key, or sign in and send X-Session-Token.');
}

/**
 * For endpoints of operators. The gateway lets nobody else through; it is checked again, so that a wrong pipeline opens nothing.
 * `accountId` is the operator's own account.
 * @throws Failure `not_found`: nobody else is told that somebody may.
 */
export function operatorOf(call: ServiceCall): Requester {
  const { accountId, sessionId, operator } = call.identity;
  if (accountId === null || sessionId === null || !operator)
    fail('not_found', 'No endpoint exists at this path.');
  return { accountId, actor: { actorKind: 'operator', actorId: accountId } };
}

export interface SignedIn extends Requester {
  sessionId: string;
}

/**
 * For endpoints that need a session: passwords, sessions, the e-mail address, the account itself.
 * @throws Failure `forbidden` for an API key, `unauthorized` without a credential.
 */
export function signedInOf(call: ServiceCall): SignedIn {
  const { accountId, keyId, sessionId } = call.identity;
  if (keyId !== null) fail('forbidden', 'API keys are not accepted here. Sign in and send X-Session-Token.');
  if (accountId === null || sessionId === null) {
    fail('unauthorized', 'Sign in and send the session token in X-Session-Token.');
  }
  return { accountId, sessionId, actor: { actorKind: 'session', actorId: sessionId } };
}
