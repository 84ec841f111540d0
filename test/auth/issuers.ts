// OpenID Connect issuers for tests: a real server, and one whose answers are set by the test.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import jsonwebtoken from 'jsonwebtoken';
import { Provider } from 'oidc-provider';
import type { GoogleSettings } from '../../accounts-api/auth/google-openid.ts';
import { exempt } from '../openapi/check-answers.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';

const redirectUri = 'https://almanac.example/auth/google/callback';
const client = { clientId: 'almanac', clientSecret: 'a client secret of the tests' };

export interface Issuer {
  settings: GoogleSettings;
  close(): Promise<void>;
}

/**
 * oidc-provider, whose accounts are made by naming them: `sub` is the login, the e-mail address `<sub>@gmail.com`.
 * @param callback the URL to which it returns browsers.
 */
export async function startRealIssuer(
  callback = redirectUri,
): Promise<Issuer & { logIn(url: string, login: string): Promise<string> }> {
  const server = createServer();
  const issuer = await listen(server, '127.0.0.1', 0);
  exempt(issuer);
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [callback] }],
    conformIdTokenClaims: false, // like at Google, the e-mail address is in the ID token
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@gmail.com`, email_verified: true, name: `Name of ${sub}` }),
    }),
    cookies: { keys: ['a key of the tests'] },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    // Google's own page asks which account; oidc-provider does not know that prompt.
    request.url = request.url?.replace('prompt=select_account', 'prompt=consent');
    void answer(request, response);
  });
  return {
    settings: { ...client, issuer },
    logIn: (url, login) => browse(url, login),
    close: () => closeServer(server),
  };
}

/** Follows the server's pages like a browser, up to the redirect to the callback. @returns its URL. */
async function browse(start: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  let [url, init]: [string, RequestInit] = [start, {}];
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location !== null) {
      [url, init] = [new URL(location, url).href, {}];
      if (url.startsWith(redirectUri)) return url;
      continue;
    }
    const page = await response.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (prompt === undefined || action === undefined)
      throw new Error(`No form at ${url}: ${page.slice(0, 500)}`);
    const body = prompt === 'login' ? `prompt=login&login=${login}&password=x` : 'prompt=consent';
    [url, init] = [new URL(action, url).href, { method: 'POST', body }];
  }
  throw new Error('The server redirects for ever.');
}

export interface Claims {
  [name: string]: unknown;
}

export interface OddIssuer extends Issuer {
  /** The answer to the next exchange of a code, given the claims of a correct ID token. */
  idToken: (proper: Claims, sign: typeof signProperly) => string;
  /** The requests to the token endpoint. */
  exchanged: URLSearchParams[];
  /** How often its keys were requested. */
  keysAsked: number;
  /** From now on signs with a new key, and publishes only that one. */
  replaceKey(): void;
  /** The path whose answers never end, and the number of bytes sent. */
  endless: { path: string; bytes: number } | null;
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** Signs with the issuer's published key. */
function signProperly(claims: Claims): string {
  return jsonwebtoken.sign(claims, privateKey, { algorithm: 'RS256', keyid: 'one' });
}

export function publicPem(): string {
  return publicKey.export({ type: 'spki', format: 'pem' });
}

/** An issuer whose ID tokens are set by the test. */
export async function startOddIssuer(): Promise<OddIssuer> {
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    const { endless } = odd;
    if (endless !== null && endless.path === request.url) return void answerWithoutEnd(response, endless);
    const answer = (body: object) => response.end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration') {
      return answer({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
    if (request.url === '/jwks') {
      odd.keysAsked += 1;
      return answer({ keys: [key.published] });
    }
    odd.exchanged.push(new URLSearchParams(await text(request)));
    const now = Math.floor(Date.now() / 1000);
    const proper = { iss: issuer, aud: client.clientId, iat: now, exp: now + 300 };
    return answer({ access_token: 'a', token_type: 'bearer', id_token: odd.idToken(proper, key.sign) });
  });
  const issuer = await listen(server, '127.0.0.1', 0);
  exempt(issuer);
  let key = {
    published: { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' },
    sign: signProperly,
  };
  const odd: OddIssuer = {
    settings: { ...client, issuer },
    idToken: (proper, sign) => sign(proper),
    exchanged: [],
    keysAsked: 0,
    replaceKey() {
      const made = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const keyid = `key-${randomUUID()}`;
      key = {
        published: { ...made.publicKey.export({ format: 'jwk' }), kid: keyid, alg: 'RS256', use: 'sig' },
        sign: (claims) => jsonwebtoken.sign(claims, made.privateKey, { algorithm: 'RS256', keyid }),
      };
    },
    endless: null,
    close: () => closeServer(server),
  };
  return odd;
}

/** Sends the beginning of a JSON text, then blanks until the client leaves. */
async function answerWithoutEnd(response: ServerResponse, endless: { bytes: number }): Promise<void> {
  const blanks = Buffer.alloc(64 * 1024, ' ');
  function* text() {
    yield Buffer.from('{');
    for (;;) {
      endless.bytes += blanks.length;
      yield blanks;
    }
  }
  await pipeline(text, response).catch(() => undefined); // the client has left
}
