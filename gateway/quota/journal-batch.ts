// One message to accounts-api: calls served, refunded, charged and drawn, and last uses, summed by key.
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
  z.strictObject({ of: z.literal('refund'), ...monthCalls }),
  z.strictObject({ of: z.literal('charge'), ...monthCalls }),
  // The totals drawn from an allotment and returned to it.
  z.strictObject({
    of: z.literal('drawn'),
    accountId: z.string(),
    month: z.string(),
    allotment: z.string(),
    drawn: z.int(),
    returned: z.int().default(0),
  }),
  z.strictObject({ of: z.literal('use'), keyId: z.string(), at: z.iso.datetime() }),
]);
export type Entry = z.output<typeof entrySchema>;

interface MonthCalls {
  accountId: string;
  month: string;
  calls: number;
}

/** Entries under one id, which accounts-api counts once, however often it is sent. */
export class Batch {
  readonly id: string;
  readonly #usage = new Map<string, UsageEntry>();
  #lastUsage: UsageEntry | undefined;
  readonly #refunds = new Map<string, MonthCalls>();
  readonly #charges = new Map<string, MonthCalls>();
  /** By allotment. */
  readonly #drawn = new Map<string, { accountId: string; month: string; drawn: number; returned: number }>();
  readonly #lastUsed = new Map<string, string>();

  constructor(id: string = randomUUID()) {
    this.id = id;
  }

  add(entry: Entry): void {
    if (entry.of === 'usage') this.#addUsage(entry);
    else if (entry.of === 'refund') addCalls(this.#refunds, entry);
    else if (entry.of === 'charge') addCalls(this.#charges, entry);
    else if (entry.of === 'use') this.#lastUsed.set(entry.keyId, entry.at);
    else {
      const { accountId, month, allotment, drawn, returned } = entry;
      const known = this.#drawn.get(allotment);
      if (known === undefined) this.#drawn.set(allotment, { accountId, month, drawn, returned });
      else {
        known.drawn = Math.max(known.drawn, drawn);
        known.returned = Math.max(known.returned, returned);
      }
    }
  }

  #addUsage(entry: UsageEntry): void {
    if (this.#lastUsage !== undefined && isSameUsage(this.#lastUsage, entry)) {
      addCounts(this.#lastUsage, entry); // calls with one key come in bursts
      return;
    }
    const key = `${entry.keyId} ${entry.accountId} ${entry.day} ${entry.endpoint} ${entry.statusClass}`;
    const sum = this.#usage.get(key);
    this.#lastUsage = sum ?? { ...entry };
    if (sum === undefined) this.#usage.set(key, this.#lastUsage);
    else addCounts(sum, entry);
  }

  get size(): number {
    return (
      this.#usage.size + this.#refunds.size + this.#charges.size + this.#drawn.size + this.#lastUsed.size
    );
  }

  toJson(): object {
    return {
      batch_id: this.id,
      usage: [...this.#usage.values()].map((entry) => ({
        account_id: entry.accountId,
        key_id: entry.keyId,
        day: entry.day,
        endpoint: entry.endpoint,
        status_class: entry.statusClass,
        calls: entry.calls,
        billed: entry.billed,
      })),
      refunds: [...this.#refunds.values()].map(toJson),
      charges: [...this.#charges.values()].map(toJson),
      drawn: [...this.#drawn].map(([allotment_id, { accountId, ...entry }]) => ({
        account_id: accountId,
        allotment_id,
        ...entry,
      })),
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

function addCalls(sums: Map<string, MonthCalls>, { accountId, month, calls }: MonthCalls): void {
  const key = `${accountId} ${month}`;
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { accountId, month, calls });
  else sum.calls += calls;
}

function toJson({ accountId, ...entry }: MonthCalls): object {
  return { account_id: accountId, ...entry };
}
