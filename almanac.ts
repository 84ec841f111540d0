// The command line as a process: its arguments, environment and streams, and its exit code.
import { main } from './cli/main.ts';
import { defaultSettingsFile } from './cli/settings-file.ts';
import { freeStartMemory } from './cli/start/start-memory.ts';

// Exits explicitly: a job queue that is stopped in the middle of its start leaves timers behind, which kept the process of a
// failed start running and deaf to signals (seen on a busy machine, 2026-11-21).
const { argv, env, stdin, stdout, stderr } = process;
const terminal = { env, stdin, stdout, stderr, started: freeStartMemory };
process.exit(await main(argv.slice(2), { ...terminal, settingsFile: defaultSettingsFile }));
