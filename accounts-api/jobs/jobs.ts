// Durable jobs, with pg-boss: a job is a row written in the transaction of the change that it belongs to, and run later by a worker. A job names its
// subject and contains no secret: the worker creates links when it sends them.
import { PgBoss } from 'pg-boss';
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { Clock } from '../../kernel/clock.ts';
import { keepAlive } from '../../kernel/database-circuit.ts';
import type { Log } from '../../kernel/log/log.ts';
import { queueOptions, superviseSeconds } from './job-retries.ts';
import { runJobs } from './job-runner.ts';
import { mailPriority } from './mail-priority.ts';
import { createQueueFigures, type QueueFigures } from '../observability/queue-figures.ts';

/** An e-mail to send. Its recipient is looked up when it is sent, unless the e-mail is about the e-mail address itself. */
export type MailJob =
  /** To the e-mail address of a sign-up: the link that creates the account, or a notice that it exists. */
  | { mail: 'sign_up'; signupId: string }
  /** To an account created without a mailed link: the link that confirms its e-mail address. */
  | { mail: 'verify_email'; accountId: string }
  /** To the e-mail address of a reset request, which anyone may enter; nothing is sent if it has no account. */
  | { mail: 'reset_password'; email: string }
  /** The link to the new e-mail address. */
  | { mail: 'change_email'; accountId: string; email: string }
  /** To the e-mail address of a payer without a session: a link that proves the mailbox, or an offer to its account to claim the purchase. */
  | { mail: 'purchase'; accountId: string; plan: string }
  /** A notice that a key is about to expire, to the holder of its account. */
  | { mail: 'key_expires'; keyId: string }
  /** A notice to an account of how much of its month is used. `month` is `YYYY-MM-01`, `limit` is in calls per month. */
  | { mail: 'usage'; accountId: string; month: string; limit: number; percent: number }
  /** A notice that a webhook endpoint was disabled because it failed, to the holder of its account. */
  | { mail: 'webhook_disabled'; webhookId: string }
  /** A notice that a source failed, to an operator. Instants are ISO. */
  | {
      mail: 'source_failed';
      accountId: string;
      source: string;
      reason: string;
      failures: number;
      failingSince: string;
      nextFetchAt: string;
    }
  /** Changes of the data that an account follows: after each follow's place, up to and including the update `until`. Both are cursors of updates. */
  | { mail: 'changes'; accountId: string; until: string; follows: readonly { id: string; place: string }[] }
  /** A notice of an event, to the e-mail address it concerns. */
  | { mail: 'notice'; notice: Notice; email: string; at: string };

export type Notice =
  | 'password_changed'
  | 'email_change_asked'
  | 'email_changed'
  | 'google_linked'
  | 'google_unlinked'
  | 'totp_enrolled'
  | 'totp_removed'
  | 'recovery_codes_made'
  | 'recovery_code_used'
  | 'passkey_added'
  | 'passkey_removed'
  | 'account_closed';

export interface Jobs {
  /** Writes jobs in the transaction: they exist if and only if it commits. */
  enqueue(transaction: Transaction, ...jobs: MailJob[]): Promise<void>;
  close(): Promise<void>;
}

/** Notifies an e-mail address of an event, in the event's own transaction. */
export async function notify(
  { jobs, clock }: { jobs: Jobs; clock: Clock },
  transaction: Transaction,
  notice: Notice,
  email: string,
): Promise<void> {
  await jobs.enqueue(transaction, { mail: 'notice', notice, email, at: clock.now().toISOString() });
}

/** The queues for e-mails, and for requests to e-mail an address that may have no account. */
const queues = { mails: 'mail', requests: 'mail-request' } as const;
/** A connection of pg-boss on which an answer takes longer is dropped, as it may be half-open. Its own statements take far less. */
const connection = { ...keepAlive, query_timeout: 60_000 };
/** The number of requests looked up by one statement. */
const requestsOfBatch = 1000;

