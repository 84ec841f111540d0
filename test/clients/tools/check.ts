// The tools that read Almanac without a client of its own: those of FRED with every error, and the recipes of docs/tools.md.
// Hides which of them are installed, and which a stand-in replaces.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../../kernel/project.ts';
import { install } from '../../run/debian.ts';
import type { Installation } from '../../services/instance.ts';
import { runProgram } from '../run-program.ts';
import { downloadBulkFiles } from './bulk-files.ts';
import { checkRecipes, recipeOf } from './recipes.ts';

/** Modules that the stand-ins import too. */
export const toolModules = ['requests', 'uno'];
export const toolPackages = ['python3-requests', 'python3-uno', 'r-cran-httr'];

const here = path.join(projectRoot, 'test/clients/tools');
const ofPlans = `
  - { id: spent, name: Spent, price_usd_month: null, calls_month: 1, calls_second: 50, concurrency: 4, features: [] }
  - { id: slow, name: Slow, price_usd_month: null, calls_month: null, calls_second: 1, concurrency: 4, features: [] }
`;

/** A file with the project's plans, one whose quota is used up after a call, and one that allows a call a second; for PLANS_FILE. */
export function plansFile(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-plans-')), 'plans.yml');
  const plans = readFileSync(path.join(projectRoot, 'config/plans.yml'), 'utf8');
  writeFileSync(file, plans.trimEnd() + ofPlans);
  return file;
}

/**
 * Runs the tools against an installation with the demo data, and prints which of them are themselves here.
 * @param given the environment of the programs. @throws Error if one fails or has another value than /v1.
 */
export async function checkTools(
  installation: Installation,
  apiKey: string,
  given: NodeJS.ProcessEnv,
): Promise<void> {
  const directory = path.join(path.dirname(installation.dataDir), 'tools');
  mkdirSync(directory);
  const isThere = (kind: 'python' | 'r', name: string) => has(kind, name, given);
  if (!isThere('r', 'quantmod')) tryToInstall('r-cran-quantmod');
  const env = await withStandIns(directory, given, isThere);
  await checkFredClients(installation, env);
  const { url } = installation;
  const files = await downloadBulkFiles(url, apiKey, directory);
  const newest = await newestValue(url, apiKey);
  await checkRecipes({ place: { directory, url, apiKey, env }, newest, files, isThere });
}

function has(kind: 'python' | 'r', name: string, env: NodeJS.ProcessEnv): boolean {
  const [program, ...words] =
    kind === 'python' ? ['python3', '-c', `import ${name}`] : ['Rscript', '-e', `library(${name})`];
  return spawnSync(program ?? '', words, { stdio: 'ignore', env }).status === 0;
}

function tryToInstall(debianPackage: string): void {
  try {
    install('a tool of docs/tools.md', [debianPackage]);
  } catch (error) {
    process.stdout.write(`${debianPackage} cannot be installed: ${String(error)}\n`);
  }
}

/** The environment in which a stand-in replaces each tool that is not installed. A stand-in would hide its tool, so each is added separately. */
async function withStandIns(
  directory: string,
  env: NodeJS.ProcessEnv,
  isThere: (kind: 'python' | 'r', name: string) => boolean,
): Promise<NodeJS.ProcessEnv> {
  const modules = ['fredapi', 'pandas_datareader'].filter((name) => !isThere('python', name));
  const folders = modules.map((name) => path.join(here, 'stand-ins', name));
  const searched = [...folders, env['PYTHONPATH'] ?? ''].join(path.delimiter);
  if (isThere('r', 'fredr')) return { ...env, PYTHONPATH: searched };
  const library = path.join(directory, 'library');
  mkdirSync(library);
  const source = path.join(here, 'stand-ins/fredr');
  await runProgram('R', ['CMD', 'INSTALL', `--library=${library}`, source], { cwd: directory, env });
  const libraries = [library, env['R_LIBS'] ?? ''].join(path.delimiter);
  return { ...env, PYTHONPATH: searched, R_LIBS: libraries };
}

async function checkFredClients(installation: Installation, env: NodeJS.ProcessEnv): Promise<void> {
  const settings = {
    ...env,
    ALMANAC_SPENT_KEY: await keyOfPlan(installation, 'spent'),
    ALMANAC_SLOW_KEY: await keyOfPlan(installation, 'slow'),
    ALMANAC_QUANTMOD_RECIPE: recipeOf('quantmod', 'r').replaceAll('pk_live_…', 'KEY'),
  };
  const options = { cwd: here, env: settings };
  await runProgram('python3', ['-W', 'ignore', '-m', 'unittest', 'test_fred_clients'], options);
  await runProgram('Rscript', ['--vanilla', 'test_fred_clients.R'], options);
  process.stdout.write(
    'fredapi, pandas-datareader and fredr agree with /v1, and show the messages of errors\n',
  );
}

async function keyOfPlan(installation: Installation, plan: string): Promise<string> {
  const email = `${plan}-tool@example.org`;
  await installation.almanac('accounts', 'create', email, '--plan', plan);
  const made = await installation.almanac('keys', 'create', email, '--name', plan);
  const [key] = /pk_live_\w+/.exec(made) ?? [];
  if (key === undefined) throw new Error(`keys create printed no key:\n${made}`);
  return key;
}

async function newestValue(url: string, apiKey: string): Promise<string> {
  const headers = { 'x-api-key': apiKey };
  const answer = await fetch(`${url}/v1/series/DEMO.GDP?format=csv&sort=desc&limit=1`, { headers });
  const [, , value] = /\n([^,]+),([^,\r\n]+)/.exec(await answer.text()) ?? [];
  if (value === undefined) throw new Error(`DEMO.GDP has no newest value: ${answer.status}`);
  return value;
}
