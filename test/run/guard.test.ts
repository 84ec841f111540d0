// However a run ends, it leaves nothing behind: its guard ends all its processes and removes its directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startGuard } from './guard.ts';
import { endProcesses, processesOf, type Run } from './run-processes.ts';
import { until, within } from './until.ts';

// Starts a guard and processes that are hard to end, prints the directory, and then runs for ever.
const runner = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startGuard } from ${JSON.stringify(path.join(import.meta.dirname, 'guard.ts'))};
const { mark, directory, env } = await startGuard();
Object.assign(process.env, env);
const start = (script, options) => spawn('sh', ['-c', script], { stdio: 'ignore', ...options });
start('exec sleep 600', { detached: true }).unref();
start('sleep 600 & exit');
start('trap "" TERM INT HUP QUIT; while :; do sleep 600; done');
start('exec env -i sleep 600', { cwd: directory });
spawn('sleep', ['600'], { stdio: 'ignore' }).kill('SIGSTOP');
process.stdout.write(JSON.stringify({ mark, directory }) + '\\n');
setInterval(() => undefined, 1e6);
`;

/** Starts a run with five such processes, each recognised by a different sign. */
async function startRun(t: ExecutionContext): Promise<{ run: Run; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', runner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  t.teardown(kill);
  const line = await within('the run has begun', once(createInterface(child.stdout), 'line'));
  const run = JSON.parse(String(line[0])) as Run;
  t.teardown(() => endProcesses(run));
  await until('its processes run', async () => (await sleepsOf(run)) >= 5);
  return { run, kill };
}

/** Listing all processes of the machine takes a while, so this is not done too often. */
async function sleepsOf(run: Run): Promise<number> {
  await pause(50);
  return processesOf(run).filter(({ command }) => command.startsWith('sleep 600')).length;
}

test('a run whose runner is killed leaves no directory and no process, even a detached, orphaned, deaf or stopped one, or one without its environment', async (t) => {
  const { run, kill } = await startRun(t);
  await kill();
  await until('its directory is gone', () => !existsSync(run.directory));
  t.deepEqual(processesOf(run), []);
});

test('the end of one run does not affect another', async (t) => {
  const [one, other] = await Promise.all([startRun(t), startRun(t)]);
  const before = await sleepsOf(other.run);
  await one.kill();
  await until('its directory is gone', () => !existsSync(one.run.directory));
  t.is(await sleepsOf(other.run), before);
  t.true(existsSync(other.run.directory));
});

test('a run that ends by itself also leaves nothing, with links to its own directory too', async (t) => {
  const guard = await startGuard();
  t.teardown(guard.end);
  // A listing that follows these links never ends.
  for (let at = 0; at < 10; at += 1)
    symlinkSync(guard.directory, path.join(guard.directory, `tmp/again-${at}`));
  const env = { ...process.env, ...guard.env };
  spawn('sleep', ['600'], { env, stdio: 'ignore', detached: true }).unref();
  await until('its process runs', async () => (await sleepsOf(guard)) === 1);
  await within('the run ends', guard.end());
  t.deepEqual(processesOf(guard), []);
  t.false(existsSync(guard.directory));
});
