import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { createTestDatabase, silentLog } from '../../test/services/harness.ts';
import { mailJobs, mailJobsLeft } from '../../test/auth/mail-jobs.ts';
import { untilThere, within } from '../../test/run/until.ts';
import { connect } from '../database.ts';
import { openJobs, startWork, type MailJob, type Work } from './jobs.ts';

/** Jobs in a database of their own; the test performs their work. */
async function openQueue(t: ExecutionContext) {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const db = connect(database.url);
  t.teardown(() => db.close());
  const jobs = openJobs(db.sequelize, database.url, silentLog);
  t.teardown(() => jobs.close());
  return {
    db,
    jobs,
    url: database.url,
    enqueue: (...wanted: MailJob[]) =>
      db.inTransaction((transaction) => jobs.enqueue(transaction, ...wanted)),
    async work(work: Partial<Work>) {
      const all = {
        send: async () => {},
        withRecipient: async (requests: readonly MailJob[]) => [...requests],
      };
      const running = await startWork(database.url, silentLog, { ...all, ...work });
      t.teardown(() => running.close());
      return running;
    },
    rows: <Row extends object>(statement: string, bind: unknown[] = []) =>
      db.sequelize.query<Row>(statement, { bind, type: QueryTypes.SELECT }),
  };
}

const requests = (count: number) =>
  Array.from({ length: count }, (_, i): MailJob => ({ mail: 'reset_password', email: `a${i}@example.org` }));
const signUps = (count: number) =>
  Array.from({ length: count }, (_, i): MailJob => ({ mail: 'sign_up', signupId: `sup_${i}` }));

test('a job exists if and only if its transaction commits, and a failed job is run again', async (t) => {
  const { db, jobs, work } = await openQueue(t);
  const aborted = db.inTransaction(async (transaction) => {
    await jobs.enqueue(transaction, { mail: 'reset_password', email: 'rolled-back@example.org' });
    throw new Error('no');
  });
  await t.throwsAsync(aborted, { message: 'no' });
  await db.inTransaction((transaction) =>
    jobs.enqueue(
      transaction,
      { mail: 'reset_password', email: 'one@example.org' },
      { mail: 'reset_password', email: 'two@example.org' },
    ),
  );
  const done: MailJob[] = [];
  let failures = 0;
  const all = Promise.withResolvers<void>();
  await work({
    async send(job) {
      if (failures === 0) {
        failures += 1;
        throw new Error('for once');
      }
      done.push(job);
      if (done.length === 2) all.resolve();
    },
  });
  await within('both are done', all.promise);
  const emails = done.map((job) => (job.mail === 'reset_password' ? job.email : ''));
  t.deepEqual(emails.sort(), ['one@example.org', 'two@example.org']);
});

test('requests for unknown e-mail addresses delay no e-mail, and a thousand are looked up together', async (t) => {
  const { enqueue, work, url } = await openQueue(t);
  await enqueue(...requests(2500));
  await enqueue(...signUps(30));
  const [sent, asked]: [string[], number[]] = [[], []];
  const [lookup, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await work({
    async send({ mail }) {
      sent.push(mail);
      if (sent.length === 30) all.resolve();
    },
    async withRecipient(some) {
      asked.push(some.length);
      await lookup.promise;
      return [];
    },
  });
  await within('mails are sent while nothing has been looked up', all.promise);
  await untilThere('a batch is looked up', () => Promise.resolve(asked.length > 0 ? true : undefined));
  t.deepEqual(asked, [1000]);
  lookup.resolve();
  await untilThere('all requests are looked up', async () => {
    return (await mailJobsLeft(url)).length === 0 ? true : undefined;
  });
  t.deepEqual(asked, [1000, 1000, 500]);
  t.is(sent.length, 30);
});

test('notices are sent first, then the e-mails of account holders, then those that anyone can cause', async (t) => {
  const { enqueue, work } = await openQueue(t);
  const at = '2026-11-20T10:00:00.000Z';
  const each = <Job>(make: (i: number) => Job) => Array.from({ length: 20 }, (_, i) => make(i));
  await enqueue(...signUps(20));
  await enqueue(...each((i): MailJob => ({ mail: 'verify_email', accountId: `acct_${i}` })));
  const email = 'a@example.org';
  await enqueue(...each((): MailJob => ({ mail: 'notice', notice: 'password_changed', email, at })));
  const started: string[] = [];
  const [first, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await work({
    async send({ mail }) {
      started.push(mail);
      if (started.length === 20) first.resolve();
      if (started.length === 60) all.resolve();
      await first.promise;
    },
  });
  await within('all are sent', all.promise);
  t.deepEqual(new Set(started.slice(0, 20)), new Set(['notice']));
  t.deepEqual(new Set(started.slice(20, 30)), new Set(['verify_email']));
});

test('an e-mail that takes hours keeps its lease and is not sent again, and delays no other', async (t) => {
  const { enqueue, work, rows, url } = await openQueue(t);
  const [slowStarted, over, all] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  if (slowStarted === undefined || over === undefined || all === undefined) throw new Error('three are made');
  let others = 0;
  const slow: string[] = [];
  await enqueue({ mail: 'key_expires', keyId: 'slow' });
  const running = await work({
    async send(job, id) {
      if (job.mail === 'key_expires') {
        slow.push(id);
        slowStarted.resolve();
        await over.promise;
      } else if ((others += 1) === 60) all.resolve();
    },
  });
  await within('the slow one is under way', slowStarted.promise);
  await enqueue(...signUps(60));
  await within('the others are sent', all.promise);

  // As if it had begun yesterday; its lease is renewed every 3 s. Meanwhile the lease of a dead worker's job expires.
  const [begun] = await rows<{ at: Date }>(
    `update jobs.job set started_on = now() - interval '23 hours' where id = $1 returning now() as at`,
    slow,
  );
  await rows(
    `insert into jobs.job (name, data, state, heartbeat_on, heartbeat_seconds, started_on, policy)
     values ('mail', '{"mail":"sign_up"}', 'active', now() - interval '1 minute', 10, now(), 'standard')`,
  );
  await untilThere('the lease of the dead worker has lapsed', async () => {
    // Either due to be sent again, or already sent.
    return (await mailJobs(url)).find(
      ({ data, state }) => data.mail === 'sign_up' && !Object.hasOwn(data, 'signupId') && state !== 'active',
    );
  });
  const renewed = await untilThere('the lease of the slow one is renewed', async () => {
    const job = (await mailJobs(url)).find(({ id }) => id === slow[0]);
    return job?.heartbeatOn != null && begun !== undefined && job.heartbeatOn > begun.at ? job : undefined;
  });
  t.is(renewed.state, 'active');
  over.resolve();
  await running.close();
  t.is(slow.length, 1);
  t.is((await mailJobs(url)).find(({ id }) => id === slow[0])?.state, 'completed');
});

test('without a database nothing is written, and the next attempt starts over', async (t) => {
  const { db } = await openQueue(t);
  const nowhere = openJobs(db.sequelize, 'postgres://nobody@127.0.0.1:1/nothing', silentLog);
  const attempt = () =>
    db.inTransaction((transaction) =>
      nowhere.enqueue(transaction, { mail: 'reset_password', email: 'x@example.org' }),
    );
  await t.throwsAsync(attempt(), { code: 'ECONNREFUSED' });
  await t.throwsAsync(attempt(), { code: 'ECONNREFUSED' });
  await nowhere.close();
});
