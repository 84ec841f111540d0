// Tells account holders how far they have come in their month. The mail is a job written in the transaction that marks the
// part of the limit as mailed, so each is told of once, by whichever worker finds it first.
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs.ts';
import { noteMailed } from './thresholds.sql.ts';

/** Writes a mail for each account that has come to another part of its limit. @returns how many. */
export async function tellOfThresholds(deps: Deps & { jobs: Jobs }): Promise<number> {
  return deps.db.inTransaction(async (transaction) => {
    const reached = await noteMailed(deps.db, transaction, deps.clock.now());
    const mails = reached.map(
      ({ account_id: accountId, month, calls_month: limit, percent }) =>
        ({ mail: 'usage', accountId, month, limit, percent }) as const,
    );
    if (mails.length > 0) await deps.jobs.enqueue(transaction, ...mails);
    return mails.length;
  });
}
