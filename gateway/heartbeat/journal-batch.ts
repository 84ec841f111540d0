// What a gateway reports to accounts-api: calls served, the blocks they were drawn from, and last uses of keys, added up until they are sent.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { batchRows, type Batch as SentBatch } from '../../kernel/heartbeat/message.ts';

const rowOf = <List extends keyof typeof batchRows>(list: List) =>
  z.strictObject({ list: z.literal(list), row: batchRows[list] });

/** A row of a batch, with the list that it belongs to. */
export const entrySchema = z.discriminatedUnion('list', [
  rowOf('usage'),
  rowOf('files'),
  rowOf('charges'),
  rowOf('spent'),
  rowOf('last_used'),
]);
export type Entry = z.output<typeof entrySchema>;

/** Entries added up: those that differ only in their counts are merged. */
export class Sums {
  readonly entries: Entry[] = [];
  /** By key or account, as entries of the same owner rarely differ otherwise. */
  readonly #byOwner = new Map<string, Entry[]>();

  /** The sums own the entry from now on and may add later entries to it. */
  add(entry: Entry): void {
    const owner =
      entry.list === 'usage' || entry.list === 'last_used' ? entry.row.key_id : entry.row.account_id;
    const sums = this.#byOwner.get(owner);
    if (sums === undefined) this.#byOwner.set(owner, [entry]);
    else {
      for (const sum of sums) if (isAdded(entry, sum)) return;
      sums.push(entry);
    }
    this.entries.push(entry);
  }

  get size(): number {
    return this.entries.length;
  }
}

/** Sums that accounts-api counts once, identified by their id. */
export class Batch extends Sums {
  readonly id: string;

  constructor(id: string = randomUUID()) {
    super();
    this.id = id;
  }

  /** The batch in the format of the message. */
  toJson(): SentBatch {
    const batch: SentBatch = {
      ...{ batch_id: this.id, usage: [], charges: [], spent: [], files: [], last_used: [] },
    };
    for (const { list, row } of this.entries) (batch[list] as unknown[]).push(row);
    return batch;
  }
}

/** Adds an entry to a sum of the same key or account. @returns false, without effect, if they differ in more than their counts. */
function isAdded({ list, row }: Entry, sum: Entry): boolean {
  if (list === 'usage' && sum.list === 'usage') {
    if (row.endpoint !== sum.row.endpoint || row.status_class !== sum.row.status_class) return false;
    if (row.day !== sum.row.day || row.account_id !== sum.row.account_id) return false;
    sum.row.calls += row.calls;
    sum.row.billed += row.billed;
    return true;
  }
  if (list === 'spent' && sum.list === 'spent') {
    if (row.life !== sum.row.life || row.month !== sum.row.month) return false;
    sum.row.calls += row.calls;
    sum.row.returned += row.returned;
    return true;
  }
  if (list === 'charges' && sum.list === 'charges') {
    if (row.month !== sum.row.month) return false;
    sum.row.calls += row.calls;
    return true;
  }
  if (list !== 'last_used' || sum.list !== 'last_used') return false;
  sum.row.at = row.at;
  return true;
}
