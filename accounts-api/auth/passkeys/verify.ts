// Parses and verifies what browsers send for a passkey: signature, challenge, origin, host, and that the passkey has verified its user. Wraps
// @simplewebauthn/server, which is loaded on first use.
import type { VerifiedAuthenticationResponse, VerifiedRegistrationResponse } from '@simplewebauthn/server';
import { z } from 'zod';
import { fail } from '../../../kernel/errors.ts';
import type { Passkey } from '../../sessions/passkeys.sql.ts';
import type { PasskeySite } from '../passkey-site.ts';

/** COSE numbers of EdDSA, ECDSA on P-256, and RSA with PKCS #1 v1.5, the preferred one first. */
export const algorithms = [-8, -7, -257];
/** The limit of a body with a credential, whose id has at most 1,023 bytes and occurs three times. */
export const credentialBytesMax = 16 * 1024;

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/, 'must be base64url');
const credentialId = base64url.max(1364, 'must be the base64url of at most 1,023 bytes');
const clientData = base64url.transform((encoded, context) => {
  const found = z.object({ challenge: z.string() }).safeParse(jsonIn(encoded));
  if (found.success) return { encoded, challenge: found.data.challenge };
  context.addIssue({ code: 'custom', message: 'must be the base64url of JSON with a challenge' });
  return z.NEVER;
});
const members = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };

/** The result of `navigator.credentials.create` as JSON. Other members are ignored. */
export const newCredential = z
  .object({ ...members, response: z.object({ clientDataJSON: clientData, attestationObject: base64url }) })
  .describe('The answer of the browser, as `PublicKeyCredential.toJSON()` writes it.');
/** The result of `navigator.credentials.get` as JSON. Other members are ignored. */
export const assertion = z
  .object({
    ...members,
    response: z.object({
      clientDataJSON: clientData,
      authenticatorData: base64url,
      signature: base64url,
      userHandle: base64url.optional(),
    }),
  })
  .describe('The answer of the browser, as `PublicKeyCredential.toJSON()` writes it.');

type Credential<Schema extends z.ZodType> = z.output<Schema>;

/**
 * Verifies a new passkey. @param challenge that was consumed for it.
 * @throws Failure `invalid_credentials`, which states what is wrong.
 */
export async function verifyNew(
  { rpId, origin }: PasskeySite,
  { response, ...credential }: Credential<typeof newCredential>,
  challenge: string,
): Promise<{ credentialId: string; publicKey: Buffer; signCount: number }> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  let result: VerifiedRegistrationResponse;
  try {
    result = await verifyRegistrationResponse({
      response: {
        ...credential,
        response: { ...response, clientDataJSON: response.clientDataJSON.encoded },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      supportedAlgorithmIDs: algorithms,
      requireUserVerification: true,
    });
  } catch (error) {
    return failRefused(error instanceof Error ? error.message : String(error));
  }
  if (!result.verified) return failRefused('its attestation is not right');
  const { id, publicKey, counter } = result.registrationInfo.credential;
  return { credentialId: id, publicKey: Buffer.from(publicKey), signCount: counter };
}

/**
 * Verifies the signature of a passkey. The caller checks that the signature counter has risen.
 * @returns the signed counter, or why the signature is refused.
 */
export async function verifySignIn(
  { rpId, origin }: PasskeySite,
  { response, ...credential }: Credential<typeof assertion>,
  { challenge, passkey }: { challenge: string; passkey: Passkey },
): Promise<{ signCount: number } | { refusal: string }> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { userHandle, clientDataJSON, ...signed } = response;
  if (userHandle !== undefined && userHandle !== userHandleOf(passkey.account_id))
    return { refusal: 'it was made for another account' };
  let result: VerifiedAuthenticationResponse;
  try {
    result = await verifyAuthenticationResponse({
      response: {
        ...credential,
        response: { ...signed, clientDataJSON: clientDataJSON.encoded },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: { id: passkey.credential_id, publicKey: Uint8Array.from(passkey.public_key), counter: 0 },
      requireUserVerification: true,
    });
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
  if (!result.verified) return { refusal: 'its signature is not right' };
  return { signCount: result.authenticationInfo.newCounter };
}

/** The user handle that an authenticator stores: the account's id, which identifies no person. */
export function userHandleOf(accountId: string): string {
  return Buffer.from(accountId).toString('base64url');
}

/** @throws Failure `invalid_credentials`. @param why a sentence without its full stop. */
export function failRefused(why: string): never {
  return fail('invalid_credentials', `The passkey is refused: ${why}.`, { param: 'credential' });
}

function jsonIn(encoded: string): unknown {
  try {
    return JSON.parse(Buffer.from(encoded, 'base64url').toString());
  } catch {
    return undefined;
  }
}
