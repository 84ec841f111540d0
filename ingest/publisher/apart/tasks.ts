// What a process of its own does with a file that is not trusted: the table of tasks, with what each is given and answers.
import type { Database } from '../../../kernel/database.ts';
import type { Log } from '../../../kernel/log/log.ts';
import type { FindTables } from '../../publish/detect/find-tables.ts';
import type { FoundTable } from '../../publish/file-groups.ts';
import type { LoadedTable } from '../../publish/load-table-file.ts';
import type { TableToInspect } from '../../publish/preview/inspect.ts';
import type { Inspected } from '../../publish/inspected.ts';
import type { Due } from '../accept.ts';
import type { CheckedTable, PublishedTable, TableToPublish } from '../uploads/publish-table.ts';
import type { FoundInUpload } from '../uploads/read-upload.ts';
import type { UploadToRead } from '../uploads/spool.ts';
import type { FileOfInbox, InboxAnswer } from '../inbox/load-apart.ts';
import type { FetchedSource } from '../sources/load-fetched.ts';
import type { LoadEvent, TableToLoad } from './tables.ts';

/** What every task works with. */
export interface TaskContext {
  /** Connections of its own. The transactions act for the account of the task, if it has one. */
  database: Database;
  log: Log;
  /** Sends an event of the task to its caller. */
  emit: (event: unknown) => void;
}

/** By name: what a task is given, what it answers, and the events that it emits meanwhile; all go from one process to another. */
export interface Tasks {
  'find-tables': { given: FindTables; answer: FoundTable[]; event: never };
  'inspect-table': { given: TableToInspect; answer: Inspected; event: never };
  'load-table': { given: TableToLoad; answer: LoadedTable; event: LoadEvent };
  'inbox-file': { given: FileOfInbox; answer: InboxAnswer; event: { begun: string } };
  'load-source': { given: FetchedSource; answer: 'loaded' | 'lost'; event: never };
  'read-upload': { given: UploadToRead; answer: FoundInUpload; event: never };
  'check-table': { given: TableToPublish; answer: CheckedTable; event: never };
  'publish-table': {
    given: TableToPublish & { due?: Due | undefined };
    answer: PublishedTable;
    event: never;
  };
}
export type TaskName = keyof Tasks;

type Task<Name extends TaskName> = (
  context: TaskContext,
  given: Tasks[Name]['given'],
) => Promise<Tasks[Name]['answer']>;

/** Each is imported when it is to run: most processes run one. */
export const tasks: { readonly [Name in TaskName]: () => Promise<Task<Name>> } = {
  'find-tables': async () => {
    const { findTables } = await import('../../publish/detect/find-tables.ts');
    return (_context, given) => findTables(given);
  },
  'inspect-table': async () => {
    const { inspectTable } = await import('../../publish/preview/inspect.ts');
    return (_context, given) => inspectTable(given);
  },
  'load-table': async () => (await import('./tables.ts')).loadTableHere,
  'inbox-file': async () => (await import('../inbox/load-apart.ts')).workHere,
  'load-source': async () => (await import('../sources/load-fetched.ts')).loadFetchedHere,
  'read-upload': async () => (await import('../uploads/read-upload.ts')).readUpload,
  'check-table': async () => (await import('../uploads/publish-table.ts')).checkTable,
  'publish-table': async () => (await import('../uploads/publish-table.ts')).publishTable,
};
