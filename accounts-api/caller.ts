// Who calls, as the gateway sealed it: an account, and the key or the session that speaks for it.
import { fail } from '../kernel/errors.ts';
import type { Call } from '../kernel/http.ts';
import type { Actor } from './models/audit-event.ts';

export interface Caller {
  accountId: string;
  /** For the audit row of a change. */
  actor: Actor;
}

/** @throws Failure `unauthorized` where the call came without a key and without a session. */
export function callerOf(call: Call): Caller {
  const { accountId, keyId, sessionId } = call.identity;
  if (accountId !== null && keyId !== null) {
    return { accountId, actor: { actorKind: 'key', actorId: keyId } };
  }
  if (accountId !== null && sessionId !== null) {
    return { accountId, actor: { actorKind: 'session', actorId: sessionId } };
  }
  return fail('unauthorized', 'An API key or a session is needed here.');
}
