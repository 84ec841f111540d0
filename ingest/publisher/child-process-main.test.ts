// The priority of the child process that reads files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import path from 'node:path';
import test from 'ava';

/** The system has no lower one. */
const lowestPriority = 19;

test('a process that was started with a lower priority than its task has keeps it, as only root could raise it', async (t) => {
  const program = path.join(import.meta.dirname, 'child-process-main.ts');
  const child = spawn('nice', ['-n', '15', process.execPath, program], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  t.teardown(() => child.kill('SIGKILL')); // it ignores the other signals, which its parent handles
  const task = {
    task: 'none',
    given: {},
    databaseUrl: 'postgres://127.0.0.1:1/none',
    applicationName: 'test',
  };
  child.send({ ...task, niceness: 10, isQuiet: true, accountId: null });
  for (let reply: unknown; !(reply instanceof Object && 'failed' in reply);)
    [reply] = await once(child, 'message');
  t.is(getPriority(child.pid), Math.min(getPriority() + 15, lowestPriority));
});
