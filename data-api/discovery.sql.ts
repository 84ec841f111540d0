// Every statement of discovery: the catalogue and the state of the sources.
// Hides what a word of the catalogue's filters is looked for in.
import type { Queryable } from '../kernel/database.ts';
import { Conditions, escapeLike, type List } from './list.sql.ts';

/** The series in their short form. */
export const catalogList: List = {
  name: 'catalog',
  datasets: ['series', 'observations', 'commodity-items', 'commodity-prices'],
  from: 'data.series',
  fields: {
    id: { sql: 'series_id', kind: 'text', sort: 'filled' },
    name: { sql: 'name', kind: 'text' },
    unit: { sql: 'unit', kind: 'text' },
    frequency: { sql: 'frequency', kind: 'text' },
    source: { sql: 'source', kind: 'text' },
    category: { sql: 'category', kind: 'text' },
    geography: { sql: 'geography', kind: 'text' },
    tags: { sql: 'tags', kind: 'json' },
    first_date: { sql: 'first_date', kind: 'date' },
    last_date: { sql: 'last_date', kind: 'date' },
    last_updated: { sql: 'last_updated', kind: 'date' },
    observation_count: { sql: 'observation_count', kind: 'number' },
  },
  key: ['id'],
  sort: 'id',
  isPublic: true,
};

export interface CatalogFilter {
  /** Words in the id, the name or the description, in any case. */
  q: string | undefined;
  /** A category and all below it. */
  category: string | undefined;
  source: string | undefined;
  frequency: string | undefined;
  geography: string | undefined;
  tag: string | undefined;
}

/** The series that pass. */
export function catalogWhere(filter: CatalogFilter): Conditions {
  const containing = filter.q === undefined ? undefined : `%${escapeLike(filter.q)}%`;
  const below = filter.category === undefined ? undefined : `${escapeLike(filter.category)}/%`;
  return new Conditions()
    .and(containing, (p) => `(series_id ilike ${p} or name ilike ${p} or description ilike ${p})`)
    .and(below, (p) => `(category like ${p} or category || '/' like ${p})`)
    .and(filter.source, (p) => `source = ${p}`)
    .and(filter.frequency, (p) => `frequency = ${p}`)
    .and(filter.geography, (p) => `geography = ${p}`)
    .and(filter.tag, (p) => `${p} = any(tags)`);
}

/** The state of a source, as it is sent. */
export interface SourceState extends Record<string, unknown> {
  source: string;
  /** When the last load that brought something new ended. */
  last_success_at: string | null;
  last_data_date: string | null;
  series_count: number;
}

/** Every source, in order of name. */
export async function listSources(database: Queryable): Promise<SourceState[]> {
  return database.query<SourceState>(
    `select s.source, to_char(max(l.loaded_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as last_success_at,
       max(s.last_date) as last_data_date, count(*) as series_count
     from data.series s left join data.loads l on l.load_no = s.data_version
     group by s.source order by s.source`,
  );
}
