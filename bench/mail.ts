// Measures how fast the worker sends mail, and how long a newcomer and an account holder wait for theirs behind requests for unknown e-mail
// addresses. The worker is a separate process; the SMTP server, in this process, discards what it receives.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { connect, type Deps } from '../accounts-api/database.ts';
import { newId } from '../accounts-api/ids.ts';
import { openJobs, type Jobs, type MailJob } from '../accounts-api/jobs/jobs.ts';
import { createAccount } from '../accounts-api/operator/operator.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log/log.ts';
import { loadPlans } from '../kernel/plans.ts';
import { projectRoot } from '../kernel/project.ts';
import { backendCpuUs, startBenchPostgres, withClient } from './instruments/postgres.ts';

const mailsOfRun = 2_000;
const unknownRequests = 10_000;

/** Starts the servers and the worker, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const postgres = await startBenchPostgres();
  const smtp = await startSmtp();
  let worker: ChildProcess | undefined;
  let close = async () => {};
  try {
    const databaseUrl = await postgres.createDatabase('bench_mail');
    const log = createLog('bench', 'warn');
    const db = connect(databaseUrl);
    const jobs = openJobs(db.sequelize, databaseUrl, log);
    close = async () => {
      await jobs.close();
      await db.close();
    };
    const plans = loadPlans(path.join(projectRoot, 'config/plans.yml'));
    const deps = { db, plans, clock: systemClock, jobs };
    await enqueueSignUps(deps, mailsOfRun);
    worker = startWorkerProcess(databaseUrl, postgres.directory, smtp.url);
    const pid = worker.pid ?? 0;
    await withClient(databaseUrl, (client) => measureRate(smtp, pid, client));
    await measureWaits(deps, smtp);
  } finally {
    worker?.kill('SIGTERM');
    if (worker?.exitCode === null) await once(worker, 'exit');
    await close();
    await smtp.close();
    await postgres.stop();
  }
}

type BenchDeps = Deps & { jobs: Jobs };

/** Sign-ups of this many strangers, whose e-mails are queued. @returns their e-mail addresses. */
export async function enqueueSignUps(
  { db, jobs }: Pick<BenchDeps, 'db' | 'jobs'>,
  count: number,
): Promise<string[]> {
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + 24 * 60 * 60_000);
  const passwordHash = '$argon2id$nobody signs in';
  const rows = Array.from({ length: count }, () => {
    const id = newId('sup');
    return { id, email: `${id.slice(4)}@example.org`, name: null, passwordHash, createdAt, expiresAt };
  });
  await db.inTransaction(async (transaction) => {
    await db.signups.bulkCreate(rows, { transaction });
    await jobs.enqueue(transaction, ...rows.map(({ id }): MailJob => ({ mail: 'sign_up', signupId: id })));
  });
  return rows.map(({ email }) => email);
}

async function measureRate(smtp: Smtp, pid: number, client: pg.Client): Promise<void> {
  const first = await smtp.mails(1);
  const before = { worker: cpuMs(pid), backends: await backendCpuUs(client) };
  const last = await smtp.mails(mailsOfRun);
  const worker = (cpuMs(pid) - before.worker) / mailsOfRun;
  const backends = ((await backendCpuUs(client)) - before.backends) / mailsOfRun / 1000;
  const seconds = (last - first) / 1000;
  print(
    `${mailsOfRun} e-mails that waited: ${seconds.toFixed(1)} s, ${Math.round((mailsOfRun - 1) / seconds)} a second; ` +
      `CPU of each: worker ${worker.toFixed(2)} ms, PostgreSQL ${backends.toFixed(2)} ms`,
  );
}

async function measureWaits(deps: BenchDeps, smtp: Smtp): Promise<void> {
  const owner = `${newId('acct').slice(5)}@example.org`;
  await createAccount(deps, { email: owner, plan: 'free' });
  const reset = (email: string): MailJob => ({ mail: 'reset_password', email });
  const wait = async (what: string) => {
    const startedAtMs = performance.now();
    const [newcomer = ''] = await enqueueSignUps(deps, 1);
    await deps.db.inTransaction((transaction) => deps.jobs.enqueue(transaction, reset(owner)));
    const [signedUp, answered] = await Promise.all([smtp.mailTo(newcomer), smtp.mailTo(owner)]);
    print(
      `${what}: a newcomer's mail after ${Math.round(signedUp - startedAtMs)} ms, an owner's reset after ${Math.round(answered - startedAtMs)} ms`,
    );
  };
  await wait('nothing else waits');
  const unknown = Array.from({ length: unknownRequests }, (_, i) => reset(`nobody-${i}@example.org`));
  await deps.db.inTransaction((transaction) => deps.jobs.enqueue(transaction, ...unknown));
  await wait(`behind ${unknownRequests} requests for unknown e-mail addresses`);
}

/** The CPU time that a process has used; Linux only, otherwise NaN. */
function cpuMs(pid: number): number {
  try {
    const [user, system] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11) ?? [];
    return (Number(user) + Number(system)) * 10; // in ticks of 10 ms
  } catch {
    return Number.NaN;
  }
}

interface Smtp {
  url: string;
  /** Resolves to the time when this many e-mails have arrived. */
  mails(count: number): Promise<number>;
  /** Resolves to the time when an e-mail to the e-mail address has arrived, counted from the last call on. */
  mailTo(email: string): Promise<number>;
  close(): Promise<void>;
}

async function startSmtp(): Promise<Smtp> {
  let count = 0;
  const atCount = new Map<number, (at: number) => void>();
  const arrived = new Map<string, number>();
  const awaited = new Map<string, (at: number) => void>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData(stream, session, done) {
      stream.resume().once('end', () => {
        const now = performance.now();
        const to = session.envelope.rcptTo[0]?.address ?? '';
        count += 1;
        atCount.get(count)?.(now);
        arrived.set(to, now);
        awaited.get(to)?.(now);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails: (wanted) => new Promise((resolve) => atCount.set(wanted, resolve)),
    mailTo(email) {
      const at = arrived.get(email);
      arrived.delete(email);
      return at === undefined
        ? new Promise((resolve) => {
            awaited.set(email, (now) => {
              arrived.delete(email);
              awaited.delete(email);
              resolve(now);
            });
          })
        : Promise.resolve(at);
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function startWorkerProcess(databaseUrl: string, directory: string, smtpUrl: string): ChildProcess {
  return spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), 'start', 'worker'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      REDIS_URL: '',
      IDENTITY_SECRET: 'a secret of the bench, long enough',
      SMTP_URL: smtpUrl,
      PUBLIC_URL: 'https://almanac.example',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
