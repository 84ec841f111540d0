// The requester, from the gateway's sealed identity: an account, and the key or session of the call.
import { fail } from '../kernel/errors.ts';
import { operatorAccountOf } from '../kernel/http/operator.ts';
import type { ServiceCall } from '../kernel/http/server.ts';
import type { Actor } from './models/audit-event.ts';

export interface Requester {
  accountId: string;
  /** For the audit row of a change. */
  actor: Actor;
  /** The hash of the key of the call; null: the call has none. */
  keyHash?: string | null;
  /** The session of an operator's call. */
  operatorSessionId?: string | null;
}

/** @throws Failure `unauthorized` if the call has neither a key nor a session. */
export function requesterOf(call: ServiceCall): Requester {
  const { accountId, keyId, keyHash, sessionId } = call.identity;
  if (accountId !== null && keyId !== null) {
    return { accountId, actor: { actorKind: 'key', actorId: keyId }, keyHash };
  }
  if (accountId !== null && sessionId !== null) {
    return { accountId, actor: { actorKind: 'session', actorId: sessionId } };
  }
  return fail('unauthorized', 'Send an API key in X-API-Key, or sign in and send X-Session-Token.');
}

/** For operator endpoints; `accountId` is the operator's own account. @throws Failure as `operatorAccountOf`. */
export function operatorOf(call: ServiceCall): Requester {
  const accountId = operatorAccountOf(call);
  const { sessionId: operatorSessionId } = call.identity;
  return { accountId, actor: { actorKind: 'operator', actorId: accountId }, operatorSessionId };
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
    fail(
      'unauthorized',
      'A session that has not ended is required. Sign in, and send its token in X-Session-Token.',
    );
  }
  return { accountId, sessionId, actor: { actorKind: 'session', actorId: sessionId } };
}
