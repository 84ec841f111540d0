// From sign-up to a refused key in the embedded mode, as a person has it: `almanac start` as a process, with its own PostgreSQL
// and the mail in its outbox, everything over HTTP through the gateway.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { createInstallation, unhurriedPlansFile } from '../instance.ts';
import { newEmail, newPassword, readMail, tokenIn, type ReceivedMail } from '../sign-in.ts';
import { dataIn, peopleOf, sessionIn } from './people.ts';

const installation = await createInstallation({ PLANS_FILE: unhurriedPlansFile() });
const serving = await installation.start();
test.after.always(async () => {
  await serving.stop();
  installation.remove();
});

const { ask, get, post } = peopleOf({
  async call(target: string, { headers, ...init }: RequestInit = {}) {
    const response = await fetch(installation.url + target, { ...init, headers: new Headers(headers) });
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  },
});

/** Waits until the outbox holds a mail to the address. */
async function mailTo(email: string): Promise<ReceivedMail> {
  const outbox = path.join(installation.dataDir, 'outbox');
  for (;;) {
    const names = existsSync(outbox) ? await readdir(outbox) : [];
    for (const name of names.filter((file) => file.endsWith('.eml'))) {
      const raw = await readFile(path.join(outbox, name), 'utf8');
      if (raw.includes(`To: ${email}`)) return readMail(raw, email);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('sign-up, verified by the link in the outbox, sign-in, a key, a series, its usage, revocation, 401: embedded', async (t) => {
  t.timeout(120_000);
  const [email, password] = [newEmail(), newPassword()];
  const signedUp = await post('/auth/signup', { email, password, name: 'Zoë' });
  t.is(signedUp.status, 201, signedUp.text);
  const first = sessionIn(signedUp);
  t.like((await get('/v1/account', first)).json, { data: { email, email_verified: false } });

  const mail = await mailTo(email);
  t.regex(mail.raw, /text\/html/);
  const verified = await post('/auth/verify-email', { token: tokenIn(mail), password });
  t.is(verified.status, 200, verified.text);
  t.is((await get('/v1/account', first)).status, 401, 'a confirmed address makes a new session');

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
  t.like((await get('/v1/usage', session)).json, { data: { used: 1 } });

  t.is((await ask('DELETE', `/v1/keys/${id}`, { session })).status, 204);
  const refused = await ask('GET', '/v1/series/DEMO.CPI', { headers });
  t.is(refused.status, 401);
  t.like(refused.json, { error: { code: 'unauthorized' } });
  t.is((await ask('POST', '/auth/logout', { session })).status, 204);
  t.is((await get('/v1/account', session)).status, 401);
});
