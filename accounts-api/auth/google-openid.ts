// Reads the verified claims of a Google identity, with openid-client: discovery, the authorization URL, the exchange of the code, all checks of the
// ID token including its signature, and the renewal of the issuer's keys.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clockSkew,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type CustomFetch,
} from 'openid-client';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { fail } from '../../kernel/errors.ts';
import { emailField } from '../fields.ts';

/** The secrets of one flow. */
export interface FlowSecrets {
  state: string;
  nonce: string;
  /** The PKCE code verifier. */
  verifier: string;
}

export interface GoogleSettings {
  clientId: string;
  clientSecret: string;
  /** `https://accounts.google.com`, or a replacement in tests. */
  issuer: string;
}

export interface GoogleIdentity {
  issuer: string;
  subject: string;
  /** Null if Google returns no valid address, or has not verified it. */
  verifiedEmail: string | null;
  name: string | null;
  /** Whether Google operates the mailbox, so that owning the Google account means owning the mailbox. */
  isAuthoritative: boolean;
}

export interface OpenId {
  /** The URL to send the browser to. @throws Failure `unavailable` if Google cannot be reached. */
  authorizationUrl(secrets: FlowSecrets): Promise<string>;
  /** @param query of the callback, as received. @throws Error if any part of it is invalid. */
  identityOf(query: URLSearchParams, secrets: FlowSecrets): Promise<GoogleIdentity>;
}

const timeoutSeconds = 10;
/** The limit of an answer of the issuer. Google's have a few kilobytes at most. */
const answerBytesMax = 256 * 1024;
const keysLastMs = 5 * 60_000;

// The claims that are read from an ID token. The subject has OpenID Connect's length limit, so that it can be stored.
const claimsSchema = z.object({
  iss: z.string().max(255),
  sub: z.string().regex(/^[\x20-\x7e]{1,255}$/),
  email: emailField.nullable().catch(null).default(null),
  email_verified: z.literal(true).nullable().catch(null).default(null), // the text "true" is not accepted
  hd: z.string().nullable().catch(null).default(null),
  name: z.string().nullable().catch(null).default(null),
});

/** @param redirectUri as registered with Google; never derived from a request. */
export function createOpenId(settings: GoogleSettings, redirectUri: string, clock: Clock): OpenId {
  const keys = createKeyCache(clock);
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
      const server = (await configuration()).serverMetadata();
      const tokens = await authorizationCodeGrant(keys.configurationOf(settings, server), url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('There is no ID token.');
      const { iss: issuer, sub: subject, email, email_verified, hd, name } = claimsSchema.parse(claims);
      const verifiedEmail = email_verified === null ? null : email;
      const domain = verifiedEmail?.split('@')[1]?.toLowerCase();
      // A hosted domain identifies who operates the mailboxes of that domain only.
      const isAuthoritative =
        domain !== undefined && (domain === 'gmail.com' || domain === hd?.toLowerCase());
      return { issuer, subject, verifiedEmail, name, isAuthoritative };
    },
  };
}

/** Reads the issuer's metadata. @throws Error if it is unreachable, or its metadata names another issuer. */
export async function discover({ issuer, clientId, clientSecret }: GoogleSettings): Promise<Configuration> {
  return discovery(new URL(issuer), clientId, clientSecret, undefined, {
    execute: checksOf(issuer),
    timeout: timeoutSeconds,
    [customFetch]: fetchBounded,
  });
}

function checksOf(issuer: string): ((configuration: Configuration) => void)[] {
  const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : []; // a test issuer on this machine
  return [...insecure, enableNonRepudiationChecks]; // otherwise the signature of the ID token is not checked
}

/**
 * Caches the issuer's keys for five minutes, like the library, but fetches them again at once if a token is signed with another key. The library
 * would refuse all tokens of a new key for a minute.
 */
function createKeyCache(clock: Clock) {
  let known: { ids: ReadonlySet<string | undefined>; answer: Response; atMs: number } | undefined;
  return {
    /** The configuration for one exchange of a code. It has no cached keys, so it fetches them once. */
    configurationOf(
      { clientId, clientSecret, issuer }: GoogleSettings,
      server: ReturnType<Configuration['serverMetadata']>,
    ): Configuration {
      let keyId: string | undefined;
      const configuration = new Configuration(server, clientId, {
        client_secret: clientSecret,
        // The library uses the clock of the process.
        ...(clock.isDatabases === true && {
          [clockSkew]: Math.round((clock.now().getTime() - Date.now()) / 1_000),
        }),
      });
      configuration.timeout = timeoutSeconds;
      for (const check of checksOf(issuer)) check(configuration);
      configuration[customFetch] = async (url, options) => {
        if (url !== server.jwks_uri) {
          const answer = await fetchBounded(url, options); // the answer with the token
          keyId = keyIdOf(await textOf(answer));
          return answer;
        }
        const nowMs = clock.now().getTime();
        if (known === undefined || nowMs - known.atMs >= keysLastMs || !known.ids.has(keyId)) {
          const answer = await fetchBounded(url, options);
          known = { ids: new Set(keyIdsOf(await textOf(answer))), answer, atMs: nowMs };
        }
        return known.answer.clone();
      };
      return configuration;
    },
  };
}

const textOf = (answer: Response) => answer.clone().text();
const keySet = z.object({ keys: z.array(z.looseObject({ kid: z.string().optional() })) });
const tokenHeader = z.object({ kid: z.string() });

/** Empty if the answer is not a key set; the library then refuses it. */
function keyIdsOf(answer: string): string[] {
  const { data } = keySet.safeParse(parsed(answer));
  return data?.keys.flatMap(({ kid }) => kid ?? []) ?? [];
}

/** The key id stated by an ID token; undefined without one. */
function keyIdOf(answer: string): string | undefined {
  const { data } = z.object({ id_token: z.string() }).safeParse(parsed(answer));
  const header = Buffer.from(data?.id_token.split('.')[0] ?? '', 'base64url').toString();
  return tokenHeader.safeParse(parsed(header)).data?.kid;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // the library parses it too, and reports the error
  }
}

/** Like `fetch`, with the body read. @throws Error as soon as the body is larger than allowed. */
const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax)
      throw new Error(`The issuer's answer from ${url} exceeds ${answerBytesMax} bytes.`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, statusText, headers });
};
