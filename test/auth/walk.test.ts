// From sign-up to a refused key, all through the gateway, with everything in one process and mail in the outbox.
import { once } from 'node:events';
import { mkdtempSync, rmSync, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { startRooms } from '../rooms.ts';
import { newEmail, newPassword, readMail, tokenIn } from '../sign-in.ts';

const outboxDirectory = mkdtempSync(path.join(tmpdir(), 'almanac-outbox-'));
const outbox = watch(outboxDirectory);
const rooms = await startRooms({ mail: { outboxDirectory } });
test.after.always(async () => {
  await rooms.close();
  outbox.close();
  rmSync(outboxDirectory, { recursive: true });
});

/** Waits until the outbox holds a mail to the address. */
async function mailTo(email: string) {
  for (;;) {
    const change = once(outbox, 'change'); // before looking, so that no mail is missed between
    for (const name of (await readdir(outboxDirectory)).filter((file) => file.endsWith('.eml'))) {
      const raw = await readFile(path.join(outboxDirectory, name), 'utf8');
      if (raw.includes(`To: ${email}`)) return readMail(raw, email);
    }
    await change;
  }
}

test('sign-up, verified by the link in the outbox, sign-in, a key, a series, its usage, revocation, 401', async (t) => {
  await rooms.ingest('series_id,date,value\nGDP,2024-01-31,1.50\n', { set: { name: 'GDP' } });
  const [email, password] = [newEmail(), newPassword()];
  const post = (target: string, body: object, headers: Record<string, string> = {}) =>
    rooms.call(target, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const dataOf = (answer: { json: unknown }) => (answer.json as { data: Record<string, string> }).data;

  const signedUp = await post('/auth/signup', { email, password, name: 'Zoë' });
  t.is(signedUp.status, 201, signedUp.text);

  const verified = await post('/auth/verify-email', { token: tokenIn(await mailTo(email)), password });
  t.is(verified.status, 200, verified.text);

  const loggedIn = await post('/auth/login', { email, password });
  t.is(loggedIn.status, 200, loggedIn.text);
  const session = { 'x-session-token': dataOf(loggedIn)['session_token'] ?? '' };
  t.like((await rooms.call('/v1/account', { headers: session })).json, {
    data: { email, email_verified: true },
  });

  const made = await post('/v1/keys', { name: 'first' }, session);
  t.is(made.status, 201, made.text);
  const { key = '', id } = dataOf(made);
  t.is((await rooms.call('/v1/series/GDP', { headers: session })).status, 401, 'a session opens no data');
  t.is((await rooms.call('/v1/series/GDP', { key })).status, 200);
  t.like((await rooms.call('/v1/usage', { headers: session })).json, { data: { used: 1 } });

  t.is((await rooms.call(`/v1/keys/${id}`, { method: 'DELETE', headers: session })).status, 204);
  const refused = await rooms.call('/v1/series/GDP', { key });
  t.is(refused.status, 401);
  t.like(refused.json, { error: { code: 'unauthorized' } });
  t.is((await rooms.call('/auth/logout', { method: 'POST', headers: session })).status, 204);
  t.is((await rooms.call('/v1/account', { headers: session })).status, 401);
});
