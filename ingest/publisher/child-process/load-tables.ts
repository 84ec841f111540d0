// Finds and loads the tables of files in a child process. A file that crashes the process is reported as a table that cannot be loaded, with the
// reason; another process reads the next file.
import { clockFrom } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/database.ts';
import { IngestFailure } from '../../failure.ts';
import type { InterruptedAt } from '../../load/lock/interruptions.sql.ts';
import type { RunningLoad } from '../../load/lock/load-lock.sql.ts';
import type { FindTables } from '../../preview/find-tables.ts';
import type { FoundTable } from '../../detect/file-groups.ts';
import { loadTableFile, type LoadedTable, type LoadSettings } from '../../plan/load-table-file.ts';
import type { TableToInspect } from '../../preview/inspect.ts';
import type { Inspected } from '../../entry/table-preview.ts';
import { withoutQuery } from '../../read/file-path.ts';
import type { FileToLoad } from '../../plan/plan.ts';
import { ProcessEnded, type ChildRunner } from './run-in-child.ts';
import type { TaskContext } from './task.ts';

export interface TableToLoad {
  planned: FileToLoad;
  settings: Pick<LoadSettings, 'seriesTimeZone' | 'fiscalYearFirstMonth' | 'publication' | 'dryRun'>;
  now: Date;
}

export type LoadEvent =
  | { read: [rows: number, bytes: number] }
  | { waiting: RunningLoad | undefined; isRelease: boolean }
  | { interruption: InterruptedAt };

export interface TableTasks {
  'find-tables': { given: FindTables; answer: FoundTable[]; event: never };
  'inspect-table': { given: TableToInspect; answer: Inspected; event: never };
  'load-table': { given: TableToLoad; answer: LoadedTable; event: LoadEvent };
}

export interface ChildTables {
  find(given: FindTables): Promise<FoundTable[]>;
  /** Its rows as they will be served, and the alternatives for its guesses, according to its present entry. */
  inspect(table: TableToInspect): Promise<Inspected>;
  load(planned: FileToLoad, settings: Omit<LoadSettings, 'inSameTransaction'>): Promise<LoadedTable>;
}

/** Reads all tables. @throws IngestFailure, also if a file crashed the process. */
export function tablesInChild(children: ChildRunner<TableTasks>): ChildTables {
  return {
    find: (given) => named(given.source.path, children.run('find-tables', given, {})),
    inspect: (table) => named(table.path, children.run('inspect-table', table, {})),
    load(planned, { clock, onProgress, onWaiting, onInterrupted, ...settings }) {
      const loaded = children.run(
        'load-table',
        { planned, settings, now: clock.now() },
        {
          onEvent(event) {
            if ('read' in event) onProgress?.(...event.read);
            else if ('waiting' in event) onWaiting?.(event.waiting, event.isRelease);
            else onInterrupted?.(event.interruption);
          },
        },
      );
      return named(planned.path, loaded);
    },
  };
}

async function named<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error;
    throw new IngestFailure(
      'invalid_file',
      `${withoutQuery(path)} cannot be read: ${error.message}. ${error.advice}`,
      { cause: error },
    );
  }
}

/** The task. */
export function loadTableHere(
  { database, emit }: Pick<TaskContext, 'emit'> & { database: Database },
  { planned, settings, now }: TableToLoad,
): Promise<LoadedTable> {
  return loadTableFile(database, planned, {
    ...settings,
    clock: clockFrom(now),
    onProgress: (...read) => emit({ read } satisfies LoadEvent),
    onWaiting: (waiting, isRelease) => emit({ waiting, isRelease } satisfies LoadEvent),
    onInterrupted: (interruption) => emit({ interruption } satisfies LoadEvent),
  });
}
