// The task that writes the bulk files in a child process, so that a release of the publisher never waits for a row group.
import { writeBulk, type BulkSettings } from '../../bulk/write-bulk.ts';
import { systemClock } from '../../../kernel/clock.ts';
import type { TaskContext } from '../child-process/task.ts';

export interface BulkTasks {
  'write-bulk': {
    given: BulkSettings;
    /** How many files were written; null if another process is writing. */
    answer: number | null;
    event: never;
  };
}

export async function writeBulkHere(
  { database }: TaskContext,
  settings: BulkSettings,
): Promise<BulkTasks['write-bulk']['answer']> {
  return (await writeBulk(database, settings, systemClock)) ?? null;
}
