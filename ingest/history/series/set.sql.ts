// The statements that compare and change the facts of one series.
import type { Transaction } from '../../../kernel/database.ts';
import { metadataNames } from '../../datasets/metadata.ts';
import { insertFormerFacts } from '../../load/store/former-facts.sql.ts';
import { changeNeighbours } from '../../load/store/after-series-change.sql.ts';

/** Values as in JSON: text, number, list or null. */
export interface FactChange {
  fact: string;
  from: unknown;
  to: unknown;
}

/** The new facts of a series. */
export interface WishedFacts {
  seriesNo: number;
  /** Column of data.series → its text in PostgreSQL's format. */
  values: Readonly<Record<string, string | null>>;
}

const numbersAndFacts = (wished: readonly WishedFacts[]) => [
  wished.map(({ seriesNo }) => seriesNo),
  wished.map(({ values }) => JSON.stringify(values)),
];

/** The facts that the values would change, in order. */
export async function findFactChanges(
  on: Transaction,
  seriesNo: number,
  values: WishedFacts['values'],
): Promise<FactChange[]> {
  const found = await findManyFactChanges(on, [{ seriesNo, values }], Object.keys(values));
  return found.get(seriesNo) ?? [];
}

/** As `findFactChanges`, by the number of the series; series that would not change are omitted. @param order of the facts. */
export async function findManyFactChanges(
  on: Transaction,
  wished: readonly WishedFacts[],
  order: readonly string[],
): Promise<Map<number, FactChange[]>> {
  const rows = await on.query<FactChange & { seriesNo: number }>(
    `select s.series_no as "seriesNo", k.fact, to_jsonb(s) -> k.fact as "from", to_jsonb(n) -> k.fact as "to"
     from unnest($1::int[], $2::jsonb[]) as w (series_no, facts)
     join data.series s on s.series_no = w.series_no
     cross join lateral jsonb_populate_record(s, w.facts) n
     join unnest($3::text[]) with ordinality as k (fact, place) on w.facts ? k.fact
     where to_jsonb(s) -> k.fact is distinct from to_jsonb(n) -> k.fact
     order by s.series_no, k.place`,
    [...numbersAndFacts(wished), order],
  );
  const changes = new Map<number, FactChange[]>();
  for (const { seriesNo, ...change } of rows) {
    const others = changes.get(seriesNo);
    if (others === undefined) changes.set(seriesNo, [change]);
    else others.push(change);
  }
  return changes;
}

/** Changes the facts. Readers' caches depend on the version, which becomes that of the load. */
export async function updateFacts(
  on: Transaction,
  loadNo: number,
  wished: readonly WishedFacts[],
): Promise<void> {
  const names = [...metadataNames].join(', ');
  const values = [...metadataNames].map((name) => `n.${name}`).join(', ');
  await on.query(
    `with kept as (${insertFormerFacts('series', 'select unnest($1::int[])', { load: '$3' })})
     update data.series s set (${names}) = (select ${values} from jsonb_populate_record(s, w.facts) n),
       data_version = $3, row_version = s.row_version + 1, updated_at = now()
     from unnest($1::int[], $2::jsonb[]) as w (series_no, facts)
     where s.series_no = w.series_no`,
    [...numbersAndFacts(wished), loadNo],
  );
  for (const { seriesNo, values } of wished)
    if (values['frequency'] !== undefined) await changeNeighbours(on, seriesNo);
}

/** The series among these that ever had a published point. */
export async function findPublished(on: Transaction, seriesNos: readonly number[]): Promise<Set<number>> {
  const rows = await on.query<{ seriesNo: number }>(
    `select n.series_no as "seriesNo" from unnest($1::int[]) as n (series_no)
     where exists (select from data.vintages v where v.series_no = n.series_no)`,
    [seriesNos],
  );
  return new Set(rows.map(({ seriesNo }) => seriesNo));
}
