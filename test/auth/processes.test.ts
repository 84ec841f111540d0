// The whole with a process for each room and for the worker, Redis, and a real SMTP server; and a worker that is killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { load } from '../../ingest/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/settings.ts';
import { createTestDatabase, silentLog, testIdentitySecret, testRedisUrl } from '../harness.ts';
import { freePort, unhurriedPlansFile } from '../instance.ts';
import { newEmail, newPassword, startMailbox, tokenIn } from '../sign-in.ts';
import { keepLogLines } from '../traces.ts';
import { dataIn, peopleOf, sessionIn } from './people.ts';

const [database, mailbox] = await Promise.all([createTestDatabase(), startMailbox()]);
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
  DATA_API_PORT: String(ports['data-api']),
  ACCOUNTS_API_PORT: String(ports['accounts-api']),
  DATA_API_URL: `http://127.0.0.1:${ports['data-api']}`,
  ACCOUNTS_API_URL: `http://127.0.0.1:${ports['accounts-api']}`,
  LOG_LEVEL: 'info',
};
let output = '';
const processes: ChildProcess[] = [];

/** Starts a room as a process of its own and waits until it says that it runs. */
async function startProcess(room: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(projectRoot, 'almanac.ts'), 'start', room], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.push(child);
  let own = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      own += chunk.toString();
      output += chunk.toString();
    });
  }
  while (!own.includes(`${room} is running`)) {
    if (child.exitCode !== null) throw new Error(`${room} ended with ${child.exitCode}: ${own}`);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  }
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

test.after.always(async () => {
  for (const child of processes) await end(child, 'SIGTERM');
  keepLogLines(output);
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

/** The calls used of the month, once the first is in the ledger: with Redis the gateway settles four times a second. */
async function usedOnceSettled(session: string): Promise<number> {
  for (let i = 0; i < 40; i += 1) {
    const { used } = dataIn(await people.get('/v1/usage', session)) as { used: number };
    if (used > 0) return used;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return 0;
}

test.serial(
  'sign-up, the mailed link, sign-in, a key, a series, its usage, revocation, 401: each room a process',
  async (t) => {
    t.timeout(120_000);
    const loader = openDatabase(database.url, silentLog, { applicationName: 'tests' });
    await load(loader, {
      dataset: 'observations',
      input: Readable.from(['series_id,date,value\nGDP,2024-01-31,1.50\n']),
      create: true,
      set: { unit: 'Index', frequency: 'monthly', source: 'Tests', name: 'GDP' },
      seriesTimeZone: 'UTC',
      clock: systemClock,
    });
    await loader.close();
    await Promise.all(['data-api', 'accounts-api', 'worker'].map(startProcess));
    await startProcess('gateway');

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
    t.is(await usedOnceSettled(session), 1);
    t.is((await people.ask('DELETE', `/v1/keys/${made.id}`, { session })).status, 204);
    t.is((await people.ask('GET', '/v1/series/GDP', { headers })).status, 401);
    t.is((await people.post('/auth/logout', {}, session)).status, 204);
    t.is((await people.get('/v1/account', session)).status, 401);
    for (const secret of [password, session, made.key, tokenIn(mail)]) t.false(output.includes(secret));
  },
);

test.serial(
  'a mail whose worker is killed while sending it is sent by another within a minute',
  async (t) => {
    t.timeout(120_000);
    const [worker] = processes.filter((child) => child.spawnargs.includes('worker'));
    if (worker === undefined) throw new Error('There is no worker.');
    const email = newEmail();
    const taken = mailbox.hold();
    t.is((await people.post('/auth/signup', { email, password: newPassword() })).status, 202);
    await taken; // the worker is in the middle of it
    await end(worker, 'SIGKILL');
    mailbox.letGo();
    const killedAt = Date.now();
    await startProcess('worker');
    t.regex((await mailbox.next(email)).subject, /Confirm/);
    t.true(Date.now() - killedAt < 60_000);
  },
);

test.serial('a mail that the server refuses is tried again until it is taken', async (t) => {
  t.timeout(120_000);
  mailbox.refuse(true);
  const email = newEmail();
  const refusal = mailbox.refused();
  t.is((await people.post('/auth/signup', { email, password: newPassword() })).status, 202);
  await refusal;
  mailbox.refuse(false);
  t.regex((await mailbox.next(email)).subject, /Confirm/);
});
