// Tries the system as it runs in production, one part after the other: the HTTP tests with data-apis that read from a streaming replica
// and a Redis Cluster; the rolling restart of everything under load; the chaos run with a replica and a cluster. Services are processes of
// their own with database roles of their own, except where a test gives them a clock or another object. Prints the figures of each.
// Usage: scripts/production-like.sh. Exits with 1 if a part fails.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../kernel/settings.ts';

/** Each answer of each endpoint after each kind of load, by itself two minutes of CPU; npm test runs it. */
const leftOut = ['test/v1/etags.test.ts'];

const httpTests = readdirSync(path.join(projectRoot, 'test/v1'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/v1/${name}`)
  .filter((file) => !leftOut.includes(file));

/** They start all services and give them no object of their own: these run against processes, which are started for each file. */
const againstProcesses = [
  ...['test/openapi/client.test.ts', 'test/openapi/headers.test.ts', 'test/docs/errors.test.ts'],
  'test/clients/typescript/package.test.ts',
];

const env = { TEST_SET_UP: 'production' };
const parts: { name: string; words: string[]; env?: Record<string, string> }[] = [
  { name: 'HTTP tests with a replica', words: ['test/run.ts', ...httpTests], env },
  { name: 'HTTP tests of processes', words: ['test/run.ts', '--concurrency=1', ...againstProcesses], env },
  { name: 'rolling restart', words: ['test/production/rolling.ts'] },
  { name: 'chaos', words: ['test/chaos/run.ts', '--production', '--seed', '7', '--seconds', '6'] },
];

const results: { name: string; code: number; seconds: number }[] = [];
for (const { name, words, env } of parts) {
  process.stdout.write(`\n${name}\n`);
  const beganAtMs = performance.now();
  const code = await runs(words, env);
  results.push({ name, code, seconds: (performance.now() - beganAtMs) / 1000 });
}
process.stdout.write('\npart                      | result | seconds\n');
for (const { name, code, seconds } of results) {
  const result = code === 0 ? 'passed' : 'FAILED';
  process.stdout.write(`${name.padEnd(25)} | ${result} | ${seconds.toFixed(0).padStart(7)}\n`);
}
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;

async function runs(words: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, words, {
    cwd: projectRoot,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
