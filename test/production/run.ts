// Tries the system as it runs in production: the HTTP tests with three data-apis that read from a streaming
// replica, two accounts-apis, two gateways and a Redis Cluster; the rolling restart of everything under load; the chaos run with a replica
// and a cluster. Services are processes of their own with database roles of their own, also in the HTTP tests, unless a test gives
// them an object that no setting can express, such as a log. Prints the figures of each.
// Usage: scripts/production-like.sh [--skip 'name of a part']. Exits with 1 if a part fails.
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../kernel/project.ts';
import { leftOut, testsAsInProduction } from './http-tests.ts';

const httpTests = testsAsInProduction();
const env = { TEST_SET_UP: 'production' };
/** The compile cache of almanac.js, which all parts share. */
const compileCache = path.join(projectRoot, 'node_modules/.cache/almanac');
interface Part {
  name: string;
  words: string[];
  env?: Record<string, string>;
}
/** The chaos run and the rolling restart mostly wait, for leases to end and for services to drain. */
const sideBySide: Part[][] = [
  [{ name: 'HTTP tests', words: ['test/run.ts', '--concurrency=3', ...httpTests], env }],
  [
    { name: 'chaos', words: ['test/chaos/run.ts', '--production', '--seed', '17', '--seconds', '6'] },
    { name: 'rolling restart', words: ['test/production/rolling.ts'] },
  ],
];

const { values } = parseArgs({ options: { skip: { type: 'string', multiple: true, default: [] } } });
const names = sideBySide.flat().map(({ name }) => name);
const unknown = values.skip.filter((skipped) => !names.includes(skipped));
if (unknown.length > 0) throw new Error(`There is no part "${unknown[0]}"; there are ${names.join(', ')}.`);

const running = new Set<ChildProcess>();
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isStopped = true;
    for (const child of running) child.kill(signal); // each ends the processes that it started
  });

const results: { name: string; code: number; seconds: number }[] = [];
await Promise.all(
  sideBySide.map(async (parts) => {
    for (const part of parts.filter(({ name }) => !values.skip.includes(name))) {
      if (isStopped) return;
      process.stdout.write(`\n${part.name}\n`);
      const startedAtMs = performance.now();
      const code = await run(part);
      results.push({ name: part.name, code, seconds: (performance.now() - startedAtMs) / 1000 });
    }
  }),
);
const filesOut = leftOut.map(({ reason, files }) => `  ${files.length}: ${reason}\n`);
process.stdout.write(
  `\n${httpTests.length} files of HTTP tests were run; npm test alone runs\n${filesOut.join('')}`,
);
process.stdout.write('\npart                      | result | seconds\n');
for (const { name, code, seconds } of results) {
  const result = code === 0 ? 'passed' : 'FAILED';
  process.stdout.write(`${name.padEnd(25)} | ${result} | ${seconds.toFixed(0).padStart(7)}\n`);
}
process.exitCode = !isStopped && results.every(({ code }) => code === 0) ? 0 : 1;

/** @returns its exit code. */
function run({ words, env = {} }: Part): Promise<number> {
  const child = spawn(process.execPath, words, {
    cwd: projectRoot,
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    running.add(child);
    child.once('close', (code) => {
      running.delete(child);
      resolve(code ?? 1);
    });
  });
}
