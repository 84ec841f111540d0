// Looks up an optional session. A valid session identifies its account; an invalid one is ignored, as the service decides which endpoints need one.
// An API key is refused.
import { fail } from '../../kernel/errors.ts';
import { planOf, type Plans } from '../../kernel/plans.ts';
import { parseSessionToken } from '../../kernel/credentials/session-token.ts';
import type { Accounts } from '../accounts-client.ts';
import { callOf, enterStage } from '../call.ts';
import type { Policy } from '../policy.ts';
import { setCaller } from './credential.ts';

export function session(accounts: Pick<Accounts, 'session'>, plans: Plans): Policy {
  return async (request, _response, next) => {
    const call = callOf(request);
    enterStage(call, 'credential');
    const { keyHeaders, authorizations, keyParameters, sessionHeaders } = call.presented;
    if (keyHeaders.length + authorizations.length + keyParameters.length > 0) {
      fail('forbidden', 'API keys are not accepted here. Sign in and send X-Session-Token.');
    }
    if (sessionHeaders.length > 1) fail('unauthorized', 'Send each credential only once.');
    const name = parseSessionToken(sessionHeaders[0] ?? '');
    const found = name && (await accounts.session(name));
    if (found !== null) setCaller(call, found, planOf(plans, found.plan));
    next();
  };
}
