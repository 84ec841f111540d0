// Stores the former facts of changed series, for keys pinned to a day before the change.

/** The kinds of facts that are stored: the row of data.series, or all rows of a series in another table. */
export type KindOfFacts = 'series' | 'aliases' | 'labels' | 'notes';

/** Columns that loads of points maintain are not stored: they are computed from the points. */
const computed = `'{series_no,dimensions,first_date,last_date,observation_count,last_updated,data_version,row_version,created_at,updated_at}'::text[]`;
const rowsOf = (table: string): string =>
  `(select coalesce(jsonb_agg(to_jsonb(r) - 'series_no'), '[]') from ${table} r where r.series_no = s.series_no)`;
const contents: Readonly<Record<KindOfFacts, string>> = {
  series: `to_jsonb(s) - ${computed}`,
  aliases: rowsOf('data.series_aliases'),
  labels: rowsOf('data.dimension_labels'),
  notes: rowsOf('data.footnotes'),
};

/**
 * An insertion of the facts as they are before the statement. Within a statement that changes them, these are the former facts. Of several changes on
 * a day, only the first stores the facts.
 * @param seriesNos SQL for the numbers of the series. @param change SQL for the number of the load that changes them; or for the day of a merge.
 */
export const insertFormerFacts = (
  kind: KindOfFacts,
  seriesNos: string,
  change: { load: string } | { day: string },
): string => `
  insert into data.former_facts (kind, series_no, replaced_on, load_no, content, updated_at)
  select '${kind}', s.series_no, l.day, l.load_no, ${contents[kind]}, s.updated_at
  from data.series s cross join (${'load' in change ? `select vintage as day, load_no from data.loads where load_no = ${change.load}` : `select ${change.day}::date as day, null::bigint as load_no`}) l
  where s.series_no in (${seriesNos})
  on conflict (kind, series_no, replaced_on) do update set load_no = coalesce(excluded.load_no, former_facts.load_no)`;
