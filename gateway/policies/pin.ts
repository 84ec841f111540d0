// Public routes: applies the date of a pinned key to the response, with the access rules of keyed routes. So it does for any valid key if an MCP tool
// call sets `as_of`. A call with any other key, or with an unknown one, counts as anonymous. While accounts-api cannot look the key up, a call with a key
// is refused, as a pinned key must not get today's data.
import type { IncomingMessage } from 'node:http';
import { hashApiKey, isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';
import { fail, Failure } from '../../kernel/errors.ts';
import type { Credential } from '../accounts-client.ts';
import { callOf, enterStage, type Call } from '../call.ts';
import type { Policy } from '../policy.ts';
import { acceptCaller, addPinHeader, unknownKey, type CredentialOptions } from './credential.ts';

const unknown = new Failure('unauthorized', unknownKey);

export function pin(options: Omit<CredentialOptions, 'accounts'>): Policy {
  const { findKey, failures } = options;
  return (request, _response, next) => {
    const call = callOf(request);
    const key = keyOf(call);
    if (key === undefined) return next();
    enterStage(call, 'credential');
    const hash = hashApiKey(key);
    failures.admit(call.clientIp, hash);
    const found = findKey(hash);
    if (found instanceof Promise) return found.then((credential) => finish(request, hash, credential, next));
    finish(request, hash, found, next);
  };

  /** @throws Failure as `acceptCaller` does, if the key is pinned; `rate_limited` if the IP address sends too many unknown keys. */
  function finish(request: IncomingMessage, hash: string, found: Credential | null, next: () => void): void {
    const call = callOf(request);
    if (found === null) {
      const refusal = failures.failed(call.clientIp, hash, unknown);
      if (refusal !== unknown) throw refusal; // each unknown key may cost a lookup
      return next();
    }
    failures.accepted(hash);
    if (found.asOf !== null || call.asOf !== undefined) {
      addPinHeader(call, found);
      acceptCaller(options, call, found, 'data');
    }
    next();
  }
}

/** The key of the call; undefined without a well-formed key. @throws Failure `invalid_request` for several keys, as one may be pinned. */
function keyOf({ presented }: Call): string | undefined {
  const { keyHeaders, authorizations, keyParameters } = presented;
  if (keyHeaders.length + authorizations.length + keyParameters.length === 0) return undefined;
  const keys = new Set([...keyHeaders, ...authorizations, ...keyParameters].filter(isWellFormedApiKey));
  if (keys.size > 1)
    fail('invalid_request', 'The request contains different API keys. Send one, in the X-API-Key header.');
  const [key] = keys;
  return key;
}
