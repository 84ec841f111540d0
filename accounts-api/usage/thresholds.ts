// Mails account holders when usage reaches a part of the month's limit. The mail is a job written in the transaction that marks
// the part as mailed, so each gets one mail, whichever worker finds it first.
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs.ts';
import { noteMailed } from './thresholds.sql.ts';

/** Writes a mail for each account that has reached another part of its limit. @returns how many. */
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
