// The statements that compare and change the facts of one series.
import type { Transaction } from '../../../kernel/database.ts';
import { changeNeighbours } from '../../load/store/shown-facts.sql.ts';

/** Values as JSON has them: text, number, list or null. */
export interface FactChange {
  fact: string;
  from: unknown;
  to: unknown;
}

/** The facts that the values would change, in their order. @param values column of data.series → its text, as PostgreSQL reads it. */
export function findFactChanges(
  on: Transaction,
  seriesNo: number,
  values: Readonly<Record<string, string | null>>,
): Promise<FactChange[]> {
  return on.query<FactChange>(
    `select k.fact, to_jsonb(s) -> k.fact as "from", to_jsonb(n) -> k.fact as "to"
     from data.series s, jsonb_populate_record(s, $2) n, unnest($3::text[]) with ordinality as k (fact, place)
     where s.series_no = $1 and to_jsonb(s) -> k.fact is distinct from to_jsonb(n) -> k.fact
     order by k.place`,
    [seriesNo, JSON.stringify(values), Object.keys(values)],
  );
}

/** Changes the facts; readers' caches depend on the version, so it is that of the load. */
export async function updateFacts(
  on: Transaction,
  {
    seriesNo,
    values,
    loadNo,
  }: { seriesNo: number; values: Readonly<Record<string, string | null>>; loadNo: number },
): Promise<void> {
  await on.query(
    `update data.series s set (name, unit, frequency, source, description, geography, seasonal_adjustment, unit_multiplier,
         decimals, licence, licence_url, attribution, fiscal_year_end, tags, category, methodology_url) = (
       select n.name, n.unit, n.frequency, n.source, n.description, n.geography, n.seasonal_adjustment, n.unit_multiplier,
         n.decimals, n.licence, n.licence_url, n.attribution, n.fiscal_year_end, n.tags, n.category, n.methodology_url
       from jsonb_populate_record(s, $2) n),
       data_version = $3, row_version = s.row_version + 1, updated_at = now()
     where series_no = $1`,
    [seriesNo, JSON.stringify(values), loadNo],
  );
  if (values['frequency'] !== undefined) await changeNeighbours(on, seriesNo);
}

/** Whether a point of the series was ever published. */
export async function hasVintages(on: Transaction, seriesNo: number): Promise<boolean> {
  const rows = await on.query('select from data.vintages where series_no = $1 limit 1', [seriesNo]);
  return rows.length > 0;
}
