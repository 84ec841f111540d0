// What a task of a process of its own is: the types of the table of tasks, and what each works with.
import type { Database } from '../../../kernel/database.ts';
import type { Log } from '../../../kernel/log/log.ts';

/** By name: what a task is given, what it answers, and the events that it emits meanwhile; all go from one process to another. */
export type TaskTypes<Tasks> = { [Name in keyof Tasks]: { given: unknown; answer: unknown; event: unknown } };

/** What every task works with. */
export interface TaskContext {
  /** Connections of its own. The transactions act for the account of the task, if it has one. */
  database: Database;
  log: Log;
  /** Sends an event of the task to its caller. */
  emit: (event: unknown) => void;
}
