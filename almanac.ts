// The command line as a process: its arguments, environment and streams, and its exit code.
import { main } from './cli/main.ts';
import { defaultSettingsFile } from './cli/settings-file.ts';
import { freeStartMemory } from './cli/start/start-memory.ts';

// Exits explicitly: a job queue that is stopped in the middle of its start leaves timers behind, which kept the process of a
// failed start running and deaf to signals (seen on a busy machine, 2026-11-21).
const { argv, env, stdin, stdout, stderr } = process;
// An output that cannot be written ends no command: its work could be half done. A reader that has gone, as of `| head -1`, is no failure.
let lost = 0;
stdout.on('error', ({ code: reason, message }: NodeJS.ErrnoException) => {
  if (reason === 'EPIPE') return;
  lost = 1;
  stderr.write(`almanac: the output cannot be written: ${message}\n`);
});
stderr.on('error', () => undefined);
const terminal = { env, stdin, stdout, stderr, started: freeStartMemory };
const code = await main(argv.slice(2), { ...terminal, settingsFile: defaultSettingsFile });
await new Promise((resolve) => stdout.write('', resolve)); // until all is written, or cannot be
process.exit(code || lost);
