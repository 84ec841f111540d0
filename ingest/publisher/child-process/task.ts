// The types of the tasks that run in a child process, and of their context.
import type { Database } from '../../../kernel/database.ts';
import type { Log } from '../../../kernel/log/log.ts';

/** Tasks by name: input, result, and events emitted meanwhile; all are sent between processes. */
export type TaskTypes<Tasks> = { [Name in keyof Tasks]: { given: unknown; answer: unknown; event: unknown } };

/** The context of every task. */
export interface TaskContext {
  /** The process's own connections. The transactions act for the account of the task, if it has one. */
  database: Database;
  log: Log;
  /** Sends an event of the task to its caller. */
  emit: (event: unknown) => void;
}
