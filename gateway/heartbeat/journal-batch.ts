// What accounts-api is to hear: calls served, what they were taken from, and last uses of keys, added up until they are sent.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

const usageSchema = z.strictObject({
  accountId: z.string(),
  keyId: z.string(),
  /** `YYYY-MM-DD`, UTC. */
  day: z.string(),
  /** The group: series, commodities, funds, amcs, securities, fixed-income, trade. */
  endpoint: z.string(),
  /** 2 for 2xx, and so on. */
  statusClass: z.int(),
  calls: z.int(),
  billed: z.int(),
});
export type UsageEntry = z.output<typeof usageSchema>;

const chargedFileSchema = usageSchema
  .omit({ calls: true, billed: true })
  .extend({ /** Its path. */ file: z.string() });
export type ChargedFile = z.output<typeof chargedFileSchema>;

const monthCalls = { accountId: z.string(), month: z.string(), calls: z.int() };

/** One item to report to accounts-api. */
export const entrySchema = z.discriminatedUnion('of', [
  usageSchema.extend({ of: z.literal('usage') }),
  // A file that was charged, once for a key and a day.
  chargedFileSchema.extend({ of: z.literal('file') }),
  // Calls served under QUOTA_OUTAGE.
  z.strictObject({ of: z.literal('charge'), ...monthCalls }),
  // Calls of a block of a life that were served, and that are given back.
  z.strictObject({ of: z.literal('spent'), ...monthCalls, life: z.string(), returned: z.int() }),
  z.strictObject({ of: z.literal('use'), keyId: z.string(), at: z.iso.datetime() }),
]);
export type Entry = z.output<typeof entrySchema>;

/** Entries that differ in more than their counts: others are added up. */
export class Sums {
  readonly entries: Entry[] = [];
  /** By key or account: the entries of one differ in little else. */
  readonly #byOwner = new Map<string, Entry[]>();

  /** The entry belongs to the sums from now on: later ones are added to it. */
  add(entry: Entry): void {
    const owner = entry.of === 'usage' || entry.of === 'use' ? entry.keyId : entry.accountId;
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

/** Sums that accounts-api counts once, by their id. */
export class Batch extends Sums {
  readonly id: string;

  constructor(id: string = randomUUID()) {
    super();
    this.id = id;
  }

  toJson(): object {
    const { id, entries } = this;
    const files = entries
      .filter((entry) => entry.of === 'file')
      .map(({ accountId, keyId, day, endpoint, statusClass, file }) => ({
        account_id: accountId,
        key_id: keyId,
        day,
        endpoint,
        status_class: statusClass,
        file,
      }));
    return {
      ...(files.length > 0 && { files }), // an accounts-api of before knows of none
      batch_id: id,
      usage: entries
        .filter((entry) => entry.of === 'usage')
        .map(({ accountId, keyId, day, endpoint, statusClass, calls, billed }) => ({
          account_id: accountId,
          key_id: keyId,
          day,
          endpoint,
          status_class: statusClass,
          calls,
          billed,
        })),
      charges: entries
        .filter((entry) => entry.of === 'charge')
        .map(({ accountId, month, calls }) => ({ account_id: accountId, month, calls })),
      spent: entries
        .filter((entry) => entry.of === 'spent')
        .map(({ accountId, month, life, calls, returned }) => ({
          account_id: accountId,
          month,
          life,
          calls,
          returned,
        })),
      last_used: entries
        .filter((entry) => entry.of === 'use')
        .map(({ keyId, at }) => ({ key_id: keyId, at })),
    };
  }
}

/** Adds an entry to a sum of the same key or account. @returns false, and does nothing, if they differ in more than their counts. */
function isAdded(entry: Entry, sum: Entry): boolean {
  if (entry.of === 'usage' && sum.of === 'usage') {
    if (entry.endpoint !== sum.endpoint || entry.statusClass !== sum.statusClass) return false;
    if (entry.day !== sum.day || entry.accountId !== sum.accountId) return false;
    sum.calls += entry.calls;
    sum.billed += entry.billed;
    return true;
  }
  if (entry.of === 'spent' && sum.of === 'spent') {
    if (entry.life !== sum.life || entry.month !== sum.month) return false;
    sum.calls += entry.calls;
    sum.returned += entry.returned;
    return true;
  }
  if (entry.of === 'charge' && sum.of === 'charge') {
    if (entry.month !== sum.month) return false;
    sum.calls += entry.calls;
    return true;
  }
  if (entry.of !== 'use' || sum.of !== 'use') return false;
  sum.at = entry.at;
  return true;
}
