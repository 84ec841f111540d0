// The real-data run: loads published files by the command line alone and queries known values through the gateway.
// Usage: npm run try-real -- <folder of the files> [check …], or [--except check …] for all others. If the folder does not exist it says so and
// exits with 0.
//   --link-modules            `stranger` links the packages of this tree, instead of `npm ci`
//   --screenshots DIRECTORY   keeps a picture of every page that `stranger` looks at
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, fetch, type Response } from 'undici';
import { checkBlsCalendar } from './bls-calendar.ts';
import { checkCoreSeries } from './core-series.ts';
import { checkFredMd } from './fred-md.ts';
import { checkFrequencies } from './frequencies.ts';
import { checkFunds } from './funds.ts';
import { checkGitHistory } from './git-history.ts';
import { checkPhiladelphiaFed } from './philadelphia-fed.ts';
import { checkPinnedVintages } from '../as-of/pinned-vintages.ts';
import { checkPublishedFolders } from './published-folders.ts';
import { checkSecurities } from './securities.ts';
import { checkSbpEasyData } from './sbp-easydata.ts';
import { checkWfpPrices } from './wfp-prices.ts';
import { checkStranger } from './stranger/session.ts';
import { underGuard } from '../run/guard.ts';
import { createInstallation, type Serving } from '../services/instance.ts';
import type { Instance } from './answers.ts';

export interface Check {
  instance: Instance;
  /** The folder of the files. */
  folder: string;
  /** Says what was seen true. */
  seen(fact: string): void;
}

/** How `stranger` is run. */
export interface StrangersOptions {
  /** Installs no packages, but links those of this tree. */
  linkModules: boolean;
  /** Where pictures are kept; undefined: nowhere. */
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
  stranger: checkStranger,
};

/**
 * Each call has a connection of its own. While a check computes, it does not see that the gateway closes an idle connection after its
 * 65 s, and the next call would fail on it.
 */
const dispatcher = new Agent({ pipelining: 0 });
const refusalsMax = 100;
/** Characters of what an instance printed, shown after a failure. */
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
  // Absolute: the commands run in a directory of their own.
  const absolute = path.resolve(folder);
  for (const name of [...named, ...values.except])
    assert.ok(all.includes(name), `There is no check ${name}; there are ${all.join(', ')}.`);
  const names = (named.length === 0 ? all : named).filter((name) => !values.except.includes(name));
  await underGuard(async () => tryReal(absolute, names).then(() => 0));
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
    const instance: Instance = {
      almanac: installation.almanac,
      get: (target) => getWhenAllowed(installation.url + target, apiKey),
    };
    try {
      for (const name of names) {
        const check = checks[name];
        assert.ok(check, name);
        const started = performance.now();
        await check({ instance, folder: dataFolder, seen, linkModules, screenshots });
        process.stdout.write(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
      }
    } catch (error) {
      sayWhatRan(serving);
      throw error;
    }
    assert.equal(await serving.stop(), 0, 'Ctrl-C ends the instance with 0');
  } finally {
    await installation.remove();
  }
  process.stdout.write(`${facts} passed, 0 failed\n`);
}

/** Says whether the instance still runs, and the last that it printed: a call that fails may be its end. */
function sayWhatRan({ process: { exitCode, signalCode }, printed }: Serving): void {
  const state = signalCode ?? (exitCode === null ? 'runs' : `ended with ${exitCode}`);
  process.stdout.write(`The instance (${state}) printed last:\n${printed().slice(-printedAtEnd)}\n`);
}

/** Calls as a well-behaved client: after a 429, again after Retry-After. */
async function getWhenAllowed(url: string, apiKey: string): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url, { headers: { 'x-api-key': apiKey }, dispatcher });
    if (response.status !== 429 || tries === refusalsMax) return response;
    await response.body?.cancel();
    await setTimeout(Number(response.headers.get('retry-after')) * 1000);
  }
}
