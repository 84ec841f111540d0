// Generates the data of the series bench in PostgreSQL, as the bench measures reading, not loading.
import type pg from 'pg';
import { seriesNames } from './names.sql.ts';
import { measures } from './words.ts';

/** Monthly points since 1980. */
const pointDate = (number: string): string =>
  `(date '1980-02-01' + make_interval(months => ${number} - 1) - interval '1 day')::date`;

/** Digits like those of an index; different for each vintage of a point. */
const pointValue = (number: string, salt: string): string =>
  `(100 + 10 * sin(${number} + ${salt} * 0.001))::numeric(8, 2)`;

/** A series of `points` monthly points. Each vintage from the second on, a day apart, changes the newest `revised` points. */
export async function fillVintages(
  client: pg.Client,
  series: { id: string; points: number; vintages: number; revised: number },
): Promise<void> {
  const { id, points, vintages, revised } = series;
  await client.query(
    `with loads as (
       insert into data.loads (dataset, source_name, vintage, complete)
       select 'observations', $1, ${vintageDate('k')}, false from generate_series(1, $3::int) k
       returning load_no, vintage
     ), series as (
       insert into data.series (series_id, name, unit, frequency, source, first_date, last_date, observation_count,
         last_updated, data_version)
       select $1, 'Bench', 'Index', 'monthly', 'Bench', ${pointDate('1')}, ${pointDate('$2::int')}, $2, max(vintage),
         max(load_no) from loads
       returning series_no
     ), dims as (
       insert into data.series_dims (line_no, series_no, dims)
       select 1 + (select coalesce(max(line_no), 0) from data.series_dims), series_no, '{}' from series
     )
     insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised)
     select series_no, vintage, load_no, false, case when vintage = ${vintageDate('1')} then $2 else 0 end,
       case when vintage = ${vintageDate('1')} then 0 else $4::int end
     from series, loads`,
    [id, points, vintages, revised],
  );
  await client.query(
    `insert into data.observations
       (line_no, date, published_on, superseded_on, load_no, superseded_load_no, value)
     select d.line_no, ${pointDate('n')}, v.published_on,
       case when changes then coalesce(lead(v.published_on) over point, 'infinity') else 'infinity' end, v.load_no,
       case when changes then lead(v.load_no) over point end, ${pointValue('n', 'v.load_no')}
     from data.series s join data.vintages v using (series_no) join data.series_dims d using (series_no), generate_series(1, $2::int) n,
       lateral (select n > $2 - $3::int as changes) c
     where s.series_id = $1 and (changes or v.published_on = ${vintageDate('1')})
     window point as (partition by n order by v.published_on)
     order by v.published_on, n -- as loads would have left them`,
    [id, points, revised],
  );
}

/** The day of the k-th vintage, in SQL. */
function vintageDate(k: string): string {
  return `(date '2009-12-31' + ${k})`;
}

/**
 * `count` series S1, S2 …, each with this many monthly points and one vintage.
 * @param words of their names. Without them, all have the same name, and search and the catalogue do not find them.
 */
export async function fillSeries(
  client: pg.Client,
  count: number,
  points: number,
  words?: readonly string[],
): Promise<void> {
  // No triggers and foreign key checks: the generated data is correct.
  await client.query('set session_replication_role = replica');
  const indexes = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where schemaname = 'data' and tablename = 'observations'`,
  );
  for (const { name } of indexes.rows) await client.query(`drop index data.${name}`);
  const load = await client.query<{ load_no: string }>(
    `insert into data.loads (dataset, source_name, vintage, complete, keeps_statements)
     values ('observations', 'S', ${vintageDate('1')}, false, true) returning load_no`,
  );
  const loadNo = load.rows[0]?.load_no;
  await client.query(
    `insert into data.series (series_id, name, unit, frequency, source, category, geography, first_date, last_date,
       observation_count, last_updated, data_version)
     select 'S' || i, n.name, 'Index', 'monthly', n.source, n.category, n.geography, ${pointDate('1')},
       ${pointDate('$2::int')}, $2, ${vintageDate('1')}, $3
     from generate_series(1, $1::int) i, lateral ${words === undefined ? oneName : seriesNames('$4', '$5')} n`,
    [count, points, loadNo, ...(words === undefined ? [] : [measures, words])],
  );
  await client.query(
    `insert into data.series_dims (line_no, series_no, dims) select series_no, series_no, '{}' from data.series`,
  );
  await client.query(
    `insert into data.vintages (series_no, published_on, load_no, complete, points_new)
     select series_no, ${vintageDate('1')}, $2, false, $1 from data.series`,
    [points, loadNo],
  );
  await client.query(
    `insert into data.observations (line_no, date, published_on, load_no, value)
     select s.series_no, p.date, ${vintageDate('1')}, $2, p.value
     from data.series s, (
       select ${pointDate('n')} as date, ${pointValue('n', '0')} as value from generate_series(1, $1::int) n offset 0) p`,
    [points, loadNo],
  );
  for (const { definition } of indexes.rows) await client.query(definition);
  await client.query('set session_replication_role = origin');
  if (words !== undefined) await enterSearch(client, count);
  await client.query('vacuum analyze');
}

const oneName = `(select 'Bench' as name, 'Bench' as source, null as category, null as geography)`;

/** Creates the search entries of the series, as the loads that created them would have. */
async function enterSearch(client: pg.Client, count: number): Promise<void> {
  const atOnce = 50_000;
  for (let first = 1; first <= count; first += atOnce) {
    await client.query(
      `select data.refresh_search(array(select series_no from data.series where series_no between $1 and $2))`,
      [first, first + atOnce - 1],
    );
  }
}

/** One daily series of `places` combinations, each with this many points. */
export async function fillPlaces(
  client: pg.Client,
  id: string,
  places: number,
  points: number,
): Promise<void> {
  await client.query(
    `with load as (
       insert into data.loads (dataset, source_name, vintage, complete)
       values ('observations', $1, ${vintageDate('1')}, false) returning load_no
     ), series as (
       insert into data.series (series_id, name, unit, frequency, source, dimensions, first_date, last_date,
         observation_count, last_updated, data_version)
       select $1, 'Bench', 'Index', 'daily', 'Bench', '{place}', date '1980-01-01', date '1980-01-01' + $3::int - 1,
         $2::int * $3::int, ${vintageDate('1')}, load_no from load
       returning series_no, data_version
     ), vintage as (
       insert into data.vintages (series_no, published_on, load_no, complete, points_new)
       select series_no, ${vintageDate('1')}, data_version, false, $2::int * $3::int from series
     ), last as (
       select coalesce(max(line_no), 0) + 1 as line_no from data.series_dims
     ), dims as (
       insert into data.series_dims (line_no, series_no, dims)
       select last.line_no + i, series_no, jsonb_build_object('place', 'Place ' || i) from series, last, generate_series(0, $2::int - 1) i
     )
     insert into data.observations (line_no, date, published_on, load_no, value)
     select last.line_no + i, date '1980-01-01' + n, ${vintageDate('1')}, data_version, ${pointValue('n', 'i')}
     from series, last, generate_series(0, $2::int - 1) i, generate_series(0, $3::int - 1) n`,
    [id, places, points],
  );
}
