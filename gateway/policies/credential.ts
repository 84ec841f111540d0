// Who calls: takes the API key from header or parameter, checks its form, looks it up, and refuses everyone else with 401.
// A key is looked up on every call, after the call has come in: a revoked key is refused on the next request.
import { hashApiKey, isWellFormedApiKey } from '../../kernel/api-key.ts';
import { Failure } from '../../kernel/errors.ts';
import type { Plans } from '../../kernel/plans.ts';
import type { Accounts } from '../accounts.ts';
import { callOf, type Call } from '../call.ts';
import type { Journal } from '../journal.ts';
import type { Policy } from '../policy.ts';

export interface CredentialOptions {
  accounts: Accounts;
  journal: Journal;
  plans: Plans;
}

export function credential(
  { accounts, journal, plans }: CredentialOptions,
  accept: readonly ('key' | 'session')[],
): Policy {
  return async (request, _response, next) => {
    const call = callOf(request);
    const key = presentedKey(call, accept);
    const found = await accounts.credential(hashApiKey(key));
    if (found === null) throw refused('The API key is not valid: it is unknown, or it was revoked.');
    // A plan that was taken out of the file leaves its accounts with the free one, never with none.
    const plan = plans.get(found.plan) ?? plans.get('free');
    if (plan === undefined) throw new Error('There is no plan "free".');
    call.caller = { accountId: found.accountId, keyId: found.keyId, plan, active: found.active };
    call.identity = {
      scope: 'client',
      accountId: found.accountId,
      keyId: found.keyId,
      sessionId: null,
      plan: plan.id,
      features: plan.features,
    };
    journal.touch(found.keyId);
    next();
  };
}

/** The one well-formed key of the call. @throws Failure unauthorized, saying what is wrong with what came. */
function presentedKey(call: Call, accept: readonly ('key' | 'session')[]): string {
  const { keyHeaders, keyParameters, sessionHeaders } = call.presented;
  if (keyHeaders.length > 1 || keyParameters.length > 1 || sessionHeaders.length > 1) {
    throw refused('A credential must be given once.');
  }
  const [header] = keyHeaders;
  const [parameter] = keyParameters;
  if (header !== undefined && parameter !== undefined && header !== parameter) {
    throw refused('The X-API-Key header and the api_key parameter hold different keys.');
  }
  const key = header ?? parameter;
  if (key === undefined) {
    if (sessionHeaders.length > 0 && accept.includes('session')) throw refused('The session is not valid.');
    throw refused('An API key is needed: send it in the X-API-Key header.');
  }
  if (!isWellFormedApiKey(key)) {
    throw refused('The API key is not valid: it is not complete, or it was mistyped.');
  }
  return key;
}

function refused(message: string): Failure {
  return new Failure('unauthorized', message, { headers: { 'www-authenticate': 'ApiKey' } });
}
