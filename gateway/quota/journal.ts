// The journal of what was served: usage, refunds and last uses, gathered and sent to accounts-api in batches.
// Hides the batching. A batch that failed is kept and sent again under the same id, so nothing is lost or counted twice. With
// files it also survives kill -9.
import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Batch, type Entry, type UsageEntry } from './journal-batch.ts';
import { openJournalFile, type JournalFile } from './journal-file.ts';

export interface Journal {
  record(entry: UsageEntry): void;
  /** Hands calls back to the month they were taken from. */
  refund(accountId: string, month: string, calls: number): void;
  /** Charges calls that were served while nobody could be asked. */
  charge(accountId: string, month: string, calls: number): void;
  /** Notes what was ever drawn from an allotment, and returned of it undrawn. */
  drawn(accountId: string, month: string, allotment: string, drawn: number, returned: number): void;
  /** Notes that a key was used just now; at most once a minute a key goes out. */
  touch(keyId: string): void;
  /**
   * From now on, keeps what is not handed over in files of this directory, which no other gateway uses, and hands over what an
   * earlier process left there. To be called before the first call is served. @throws Error where it cannot be used.
   */
  keepIn(directory: string): void;
  /** Sends what was gathered, now. */
  flush(): void;
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
// A service takes bodies of 64 KB; an entry is at most about 240 bytes.
const entriesMax = 250;

export function createJournal(options: JournalOptions): Journal {
  const { log } = options;
  const sealed: Batch[] = []; // oldest first; each goes on its way unchanged
  let gathering = new Batch();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let file: JournalFile | undefined;
  const touchedAt = new LRUCache<string, number>({ max: touchedKeysMax });

  function add(entry: Entry): void {
    gathering.add(entry);
    file?.append(gathering.id, entry);
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
      file?.forget(batch.id);
    }
  }

  async function close(): Promise<void> {
    const giveUpAtMs = performance.now() + options.closeWithinMs;
    await flushing;
    await flush();
    while (sealed.length + gathering.size > 0 && performance.now() < giveUpAtMs) {
      if (sealed.length > 0) await pause(Math.min(retryAfterMs, options.closeWithinMs / 10));
      await flush(); // also what came in while the last was under way
    }
    clearTimeout(timer);
    timer = undefined;
    file?.close();
    if (sealed.length === 0) return;
    if (file !== undefined) log.warn('Usage could not be handed over; it is kept for the next start');
    else
      log.error(
        { lost: sealed.map((batch) => batch.toJson()) },
        'Usage could not be handed over and is lost',
      );
  }

  return {
    record: (entry) => add({ of: 'usage', ...entry }),
    refund: (accountId, month, calls) => add({ of: 'refund', accountId, month, calls }),
    charge: (accountId, month, calls) => add({ of: 'charge', accountId, month, calls }),
    drawn: (accountId, month, allotment, drawn, returned) =>
      add({ of: 'drawn', accountId, month, allotment, drawn, returned }),
    touch(keyId) {
      const now = options.clock.now();
      if (now.getTime() - (touchedAt.get(keyId) ?? -Infinity) < touchEveryMs) return;
      touchedAt.set(keyId, now.getTime());
      add({ of: 'use', keyId, at: now.toISOString() });
    },
    keepIn(directory) {
      file = openJournalFile(directory, log);
      for (const { id, entries } of file.left) {
        const batch = new Batch(id);
        for (const entry of entries) batch.add(entry);
        sealed.push(batch);
      }
      if (sealed.length > 0) schedule(0);
    },
    flush: () => void flush(),
    backlog: () => ({
      entries: sealed.reduce((sum, batch) => sum + batch.size, gathering.size),
      batches: sealed.length,
    }),
    close,
  };
}
