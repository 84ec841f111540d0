// Settles what gateways have served: the ledger, the months and the last use of keys.
import type { ServiceDeps } from '../deps.ts';
import { addServed } from '../usage/thresholds.ts';
import { addSpent } from './blocks.ts';
import { lockMonths, type MonthKey } from './blocks.sql.ts';
import { addUsage, chargeQuota, insertSettledBatch, touchKeys } from './ledger.sql.ts';
import { refundRepeated } from './charged-files.ts';
import type { Batch } from '../../kernel/heartbeat/message.ts';

/** Settles a batch, all or nothing. It counts once, however often it is sent. */
export async function recordBatch(deps: ServiceDeps, batch: Batch): Promise<void> {
  const { db } = deps;
  const now = deps.clock.now();
  await db.inLedgerTransaction(async (transaction) => {
    if (!(await insertSettledBatch(db, transaction, batch.batch_id, now))) return;
    const rows = await lockMonths(db, transaction, monthsOf(batch));
    if (batch.usage.length > 0) {
      await addServed(deps, transaction, batch.usage);
      await addUsage(db, transaction, batch.usage);
    }
    if (batch.spent.length > 0) await addSpent(deps, transaction, batch.spent, rows);
    if (batch.files.length > 0) await refundRepeated(db, transaction, batch.files, now);
    if (batch.last_used.length > 0) await touchKeys(db, transaction, batch.last_used, now);
    // Last: a new month locks its account, whose other rows must then not be waited for.
    if (batch.charges.length > 0) await chargeQuota(db, transaction, batch.charges);
  });
}

/** The months that the batch changes. */
function monthsOf(batch: Batch): MonthKey[] {
  const billed = batch.usage
    .filter((entry) => entry.billed > 0)
    .map(({ account_id, day }) => ({ account_id, month: `${day.slice(0, 7)}-01` }));
  const files = batch.files.map(({ account_id, day }) => ({ account_id, month: `${day.slice(0, 7)}-01` }));
  return [...billed, ...files, ...batch.spent, ...batch.charges].map(({ account_id, month }) => ({
    account_id,
    month,
  }));
}
