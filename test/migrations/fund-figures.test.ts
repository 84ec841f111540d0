// What a migration makes of the figures of funds that an installation has stored: which funds are stale, and where fytd begins.
import test from 'ava';
import pg from 'pg';
import { fiscalYearOf } from '../../domain/funds/returns.ts';
import { addDays } from '../../kernel/dates.ts';
import { migrate } from '../../migrations/run.ts';
import { createTestDatabase } from '../services/harness.ts';

test('stored figures are given staleness and the first day of their fiscal year, before any load', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.teardown(() => client.end());
  const names = ['000095_stale_funds', '000096_fiscal_years'];
  await client.query(`
    drop function data.keep_stale_funds();
    alter table data.fund_figures drop column is_stale, drop column fytd_from;
    alter table data.funds drop column fiscal_year_first_month;
    alter table data.amcs drop column fiscal_year_first_month`);
  await client.query('delete from public.almanac_migrations where name = any($1)', [names]);
  const newest = '2024-08-31';
  const days = Array.from({ length: 500 }, (_, i) => addDays(newest, -i));
  await client.query(
    `with added as (
       insert into data.funds (fund_id, name, currency, source)
       select 'fund-' || day, 'Fund', 'PKR', 'Register' from unnest($1::date[]) day returning fund_no, fund_id)
     insert into data.fund_figures (fund_no, fund_id, as_of, updated_on)
     select fund_no, fund_id, substr(fund_id, 6)::date, current_date from added`,
    [days],
  );
  t.deepEqual(await migrate(database.url), names);
  const { rows } = await client.query<object>(
    'select as_of::text, is_stale, fytd_from::text from data.fund_figures order by as_of desc',
  );
  t.deepEqual(
    rows,
    days.map((day) => ({
      as_of: day,
      is_stale: day < addDays(newest, -30),
      fytd_from: fiscalYearOf(day, '07-01'),
    })),
  );
});
