// The statements that compare two series, copy the points of one to the other, and move its ids.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { insertFormerFacts } from '../../load/store/former-facts.sql.ts';
import { markChanged, refreshSearch } from '../../load/store/after-series-change.sql.ts';
import { recordedContent } from '../../load/store/stated-rows.sql.ts';

/** The properties that must be equal to merge two series. */
export interface Shape {
  unit: string;
  frequency: string;
  fiscal_year_end: string | null;
  unit_multiplier: number | null;
  /** Sorted; null if no point of the series was ever published. */
  dimensions: string[] | null;
}

export async function findShape(on: Transaction, seriesNo: number): Promise<Shape> {
  const shapes = await on.query<Shape>(
    `select unit, frequency, fiscal_year_end, unit_multiplier,
       case when exists (select from data.series_dims d where d.series_no = s.series_no)
         then array(select d from unnest(s.dimensions) d order by d collate "C") end as dimensions
     from data.series s where series_no = $1`,
    [seriesNo],
  );
  return entryAt(shapes, 0);
}

/** The id of a series that was merged into this one, if any. */
export async function findMergedInto(on: Transaction, seriesNo: number): Promise<string | undefined> {
  const [found] = await on.query<{ id: string }>(
    `select o.series_id as id from data.series_aliases a join data.series o on o.series_no = a.merged_from
     where a.series_no = $1 limit 1`,
    [seriesNo],
  );
  return found?.id;
}

/** A point that both series have. Values are null where it was published as missing. */
export interface Conflict {
  date: string;
  dims: Readonly<Record<string, string>>;
  old: string | null;
  into: string | null;
}

/** Two series by number. */
export interface Pair {
  old: number;
  into: number;
}

/** The live point of the other series that matches the point `o` with the dimension values of `d`. */
const counterpart = (into: string) =>
  `data.series_dims nd join data.observations n
     on n.line_no = nd.line_no and n.date = o.date and n.superseded_on = 'infinity'
   where nd.series_no = ${into} and nd.dims = d.dims`;

/** Today's points for which both series have different values: how many, and the first of them. */
export async function findConflicts(
  on: Transaction,
  { old, into }: Pair,
  limit: number,
): Promise<{ count: number; first: Conflict[] }> {
  const found = await on.query<{ count: number; first: Conflict[] }>(
    `with differing as materialized (
       select o.date, d.dims, o.value::text as old, n.value::text as "into"
       from data.observations o join data.series_dims d using (line_no)
       cross join lateral (select n.value from ${counterpart('$2')}) n
       where d.series_no = $1 and o.superseded_on = 'infinity' and o.value is distinct from n.value
     )
     select (select count(*)::int from differing) as count,
       (select coalesce(json_agg(c), '[]') from (
          select date, dims, old, "into" from differing order by date, dims::text limit $3) c) as first`,
    [old, into, limit],
  );
  return entryAt(found, 0);
}

export interface MergedPoint {
  line_no: number;
  date: string;
  value: string | null;
  status: string | null;
  dims: Readonly<Record<string, string>>;
}

/** The next of today's points after the given position, in order: all, or only those that the other series does not have. */
export function readPointsToMerge(
  on: Transaction,
  { old, into }: Pair,
  { after, all, limit }: { after: { line_no: number; date: string }; all: boolean; limit: number },
): Promise<MergedPoint[]> {
  return on.query<MergedPoint>(
    `select o.line_no, o.date, o.value::text as value, o.status, d.dims
     from (select line_no, dims from data.series_dims where series_no = $1 and line_no >= $3 order by line_no) d
     join data.observations o using (line_no)
     where o.superseded_on = 'infinity' and o.date > case when d.line_no = $3 then $4 else '-infinity' end::date
       and ($5 or not exists (select from ${counterpart('$2')}))
     order by o.line_no, o.date limit $6`,
    [old, into, after.line_no, after.date, all, limit],
  );
}

