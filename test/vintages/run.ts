// All cases of vintages, in two databases at once. Usage: npm run try-vintages -- [--every N] [--at M]. Exits with 1 if an answer is not that
// of the replay.
import { parseArgs } from 'node:util';
import { startServers } from '../run/servers.ts';
import { runGuarded } from '../run/guard.ts';
import { createTestDatabase } from '../services/harness.ts';
import { allCases } from './cases.ts';
import { play } from './play.ts';

const { values } = parseArgs({
  options: { every: { type: 'string', default: '1' }, at: { type: 'string', default: '0' } },
});
const [every, at] = [Number(values.every), Number(values.at)];

await runGuarded(async ({ directory }) => {
  const servers = await startServers(directory);
  Object.assign(process.env, servers.env);
  try {
    const started = performance.now();
    const cases = [...allCases()].filter((_, i) => i % every === at);
    printLine(`${cases.length} cases`);
    const played = await Promise.all(
      [0, 1].map(async (half) => {
        const { url } = await createTestDatabase();
        return play(
          url,
          cases.filter((_, i) => i % 2 === half),
        );
      }),
    );
    const sum = (what: 'moments' | 'questions' | 'statements') =>
      played.reduce((all, each) => all + each[what], 0);
    const seconds = Math.round((performance.now() - started) / 1000);
    printLine(
      `${sum('moments')} moments, ${sum('questions')} questions, ${sum('statements')} statements in ${seconds} s`,
    );
    const faults = played.flatMap((each) => each.faults);
    for (const fault of faults) printLine(`WRONG: ${JSON.stringify(fault, null, 1)}`);
    printLine(
      faults.length === 0
        ? 'vintages: all is right'
        : `vintages: at least ${faults.length} answers are wrong`,
    );
    return faults.length === 0 ? 0 : 1;
  } finally {
    await servers.stop();
  }
});

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
