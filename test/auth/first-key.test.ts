// From sign-up to a revoked key in the embedded mode, end to end: `almanac start` as a process, with its own PostgreSQL
// and the e-mail in its outbox, everything over HTTP through the gateway.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { createInstallation, unhurriedPlansFile } from '../services/instance.ts';
import { until } from '../run/until.ts';
import { newEmail, newPassword, tokenIn } from '../services/sign-in.ts';
import { mailTo } from '../start/sinks.ts';
import { dataIn, peopleOf, sessionIn } from './people.ts';

const installation = await createInstallation({ PLANS_FILE: unhurriedPlansFile() });
test.after.always(() => installation.remove());
test.before(async () => void (await installation.start()));

const { ask, get, post } = peopleOf({
  async call(target: string, { headers, ...init }: RequestInit = {}) {
    const response = await fetch(installation.url + target, { ...init, headers: new Headers(headers) });
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  },
});

test('sign-up, verified by the link in the outbox, sign-in, a key, a series, its usage, revocation, 401: embedded', async (t) => {
  const [email, password] = [newEmail(), newPassword()];
  const signedUp = await post('/auth/signup', { email, password, name: 'Zoë' });
  t.is(signedUp.status, 201, signedUp.text);
  const first = sessionIn(signedUp);
  t.like((await get('/v1/account', first)).json, { data: { email, email_verified: false } });

  const mail = await mailTo(installation, email);
  t.regex(mail.raw, /text\/html/);
  // The e-mail has a link that gives access to the account, so no other user of the machine may read it.
  const outbox = path.join(installation.dataDir, 'outbox');
  t.is(statSync(outbox).mode & 0o777, 0o700);
  for (const name of readdirSync(outbox)) t.is(statSync(path.join(outbox, name)).mode & 0o777, 0o600, name);
  const verified = await post('/auth/verify-email', { token: tokenIn(mail), password });
  t.is(verified.status, 200, verified.text);
  t.is((await get('/v1/account', first)).status, 401, 'a confirmed e-mail address makes a new session');

  const session = sessionIn(await post('/auth/login', { email, password }));
  t.like((await get('/v1/account', session)).json, { data: { email, email_verified: true, name: 'Zoë' } });

  const made = await post('/v1/keys', { name: 'first' }, session);
  t.is(made.status, 201, made.text);
  const { key = '', id } = dataIn(made) as Record<string, string>;
  t.is((await get('/v1/series/DEMO.CPI', session)).status, 401, 'a session opens no data');
  const headers = { 'x-api-key': key };
  const series = await ask('GET', '/v1/series/DEMO.CPI', { headers });
  t.is(series.status, 200, series.text);
  t.like(series.json, { success: true, series: 'DEMO.CPI' });
  const used = async () => (dataIn(await get('/v1/usage', session)) as { used: number }).used;
  await until('the call is in the usage', async () => (await used()) > 0);
  t.is(await used(), 1);

  t.is((await ask('DELETE', `/v1/keys/${id}`, { session })).status, 204);
  const refused = await ask('GET', '/v1/series/DEMO.CPI', { headers });
  t.is(refused.status, 401);
  t.like(refused.json, { error: { code: 'unauthorized' } });
  t.is((await ask('POST', '/auth/logout', { session })).status, 204);
  t.is((await get('/v1/account', session)).status, 401);
});
