// The child process that reads files: runs the tasks that it is sent, one after another, and replies. It ends with its parent process;
// uncommitted work is then rolled back.
import { getPriority, setPriority } from 'node:os';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { createLog, standardOutput } from '../../kernel/log/log.ts';
import { actingFor } from './child-process/act-as.sql.ts';
import { endOfTasks, toSent, type Order, type Sent } from './child-process/messages.ts';
import type { TaskContext } from './child-process/task.ts';
import { tasks, type Tasks } from './child-process-tasks.ts';

const beatEveryMs = 1_000;

const send = (message: Sent) =>
  new Promise<void>((resolve) => {
    // If the parent is gone, nobody needs the reply, and this process ends.
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

process.once('disconnect', () => process.exit(0));
// A terminal and systemd send these signals to all processes of a service: the parent decides when this one stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
setInterval(() => void send({ beat: true }), beatEveryMs);
process.on('message', (order: Order | typeof endOfTasks) => {
  if (order === endOfTasks) process.exit(0);
  setPriority(Math.max(getPriority(), order.niceness)); // only root may make a process less nice than it was started
  void perform(order)
    .then((answer): Sent => ({ answer }))
    .catch((error: unknown): Sent => ({ failed: toSent(error) }))
    .then(send);
});

let opened: Database | undefined;

async function perform({
  task,
  given,
  databaseUrl,
  applicationName,
  accountId,
  isQuiet,
}: Order): Promise<unknown> {
  // The load, its check and the pieces of its file.
  const open = () =>
    openDatabase(databaseUrl, log, { applicationName, connectionsMax: 3, statementTimeoutMs: 0 });
  // Standard output carries the results of commands.
  const log = createLog('publisher', isQuiet ? 'silent' : 'warn', standardOutput());
  const shared = (opened ??= open());
  const database = accountId === null ? shared : actingFor(shared, accountId);
  const run = (await tasks[task as keyof Tasks]()) as (
    context: TaskContext,
    given: unknown,
  ) => Promise<unknown>;
  return run({ database, log, emit: (event) => void send({ event }) }, given);
}
