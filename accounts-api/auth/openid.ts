// Reads the verified claims of a Google identity. Hides openid-client: discovery, the authorization URL, the exchange of
// the code, and every check of the ID token, its signature included.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  type Configuration,
} from 'openid-client';
import { fail } from '../../kernel/errors.ts';
import type { GoogleSettings } from '../deps.ts';

/** The secrets of one flow. */
export interface FlowSecrets {
  state: string;
  nonce: string;
  /** PKCE. */
  verifier: string;
}

export interface GoogleIdentity {
  issuer: string;
  subject: string;
  /** Null if Google gives none, or has not verified it. */
  verifiedEmail: string | null;
  name: string | null;
  /** Whether Google runs the mailbox, so that owning the Google account means owning the mailbox. */
  isAuthoritative: boolean;
}

export interface OpenId {
  /** The URL to send the browser to. @throws Failure `unavailable` if Google cannot be reached. */
  authorizationUrl(secrets: FlowSecrets): Promise<string>;
  /** @param query of the callback, as received. @throws Error if any part of it is invalid. */
  identityOf(query: URLSearchParams, secrets: FlowSecrets): Promise<GoogleIdentity>;
}

const timeoutSeconds = 10;

/** @param redirectUri as registered with Google; never derived from a request. */
export function createOpenId(settings: GoogleSettings, redirectUri: string): OpenId {
  let known: Promise<Configuration> | undefined;
  const configuration = () => {
    known ??= discover(settings).catch((error: unknown) => {
      known = undefined; // the next sign-in retries the discovery
      return fail('unavailable', 'Google cannot be reached at the moment. Try again.', {
        detail: error,
      });
    });
    return known;
  };
  return {
    async authorizationUrl({ state, nonce, verifier }) {
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        prompt: 'select_account',
      });
      return url.href;
    },
    async identityOf(query, { state, nonce, verifier }) {
      const url = new URL(redirectUri);
      url.search = query.toString();
      const tokens = await authorizationCodeGrant(await configuration(), url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('There is no ID token.');
      const { iss, sub, email, email_verified, hd, name } = claims;
      const verified = email_verified === true && typeof email === 'string'; // the text "true" verifies nothing
      const isHosted = typeof hd === 'string' && hd !== '';
      return {
        issuer: iss,
        subject: sub,
        verifiedEmail: verified ? email : null,
        name: typeof name === 'string' ? name : null,
        isAuthoritative: verified && (isHosted || /@gmail\.com$/i.test(email)),
      };
    },
  };
}

/** Reads the issuer's metadata. @throws Error if it cannot be reached, or names another issuer. */
export async function discover({ issuer, clientId, clientSecret }: GoogleSettings): Promise<Configuration> {
  const server = new URL(issuer);
  const insecure = server.protocol === 'http:' ? [allowInsecureRequests] : []; // an issuer of the tests, on this machine
  const configuration = await discovery(server, clientId, clientSecret, undefined, {
    execute: [...insecure, enableNonRepudiationChecks], // without it the signature of the ID token is not checked
    timeout: timeoutSeconds,
  });
  configuration.timeout = timeoutSeconds;
  return configuration;
}
