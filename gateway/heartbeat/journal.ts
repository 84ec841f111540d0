// The journal of served calls: usage, the blocks it was drawn from, and last uses of keys, sent to accounts-api in batches. A failed batch is sent
// again with the same id, so nothing is lost or counted twice. With files, the journal also survives kill -9.
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log/log.ts';
import { createAccountsCache } from './accounts-cache.ts';
import type { Batch as SentBatch, ChargedFile, UsageRow } from '../../kernel/heartbeat/message.ts';
import { Batch, Sums, type Entry } from './journal-batch.ts';
import { openJournalFile, type JournalFile } from './journal-file.ts';

export type Journal = ReturnType<typeof createJournal>;

export interface JournalOptions {
  send(batch: SentBatch): Promise<void>;
  /** Ends lives that have reported everything: accounts-api then frees the calls of their blocks. */
  end(lives: readonly string[]): Promise<void>;
  flushEveryMs: number;
  /** How long close() retries. */
  closeWithinMs: number;
  clock: Clock;
  log: Log;
}

/** Thrown by `send` if a batch can never be accepted; retrying it would only delay later batches. */
export class BatchRefused extends Error {}

/** The most lives that one message ends. */
const livesMax = 100;
const touchEveryMs = 60_000;
const retryAfterMs = 500;
// A service accepts bodies of 64 KB. An entry has at most about 240 bytes; one for a file has 320, and at most every third entry is for a file.
const entriesMax = 240;

export function createJournal(options: JournalOptions) {
  const { log } = options;
  const sealed: Batch[] = []; // oldest first; their content is final
  let gathering = new Batch();
  let unwritten = new Sums();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let file: JournalFile | undefined;
  let isClosed = false;
  let life: string | undefined;
  const endedLives = new Set<string>();
  const touchedAt = createAccountsCache<number>();

  function add(entry: Entry): void {
    if (isClosed) {
      log.error({ lost: entry }, 'Usage arrived after the journal was closed, and is lost');
      return;
    }
    if (unwritten.size === 0) queueMicrotask(write);
    unwritten.add(entry);
    if (gathering.size + unwritten.size >= entriesMax) seal();
    schedule(options.flushEveryMs);
  }

  /** One write for all answers that were sent together, before the event loop goes on: a kill loses no call that was answered earlier. */
  function write(): void {
    if (unwritten.size === 0) return; // sealed meanwhile
    const { entries } = unwritten;
    unwritten = new Sums();
    file?.append(gathering.id, entries); // before `add`, which changes the entries
    for (const entry of entries) gathering.add(entry);
  }

  function seal(): void {
    write();
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

  /**
   * Sends the gathered entries. If a flush is running, another one follows it: its batch may not have the last entries.
   * @returns resolves when accounts-api has accepted them or the attempt has failed.
   */
  const flush = (): Promise<void> => flushing?.then(flushNow) ?? flushNow();

  function flushNow(): Promise<void> {
    flushing ??= sendSealed().finally(() => {
      flushing = undefined;
      // After closing, a timer would keep the process alive.
      if (!isClosed && sealed.length + endedLives.size > 0) schedule(retryAfterMs);
    });
    return flushing;
  }

  /** Ends lives only after all batches: a life's served calls are charged before its unused calls are freed. */
  async function sendSealed(): Promise<void> {
    seal();
    try {
      for (let batch = sealed[0]; batch !== undefined; batch = sealed[0]) {
        await sendBatch(batch);
        sealed.shift();
        file?.forget(batch.id);
      }
      while (endedLives.size > 0) {
        const lives = [...endedLives].slice(0, livesMax);
        await options.end(lives);
        for (const ended of lives) {
          file?.forgetLife(ended);
          endedLives.delete(ended);
        }
      }
    } catch (error) {
      log.warn(
        { err: error, batch_id: sealed[0]?.id, lives: endedLives.size },
        'Usage, or the end of a gateway process, could not be reported; will retry',
      );
    }
  }

  async function sendBatch(batch: Batch): Promise<void> {
    try {
      await options.send(batch.toJson());
    } catch (error) {
      if (!(error instanceof BatchRefused)) throw error;
      log.error({ err: error, lost: batch.toJson() }, 'A batch of usage was refused and is lost');
    }
  }

  const unreported = (): number =>
    sealed.reduce((sum, { size }) => sum + size, gathering.size + unwritten.size);

  async function sendAll(giveUpAtMs: number): Promise<void> {
    await flush();
    while (unreported() + endedLives.size > 0 && performance.now() < giveUpAtMs) {
      const hasFailed = sealed.length + endedLives.size > 0; // otherwise the entries were added during the last flush
      if (hasFailed) await pause(Math.min(retryAfterMs, options.closeWithinMs / 10));
      await flush();
    }
  }

  /** Sends the rest. If accounts-api stays unavailable, gives up after a while and logs it. */
  async function close(): Promise<void> {
    const giveUpAtMs = performance.now() + options.closeWithinMs;
    await sendAll(giveUpAtMs);
    isClosed = true;
    clearTimeout(timer);
    seal();
    if (life !== undefined) endedLives.add(life);
    if (sealed.length === 0) await sendAll(giveUpAtMs);
    file?.close();
    if (sealed.length === 0) return;
    if (file !== undefined)
      log.warn('Usage could not be reported; it stays in JOURNAL_DIR and is reported at the next start');
    else
      log.error({ lost: sealed.map((batch) => batch.toJson()) }, 'Usage could not be reported and is lost');
  }

  return {
    /** Records calls of a key. */
    record: (row: UsageRow) => add({ list: 'usage', row: { ...row } }),
    /** Records that a file was charged for a key and a day, after the billed call: two gateways may both have charged it. */
    chargedFile: (row: ChargedFile) => add({ list: 'files', row: { ...row } }),
    /** Charges calls that were served during an outage of accounts-api. */
    charge: (accountId: string, month: string, calls: number) =>
      add({ list: 'charges', row: { account_id: accountId, month, calls } }),
    /** Records served calls of a life's block, and calls that are returned. */
    spent: (accountId: string, month: string, life: string, calls: number, returned: number) =>
      add({ list: 'spent', row: { account_id: accountId, month, life, calls, returned } }),
    /** Records that a key was just used; reported at most once a minute per key. */
    touch(keyId: string): void {
      const now = options.clock.now();
      if (now.getTime() - (touchedAt.get(keyId) ?? -Infinity) < touchEveryMs) return;
      touchedAt.set(keyId, now.getTime());
      add({ list: 'last_used', row: { key_id: keyId, at: now.toISOString() } });
    },
    /**
     * From now on, stores unreported entries in files of this directory, which no other gateway uses, and reports the entries that an earlier process
     * left there. Call it before the first call is served. @throws Error if the directory cannot be used.
     */
    persistIn(directory: string): void {
      file = openJournalFile(directory, log);
      sealed.push(...file.left);
      for (const left of file.leftLives) endedLives.add(left);
      if (life !== undefined) file.beginLife(life);
      if (sealed.length + endedLives.size > 0) schedule(0);
    },
    /** Records that a life of this gateway has begun. It is ended when the journal closes, or by the next process. */
    beginLife(lifeId: string): void {
      // accounts-api closes the previous life, which is silent, and frees its calls.
      if (life !== undefined) file?.forgetLife(life);
      life = lifeId;
      file?.beginLife(lifeId);
    },
    flush,
    /** The entries that accounts-api has not yet received, and the number of batches to resend. */
    backlog: () => ({ entries: unreported(), batches: sealed.length }),
    close,
  };
}
