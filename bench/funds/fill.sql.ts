// Fills the NAVs of the funds bench by SQL: loading thirty million would take a quarter of an hour.
import type { Database } from '../../kernel/database.ts';

/**
 * Writes a NAV per weekday for each fund, on a smooth path of its own, and assets once a month. The years before the last are written without
 * indexes, which are then built, as a load of history leaves them. @returns the number of NAVs.
 */
export async function writeNavs(
  database: Database,
  years: { oldFunds: number; firstYear: number; firstYearOfMost: number; lastYear: number },
): Promise<number> {
  return database.transaction(async (on) => {
    const write = (first: number, last: number) =>
      on.query(
        `insert into data.navs (fund_no, date, nav, aum)
         select f.fund_no, day::date, round((100 * exp(t / 4000.0 + 0.1 * sin(t / (20.0 + f.fund_no % 17))))::numeric, 4),
           case when extract(day from day) = 28 then 1000 * f.fund_no end
         from generate_series(make_date($1, 1, 1), make_date($2, 12, 31), interval '1 day') day,
           -- One day at a time: the subquery refers to the day, so days are the outer loop.
           lateral (select fund_no, day::date - date '2006-01-01' as t from data.funds
             where extract(year from day) >= $3 or fund_no <= $4 offset 0) f
         where extract(isodow from day) < 6`,
        [first, last, years.firstYearOfMost, years.oldFunds],
      );
    // The figures are computed once, from the day that is loaded last.
    await on.query('alter table data.navs disable trigger user');
    await on.query('alter table data.navs set unlogged'); // makes no difference to readers
    const dropped = await on.query<{ make: string }>(
      `select pg_get_indexdef(indexrelid) as make from pg_index where indrelid = 'data.navs'::regclass and not indisprimary`,
    );
    await on.query('alter table data.navs drop constraint navs_pkey');
    await on.query('drop index data.navs_with_aum');
    await write(years.firstYear, years.lastYear - 1);
    await on.query(`set local maintenance_work_mem = '1GB'`);
    await on.query('alter table data.navs add primary key (fund_no, date) include (nav)');
    for (const { make } of dropped) await on.query(make);
    await write(years.lastYear, years.lastYear);
    await on.query('alter table data.navs enable trigger user');
    const [row] = await on.query<{ count: number }>('select count(*) as count from data.navs');
    return row?.count ?? 0;
  });
}
