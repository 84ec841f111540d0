// Series for tests of reads: created and published by plain SQL, newest vintage last.
// Knows the storage model, so that tests need not. Unlike the loader, which has its own tests, it does not support backfills.
import type pg from 'pg';

export interface FixturePoint {
  date: string;
  /** Published digits; null: published as missing. */
  value: string | null;
  dims?: Record<string, string>;
  status?: string;
}

export interface FixtureSeries {
  id: string;
  name?: string;
  unit?: string;
  frequency?: string;
  source?: string;
  description?: string;
  geography?: string;
  category?: string;
  tags?: string[];
  dimensions?: string[];
}

/** Creates a series without points. */
export async function makeSeries(pool: pg.Pool, series: FixtureSeries): Promise<void> {
  const made = await pool.query<{ series_no: number }>(
    `insert into data.series (series_id, name, unit, frequency, source, description, geography, category, tags, dimensions)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning series_no`,
    [
      series.id,
      series.name ?? `Series ${series.id}`,
      series.unit ?? 'USD',
      series.frequency ?? 'monthly',
      series.source ?? 'Bureau of Examples',
      series.description ?? null,
      series.geography ?? null,
      series.category ?? null,
      series.tags ?? [],
      series.dimensions ?? [],
    ],
  );
  await refreshSearch(pool, made.rows[0]?.series_no);
}

/** Updates the search entry of the series, as every writer must. */
async function refreshSearch(on: pg.Pool | pg.PoolClient, seriesNo: number | undefined): Promise<void> {
  await on.query('select data.refresh_search(array[$1::integer])', [seriesNo]);
}

/**
 * Publishes points as of a vintage, in one transaction: changed points are revised, new ones added.
 * @param vintage not before the newest one of the series.
 * @param complete points that are not given are deleted.
 */
export async function publish(
  pool: pg.Pool,
  seriesId: string,
  vintage: string,
  points: readonly FixturePoint[],
  { complete = false } = {},
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(4115202)'); // the load lock, under which lines are numbered
    await load(client, seriesId, vintage, points, complete);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

async function load(
  client: pg.PoolClient,
  seriesId: string,
  vintage: string,
  points: readonly FixturePoint[],
  complete: boolean,
): Promise<void> {
  const loaded = await client.query<{ load_no: string }>(
    `insert into data.loads (dataset, source_name, vintage, complete) values ('observations', '-', $1, $2) returning load_no`,
    [vintage, complete],
  );
  const found = await client.query<{ series_no: number }>(
    'select series_no from data.series where series_id = $1 for update',
    [seriesId],
  );
  const loadNo = loaded.rows[0]?.load_no;
  const seriesNo = found.rows[0]?.series_no;
  await client.query(
    `create temporary table stage on commit drop as
       select (p->>'date')::date as date, (p->>'value')::numeric as value, coalesce(p->'dims', '{}') as dims,
         p->>'status' as status
       from jsonb_array_elements($1::jsonb) p`,
    [JSON.stringify(points)],
  );
  await client.query(
    `insert into data.series_dims (series_no, line_no, dims)
     select $1, (select coalesce(max(line_no), 0) from data.series_dims) + row_number() over (order by dims), dims
     from (select distinct dims from stage) new
     where not exists (select from data.series_dims old where old.series_no = $1 and old.dims = new.dims)`,
    [seriesNo],
  );
  await refreshSearch(client, seriesNo);
  const counts = await client.query(
    `with incoming as (
       select d.line_no, s.date, s.value, s.status from stage s
       join data.series_dims d on d.series_no = $1 and d.dims = s.dims
     ), compared as (
       select coalesce(i.line_no, o.line_no) as line_no, coalesce(i.date, o.date) as date, i.value, i.status,
         i.date is not null as stated, o.date is not null as known,
         (i.value::text, i.status) is distinct from (o.value::text, o.status) as differs
       from incoming i full join (
         select * from data.series_dims join data.observations using (line_no) where series_no = $1 and superseded_on = 'infinity'
       ) o on o.line_no = i.line_no and o.date = i.date
     ), closed as (
       update data.observations o set superseded_on = $2, superseded_load_no = $3 from compared c
       where o.superseded_on = 'infinity' and c.line_no = o.line_no and c.date = o.date
         and (case when c.stated then c.differs else $4 end)
       returning c.stated
     ), added as (
       select line_no, date, value, status, known from compared where stated and (differs or not known)
     ), counted as (
       select (select count(*) from added where not known) as added, (select count(*) from closed where stated) as revised,
         (select count(*) from closed where not stated) as deleted
     )
     insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
     select $1, $2, $3, $4, added, revised, deleted from counted`,
    [seriesNo, vintage, loadNo, complete],
  );
  if (counts.rowCount !== 1) throw new Error('the vintage was not written');
  // A separate statement, as the live index accepts the new row only once the old one has ended.
  await client.query(
    `insert into data.observations (line_no, date, published_on, load_no, value, status)
     select d.line_no, s.date, $2, $3, s.value, s.status from stage s
     join data.series_dims d on d.series_no = $1 and d.dims = s.dims
     where not exists (select from data.observations o where o.line_no = d.line_no
       and o.date = s.date and o.superseded_on = 'infinity')`,
    [seriesNo, vintage, loadNo],
  );
  await client.query(
    `update data.series set data_version = $2, row_version = row_version + 1, last_updated = greatest(last_updated, $3), (first_date, last_date, observation_count) = (
       select min(date), max(date), count(*) from data.series_dims join data.observations using (line_no)
       where series_no = $1 and superseded_on = 'infinity' and value is not null)
     where series_no = $1`,
    [seriesNo, loadNo, vintage],
  );
}
