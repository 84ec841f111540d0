// The statements of loads that are committed later than they are made: their numbers, and their recorded instants.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** The number of the next load. Call it under the load lock. */
export async function readNextLoadNo(on: Transaction): Promise<number> {
  const rows = await on.query<{ next: number }>(
    'select case when is_called then last_value + 1 else last_value end as next from data.loads_load_no_seq',
  );
  return entryAt(rows, 0).next;
}

/**
 * Returns the load numbers from this one on, which will have no rows: a gap would reveal a load that is not public. Runs under the load
 * lock, so that no other process has used one.
 */
export async function returnLoadNumbers(on: Transaction, next: number): Promise<void> {
  await on.query(`select setval('data.loads_load_no_seq', $1, false)`, [next]);
}

/**
 * Sets the instants of the rows that this transaction has written to the instant at which they become visible. Their default is `now()`,
 * the earlier beginning of the transaction: a reader of the changes since then would miss them.
 * @param first the number of its first load. @returns the numbers of its loads.
 */
export async function dateLoads(on: Transaction, at: Date, first: number): Promise<number[]> {
  const loads = await on.query<{ load_no: number }>(
    'update data.loads set loaded_at = $1 where load_no >= $2 and loaded_at = now() returning load_no',
    [at, first],
  );
  await on.query(
    `update data.series set row_version = row_version + 1,
       updated_at = case when updated_at = now() then $1 else updated_at end,
       created_at = case when created_at = now() then $1 else created_at end
     where updated_at = now() or created_at = now()`,
    [at],
  );
  await on.query('update data.commodity_cities set created_at = $1 where created_at = now()', [at]);
  return loads.map(({ load_no: loadNo }) => loadNo).toSorted((a, b) => a - b);
}

/** Drops the temporary tables of a load, which otherwise last until the transaction ends: the next load creates its own. */
export async function dropStage(on: Transaction): Promise<void> {
  await on.query(`do $$
    declare stage text;
    begin
      for stage in select oid::regclass::text from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r' loop
        execute format('drop table %s', stage);
      end loop;
    end $$`);
}
