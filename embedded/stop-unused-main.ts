// A process that stops an embedded PostgreSQL once nobody uses it: started by a command that a signal ends, whose connections last a moment
// longer than the command. Its argument is DATA_DIR.
import { stopOnceUnused } from './postgres.ts';

await stopOnceUnused(process.argv[2] ?? '');
