// The command line as a process: its arguments, environment and streams, and its exit code.
import { main } from './cli/main.ts';

// Not left to end by itself: a job queue that is stopped in the middle of its start leaves timers behind, with which a start that
// failed went on for ever, deaf to signals (seen on a busy machine, 2026-11-21).
process.exit(await main(process.argv.slice(2), process));
