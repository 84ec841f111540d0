// The statement that lists series with the facts that are set by hand.
import type { Queryable } from '../../../kernel/database.ts';
import { factColumns } from '../../datasets/metadata.ts';

export interface FactsWish {
  /** Part of the id or of the name, in any case. */
  q?: string | undefined;
  /** Part of the source, in any case. */
  source?: string | undefined;
  /** Only series that lack one of these facts. */
  missing?: readonly string[] | undefined;
  sort: 'id' | '-id';
  /** The id that the rows come after, in the order. */
  after: string | null;
  limit: number;
}

export interface ListedFacts extends Readonly<Record<string, unknown>> {
  id: string;
  isOfItem: boolean;
  /** Whether it ever had an observation. */
  isPublished: boolean;
}

const names = factColumns.map(({ name }) => `s.${name}`).join(', ');
const lacks = (fact: string): string =>
  factColumns.some(({ name, type }) => name === fact && type === 'list')
    ? `s.${fact} = '{}'`
    : `s.${fact} is null`;

/** Series that are not deleted. @param missing names of facts. */
export async function listFacts(
  on: Queryable,
  { q, source, missing = [], sort, after, limit }: FactsWish,
): Promise<ListedFacts[]> {
  const known = factColumns.filter(({ name }) => missing.includes(name)).map(({ name }) => name);
  const [behind, direction] = sort === 'id' ? ['>', 'asc'] : ['<', 'desc'];
  return on.query<ListedFacts>(
    `select s.series_id as id, ${names},
       exists (select from data.commodity_items i where i.series_no = s.series_no) as "isOfItem",
       exists (select from data.vintages v where v.series_no = s.series_no) as "isPublished"
     from data.series s
     where s.deleted_on is null
       and ($1::text is null or position(lower($1) in lower(s.series_id)) > 0 or position(lower($1) in lower(s.name)) > 0)
       and ($2::text is null or position(lower($2) in lower(s.source)) > 0)
       and ${known.length === 0 ? 'true' : `(${known.map(lacks).join(' or ')})`}
       and ($3::text is null or s.series_id ${behind} $3)
     order by s.series_id ${direction}
     limit $4`,
    [q ?? null, source ?? null, after, limit],
  );
}