/**
 * Turns the ids of the old series into aliases of the other one, which also replaces it in the calendar. The old series is not served from
 * the day on.
 */
export async function moveIds(
  on: Transaction,
  { old, into, oldId, intoId, day }: Pair & { oldId: string; intoId: string; day: string },
): Promise<void> {
  await on.query(insertFormerFacts('aliases', '$1, $2', { day: '$3' }), [old, into, day]);
  await on.query(
    'update data.series_aliases set series_no = $2, merged_from = $1, merged_on = $3 where series_no = $1',
    [old, into, day],
  );
  await on.query(
    'insert into data.series_aliases (alias, series_no, merged_from, merged_on) values ($1, $2, $3, $4)',
    [oldId, into, old, day],
  );
  await on.query(
    `with kept as (${insertFormerFacts('series', '$1', { day: '$2' })})
     update data.series set deleted_on = $2, row_version = row_version + 1, updated_at = now() where series_no = $1`,
    [old, day],
  );
  await on.query(
    'create temp table former_releases (release_id text, row_no bigint, load_no bigint, content jsonb) on commit drop',
  );
  await on.query(
    `insert into former_releases
     select release_id, coalesce(row_no, nextval('data.row_nos')), load_no, ${recordedContent}
     from data.releases k where series_ids @> array[$1]`,
    [oldId],
  );
  await on.query(
    `update data.releases set series_ids = case when series_ids @> array[$2] then array_remove(series_ids, $1)
       else array_replace(series_ids, $1, $2) end
     where series_ids @> array[$1]`,
    [oldId, intoId],
  );
}

/** Marks the load as the merge's, also in the calendar, and copies labels and the notes on the copied points. */
export async function completeMerge(
  on: Transaction,
  { old, into, loadNo, reason }: Pair & { loadNo: number; reason: string | null },
): Promise<void> {
  await on.query('update data.loads set reason = $2 where load_no = $1', [loadNo, reason]);
  await on.query('update data.series_aliases set merged_by = $2 where merged_from = $1', [old, loadNo]);
  await on.query(
    `with replaced as (
       insert into data.replaced_rows (row_no, load_no, replaced_by, content)
       select row_no, load_no, $1, content from former_releases)
     update data.releases r set row_no = f.row_no, load_no = $1 from former_releases f where f.release_id = r.release_id`,
    [loadNo],
  );
  await on.query(
    `with kept as (${insertFormerFacts('labels', '$2', { load: '$3' })})
      insert into data.dimension_labels (series_no, dimension, value, label)
     select $2, dimension, value, label from data.dimension_labels where series_no = $1 on conflict do nothing`,
    [old, into, loadNo],
  );
  await on.query(
    `with kept as (${insertFormerFacts('notes', '$2', { load: '$3' })})
     insert into data.footnotes (series_no, date, dims, mark, text)
     select $2, f.date, f.dims, f.mark, f.text from data.footnotes f
     where f.series_no = $1 and exists (
       select from data.series_dims join data.observations o using (line_no)
       where series_no = $2 and o.date = f.date and o.load_no = $3)
     on conflict do nothing`,
    [old, into, loadNo],
  );
  await markChanged(on, [into], loadNo);
  await refreshSearch(on, [old, into]);
}

/** Reverts a merge: the old series gets its ids back, and is served again. */
export async function restoreMergedIds(
  on: Transaction,
  { old, oldId, into, loadNo }: Pair & { oldId: string; loadNo: number },
): Promise<void> {
  await on.query(insertFormerFacts('aliases', '$1, $2', { load: '$3' }), [old, into, loadNo]);
  await on.query('delete from data.series_aliases where merged_from = $1 and alias = $2', [old, oldId]);
  await on.query(
    `update data.series_aliases set series_no = $1, merged_from = null, merged_on = null, merged_by = null
     where merged_from = $1`,
    [old],
  );
  await markChanged(on, [into], loadNo);
  await refreshSearch(on, [into]);
}
