// The whole system with a process per service and for the worker, Redis, and a real SMTP server; and a worker that is killed.
import path from 'node:path';
import test from 'ava';
import { fileOf } from '../ingest/loading.ts';
import { load } from '../../ingest/load/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { createTestDatabase, silentLog, testIdentitySecret, testRedisUrl } from '../services/harness.ts';
import { freePort, unhurriedPlansFile } from '../services/instance.ts';
import { endChildren, startServing, type Child } from '../run/processes.ts';
import { newEmail, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { saveLogLines } from '../run/traces.ts';
import { untilThere } from '../run/until.ts';
import { dataIn, peopleOf, sessionIn } from './people.ts';

const database = await createTestDatabase();
const mailbox = await startMailbox();
const ports = { gateway: await freePort(), 'data-api': await freePort(), 'accounts-api': await freePort() };
const environment = {
  ...process.env,
  DATABASE_URL: database.url,
  REDIS_URL: testRedisUrl(),
  IDENTITY_SECRET: testIdentitySecret,
  SMTP_URL: mailbox.smtpUrl,
  PUBLIC_URL: 'https://almanac.example/',
  PORT: String(ports.gateway),
  PLANS_FILE: unhurriedPlansFile(),
  MANAGEMENT_CALLS_SECOND: '10000',
  DATA_API_PORT: String(ports['data-api']),
  ACCOUNTS_API_PORT: String(ports['accounts-api']),
  DATA_API_URL: `http://127.0.0.1:${ports['data-api']}`,
  ACCOUNTS_API_URL: `http://127.0.0.1:${ports['accounts-api']}`,
  LOG_LEVEL: 'info',
};
let output = '';
let worker: Child | undefined;

/** Starts a service as a separate process and waits until it reports that it runs. */
async function startService(service: string): Promise<Child> {
  const words = [path.join(projectRoot, 'almanac.ts'), 'start', service];
  return startServing(new RegExp(`${service} is running`), process.execPath, words, {
    name: service,
    env: environment,
    onOutput: (text) => void (output += text),
  });
}

test.after.always(async () => {
  await endChildren();
  saveLogLines(output);
  await mailbox.close();
  await database.drop();
});

const people = peopleOf({
  async call(target: string, { key, headers, ...init }: RequestInit & { key?: string } = {}) {
    const sent = new Headers(headers);
    if (key !== undefined) sent.set('x-api-key', key);
    const response = await fetch(`http://127.0.0.1:${ports.gateway}${target}`, { ...init, headers: sent });
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  },
});

/** The used calls of the month, once the first is in the ledger: with Redis the gateway settles four times a second. */
async function usedOnceRecorded(session: string): Promise<number> {
  return untilThere('the first call is in the ledger', async () => {
    const { used } = dataIn(await people.get('/v1/usage', session)) as { used: number };
    return used > 0 ? used : undefined;
  });
}

test.serial(
  'sign-up, the mailed link, sign-in, a key, a series, its usage, revocation, 401: each service a process',
  async (t) => {
    const loader = openDatabase(database.url, silentLog, { applicationName: 'tests' });
    await load(loader, {
      dataset: 'observations',
      input: fileOf(['series_id,date,value\nGDP,2024-01-31,1.50\n']),
      create: true,
      set: { unit: 'Index', frequency: 'monthly', source: 'Tests', name: 'GDP' },
      seriesTimeZone: 'UTC',
      clock: systemClock,
    });
    await loader.close();
    await Promise.all(['data-api', 'accounts-api'].map(startService));
    await Promise.all([startService('gateway'), startService('worker').then((child) => (worker = child))]);

    const [email, password] = [newEmail(), newPassword()];
    const signedUp = await people.post('/auth/signup', { email, password });
    t.is(signedUp.status, 202, signedUp.text);
    const mail = await mailbox.next(email);
    t.regex(mail.text, /https:\/\/almanac\.example\/dashboard\/verify-email#token=/);
    t.regex(mail.raw, /text\/html/);
    const verified = await people.post('/auth/verify-email', { token: tokenIn(mail), password });
    t.is(verified.status, 200, verified.text);
    const session = sessionIn(await people.post('/auth/login', { email, password }));
    t.false(
      (await people.get('/v1/account', sessionIn(verified))).status === 401,
      'a second sign-in ends no session',
    );
    const made = dataIn(await people.post('/v1/keys', { name: 'first' }, session)) as {
      key: string;
      id: string;
    };
    const headers = { 'x-api-key': made.key };
    t.is((await people.ask('GET', '/v1/series/GDP', { headers })).status, 200);
    t.is(await usedOnceRecorded(session), 1);
    t.is((await people.ask('DELETE', `/v1/keys/${made.id}`, { session })).status, 204);
    t.is((await people.ask('GET', '/v1/series/GDP', { headers })).status, 401);
    t.is((await people.post('/auth/logout', {}, session)).status, 204);
    t.is((await people.get('/v1/account', session)).status, 401);
    for (const secret of [password, session, made.key, tokenIn(mail)]) t.false(output.includes(secret));
  },
);

test.serial('an e-mail whose worker is killed while sending it is sent by another', async (t) => {
  const email = newEmail();
  const stalled = mailbox.stall();
  t.is((await people.post('/auth/signup', { email, password: newPassword() })).status, 202);
  await stalled; // the worker is sending it
  await worker?.end('SIGKILL');
  mailbox.resume();
  await startService('worker');
  t.regex((await mailbox.next(email)).subject, /Confirm/);
});

test.serial('an e-mail that the server refuses is retried until it is accepted', async (t) => {
  mailbox.refuse(true);
  const email = newEmail();
  const refusal = mailbox.refused();
  t.is((await people.post('/auth/signup', { email, password: newPassword() })).status, 202);
  await refusal;
  mailbox.refuse(false);
  t.regex((await mailbox.next(email)).subject, /Confirm/);
});
