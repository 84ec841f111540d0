// The state of the data for /metrics: the loads of each dataset, and the age of the newest.
import type { Queryable } from '../../kernel/database.ts';
import type { Log } from '../../kernel/log/log.ts';
import { askedFigures } from '../../kernel/metrics/figures.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import { selectLoads, type DatasetLoads } from './loads-metrics.sql.ts';

export function loadsMetrics(database: Queryable, log: Log): Metric[] {
  const figures = askedFigures('the loads', () => selectLoads(database), log);
  const metric = (
    about: Pick<Metric, 'name' | 'help' | 'type'>,
    valueOf: (row: DatasetLoads) => number,
  ): Metric =>
    figures.metric(about, (rows) =>
      rows.map((row) => ({ labels: { dataset: row.dataset }, value: valueOf(row) })),
    );
  return [
    metric(
      { name: 'almanac_ingest_loads_total', help: 'Loads of a dataset.', type: 'counter' },
      ({ loads }) => loads,
    ),
    metric(
      { name: 'almanac_ingest_newest_load', help: 'The number of the newest load of a dataset.' },
      ({ newest }) => newest,
    ),
    metric(
      { name: 'almanac_ingest_newest_load_age_seconds', help: 'Since the newest load of a dataset.' },
      (row) => row.age_seconds,
    ),
  ];
}
