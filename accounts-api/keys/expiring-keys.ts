// Warns account holders about keys that are about to expire. The e-mail is a job written in the transaction that marks the key as warned about, so each
// warning is one e-mail, whichever worker finds the key first.
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { noteExpiringKeys } from './keys.sql.ts';

/** How many days before its expiry a key is announced, each time once. A key with a shorter lifetime is not announced. */
const noticeDays = [7, 1];

/** Writes an e-mail for each key that is about to expire. @returns the number of e-mails. */
export async function notifyOfExpiringKeys(deps: Deps & { jobs: Jobs }): Promise<number> {
  return deps.db.inLedgerTransaction(async (transaction) => {
    const ids = await noteExpiringKeys(deps.db, transaction, deps.clock.now(), noticeDays);
    await deps.jobs.enqueue(transaction, ...ids.map((keyId) => ({ mail: 'key_expires', keyId }) as const));
    return ids.length;
  });
}
