// Every statement of discovery: the catalogue and the state of the sources.
// Hides how a list of any size is walked: by the id of the last entry, along the unique index.
import type { Queryable } from '../kernel/database.ts';

/** A series in the catalogue's short form, as it is sent. */
export interface CatalogEntry extends Record<string, unknown> {
  id: string;
  name: string;
  unit: string;
  frequency: string;
  source: string;
  category: string | null;
  geography: string | null;
  tags: string[];
  first_date: string | null;
  last_date: string | null;
  last_updated: string | null;
  observation_count: number;
}

export interface CatalogFilter {
  /** Words in the id, the name or the description, in any case. */
  q: string | undefined;
  /** A category and all below it. */
  category: string | undefined;
  source: string | undefined;
  frequency: string | undefined;
  geography: string | undefined;
  tag: string | undefined;
  /** Published anew after that day. */
  updatedAfter: string | undefined;
  sort: 'id' | '-id';
  /** The id behind which the page begins. */
  after: string | null;
  limit: number;
}

/** A page of the catalogue, in order of id. */
export async function listCatalog(database: Queryable, filter: CatalogFilter): Promise<CatalogEntry[]> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const where = (condition: (parameter: string) => string, value: unknown): void => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  const containing = filter.q === undefined ? undefined : `%${escapeLike(filter.q)}%`;
  const below = filter.category === undefined ? undefined : `${escapeLike(filter.category)}/%`;
  where((p) => `(series_id ilike ${p} or name ilike ${p} or description ilike ${p})`, containing);
  where((p) => `(category like ${p} or category || '/' like ${p})`, below);
  where((p) => `source = ${p}`, filter.source);
  where((p) => `frequency = ${p}`, filter.frequency);
  where((p) => `geography = ${p}`, filter.geography);
  where((p) => `${p} = any(tags)`, filter.tag);
  where((p) => `last_updated > ${p}`, filter.updatedAfter);
  where((p) => `series_id ${filter.sort === 'id' ? '>' : '<'} ${p}`, filter.after);
  values.push(filter.limit);
  return database.query<CatalogEntry>(
    `select series_id as id, name, unit, frequency, source, category, geography, tags, first_date, last_date,
       last_updated, observation_count
     from data.series ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by series_id ${filter.sort === 'id' ? '' : 'desc'} limit $${values.length}`,
    values,
  );
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

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`);
}
