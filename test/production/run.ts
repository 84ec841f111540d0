// Tries the system as it runs in production, one part after the other: the HTTP tests with three data-apis that read from a streaming
// replica, two accounts-apis, two gateways and a Redis Cluster; the rolling restart of everything under load; the chaos run with a replica
// and a cluster. Services are processes of their own with database roles of their own, also in the HTTP tests, unless a test gives
// them an object that no setting can tell, such as a log. Prints the figures of each.
// Usage: scripts/production-like.sh [--skip 'name of a part']. Exits with 1 if a part fails.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../kernel/project.ts';
import { leftOut, testsAsInProduction } from './http-tests.ts';

const httpTests = testsAsInProduction();
const env = { TEST_SET_UP: 'production' };
/** Where almanac.js keeps it: what one part compiles, the others find compiled. */
const compileCache = path.join(projectRoot, 'node_modules/.cache/almanac');
interface Part {
  name: string;
  words: string[];
  env?: Record<string, string>;
  /** The next part begins when this is printed: what follows is mostly a wait. */
  leavesRoomFrom?: RegExp;
}
const parts: Part[] = [
  {
    name: 'chaos',
    words: ['test/chaos/run.ts', '--production', '--seed', '17', '--seconds', '6'],
    leavesRoomFrom: /^fresh: /m, // then it waits until what a killed gateway held is spendable
  },
  { name: 'HTTP tests', words: ['test/run.ts', '--concurrency=3', ...httpTests], env },
  { name: 'rolling restart', words: ['test/production/rolling.ts'] },
];

const { values } = parseArgs({ options: { skip: { type: 'string', multiple: true, default: [] } } });
const unknown = values.skip.filter((skipped) => !parts.some(({ name }) => name === skipped));
if (unknown.length > 0)
  throw new Error(`There is no part "${unknown[0]}"; there are ${parts.map(({ name }) => name).join(', ')}.`);

const results: { name: string; code: number; seconds: number }[] = [];
const running: Promise<void>[] = [];
for (const part of parts.filter(({ name }) => !values.skip.includes(name))) {
  process.stdout.write(`\n${part.name}\n`);
  const beganAtMs = performance.now();
  const { roomLeft, ended } = run(part);
  const noted = ended.then((code) => {
    results.push({ name: part.name, code, seconds: (performance.now() - beganAtMs) / 1000 });
  });
  running.push(noted);
  await Promise.race([roomLeft, noted]);
}
await Promise.all(running);
const filesOut = leftOut.map(({ reason, files }) => `  ${files.length}: ${reason}\n`);
process.stdout.write(
  `\n${httpTests.length} files of HTTP tests were run; npm test alone runs\n${filesOut.join('')}`,
);
process.stdout.write('\npart                      | result | seconds\n');
for (const { name, code, seconds } of results) {
  const result = code === 0 ? 'passed' : 'FAILED';
  process.stdout.write(`${name.padEnd(25)} | ${result} | ${seconds.toFixed(0).padStart(7)}\n`);
}
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;

function run({ words, env = {}, leavesRoomFrom }: Part): { roomLeft: Promise<void>; ended: Promise<number> } {
  const child = spawn(process.execPath, words, {
    cwd: projectRoot,
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const room = Promise.withResolvers<void>();
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    if (leavesRoomFrom?.test(chunk.toString())) room.resolve();
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  return { roomLeft: room.promise, ended };
}
