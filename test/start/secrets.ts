// A whole life cycle of an installation that uses every secret of the service, correctly and incorrectly.
import { serviceUrl } from '../../migrations/roles.ts';
import { dataIn, peopleOf, sessionIn } from '../auth/people.ts';
import type { Installation } from '../services/instance.ts';
import { newEmail, newPassword, tokenIn } from '../services/sign-in.ts';
import { mailTo, ownerUrlOf } from './sinks.ts';

/** Requested ids are looked up: a key in place of a series id is only a parameter of a statement. */
export const keyInWrongPlaces = 'API key in the place of an id';

/** @returns the secrets by kind, and separately those that belong in e-mails. */
export async function useEverySecret(
  installation: Installation,
): Promise<{ secrets: Map<string, string>; links: Map<string, string> }> {
  const secrets = new Map<string, string>();
  const links = new Map<string, string>();
  const record = (what: string, secret: unknown) => {
    secrets.set(what, String(secret));
    return String(secret);
  };
  const recordSession = (what: string, token: string) => {
    record(`${what}, its secret half`, token.split('.')[1]);
    return token;
  };
  const recordLink = (what: string, token: string) => {
    links.set(what, token);
    return token;
  };
  async function call(target: string, { key, headers, ...init }: RequestInit & { key?: string } = {}) {
    const sent = new Headers(headers);
    if (key !== undefined) sent.set('x-api-key', key);
    const response = await fetch(installation.url + target, { ...init, headers: sent });
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  }
  const { ask, get, post } = peopleOf({ call });

  const ownerUrl = ownerUrlOf(installation);
  record('password of PostgreSQL', new URL(ownerUrl).password);
  for (const role of ['almanac_data_api', 'almanac_accounts_api'] as const)
    record(`password of ${role}`, new URL(serviceUrl(ownerUrl, role)).password);
  const email = newEmail();
  const password = record('password', newPassword());
  await post('/auth/signup', { email, password });
  const confirm = recordLink('link of the sign-up', tokenIn(await mailTo(installation, email)));
  await post('/auth/verify-email', {
    token: confirm,
    password: record('wrong password at the link', newPassword()),
  });
  await post('/auth/verify-email', { token: confirm, password });
  await post('/auth/login', { email, password: record('wrong password', newPassword()) });
  const loggedIn = await post('/auth/login', { email, password });
  const session = recordSession('session', sessionIn(loggedIn));
  record('device token', dataIn(loggedIn)['device_token']);

  const made = dataIn(await post('/v1/keys', { name: 'k' }, session));
  const key = record('API key', made['key']);
  await call('/v1/series/DEMO.CPI', { key });
  await call(`/v1/series/DEMO.CPI?api_key=${key}&from=2024-01-01`);
  await call(`/v1/series/DEMO.CPI?API_KEY=${key}`);
  const odd = dataIn(await post('/v1/keys', { name: 'odd' }, session));
  const misplaced = record(keyInWrongPlaces, odd['key']);
  await call(`/v1/series/DEMO.CPI?q=${misplaced}`, { key });
  await call(`/v1/series/${misplaced}`, { key });
  await call(`/v1/series/${misplaced.replace('_', '%5F')}`, { key });
  await call(`/v1/search?q=${misplaced}`);
  await call(`/v1/nowhere/${misplaced}`);
  await call(`/v1/account/key/${record('token in a path', 'claim-0123456789-0123456789-0123')}`);
  await call('/v1/account', { key: record('mistyped key', `${key.slice(0, -1)}!`) });
  await call('/v1/series/DEMO.CPI', {
    headers: { 'x-session-token': session, authorization: `Bearer ${key}` },
  });
  await call('/v1/catalog', {
    headers: { referer: `https://example.org/?api_key=${key}`, cookie: `k=${key}` },
  });
  await post(
    '/auth/login',
    `{"email":"${email}","password":"${record('password in bad JSON', newPassword())}"`,
  );
  await post('/auth/login', {
    email,
    password: `${record('password with a zero byte', newPassword())}\u0000`,
  });

  await post('/auth/forgot-password', { email });
  const reset = recordLink(
    'link of the reset',
    tokenIn(await mailTo(installation, email, 'Set a new password')),
  );
  const second = record('second password', newPassword());
  await post('/auth/set-password', { token: reset, password: second });
  const again = recordSession(
    'second session',
    sessionIn(await post('/auth/login', { email, password: second })),
  );
  const third = record('third password', newPassword());
  const changed = await post('/auth/change-password', { current: second, new: third }, again);
  const last = recordSession('third session', sessionIn(changed));
  await get('/v1/account/audit', last);
  await get('/v1/usage', last);
  await ask('DELETE', `/v1/keys/${String(made['id'])}`, { session: last });
  await call('/v1/series/DEMO.CPI', { key });
  await post('/auth/logout', {}, last);

  const printed = await installation.almanac('keys', 'create', 'demo@almanac.example', '--json');
  const byCommand = record('key made by the command', (JSON.parse(printed) as { key: string }).key);
  await call('/v1/series/DEMO.CPI', { key: byCommand });
  await installation.almanac('keys', 'revoke', byCommand);
  return { secrets, links };
}