/** Writes jobs. It connects with the first job, or earlier by `warmUp`. */
export function openJobs(sequelize: Sequelize, databaseUrl: string, log: Log): Jobs & { warmUp(): void } {
  const boss = createBoss(databaseUrl, log, { supervise: false, max: 2 });
  let started: Promise<void> | undefined;
  const start = () => {
    started ??= begin(boss).catch((error: unknown) => {
      started = undefined; // the next job retries
      throw error;
    });
    return started;
  };
  return {
    warmUp() {
      start().catch((error: unknown) => log.warn({ err: error }, 'jobs cannot be written yet'));
    },
    async enqueue(transaction, ...jobs) {
      await start();
      const db = {
        async executeSql(text: string, values: unknown[] = []) {
          const rows = await sequelize.query(text, { bind: values, type: QueryTypes.SELECT, transaction });
          return { rows };
        },
      };
      // A request is written without a lookup, so that its duration does not reveal whether the e-mail address is known.
      const requests = jobs.filter(({ mail }) => mail === 'reset_password');
      const mails = jobs.filter(({ mail }) => mail !== 'reset_password');
      if (requests.length > 0) await boss.insert(queues.requests, requests.map(toRow), { db });
      if (mails.length > 0) await boss.insert(queues.mails, mails.map(toRow), { db });
    },
    close: () => boss.stop({ graceful: false }),
  };
}

function toRow(job: MailJob): { data: MailJob; priority: number } {
  return { data: job, priority: mailPriority(job.mail) };
}

export interface Work {
  /** Sends the e-mail of a job. If it throws, the job is run again later. */
  send(job: MailJob, id: string): Promise<void>;
  /** The requests whose e-mail address has an account. */
  withRecipient(requests: readonly MailJob[]): Promise<MailJob[]>;
}

export interface RunningWork {
  /** Reads the figures of the queues. */
  figures(this: void): Promise<QueueFigures[]>;
  close(): Promise<void>;
}

/**
 * Runs jobs, and retries each until it succeeds. Looks up the recipients of requests, a thousand at a time, while it sends e-mails. A request with a
 * recipient becomes an e-mail; one for an unknown address is dropped, so such requests delay no e-mail. `close` finishes the running jobs.
 */
export async function startWork(databaseUrl: string, log: Log, work: Work): Promise<RunningWork> {
  const boss = createBoss(databaseUrl, log, { supervise: true, max: 4 });
  try {
    await begin(boss);
    await boss.work<MailJob>(
      queues.requests,
      {
        pollingIntervalSeconds: 0.5,
        batchSize: requestsOfBatch,
        burstWhenBatchFull: true,
        heartbeatRefreshSeconds: 3,
      },
      async (requests) => {
        const mails = await work.withRecipient(requests.map(({ data }) => data));
        if (mails.length > 0) await boss.insert(queues.mails, mails.map(toRow));
      },
    );
    const mails = runJobs(boss, queues.mails, log, (job, id) => work.send(job as MailJob, id));
    return {
      figures: createQueueFigures(boss, Object.values(queues)),
      async close() {
        await mails.close();
        await boss.stop({ graceful: true, timeout: 30_000 });
      },
    };
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
}

function createBoss(
  databaseUrl: string,
  log: Log,
  { supervise, max }: { supervise: boolean; max: number },
): PgBoss {
  const boss = new PgBoss({
    ...connection,
    connectionString: databaseUrl,
    application_name: supervise ? 'almanac worker' : 'almanac jobs',
    schema: 'jobs',
    createSchema: false, // a migration creates it, as this service's role has no right to
    max,
    supervise,
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
  });
  boss.on('error', (error: Error) => log.warn({ err: error }, 'jobs: a statement failed'));
  return boss;
}

/** Creates the schema and the queues if they are missing, and sets their options; concurrent calls are safe. */
async function begin(boss: PgBoss): Promise<void> {
  await boss.start();
  for (const queue of Object.values(queues)) {
    await boss.createQueue(queue, queueOptions);
    await boss.updateQueue(queue, queueOptions); // for queues that an earlier version created
  }
}
