// The stored and the expected content of the tables for series, given their states on each day.
import type { Queryable } from '../../kernel/database.ts';

/** The series of the ids, by id: their facts, their points at the end of each day, and what each vintage changed. */
export async function readStored(
  on: Queryable,
  ids: readonly string[],
  days: readonly string[],
): Promise<unknown> {
  const [row] = await on.query<{ found: unknown }>(everythingSql, [ids, days]);
  return row?.found;
}

/** The expected rows of one series, without its id and the facts that do not depend on its points. @param tables by day: point → state. */
export function historyOf(days: readonly string[], tables: readonly ReadonlyMap<string, string>[]) {
  const vintages = days.flatMap((day, i) =>
    changeOf(day, tables[i - 1] ?? new Map<string, string>(), tables[i] ?? new Map<string, string>()),
  );
  const dates = [...(tables.at(-1) ?? [])]
    .filter(([, state]) => !state.startsWith('|'))
    .map(([point]) => point.slice(0, 10))
    .toSorted();
  return {
    tables: tables.map((table) => [...table].map(([point, state]) => `${point}=${state}`).toSorted()),
    vintages,
    last_updated: vintages.at(-1)?.slice(0, 10) ?? null,
    observation_count: dates.length,
    ...{ first_date: dates[0] ?? null, last_date: dates.at(-1) ?? null },
  };
}

function changeOf(
  day: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const added = [...after.keys()].filter((point) => !before.has(point)).length;
  const revised = [...after].filter(
    ([point, state]) => before.has(point) && before.get(point) !== state,
  ).length;
  const deleted = [...before.keys()].filter((point) => !after.has(point)).length;
  return added + revised + deleted === 0 ? [] : [[day, added, revised, deleted].join()];
}

const everythingSql = `
  select coalesce(json_agg(json_build_object('id', series_id, 'deleted_on', deleted_on, 'unit', unit,
      'breaks', (select coalesce(json_agg(concat_ws(',', date, from_unit, declared_on) order by date), '[]')
        from data.series_breaks b where b.series_no = series.series_no),
      'tables', (select json_agg(points order by day) from (
        select day, coalesce(json_agg(concat(o.date, ' ', d.dims->>'side', '=', o.value, '|', o.status)
            order by concat(o.date, ' ', d.dims->>'side', '=', o.value, '|', o.status) collate "C")
          filter (where o.date is not null), '[]') as points
        from unnest($2::date[]) day
        left join (data.observations o join data.series_dims d using (line_no))
          on d.series_no = series.series_no and o.published_on <= day and o.superseded_on > day
        group by day) t),
      'vintages', (select coalesce(json_agg(concat_ws(',', published_on, n, r, d) order by published_on), '[]') from (
        select published_on, sum(points_new) as n, sum(points_revised) as r, sum(points_deleted) as d
        from data.vintages where series_no = series.series_no group by published_on
        having sum(points_new + points_revised + points_deleted) > 0) v),
      'last_updated', last_updated, 'observation_count', observation_count, 'first_date', first_date, 'last_date', last_date
    ) order by series_id collate "C"), '[]') as found
  from data.series where series_id = any($1)`;
