// The process that works apart: does the one task that it is sent, answers, and ends. It ends with the publisher, too, and then leaves
// nothing: what it has not committed is rolled back.
import { setPriority } from 'node:os';
import { openDatabase, type Database } from '../../../kernel/database.ts';
import { createLog, standardOutput } from '../../../kernel/log/log.ts';
import { actAs } from '../acting.sql.ts';
import { toSent, type Order, type Told } from './messages.ts';
import { tasks, type TaskContext } from './tasks.ts';

/** Behind the publisher, whose releases are due at their instants. */
const niceness = 10;

const tell = (told: Told) =>
  new Promise<void>((resolve, reject) => {
    process.send?.(told, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });

process.once('disconnect', () => process.exit(1));
process.once('message', (order: Order) => {
  setPriority(niceness);
  void perform(order)
    .then((answer) => tell({ answer }))
    .catch((error: unknown) => tell({ failed: toSent(error) }))
    .finally(() => process.exit(0));
});

async function perform({ task, given, databaseUrl, applicationName, accountId }: Order): Promise<unknown> {
  const log = createLog('publisher', 'warn', standardOutput());
  // A load, its check within it, and the pieces of its file.
  const opened = openDatabase(databaseUrl, log, {
    applicationName,
    connectionsMax: 3,
    statementTimeoutMs: 0,
  });
  const database: Database = {
    ...opened,
    transaction: (work) =>
      opened.transaction(async (on) => {
        if (accountId !== null) await actAs(on, accountId);
        return work(on);
      }),
  };
  const run = (await tasks[task]()) as (context: TaskContext, given: unknown) => Promise<unknown>;
  return run({ database }, given);
}
