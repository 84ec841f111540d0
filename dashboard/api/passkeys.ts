// Creates and uses the browser's passkeys. Wraps @simplewebauthn/browser, and turns browser errors into readable messages.
import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import type { AlmanacError } from '../../clients/typescript/errors.ts';
import { localError } from './clients.ts';

type Methods = AnswerOf<'get', '/auth/methods'>['data'];
type CreationOptions = AnswerOf<'post', '/auth/passkeys/options'>['data']['options'];
type RequestOptions = AnswerOf<'post', '/auth/login/passkey/options'>['data']['options'];

/** The address where passkeys work, if not on this page; undefined: they work here, or nowhere. */
export function originOfPasskeys({ passkeys }: Methods): string | undefined {
  return passkeys === null || passkeys.origin === location.origin ? undefined : passkeys.origin;
}

/** Whether this page and this browser can use passkeys. */
export function canUsePasskeys(methods: Methods): boolean {
  return methods.passkeys?.origin === location.origin && browserSupportsWebAuthn();
}

/** Lets the browser create a passkey. @throws AlmanacError if none was created. */
export async function createPasskey(options: CreationOptions) {
  try {
    const { id, rawId, type, response } = await startRegistration({ optionsJSON: options });
    const { clientDataJSON, attestationObject } = response;
    return { id, rawId, type, response: { clientDataJSON, attestationObject } };
  } catch (thrown) {
    throw asProblem(thrown);
  }
}

/** Lets the browser sign with a passkey that the user picks. @throws AlmanacError if none was used. */
export async function signByPasskey(options: RequestOptions) {
  try {
    const { id, rawId, type, response } = await startAuthentication({ optionsJSON: options });
    const { userHandle, clientDataJSON, authenticatorData, signature } = response;
    const handle = userHandle === undefined ? {} : { userHandle };
    return { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, ...handle } };
  } catch (thrown) {
    throw asProblem(thrown);
  }
}

function asProblem(thrown: unknown): AlmanacError {
  const known = thrown instanceof WebAuthnError ? thrown.code : undefined;
  const [code, message] =
    known === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED'
      ? ['passkey_known', 'This device already has a passkey for this account.']
      : thrown instanceof Error && thrown.name !== 'NotAllowedError'
        ? ['passkey_failed', `The browser could not use a passkey: ${thrown.message}.`]
        : [
            'passkey_not_used',
            'No passkey was used. You declined, it took too long, or this device has no passkey for this site.',
          ];
  return localError(code, message, thrown);
}
