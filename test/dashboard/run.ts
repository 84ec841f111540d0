// Walks through the dashboard with a browser, as people do: `npm run try-dashboard`. Everything runs on this machine: all services with the
// demo data, the fake of Stripe, an OpenID server, a mailbox.
//   --screenshots DIRECTORY   saves a picture of every page that a walk looks at; if a walk fails, one is always saved
//   --only TEXT               walks whose name contains it
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../kernel/project.ts';
import { needProgram } from '../run/debian.ts';
import { runGuarded } from '../run/guard.ts';
import type { Run } from '../run/run-processes.ts';
import { openBrowser, type Browsers } from './browser.ts';
import { startStage, type Stage } from './stage.ts';
import { walks, type Walk } from './walks.ts';

const widths = [1280, 375] as const;

const { values: wanted } = parseArgs({
  options: { screenshots: { type: 'string' }, only: { type: 'string', default: '' } },
});

async function walkAll(run: Run): Promise<number> {
  const executable = needProgram('chromium', 'chromium', 'fonts-liberation');
  const failures = path.join(projectRoot, 'node_modules/.cache/walks');
  if (wanted.screenshots !== undefined) mkdirSync(wanted.screenshots, { recursive: true });
  const stage = await startStage(run);
  const browsers = await openBrowser({
    executable,
    origin: stage.url,
    screenshots: wanted.screenshots,
    failures,
  });
  const failed: string[] = [];
  const chosen = walks.filter(({ name }) => name.includes(wanted.only));
  if (chosen.length === 0) throw new Error(`No walk has "${wanted.only}" in its name.`);
  try {
    for (const walk of chosen) {
      for (const width of widths) {
        if (!(await runWalk(walk, width, stage, browsers))) failed.push(`${walk.name} (${width} px)`);
      }
    }
  } finally {
    await browsers.close();
    await stage.close();
  }
  print(failed.length === 0 ? 'Every walk arrived.' : `These did not arrive: ${failed.join('; ')}.`);
  return failed.length === 0 ? 0 : 1;
}

async function runWalk(walk: Walk, width: number, stage: Stage, browsers: Browsers): Promise<boolean> {
  const startedAt = performance.now();
  const visitor = await browsers.visitor(width);
  const printResult = (how: string) =>
    print(`${width} px  ${walk.name}  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${how}`);
  try {
    await walk.run(stage, visitor);
    visitor.assertNoFaults();
    printResult(`${visitor.looked} looks`);
    for (const line of visitor.measured) print(`    ${line}`);
    return true;
  } catch (error) {
    const picture = await visitor.saveFailure(walk.name);
    printResult(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    for (const fault of visitor.faults) print(`    the page: ${fault}`);
    print(`    at ${visitor.page.url()}, see ${picture}`);
    return false;
  } finally {
    await visitor.leave();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await runGuarded(walkAll);
