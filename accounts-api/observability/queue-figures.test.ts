import test from 'ava';
import { PgBoss } from 'pg-boss';
import { connect } from '../database.ts';
import { openJobs } from '../jobs/jobs.ts';
import { createTestDatabase, silentLog } from '../../test/services/harness.ts';
import { createQueueFigures, readMax } from './queue-figures.ts';

test('due, delayed, running and permanently failed jobs are counted, and the delay of the oldest is reported', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const db = connect(database.url);
  t.teardown(() => db.close());
  const jobs = openJobs(db.sequelize, database.url, silentLog); // creates the tables
  t.teardown(() => jobs.close());
  await db.inTransaction((transaction) => jobs.enqueue(transaction, { mail: 'sign_up', signupId: 'sup_1' }));
  const boss = new PgBoss({ connectionString: database.url, schema: 'jobs', createSchema: false });
  await boss.start();
  t.teardown(() => boss.stop({ graceful: false }));
  await boss.createQueue('elsewhere', { retryLimit: 0 });
  const read = createQueueFigures(boss, ['elsewhere']);
  const none = { queue: 'elsewhere', due: 0, later: 0, active: 0, failed: 0, overdueSeconds: 0 };
  t.deepEqual(await read(), [none]);

  const at = (seconds: number) => ({ startAfter: new Date(Date.now() + seconds * 1_000) });
  const failing = await boss.send('elsewhere', {}, at(-1_000));
  await boss.fetch('elsewhere');
  await boss.fail('elsewhere', failing ?? '');
  await boss.send('elsewhere', {}, at(-500));
  await boss.fetch('elsewhere');
  await boss.send('elsewhere', {}, at(-100));
  await boss.send('elsewhere', {}, at(-50));
  await boss.send('elsewhere', {}, at(3_600));
  await boss.supervise('elsewhere'); // counts immediately
  const [figures] = await read();
  const { overdueSeconds = Number.NaN, ...counts } = figures ?? {};
  t.true(overdueSeconds >= 100 && overdueSeconds < 500, String(overdueSeconds));
  t.deepEqual(counts, { queue: 'elsewhere', due: 2, later: 1, active: 1, failed: 1 });
});

test('a queue too long to be read counts as late since the last reading, until none of its jobs is due', async (t) => {
  let now = 1_000_000;
  const stats = { readyCount: 1, deferredCount: 0, queuedCount: 1, activeCount: 0, failedCount: 0 };
  const boss = {
    getQueueStats: () =>
      Promise.resolve([{ ...stats, name: 'mail', totalCount: 0, capturedOn: new Date(now) }]),
    findJobs: () => Promise.resolve([{ startAfter: new Date(now - 5_000) }]),
  } as unknown as PgBoss;
  const read = createQueueFigures(boss, ['mail'], () => now);
  const overdue = async () => (await read())[0]?.overdueSeconds;
  t.is(await overdue(), 5);
  Object.assign(stats, { queuedCount: readMax + 1, readyCount: readMax + 1 });
  now += 60_000;
  t.is(await overdue(), 65);
  Object.assign(stats, { readyCount: 0, deferredCount: readMax + 1 });
  t.is(await overdue(), 0);
  Object.assign(stats, { readyCount: readMax + 1, deferredCount: 0 });
  t.is(await overdue(), 0);
  now += 7_000;
  t.is(await overdue(), 7, 'since it was first seen');
});
