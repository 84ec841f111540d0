// The statements of loads that are committed later than they are made: their numbers, and their recorded instants.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** The present position of the load number sequence. */
export interface LoadNumbers {
  last: number;
  isTaken: boolean;
}

/** Call it under the load lock. */
export async function readLoadNumbers(on: Transaction): Promise<LoadNumbers> {
  const rows = await on.query<LoadNumbers>(
    'select last_value as last, is_called as "isTaken" from data.loads_load_no_seq',
  );
  return entryAt(rows, 0);
}

/**
 * Returns the load numbers that were used since, which will have no rows: a gap would reveal a load that is not public. Runs under the load
 * lock, so that no other process has used one.
 */
export async function resetLoadNumbers(on: Transaction, { last, isTaken }: LoadNumbers): Promise<void> {
  await on.query(`select setval('data.loads_load_no_seq', $1, $2)`, [last, isTaken]);
}

/**
 * Sets the instants of the rows that this transaction has written to the instant at which they become visible. Their default is `now()`,
 * the earlier beginning of the transaction: a reader of the changes since then would miss them.
 * @param since the numbers before the load. @returns the numbers of its loads.
 */
export async function dateLoads(on: Transaction, at: Date, since: LoadNumbers): Promise<number[]> {
  const loads = await on.query<{ load_no: number }>(
    'update data.loads set loaded_at = $1 where load_no >= $2 and loaded_at = now() returning load_no',
    [at, since.isTaken ? since.last + 1 : since.last],
  );
  await on.query(
    `update data.series set row_version = row_version + 1,
       updated_at = case when updated_at = now() then $1 else updated_at end,
       created_at = case when created_at = now() then $1 else created_at end
     where updated_at = now() or created_at = now()`,
    [at],
  );
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
