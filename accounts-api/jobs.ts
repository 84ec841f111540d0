// Durable jobs: a job is a row written in the transaction of the change it belongs to, and run later by a worker.
// Hides pg-boss. A job names its subject and holds no secret: the worker mints links when it sends them.
import { PgBoss } from 'pg-boss';
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';

/** A mail to send. Its recipient is looked up when it is sent, unless the mail is about the e-mail address itself. */
export type MailJob =
  /** To the e-mail address of a sign-up: the link that makes the account, or a notice that it exists. */
  | { mail: 'sign_up'; signupId: string }
  /** To an account made without a mailed link: the link that confirms its e-mail address. */
  | { mail: 'verify_email'; accountId: string }
  /** To the e-mail address of a reset request; nothing is sent if it has no account. */
  | { mail: 'reset_password'; email: string }
  /** The link to the new e-mail address. */
  | { mail: 'change_email'; accountId: string; email: string }
  /** A notice that a key is about to expire, to the holder of its account. */
  | { mail: 'key_expires'; keyId: string }
  /** A notice to an account of how much of its month is used. `month` is `YYYY-MM-01`, `limit` calls per month. */
  | { mail: 'usage'; accountId: string; month: string; limit: number; percent: number }
  /** A notice of an event, to the e-mail address it concerns. */
  | { mail: 'notice'; notice: Notice; email: string; at: string };

export type Notice =
  | 'password_changed'
  | 'email_change_asked'
  | 'email_changed'
  | 'google_linked'
  | 'google_unlinked'
  | 'account_closed';

export interface Jobs {
  /** Writes jobs in the transaction: they exist if and only if it commits. */
  enqueue(transaction: Transaction, ...jobs: MailJob[]): Promise<void>;
  close(): Promise<void>;
}

/** Notifies an e-mail address of an event, in the event's own transaction. */
export async function tell(
  { jobs, clock }: { jobs: Jobs; clock: Clock },
  transaction: Transaction,
  notice: Notice,
  email: string,
): Promise<void> {
  await jobs.enqueue(transaction, { mail: 'notice', notice, email, at: clock.now().toISOString() });
}

const queue = 'mail';
const queueOptions = {
  // With waits doubling from 5 s to 1 h, this retries for two days.
  retryLimit: 50,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 3600,
  expireInSeconds: 120,
  heartbeatSeconds: 10, // a worker without a heartbeat for this long is dead …
  retentionSeconds: 3 * 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
};
const superviseSeconds = 5; // … and its jobs are retried this soon after

/** The side that writes jobs. It connects with the first one, or earlier by `warmUp`. */
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
      for (const job of jobs) await boss.send(queue, job, { db });
    },
    close: () => boss.stop({ graceful: false }),
  };
}

/** The side that runs jobs: retries each job until it succeeds. `close` finishes those under way. */
export async function startWork(
  databaseUrl: string,
  log: Log,
  perform: (job: MailJob) => Promise<void>,
): Promise<{ close(): Promise<void> }> {
  const boss = createBoss(databaseUrl, log, { supervise: true, max: 4 });
  try {
    await begin(boss);
    await boss.work<MailJob>(
      queue,
      { pollingIntervalSeconds: 0.5, localConcurrency: 2, heartbeatRefreshSeconds: 3 },
      async (jobs) => {
        for (const { data, id } of jobs) {
          try {
            await perform(data);
          } catch (error) {
            log.warn(
              { err: error, job: id, mail: data.mail },
              'a mail could not be sent; it will be tried again',
            );
            throw error;
          }
        }
      },
    );
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
  return { close: () => boss.stop({ graceful: true, timeout: 30_000 }) };
}

function createBoss(
  databaseUrl: string,
  log: Log,
  { supervise, max }: { supervise: boolean; max: number },
): PgBoss {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: supervise ? 'almanac worker' : 'almanac jobs',
    schema: 'jobs',
    max,
    supervise,
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
  });
  boss.on('error', (error: Error) => log.warn({ err: error }, 'jobs: a statement failed'));
  return boss;
}

/** Makes the schema and the queue if they are missing; concurrent calls are safe. */
async function begin(boss: PgBoss): Promise<void> {
  await boss.start();
  await boss.createQueue(queue, queueOptions);
}
