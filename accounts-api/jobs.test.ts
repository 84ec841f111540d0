import test from 'ava';
import { createTestDatabase, silentLog } from '../test/services/harness.ts';
import { connect } from './database.ts';
import { openJobs, startWork, type MailJob } from './jobs.ts';

const database = await createTestDatabase();
const db = connect(database.url);
test.after.always(async () => {
  await db.close();
  await database.drop();
});

test('a job exists if and only if its transaction commits, and one that fails is done again', async (t) => {
  const jobs = openJobs(db.sequelize, database.url, silentLog);
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
  const work = await startWork(database.url, silentLog, async (job) => {
    if (failures === 0) {
      failures += 1;
      throw new Error('for once');
    }
    done.push(job);
    if (done.length === 2) all.resolve();
    return Promise.resolve();
  });
  await all.promise;
  await work.close();
  await jobs.close();
  const emails = done.map((job) => (job.mail === 'reset_password' ? job.email : ''));
  t.deepEqual(emails.sort(), ['one@example.org', 'two@example.org']);
});

test('without a database nothing is written and the next attempt starts afresh', async (t) => {
  const nowhere = openJobs(db.sequelize, 'postgres://nobody@127.0.0.1:1/nothing', silentLog);
  const attempt = () =>
    db.inTransaction((transaction) =>
      nowhere.enqueue(transaction, { mail: 'reset_password', email: 'x@example.org' }),
    );
  await t.throwsAsync(attempt(), { code: 'ECONNREFUSED' });
  await t.throwsAsync(attempt(), { code: 'ECONNREFUSED' });
  await nowhere.close();
});
