// The list of the vintages of a series, each the sum of its loads.
import { utc } from '../instants.sql.ts';
import { date, filled, instant, number, sorted } from '../list-fields.ts';
import type { List } from '../list.sql.ts';

/** The vintages that changed something. PostgreSQL pushes the conditions on `v` below the sums, so one series is read. */
export const vintagesList: List = {
  name: 'vintages',
  datasets: ['observations'],
  from: `(select v.series_no, v.published_on as vintage, sum(v.points_new) as points_new,
      sum(v.points_revised) as points_revised, sum(v.points_deleted) as points_deleted,
      max(l.loaded_at) filter (where v.points_new + v.points_revised + v.points_deleted > 0) as loaded_at
    from data.vintages v join data.loads l using (load_no)
    group by v.series_no, v.published_on
    having sum(v.points_new + v.points_revised + v.points_deleted) > 0) v`,
  fields: {
    vintage: sorted(filled(date('v.vintage'))),
    points_new: filled(number('v.points_new')),
    points_revised: filled(number('v.points_revised')),
    points_deleted: filled(number('v.points_deleted')),
    loaded_at: filled(instant(utc('v.loaded_at'))),
  },
  key: ['vintage'],
  sort: 'vintage',
};
