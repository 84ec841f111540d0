// A transaction that is rolled back at its end where the caller only wants to know its result.
import type { Database, Transaction } from '../../kernel/database.ts';

/** Thrown to roll back a dry run; carries its result. */
class DryRunEnds<Result> extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super('the dry run is over');
    this.result = result;
  }
}

/** Runs the work in a transaction. @param isDryRun rolls it back when the work is done. */
export function inTransaction<Result>(
  database: Pick<Database, 'transaction'>,
  isDryRun: boolean,
  work: (on: Transaction) => Promise<Result>,
): Promise<Result> {
  return database
    .transaction(async (on) => {
      const result = await work(on);
      if (isDryRun) throw new DryRunEnds(result);
      return result;
    })
    .catch((error: unknown) => {
      if (error instanceof DryRunEnds) return error.result as Result;
      throw error;
    });
}
