import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { migrate } from './run.ts';

test('an owner who is no superuser migrates a database of its own, and gives the roles their rights, as often as wanted', async (t) => {
  const server = process.env['TEST_POSTGRES_URL'] ?? '';
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  t.teardown(() => admin.end());
  await admin.query(`create role ${name} login password 'of a test'`);
  t.teardown(() => admin.query(`drop role ${name}`));
  await admin.query(`create database ${name} owner ${name}`);
  t.teardown(() => admin.query(`drop database ${name} with (force)`));

  const url = Object.assign(new URL(server), {
    pathname: `/${name}`,
    username: name,
    password: 'of a test',
  }).href;
  await migrate(url);
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  t.teardown(() => owner.end());
  const rights = readFileSync(path.join(import.meta.dirname, 'roles.sql'), 'utf8');
  for (let time = 0; time < 2; time += 1) await owner.query(rights);
  const { rows } = await owner.query(
    `select has_table_privilege('almanac_data_api', 'data.series', 'select') as reads,
            has_table_privilege('almanac_data_api', 'data.series', 'insert, update, delete') as writes,
            has_schema_privilege('almanac_data_api', 'accounts', 'usage') as enters,
            has_table_privilege('almanac_accounts_api', 'accounts.sessions', 'insert') as keeps,
            has_schema_privilege('almanac_accounts_api', 'jobs', 'create') as queues,
            has_schema_privilege('almanac_data_api', 'events', 'usage')
              or has_table_privilege('almanac_data_api', 'events.outbox', 'select, insert, update, delete') as hears,
            has_table_privilege('almanac_accounts_api', 'events.outbox', 'insert') as reports,
            has_table_privilege('almanac_accounts_api', 'events.updates', 'select')
              and not has_table_privilege('almanac_accounts_api', 'events.updates', 'insert, update, delete')
              and not has_schema_privilege('almanac_accounts_api', 'data', 'usage') as repeats,
            (select bool_and(has_table_privilege('almanac_accounts_api', 'events.' || view, 'select'))
               from unnest('{series,series_ids,points,series_words}'::text[]) view) as follows,
            has_database_privilege('almanac_data_api', current_database(), 'temporary') as fills,
            has_table_privilege('almanac_publisher', 'data.series', 'insert') as loads,
            has_table_privilege('almanac_publisher', 'embargo.pieces', 'select') as releases,
            has_table_privilege('almanac_publisher', 'data.audit_events', 'update, delete')
              or has_table_privilege('almanac_publisher', 'embargo.history', 'update, delete') as forges,
            has_schema_privilege('almanac_data_api', 'embargo', 'usage')
              or has_schema_privilege('almanac_accounts_api', 'embargo', 'usage') as foresees,
            has_schema_privilege('almanac_publisher', 'accounts', 'usage')
              or has_table_privilege('almanac_publisher', 'events.outbox', 'select') as pries`,
  );
  t.deepEqual(rows, [
    {
      ...{ reads: true, writes: false, enters: false, keeps: true, queues: true, follows: true },
      ...{ hears: false, reports: true, repeats: true, fills: false },
      ...{ loads: true, releases: true, forges: false, foresees: false, pries: false },
    },
  ]);

  const reader = new pg.Client({
    connectionString: Object.assign(new URL(server), { pathname: `/${name}` }).href,
  });
  await reader.connect();
  t.teardown(() => reader.end());
  await reader.query('set session authorization almanac_data_api');
  await t.notThrowsAsync(reader.query('select from data.series'));
  // The URL of a published file may carry a token.
  const denied = { code: '42501', message: /published_files/ };
  await t.throwsAsync(reader.query('select from data.published_files'), denied);
  await t.notThrowsAsync(reader.query('select from data.fetched_sources'));
  await t.throwsAsync(reader.query('select url from embargo.sources'), { code: '42501' });
});
