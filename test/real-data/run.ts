// The real-data run: loads published files by the command line alone and queries known values through the gateway.
// Usage: npm run try-real -- <folder of the files> [check …], or [--except check …] for all others. If the folder does not exist it says so and
// exits with 0.
//   --link-modules            `stranger` links the packages of this tree, instead of `npm ci`
//   --screenshots DIRECTORY   saves a picture of every page that `stranger` looks at
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { checkBlsCalendar } from './bls-calendar.ts';
import { checkCoreSeries } from './core-series.ts';
import { checkEverydaySearches } from './searches/everyday-searches.ts';
import { checkFredMd } from './vintages/fred-md.ts';
import { checkFrequencies } from './frequencies.ts';
import { checkFunds } from './funds.ts';
import { checkGitHistory } from './git-history.ts';
import { checkPhiladelphiaFed } from './philadelphia-fed.ts';
import { checkPinnedVintages } from './vintages/pinned-vintages.ts';
import { checkPublishedFolders } from './published-folders.ts';
import { checkSecurities } from './securities.ts';
import { checkSbpEasyData } from './sbp-easydata.ts';
import { checkWfpPrices } from './wfp-prices.ts';
import { checkStranger } from './stranger/session.ts';
import { runGuarded } from '../run/guard.ts';
import { createInstallation, type Serving } from '../services/instance.ts';
import { instanceOf, type Instance } from './answers.ts';

export interface Check {
  instance: Instance;
  /** The folder of the files. */
  folder: string;
  /** Reports a fact that was confirmed. */
  seen(fact: string): void;
}

/** How `stranger` is run. */
export interface StrangersOptions {
  /** Installs no packages, but links those of this tree. */
  linkModules: boolean;
  /** Where pictures are saved; undefined: nowhere. */
  screenshots: string | undefined;
}

const checks: Readonly<Record<string, (check: Check & StrangersOptions) => Promise<void>>> = {
  'core-series': checkCoreSeries,
  'fred-md': checkFredMd,
  'pinned-vintages': checkPinnedVintages,
  'philadelphia-fed': checkPhiladelphiaFed,
  'git-history': checkGitHistory,
  'sbp-easydata': checkSbpEasyData,
  'wfp-prices': checkWfpPrices,
  'bls-calendar': checkBlsCalendar,
  funds: checkFunds,
  securities: checkSecurities,
  'published-folders': checkPublishedFolders,
  frequencies: checkFrequencies,
  'everyday-searches': checkEverydaySearches,
  stranger: checkStranger,
};

/** Characters of an instance's output that are shown after a failure. */
const printedAtEnd = 4_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    except: { type: 'string', multiple: true, default: [] },
    'link-modules': { type: 'boolean', default: false },
    screenshots: { type: 'string' },
  },
});
const [folder, ...named] = positionals;
const all = Object.keys(checks);
if (folder === undefined || !existsSync(folder)) {
  process.stdout.write(
    `The real-data run is left out: there is no folder ${folder ?? '(none was named)'}.\n`,
  );
} else {
  // Absolute, because the commands run in another directory.
  const absolute = path.resolve(folder);
  for (const name of [...named, ...values.except])
    assert.ok(all.includes(name), `There is no check ${name}; there are ${all.join(', ')}.`);
  const names = (named.length === 0 ? all : named).filter((name) => !values.except.includes(name));
  await runGuarded(async () => tryReal(absolute, names).then(() => 0));
}

async function tryReal(dataFolder: string, names: readonly string[]): Promise<void> {
  const installation = await createInstallation();
  const { 'link-modules': linkModules, screenshots } = values;
  let facts = 0;
  const seen = (fact: string) => {
    facts += 1;
    process.stdout.write(`  true: ${fact}\n`);
  };
  try {
    const serving = await installation.start();
    const { apiKey } = serving;
    assert.ok(apiKey, 'the first start prints a key');
    const instance = instanceOf(installation, apiKey);
    try {
      for (const name of names) {
        const check = checks[name];
        assert.ok(check, name);
        const started = performance.now();
        await check({ instance, folder: dataFolder, seen, linkModules, screenshots });
        process.stdout.write(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
      }
    } catch (error) {
      reportInstance(serving);
      throw error;
    }
    assert.equal(await serving.stop(), 0, 'Ctrl-C ends the instance with 0');
  } finally {
    await installation.remove();
  }
  process.stdout.write(`${facts} passed, 0 failed\n`);
}

/** Reports whether the instance still runs, and its last output: a call may fail because the instance ended. */
function reportInstance({ process: { exitCode, signalCode }, printed }: Serving): void {
  const state = signalCode ?? (exitCode === null ? 'runs' : `ended with ${exitCode}`);
  process.stdout.write(`The instance (${state}) printed last:\n${printed().slice(-printedAtEnd)}\n`);
}
