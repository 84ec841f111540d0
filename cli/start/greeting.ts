// The output of `almanac start`: the steps of a first start, and the address.
import type { Output } from '../command.ts';

/** The steps of a first start, which takes some seconds. Called in this order; later starts call neither. */
export interface FirstStart {
  database(dataDir: string): void;
  /** @param done files of the demo that are loaded. @param of all. */
  demo(done: number, of: number): void;
}

const eraseLine = '\r\x1b[K';

/** @param stdout a terminal has the number of files of the demo, counting up. */
export function createFirstStart(stdout: Output): FirstStart {
  return {
    database: (dataDir) => void stdout.write(`Making a database in ${dataDir} …\n`),
    demo(done, of) {
      const loading = 'Loading the demo data';
      if (stdout.isTTY !== true) {
        if (done === 0) stdout.write(`${loading} …\n`);
        return;
      }
      stdout.write(`${eraseLine}${loading}: ${done} of ${of} files${done === of ? '\n' : ''}`);
    },
  };
}

/** @param url the address of the gateway. */
export function greet(
  stdout: Output,
  url: string,
  { demoKey, dashboard }: { demoKey: string | undefined; dashboard: boolean },
): void {
  const lines = ['', 'Almanac is running.', ...(dashboard ? [`Dashboard: ${url}`] : []), `API: ${url}`];
  if (demoKey !== undefined) {
    lines.push(
      `API key: ${demoKey}`,
      '(shown this once; the demo account is demo@almanac.example, plan pro, and all demo data is synthetic)',
      '',
      'Try it:',
      `curl -H 'X-API-Key: ${demoKey}' '${url}/v1/series/DEMO.CPI?limit=3&sort=desc'`,
    );
  }
  stdout.write(`${lines.join('\n')}\n\n`);
}
