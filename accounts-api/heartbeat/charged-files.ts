// Files charged by gateways: one call per file, key and day. If two gateways each served a range first, both have charged the file; the second call
// is refunded.
import { hash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import { refundCalls, insertCharges } from './charged-files.sql.ts';
import type { ChargedFile } from '../../kernel/heartbeat/message.ts';

/** Refunds the calls of files that were charged before. Their months are locked, and `usage` has counted their calls. */
export async function refundRepeated(
  db: AccountsDatabase,
  transaction: Transaction,
  files: readonly ChargedFile[],
  now: Date,
): Promise<void> {
  const first = await insertCharges(db, transaction, [...new Set(files.map(idOf))].sort(), now);
  const repeated = files.filter((file) => !first.delete(idOf(file)));
  if (repeated.length > 0) await refundCalls(db, transaction, repeated);
}

/** The id of a charge as a UUID; the same in every gateway. */
function idOf({ key_id, day, file }: ChargedFile): string {
  const digits = hash('sha256', JSON.stringify(['file', key_id, day, file])).slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
