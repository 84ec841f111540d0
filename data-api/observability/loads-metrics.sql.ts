// The statement about loads for /metrics.
import type { Queryable } from '../../kernel/database.ts';

export interface DatasetLoads {
  dataset: string;
  loads: number;
  /** The number of the newest. */
  newest: number;
  /** When the newest was loaded, by the clock of the database. */
  age_seconds: number;
}

/** A row for each dataset that was ever loaded. */
export function selectLoads(database: Queryable): Promise<DatasetLoads[]> {
  return database.query(
    `select dataset, count(*)::int as loads, max(load_no) as newest,
            greatest(extract(epoch from clock_timestamp() - max(loaded_at)), 0)::float8 as age_seconds
     from data.loads group by dataset order by dataset`,
    [],
    'loads_by_dataset',
  );
}
