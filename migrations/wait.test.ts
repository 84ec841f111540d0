import test from 'ava';
import pg from 'pg';
import { waitForMigrations } from './wait.ts';
import { createTestDatabase } from '../test/services/harness.ts';

test('whoever waits for the migrations of this version goes on when the last one has been applied, and not before', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query('create table kept as select * from public.almanac_migrations');
  const newest = '(select max(name) from kept)';
  await client.query(`delete from public.almanac_migrations where name = ${newest}`);

  const reasons: string[] = [];
  const reported = Promise.withResolvers<void>();
  const print = (reason: string) => {
    reasons.push(reason);
    reported.resolve();
  };
  const waiting = waitForMigrations(database.url, { withinMs: 60_000, print });
  await Promise.race([reported.promise, waiting]);
  t.is(
    await Promise.race([waiting.then(() => 'gone on'), client.query('select 1').then(() => 'waits')]),
    'waits',
  );
  await client.query(`insert into public.almanac_migrations select * from kept where name = ${newest}`);
  await waiting;
  t.is(reasons.length, 1, 'a reason is reported once');
  t.regex(reasons[0] ?? '', /does not fit this version: it lacks \d+_\w+\.$/);
});

test('who has waited in vain says for what: the server, the role or the schema', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const wait = (url: string) => waitForMigrations(url, { withinMs: 0, print: () => undefined });
  await wait(database.url);
  const url = new URL(database.url);
  url.username = 'nobody_of_that_name';
  await t.throwsAsync(wait(url.href), { message: /in time: .*nobody_of_that_name/ });
  url.port = '1';
  await t.throwsAsync(wait(url.href), { message: /in time: .*ECONNREFUSED/ });
});
