// What a process of its own does with a file that is not trusted: the table of tasks, with what each is given and answers.
import type { Database } from '../../../kernel/database.ts';
import type { Due } from '../accept.ts';
import type { CheckedTable, PublishedTable, TableToPublish } from '../uploads/publish-table.ts';
import type { FoundInUpload } from '../uploads/read-upload.ts';
import type { UploadToRead } from '../uploads/spool.ts';

/** What every task works with. */
export interface TaskContext {
  /** Connections of its own. The transactions act for the account of the task, if it has one. */
  database: Database;
}

/** By name: what a task is given, and what it answers; both go from one process to another. */
export interface Tasks {
  'read-upload': { given: UploadToRead; answer: FoundInUpload };
  'check-table': { given: TableToPublish; answer: CheckedTable };
  'publish-table': { given: TableToPublish & { due?: Due | undefined }; answer: PublishedTable };
}
export type TaskName = keyof Tasks;

type Task<Name extends TaskName> = (
  context: TaskContext,
  given: Tasks[Name]['given'],
) => Promise<Tasks[Name]['answer']>;

/** Each is imported when it is to run: a process runs one. */
export const tasks: { readonly [Name in TaskName]: () => Promise<Task<Name>> } = {
  'read-upload': async () => (await import('../uploads/read-upload.ts')).readUpload,
  'check-table': async () => (await import('../uploads/publish-table.ts')).checkTable,
  'publish-table': async () => (await import('../uploads/publish-table.ts')).publishTable,
};
