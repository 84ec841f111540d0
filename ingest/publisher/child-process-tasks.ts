// The table of tasks that a child process runs on untrusted files.
import { systemClock } from '../../kernel/clock.ts';
import type { TaskContext } from './child-process/task.ts';
import type { TableTasks } from './child-process/load-tables.ts';
import type { BulkTasks } from './bulk/bulk-job.ts';
import type { InboxTasks } from './inbox/load-file.ts';
import type { SourceTasks } from './sources/load-fetched.ts';
import type { PublishTasks } from './uploads/publish-table.ts';
import type { ReadTasks } from './uploads/read-upload.ts';

export interface Tasks extends TableTasks, InboxTasks, SourceTasks, ReadTasks, PublishTasks, BulkTasks {}

type Task<Name extends keyof Tasks> = (
  context: TaskContext,
  given: Tasks[Name]['given'],
) => Promise<Tasks[Name]['answer']>;

/** Each is imported on first use: most processes run one. */
export const tasks: { readonly [Name in keyof Tasks]: () => Promise<Task<Name>> } = {
  'find-tables': async () => {
    const { findTables } = await import('../preview/find-tables.ts');
    return (_context, given) => findTables(given);
  },
  'inspect-table': async () => {
    const { inspectTable } = await import('../preview/inspect.ts');
    return (_context, given) => inspectTable(given);
  },
  'load-table': async () => (await import('./child-process/load-tables.ts')).loadTableHere,
  'inbox-file': async () => (await import('./inbox/load-file.ts')).workHere,
  'load-source': async () => (await import('./sources/load-fetched.ts')).loadFetchedHere,
  'write-bulk': async () => {
    const { writeBulk } = await import('../bulk/write-bulk.ts');
    return ({ database }, given) => writeBulk(database, given, systemClock);
  },
  'read-upload': async () => (await import('./uploads/read-upload.ts')).readUpload,
  'check-table': async () => (await import('./uploads/publish-table.ts')).checkTable,
  'publish-table': async () => (await import('./uploads/publish-table.ts')).publishTable,
};
