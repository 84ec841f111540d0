// One message to accounts-api: calls served, and what they were taken from, and last uses, summed by key.
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

const monthCalls = { accountId: z.string(), month: z.string(), calls: z.int() };

/** One item to report to accounts-api. */
export const entrySchema = z.discriminatedUnion('of', [
  usageSchema.extend({ of: z.literal('usage') }),
  // Calls served under QUOTA_OUTAGE.
  z.strictObject({ of: z.literal('charge'), ...monthCalls }),
  // Calls of a block of a life that were served, and that are given back.
  z.strictObject({ of: z.literal('spent'), ...monthCalls, life: z.string(), returned: z.int() }),
  z.strictObject({ of: z.literal('use'), keyId: z.string(), at: z.iso.datetime() }),
]);
export type Entry = z.output<typeof entrySchema>;
export type SpentEntry = Extract<Entry, { of: 'spent' }>;

interface MonthCalls {
  accountId: string;
  month: string;
  calls: number;
}

type SpentCalls = MonthCalls & { life: string; returned: number };

/** Whether two entries are of one block. */
export function isSameBlock(one: SpentCalls, other: SpentCalls): boolean {
  return one.accountId === other.accountId && one.life === other.life && one.month === other.month;
}

/** Entries under one id, which accounts-api counts once, however often it is sent. */
export class Batch {
  readonly id: string;
  /** By key: calls with one key differ in little else. */
  readonly #usage = new Map<string, UsageEntry[]>();
  #usages = 0;
  #lastUsage: UsageEntry | undefined;
  readonly #charges = new Map<string, MonthCalls>();
  /** By block. */
  readonly #spent = new Map<string, SpentCalls>();
  readonly #lastUsed = new Map<string, string>();

  constructor(id: string = randomUUID()) {
    this.id = id;
  }

  add(entry: Entry): void {
    if (entry.of === 'usage') this.#addUsage(entry);
    else if (entry.of === 'charge') addCalls(this.#charges, entry);
    else if (entry.of === 'use') this.#lastUsed.set(entry.keyId, entry.at);
    else {
      const { accountId, month, life, calls, returned } = entry;
      const block = `${accountId} ${month} ${life}`;
      const sum = this.#spent.get(block);
      if (sum === undefined) this.#spent.set(block, { accountId, month, life, calls, returned });
      else addSpent(sum, entry);
    }
  }

  #addUsage(entry: UsageEntry): void {
    if (this.#lastUsage !== undefined && isSameUsage(this.#lastUsage, entry)) {
      addCounts(this.#lastUsage, entry); // calls with one key come in bursts
      return;
    }
    let sums = this.#usage.get(entry.keyId);
    if (sums === undefined) this.#usage.set(entry.keyId, (sums = []));
    const sum = sums.find((each) => isSameUsage(each, entry));
    this.#lastUsage = sum ?? { ...entry };
    if (sum !== undefined) return addCounts(sum, entry);
    sums.push(this.#lastUsage);
    this.#usages += 1;
  }

  get size(): number {
    return this.#usages + this.#charges.size + this.#spent.size + this.#lastUsed.size;
  }

  toJson(): object {
    return {
      batch_id: this.id,
      usage: [...this.#usage.values()].flat().map((entry) => ({
        account_id: entry.accountId,
        key_id: entry.keyId,
        day: entry.day,
        endpoint: entry.endpoint,
        status_class: entry.statusClass,
        calls: entry.calls,
        billed: entry.billed,
      })),
      charges: [...this.#charges.values()].map(toJson),
      spent: [...this.#spent.values()].map(toJson),
      last_used: [...this.#lastUsed].map(([key_id, at]) => ({ key_id, at })),
    };
  }
}

/** Whether two entries can be counted together. */
export function isSameUsage(one: UsageEntry, other: UsageEntry): boolean {
  return (
    one.keyId === other.keyId &&
    one.endpoint === other.endpoint &&
    one.statusClass === other.statusClass &&
    one.day === other.day &&
    one.accountId === other.accountId
  );
}

export function addCounts(sum: UsageEntry, { calls, billed }: UsageEntry): void {
  sum.calls += calls;
  sum.billed += billed;
}

/** Both of one block. */
export function addSpent(
  sum: { calls: number; returned: number },
  { calls, returned }: Pick<SpentEntry, 'calls' | 'returned'>,
): void {
  sum.calls += calls;
  sum.returned += returned;
}

function addCalls(sums: Map<string, MonthCalls>, { accountId, month, calls }: MonthCalls): void {
  const key = `${accountId} ${month}`;
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { accountId, month, calls });
  else sum.calls += calls;
}

function toJson({ accountId, ...entry }: MonthCalls): object {
  return { account_id: accountId, ...entry };
}
