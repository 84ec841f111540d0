// Who calls: takes the API key or the session from where it may stand, checks its form, looks it up, and refuses everyone
// else with 401. Both are looked up on every call, after the call has come in: one that ended is refused on the next request.
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { hashApiKey, isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';
import { Failure } from '../../kernel/errors.ts';
import type { Identity } from '../../kernel/identity.ts';
import { planOf, type Plan, type Plans } from '../../kernel/plans.ts';
import { parseSessionToken } from '../../kernel/credentials/session-token.ts';
import type { Accounts, Credential } from '../accounts.ts';
import { callOf, enterStage, type Call, type Caller } from '../call.ts';
import type { Admission, Admissions } from '../quota/admission.ts';
import type { CredentialCache } from '../credential-cache.ts';
import type { Journal } from '../quota/journal.ts';
import type { Policy } from '../policy.ts';
import { callsOf } from './quota.ts';

export interface CredentialOptions {
  accounts: Accounts;
  /** Both undefined where there is no Redis. */
  credentialCache: CredentialCache | undefined;
  admissions: Admissions | undefined;
  journal: Journal;
  plans: Plans;
  setCallerContext: SetCallerContext;
}

export const credentialAction = z.strictObject({
  accept: z.array(z.enum(['key', 'session'])).min(1),
  /** The pipeline counts the call: `rate` and `quota`, which follow, may be asked about in the same question. */
  counted: z.boolean().default(false),
});

const contextsMax = 10_000;

export function credential(
  { accounts, credentialCache, admissions, journal, plans, setCallerContext }: CredentialOptions,
  { accept, counted }: z.output<typeof credentialAction>,
): Policy {
  /** What Redis says of a key. */
  async function ask(hash: string, { path, query }: Call): Promise<Admission> {
    if (counted && admissions !== undefined) return admissions.ask(hash, callsOf(path, query));
    return { credential: await credentialCache?.find(hash) };
  }

  return async (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'credential');
    const presented = presentedCredential(call, accept);
    if ('session' in presented) {
      const name = parseSessionToken(presented.session);
      const found = name && (await accounts.session(name));
      if (found === null) throw refused('The session is invalid or has ended. Sign in again.');
      setCallerContext(call, found, planOf(plans, found.plan));
    } else {
      const hash = hashApiKey(presented.key);
      const admission = await ask(hash, call);
      const found =
        admission.credential === undefined ? await accounts.credential(hash) : admission.credential;
      if (found === null) throw refused('The API key is unknown or was revoked.');
      setCallerContext(call, found, planOf(plans, found.plan));
      if (admission.month !== undefined && response.closed) {
        journal.refund(found.accountId, admission.month.month, admission.month.calls); // the client left meanwhile
        return;
      }
      call.admission = admission;
      if (found.keyId !== null) journal.touch(found.keyId);
    }
    next();
  };
}

/** Makes the call one of the account that the credential stands for. */
export type SetCallerContext = (call: Call, found: Credential, plan: Plan) => void;

/**
 * What is said of a caller is made once and used for as long as the look-ups say the same: a call then makes no objects, and the
 * sealed identity is found by them.
 */
export function createCallerContexts(): SetCallerContext {
  const contexts = new LRUCache<string, { caller: Caller; identity: Identity }>({ max: contextsMax }); // by key or session
  return (call, { accountId, keyId, sessionId, active }, plan) => {
    const id = keyId ?? sessionId ?? '';
    let context = contexts.get(id);
    const isSame =
      context?.caller.accountId === accountId &&
      context.caller.plan === plan &&
      context.caller.active === active;
    if (context === undefined || !isSame) {
      const { id: planId, features } = plan;
      context = {
        caller: { accountId, keyId, plan, active },
        identity: { scope: 'client', accountId, keyId, sessionId, plan: planId, features },
      };
      contexts.set(id, context);
    }
    call.caller = context.caller;
    call.identity = context.identity;
  };
}

/**
 * The one credential of the call: a well-formed key (in X-API-Key, `Authorization: Bearer` or `api_key`), or a session where
 * sessions are accepted; elsewhere a session that
 * comes beside a key is not looked at. @throws Failure unauthorized, saying what is wrong with what came.
 */
function presentedCredential(
  call: Call,
  accept: readonly ('key' | 'session')[],
): { key: string } | { session: string } {
  const { keyHeaders, bearers, keyParameters, sessionHeaders } = call.presented;
  if (keyHeaders.length > 1 || bearers.length > 1 || keyParameters.length > 1 || sessionHeaders.length > 1) {
    throw refused('Send each credential only once.');
  }
  const [header] = keyHeaders;
  const [bearer] = bearers;
  const [parameter] = keyParameters;
  const key = header ?? bearer ?? parameter;
  const session = accept.includes('session') ? sessionHeaders[0] : undefined;
  if ((bearer ?? key) !== key || (parameter ?? key) !== key) {
    throw refused('The request contains different API keys. Send one, in the X-API-Key header.');
  }
  if (key !== undefined && session !== undefined) {
    throw refused('Send an API key or a session, not both. They may belong to different accounts.');
  }
  if (session !== undefined) return { session };
  if (key === undefined) {
    const hint = sessionHeaders.length > 0 ? 'A session is not accepted here. ' : '';
    throw refused(`${hint}An API key is required. Send it in the X-API-Key header.`);
  }
  if (!isWellFormedApiKey(key)) {
    throw refused('The API key is incomplete or mistyped.');
  }
  return { key };
}

function refused(message: string): Failure {
  return new Failure('unauthorized', message, { headers: { 'www-authenticate': 'ApiKey' } });
}
