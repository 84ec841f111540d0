// Loads a fetched file of a source and records that in the transaction of the load, which also ends the lease. A load whose lease another
// process has is rolled back.
import { clockFrom } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/database.ts';
import { interruptionsToJson } from '../../load/lock/give-way-to-release.ts';
import { loadTableFile } from '../../plan/load-table-file.ts';
import type { FileToLoad } from '../../plan/plan.ts';
import { databaseClock, type ReleaseClock } from '../releases/release-clock.ts';
import { nextInstant } from '../../entry/schedule.ts';
import { recordSuccess, type Validators } from './sources.sql.ts';

/** A fetched file, as sent between processes. */
export interface FetchedSource {
  publication: string;
  lease: string;
  schedule: string;
  seriesTimeZone: string;
  fiscalYearFirstMonth: number | undefined;
  table: FileToLoad;
  validators: Validators;
}

export interface SourceTasks {
  'load-source': { given: FetchedSource; answer: 'loaded' | 'lost'; event: never };
}

/** Thrown to roll a load back. */
class LeaseLost extends Error {}

/** @returns lost: the source was changed, removed or taken over meanwhile, and nothing is loaded. @throws as `loadTableFile`. */
export async function loadFetchedHere(
  { database, clock = databaseClock }: { database: Database; clock?: ReleaseClock },
  fetched: FetchedSource,
): Promise<'loaded' | 'lost'> {
  const { publication, lease, schedule, seriesTimeZone, fiscalYearFirstMonth } = fetched;
  const now = await clock.now(database);
  try {
    await loadTableFile(database, fetched.table, {
      ...{ publication, seriesTimeZone, dryRun: false, clock: clockFrom(now) },
      ...(fiscalYearFirstMonth !== undefined && { fiscalYearFirstMonth }),
      async inSameTransaction(on, load, interruptions) {
        const at = await clock.now(on);
        const isRecorded = await recordSuccess(on, lease, {
          ...{
            at,
            hasChanged: true,
            outcome: { result: 'loaded', load, ...interruptionsToJson(interruptions) },
          },
          fetchAt: nextInstant(schedule, seriesTimeZone, at),
          validators: fetched.validators,
        });
        if (!isRecorded) throw new LeaseLost();
      },
    });
    return 'loaded';
  } catch (error) {
    if (error instanceof LeaseLost) return 'lost';
    throw error;
  }
}
