// The statements of loads that are committed later than they are made: their numbers, and the instants that they state.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** How far the numbers of loads were given out. */
export interface LoadNumbers {
  last: number;
  isTaken: boolean;
}

/** Under the load lock. */
export async function readLoadNumbers(on: Transaction): Promise<LoadNumbers> {
  const rows = await on.query<LoadNumbers>(
    'select last_value as last, is_called as "isTaken" from data.loads_load_no_seq',
  );
  return entryAt(rows, 0);
}

/**
 * Gives back the numbers that were taken since, which no row will have: a gap would tell of a load that is not public. Under the load
 * lock, so that nobody else has taken one.
 */
export async function giveBackLoadNumbers(on: Transaction, { last, isTaken }: LoadNumbers): Promise<void> {
  await on.query(`select setval('data.loads_load_no_seq', $1, $2)`, [last, isTaken]);
}

/**
 * Makes the rows that this transaction has written state the instant at which they become visible. Their default is `now()`, the beginning
 * of the transaction, which is earlier: whoever asks for what has changed since then would miss them.
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

/** Drops the temporary tables of a load, which otherwise last until the transaction ends: the next load makes its own. */
export async function dropStage(on: Transaction): Promise<void> {
  await on.query(`do $$
    declare stage text;
    begin
      for stage in select oid::regclass::text from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r' loop
        execute format('drop table %s', stage);
      end loop;
    end $$`);
}
