// The real-data run: loads published files by the command line alone and asks through the gateway for known-true values.
// Usage: npm run try-real -- <folder of the files>. Where the folder is absent it says so and ends with 0.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { checkCoreSeries } from './core-series.ts';
import { checkFredMd } from './fred-md.ts';
import { startInstance, type Instance } from './instance.ts';

export interface Check {
  instance: Instance;
  /** The folder of the files. */
  folder: string;
  /** Says what was seen true. */
  seen(fact: string): void;
}

const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  process.stdout.write(
    `The real-data run is left out: there is no folder ${folder ?? '(none was named)'}.\n`,
  );
} else {
  await tryReal(folder);
}

async function tryReal(dataFolder: string): Promise<void> {
  const instance = await startInstance();
  let facts = 0;
  const seen = (fact: string) => {
    facts += 1;
    process.stdout.write(`  true: ${fact}\n`);
  };
  try {
    for (const check of [checkCoreSeries, checkFredMd]) await check({ instance, folder: dataFolder, seen });
  } finally {
    assert.equal(await instance.stop(), 0, 'Ctrl-C ends the instance with 0');
  }
  process.stdout.write(`${facts} passed, 0 failed\n`);
}
