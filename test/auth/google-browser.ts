// A simulated browser for sign-in with Google: begins flows, answers them with any claims, exchanges codes.
import type { Services } from '../services/services.ts';
import { from } from '../services/sign-in.ts';
import type { Claims, OddIssuer } from './issuers.ts';
import { peopleOf, sessionIn, type Answer } from './people.ts';

/** A running flow, as known to the browser that began it. */
export interface Flow {
  cookie: string;
  authorization: URL;
  state: string;
  nonce: string;
}

let made = 0;
/** Claims of a new user whose mailbox is operated and verified by Google. */
export const person = () => {
  made += 1;
  return {
    sub: `sub-${made}`,
    email: `person-${made}@gmail.com`,
    email_verified: true,
    name: `Person ${made}`,
  };
};

/** The flow begun by an answer. @param url that the browser is sent to. */
function flowOf(answer: Answer, url: string): Flow {
  const cookie = /^([^;]+);/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const authorization = new URL(url);
  const param = (name: string) => authorization.searchParams.get(name) ?? '';
  return { cookie, authorization, state: param('state'), nonce: param('nonce') };
}

/** The actions of a browser, with services whose Google is an issuer of the tests. */
export function browserOf(services: Pick<Services, 'call'>, issuer: OddIssuer) {
  const { ask } = peopleOf(services);

  /** Returns from Google with a code. @returns the final page of the browser, and its fragment. */
  async function returnFromGoogle(
    flow: Pick<Flow, 'cookie' | 'state'>,
    query = `code=c&state=${flow.state}`,
  ): Promise<{ location: string; result: URLSearchParams }> {
    const answer = await services.call(`/auth/google/callback?${query}`, {
      redirect: 'manual',
      headers: { ...from(), cookie: flow.cookie },
    });
    const location = answer.headers.get('location') ?? '';
    return { location, result: new URLSearchParams(location.split('#')[1] ?? '') };
  }

  async function begin(query = ''): Promise<Flow> {
    const answer = await services.call(`/auth/google/start${query}`, { redirect: 'manual', headers: from() });
    return flowOf(answer, answer.headers.get('location') ?? '');
  }

  async function beginLink(session: string): Promise<Flow> {
    const answer = await ask('POST', '/auth/google/link', { session, headers: from() });
    if (answer.status !== 200) throw new Error(`No link begins: ${answer.status} ${answer.text}`);
    return flowOf(answer, (answer.json as { data: { url: string } }).data.url);
  }

  /** Makes Google answer a flow with these claims, and returns from Google. */
  async function returnFromGoogleAs(claims: Claims, flow: Flow): Promise<URLSearchParams> {
    issuer.idToken = (proper, sign) => sign({ ...proper, nonce: flow.nonce, ...claims });
    return (await returnFromGoogle(flow)).result;
  }

  const exchange = (code: string, cookie: string): Promise<Answer> =>
    ask('POST', '/auth/google/exchange', { body: { code }, headers: { cookie, ...from() } });

  /** Signs in with the given claims: the session, or the error. */
  async function signIn(
    claims: Claims,
  ): Promise<{ session: string; error: null } | { session: null; error: string }> {
    const flow = await begin();
    const result = await returnFromGoogleAs(claims, flow);
    const code = result.get('google_code');
    if (code === null) return { session: null, error: result.get('google_error') ?? '' };
    return { session: sessionIn(await exchange(code, flow.cookie)), error: null };
  }

  return { begin, beginLink, returnFromGoogle, returnFromGoogleAs, exchange, signIn };
}
