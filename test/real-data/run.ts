// The real-data run: loads published files by the command line alone and asks through the gateway for known-true values.
// Usage: npm run try-real -- <folder of the files>. Where the folder is absent it says so and ends with 0.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { checkBlsCalendar } from './bls-calendar.ts';
import { checkCoreSeries } from './core-series.ts';
import { checkFredMd } from './fred-md.ts';
import { checkWfpPrices } from './wfp-prices.ts';
import { createInstallation } from '../instance.ts';
import type { Instance } from './answers.ts';

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
  const installation = await createInstallation();
  const serving = await installation.start();
  const { apiKey } = serving;
  assert.ok(apiKey, 'the first start prints a key');
  const instance: Instance = {
    almanac: installation.almanac,
    get: (target) => fetch(installation.url + target, { headers: { 'x-api-key': apiKey } }),
  };
  let facts = 0;
  const seen = (fact: string) => {
    facts += 1;
    process.stdout.write(`  true: ${fact}\n`);
  };
  try {
    for (const check of [checkCoreSeries, checkFredMd, checkWfpPrices, checkBlsCalendar])
      await check({ instance, folder: dataFolder, seen });
  } finally {
    assert.equal(await serving.stop(), 0, 'Ctrl-C ends the instance with 0');
    installation.remove();
  }
  process.stdout.write(`${facts} passed, 0 failed\n`);
}
