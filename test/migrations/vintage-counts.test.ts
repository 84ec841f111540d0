// The histories that an installation has stored out of order, before loads kept them in one form.
import test from 'ava';
import pg from 'pg';
import { migrate } from '../../migrations/run.ts';
import { createTestDatabase } from '../services/harness.ts';

test('the vintages that an installation has stored out of order are counted and dated anew when it is migrated', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.teardown(() => client.end());
  const rows = async (text: string) =>
    (await client.query<string[]>({ text, rowMode: 'array' })).rows.map(String);

  await client.query(`
    alter table data.vintages drop column takes_back;
    delete from public.almanac_migrations where name = '000083_vintage_counts';
    insert into data.loads (dataset, source_name, vintage, complete)
      select 'observations', '-', day, false from unnest('{2024-03-20,2024-03-10,2024-03-30,2024-03-25}'::date[]) day;
    insert into data.series (series_id, name, unit, frequency, source, last_updated, data_version)
      select id, id, 'Index', 'daily', 'Office', '2024-03-25', 4 from unnest('{MIXED,ORDERED}'::text[]) id;
    insert into data.series_dims (series_no, dims_no, dims) values (1, 0, '{}'), (2, 0, '{}');
    -- Of the 20th, then of the 10th, of the 30th (which repeats the 20th), and of the 25th.
    insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised)
      values (1, '2024-03-20', 1, false, 2, 0), (1, '2024-03-10', 2, false, 2, 0), (1, '2024-03-25', 4, false, 0, 1),
        (2, '2024-03-20', 1, false, 1, 0);
    insert into data.confirmations (series_no, dims_no, published_on, load_no, dates)
      values (1, 0, '2024-03-30', 3, '{[2024-01-01,2024-01-03)}');
    insert into data.observations
      (series_no, dims_no, date, published_on, superseded_on, load_no, superseded_load_no, value) values
      (1, 0, '2024-01-01', '2024-03-20', 'infinity', 1, null, 5), (1, 0, '2024-01-01', '2024-03-10', '2024-03-20', 2, 2, 5),
      (1, 0, '2024-01-02', '2024-03-10', '2024-03-20', 2, 2, 3), (1, 0, '2024-01-02', '2024-03-20', '2024-03-25', 1, 4, 5),
      (1, 0, '2024-01-02', '2024-03-25', '2024-03-30', 4, 4, 9), (1, 0, '2024-01-02', '2024-03-30', 'infinity', 4, null, 5),
      (2, 0, '2024-01-01', '2024-03-20', 'infinity', 1, null, 5)`);
  const migrated = await migrate(database.url);
  t.true(migrated.includes('000083_vintage_counts'));

  t.deepEqual(
    await rows(`select substr(date::text, 9), substr(published_on::text, 6), superseded_on::text, value
      from data.observations where series_no = 1 order by date, published_on`),
    [
      '01,03-10,infinity,5',
      '02,03-10,2024-03-20,3',
      '02,03-20,2024-03-25,5',
      '02,03-25,2024-03-30,9',
      '02,03-30,infinity,5',
    ],
  );
  t.deepEqual(
    await rows(`select series_no, substr(published_on::text, 6), load_no, points_new, points_revised, points_deleted,
      takes_back from data.vintages order by series_no, published_on`),
    ['1,03-10,2,2,0,0,', '1,03-20,1,0,1,0,', '1,03-25,4,0,1,0,0', '1,03-30,3,0,1,0,', '2,03-20,1,1,0,0,'],
  );
  t.deepEqual(await rows('select series_id, last_updated::text from data.series order by 1'), [
    'MIXED,2024-03-30',
    'ORDERED,2024-03-25',
  ]);
  t.deepEqual(await rows(`select dates from data.confirmations where published_on = '2024-03-20'`), [
    '{[2024-01-01,2024-01-02)}',
  ]);
});
