// The fuzzer: random requests over all endpoints of the OpenAPI document, against all services in this process.
// Usage: npm run fuzz -- [--seed N] [--count M]. Exits with 1 if an answer is a server error or violates the document, took more than
// two seconds, or memory grew.
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';
import { startServers } from '../run/servers.ts';
import { runGuarded } from '../run/guard.ts';
import { fuzz, startFuzzed } from './fuzz.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string', default: '20000' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const count = Number(values.count);

const slowMs = 2_000;
// Caches are bounded in entries, and fill up to the end.
const growthBytesMax = 16 * 1024 * 1024;

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

await runGuarded(async ({ directory }) => {
  const servers = await startServers(directory);
  Object.assign(process.env, servers.env);
  const services = await startFuzzed();
  try {
    printLine(`fuzz: seed ${seed}, ${count} requests`);
    const heaps: number[] = [];
    const { faults, statuses, slowest } = await fuzz(services, {
      seed,
      count,
      report: (fault) => printLine(`WRONG: ${fault}`),
      every: {
        requests: Math.ceil(count / 8),
        pause(answered) {
          collect();
          heaps.push(process.memoryUsage().heapUsed);
          printLine(`${answered} answered, heap ${megabytes(heaps.at(-1))}`);
        },
      },
    });
    const grownBytes = (heaps.at(-1) ?? 0) - (heaps[3] ?? 0);
    const others: string[] = [];
    if (slowest.ms > slowMs) others.push(`${Math.round(slowest.ms)} ms: ${slowest.request}`);
    if (grownBytes > growthBytesMax)
      others.push(`the heap grew by ${megabytes(grownBytes)} in the second half`);
    for (const line of others) printLine(`WRONG: ${line}`);
    const wrong = faults.length + others.length;
    const shown = [...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, answers]) => `${status}: ${answers}`);
    printLine(`answers: ${shown.join(', ')}; slowest ${Math.round(slowest.ms)} ms`);
    printLine(`memory: ${megabytes(grownBytes)} more after the second half than before`);
    printLine(wrong === 0 ? 'fuzz: all is right' : `fuzz: ${wrong} things are wrong; seed ${seed}`);
    return wrong === 0 ? 0 : 1;
  } finally {
    await services.close();
    await servers.stop();
  }
});

function megabytes(bytes = 0): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
