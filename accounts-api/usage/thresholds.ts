// Reports usage that reaches a part of the month's limit: an event in the transaction that counts the calls, and an e-mail to the account holder. The
// mail is a job written in the transaction that marks the part as mailed, so each part is mailed once, whichever worker finds it first.
import type { Transaction } from 'sequelize';
import type { Deps } from '../database.ts';
import { emitEvents } from '../events.ts';
import type { UsageRow } from '../../kernel/heartbeat/message.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { allowancesOf } from './allowances.ts';
import { countServed, noteMailed } from './thresholds.sql.ts';

/** The parts of a month's limit that are reported, in percent; the table stores no others. */
const thresholdPercents = [50, 80, 100];

/** Adds billed calls to their months, which must be locked, and writes an event for each part of a limit that they reach. */
export async function addServed(
  deps: Deps,
  transaction: Transaction,
  usage: readonly UsageRow[],
): Promise<void> {
  const allowances = allowancesOf(deps.plans);
  const asked = { usage, allowances, percents: thresholdPercents, now: deps.clock.now() };
  const reached = await countServed(deps.db, transaction, asked);
  const events = reached.map(
    ({ account_id: accountId, month, calls_month: limit, percent }) =>
      ({ type: 'usage.threshold_reached', accountId, data: { month, percent, limit } }) as const,
  );
  await emitEvents(deps, transaction, ...events);
}

/** Writes an e-mail for each account that has reached another part of its limit. @returns the number of e-mails. */
export async function notifyOfThresholds(deps: Deps & { jobs: Jobs }): Promise<number> {
  return deps.db.inLedgerTransaction(async (transaction) => {
    const reached = await noteMailed(deps.db, transaction, deps.clock.now());
    const mails = reached.map(
      ({ account_id: accountId, month, calls_month: limit, percent }) =>
        ({ mail: 'usage', accountId, month, limit, percent }) as const,
    );
    if (mails.length > 0) await deps.jobs.enqueue(transaction, ...mails);
    return mails.length;
  });
}
