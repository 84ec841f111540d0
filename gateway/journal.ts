// The journal of what was served: usage, refunds and last uses, gathered and sent to accounts-api in batches.
// Hides the batching. A batch that failed is kept and sent again under the same id, so nothing is lost or counted twice.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';

export interface UsageEntry {
  accountId: string;
  keyId: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  /** The group: series, commodities, funds, amcs, securities, fixed-income, trade. */
  endpoint: string;
  /** 2 for 2xx, and so on. */
  statusClass: number;
  calls: number;
  billed: number;
}

export interface Journal {
  record(entry: UsageEntry): void;
  /** Hands calls back to the month they were taken from. */
  refund(accountId: string, month: string, calls: number): void;
  /** Charges calls that were served while nobody could be asked. */
  charge(accountId: string, month: string, calls: number): void;
  /** Notes what was ever spent from a purse. */
  spent(accountId: string, month: string, purse: string, spent: number): void;
  /** Notes that a key was used just now; at most once a minute a key goes out. */
  touch(keyId: string): void;
  /** What accounts-api has not taken yet: entries, and how many batches of them wait to be sent again. */
  backlog(): { entries: number; batches: number };
  /** Sends what is left. Gives up after a while, and says so in the log, where accounts-api stays away. */
  close(): Promise<void>;
}

export interface JournalOptions {
  send(batch: object): Promise<void>;
  flushEveryMs: number;
  /** How long close() goes on trying. */
  closeWithinMs: number;
  clock: Clock;
  log: Log;
}

/** Thrown by `send` where a batch can never be taken: sending it again would only hold up what comes after it. */
export class BatchRefused extends Error {}

const touchEveryMs = 60_000;
const touchedKeysMax = 100_000;
const retryAfterMs = 500;
// A room takes bodies of 64 KB; an entry is at most about 240 bytes.
const entriesMax = 250;

export function createJournal(options: JournalOptions): Journal {
  const { log } = options;
  const sealed: Batch[] = []; // oldest first; each goes on its way unchanged
  let gathering = new Batch();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  const touchedAt = new Map<string, number>();

  function add(entry: (batch: Batch) => void): void {
    entry(gathering);
    if (gathering.size >= entriesMax) seal();
    schedule(options.flushEveryMs);
  }

  function seal(): void {
    if (gathering.size === 0) return;
    sealed.push(gathering);
    gathering = new Batch();
  }

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, afterMs);
  }

  function flush(): Promise<void> {
    flushing ??= sendSealed().finally(() => {
      flushing = undefined;
      if (sealed.length > 0) schedule(retryAfterMs);
      else if (gathering.size > 0) schedule(options.flushEveryMs); // its timer may have fired meanwhile
    });
    return flushing;
  }

  async function sendSealed(): Promise<void> {
    seal();
    for (let batch = sealed[0]; batch !== undefined; batch = sealed[0]) {
      try {
        await options.send(batch.toJson());
      } catch (error) {
        if (!(error instanceof BatchRefused)) {
          log.warn({ err: error, batch_id: batch.id }, 'A batch of usage was not taken; it is sent again');
          return;
        }
        log.error({ err: error, lost: batch.toJson() }, 'A batch of usage was refused and is lost');
      }
      sealed.shift();
    }
  }

  async function close(): Promise<void> {
    const giveUpAtMs = performance.now() + options.closeWithinMs;
    await flushing;
    await flush();
    while (sealed.length > 0 && performance.now() < giveUpAtMs) {
      await pause(Math.min(retryAfterMs, options.closeWithinMs / 10));
      await flush();
    }
    clearTimeout(timer);
    timer = undefined;
    if (sealed.length === 0) return;
    log.error({ lost: sealed.map((batch) => batch.toJson()) }, 'Usage could not be handed over and is lost');
  }

  return {
    record: (entry) => add((batch) => batch.record(entry)),
    refund: (accountId, month, calls) => add((batch) => batch.refund(accountId, month, calls)),
    charge: (accountId, month, calls) => add((batch) => batch.charge(accountId, month, calls)),
    spent: (accountId, month, purse, spent) => add((batch) => batch.spent(accountId, month, purse, spent)),
    touch(keyId) {
      const now = options.clock.now();
      if (now.getTime() - (touchedAt.get(keyId) ?? -Infinity) < touchEveryMs) return;
      if (touchedAt.size >= touchedKeysMax) touchedAt.clear();
      touchedAt.set(keyId, now.getTime());
      add((batch) => batch.touch(keyId, now));
    },
    backlog: () => ({
      entries: sealed.reduce((sum, batch) => sum + batch.size, gathering.size),
      batches: sealed.length,
    }),
    close,
  };
}

interface MonthCalls {
  accountId: string;
  month: string;
  calls: number;
}

function addCalls(sums: Map<string, MonthCalls>, accountId: string, month: string, calls: number): void {
  const key = `${accountId} ${month}`;
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { accountId, month, calls });
  else sum.calls += calls;
}

function toJson({ accountId, ...entry }: MonthCalls): object {
  return { account_id: accountId, ...entry };
}

/** What one message to accounts-api carries, summed by key. */
class Batch {
  readonly id = randomUUID();
  readonly #usage = new Map<string, UsageEntry>();
  readonly #refunds = new Map<string, MonthCalls>();
  readonly #charges = new Map<string, MonthCalls>();
  /** By purse. */
  readonly #spent = new Map<string, { accountId: string; month: string; spent: number }>();
  readonly #lastUsed = new Map<string, Date>();

  record(entry: UsageEntry): void {
    const key = [entry.keyId, entry.accountId, entry.day, entry.endpoint, entry.statusClass].join(' ');
    const sum = this.#usage.get(key);
    if (sum === undefined) this.#usage.set(key, { ...entry });
    else {
      sum.calls += entry.calls;
      sum.billed += entry.billed;
    }
  }

  refund(accountId: string, month: string, calls: number): void {
    addCalls(this.#refunds, accountId, month, calls);
  }

  charge(accountId: string, month: string, calls: number): void {
    addCalls(this.#charges, accountId, month, calls);
  }

  spent(accountId: string, month: string, purse: string, spent: number): void {
    const known = this.#spent.get(purse);
    if (known === undefined) this.#spent.set(purse, { accountId, month, spent });
    else known.spent = Math.max(known.spent, spent);
  }

  touch(keyId: string, at: Date): void {
    this.#lastUsed.set(keyId, at);
  }

  get size(): number {
    return (
      this.#usage.size + this.#refunds.size + this.#charges.size + this.#spent.size + this.#lastUsed.size
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
      spent: [...this.#spent].map(([purse_id, { accountId, ...entry }]) => ({
        account_id: accountId,
        purse_id,
        ...entry,
      })),
      last_used: [...this.#lastUsed].map(([key_id, at]) => ({ key_id, at: at.toISOString() })),
    };
  }
}
