// The series of the front page: those with the newest data, and those that the operator has chosen.
import type { Queryable } from '../../kernel/database.ts';
import type { Row } from '../../kernel/http/list.ts';
import { catalogList } from '../discovery/discovery.sql.ts';
import { readRows } from '../list.ts';
import { date, filled, number } from '../list-fields.ts';
import { Conditions, type List } from '../list.sql.ts';
import { isStale } from '../search/ranking.sql.ts';

/**
 * The newest series are chosen by their vintages from this many that were published last. New data are never published after the last
 * publication, so a series is missed only if a load revises more series than this without new points for them.
 */
const candidatesMax = 2_000;

const newDataOn = filled(date('new_data_on'));
export const newestFields = { ...catalogList.fields, new_data_on: newDataOn };

/**
 * The series whose newest publication with new points is the latest, latest first. Series whose last observation is old for their frequency
 * are left out: old data that was loaded today is not new.
 * @param today the day for judging age; null: no series is old.
 */
export function readNewestSeries(
  database: Queryable,
  { today, limit }: { today: string | null; limit: number },
): Promise<Row[]> {
  const where = new Conditions();
  const day = `$${where.values.push(today)}::date`;
  const from = `(
    select candidate.*, (select max(v.published_on) from data.vintages v
      where v.series_no = candidate.series_no and v.points_new > 0) as new_data_on
    from (
      select * from data.series s where s.deleted_on is null and s.last_date is not null and not ${isStale('s', day)}
      order by s.last_updated desc, s.last_date desc, s.series_id limit ${candidatesMax}) candidate) series`;
  where.sql.push('new_data_on is not null');
  const list: List = { ...catalogList, from, fields: newestFields, key: ['last_date', 'id'] };
  return readRows(database, list, where, { sort: '-new_data_on', limit, fields: Object.keys(newestFields) });
}

/** The series with the ids, now or earlier, in their order; those that are not served are left out. */
export function readChosenSeries(database: Queryable, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return Promise.resolve([]);
  const where = new Conditions();
  const asked = `$${where.values.push(ids)}::text[]`;
  const from = `(
    select s.*, w.place from unnest(${asked}) with ordinality as w (asked, place)
    join data.series s on s.series_no = coalesce(
      (select a.series_no from data.series_aliases a where a.alias = w.asked),
      (select o.series_no from data.series o where o.series_id = w.asked))
    where s.deleted_on is null) series`;
  const list: List = {
    ...catalogList,
    from,
    fields: { ...catalogList.fields, place: filled(number('place')) },
  };
  const fields = Object.keys(catalogList.fields);
  return readRows(database, list, where, { sort: 'place', limit: ids.length, fields });
}
