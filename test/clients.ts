// Installs the Python and R clients as packages, starts a private installation, and reads it with other programs: pandas, R and LibreOffice
// on the URL itself (examples/clients/check.sh), the tests of both clients, the Python and R examples of the docs, and the tools of
// docs/tools.md. If the programs cannot be installed (not root, not Debian) it prints that and exits with 0. The TypeScript client is
// tested by `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';
import { installPythonClient, pythonModules, pythonPackages } from './clients/python/package.ts';
import { installRClient, rPackages } from './clients/r/package.ts';
import { checkTools, plansFile, toolModules, toolPackages } from './clients/tools/check.ts';
import { examplesOf, runExample } from './docs/docs-examples.ts';
import { canInstall, install } from './run/debian.ts';
import { runGuarded } from './run/guard.ts';
import { createInstallation, type Installation } from './services/instance.ts';

const importsModules = ['python3', '-c', `import ${[...pythonModules, ...toolModules].join(', ')}`] as const;
const programs = [
  importsModules,
  ['Rscript', '-e', 'library(curl); library(jsonlite); library(httr)'],
  ['soffice', '--version'],
] as const;
const packages = [...pythonPackages, ...rPackages, ...toolPackages, 'libreoffice-calc'];
const pages = ['README.md', 'docs/clients.md', 'clients/python/README.md', 'clients/r/README.md'];
const fileOfR = path.join(projectRoot, 'clients/r/R/almanac.R');

if (areInstalled() || canInstall()) {
  await runGuarded(check);
} else {
  process.stdout.write(
    `The clients are left out: these are not here and cannot be installed: ${packages.join(', ')}.\n`,
  );
}

function areInstalled(): boolean {
  return programs.every((words) => succeeds(words, pathOfPrograms()));
}

/** A PATH whose `python3` has the modules: that of Debian, if another precedes it. */
function pathOfPrograms(): string {
  const given = process.env['PATH'] ?? '';
  return succeeds(importsModules, given) ? given : `/usr/bin:${given}`;
}

function succeeds([program, ...words]: readonly [string, ...string[]], searched: string): boolean {
  const env = { ...process.env, PATH: searched };
  return spawnSync(program, words, { stdio: 'ignore', env }).status === 0;
}

async function check(): Promise<number> {
  if (!areInstalled()) install('programs for the clients', packages);
  const installation = await createInstallation({ PLANS_FILE: plansFile() });
  const elsewhere = createServer((request, response) => {
    response.writeHead(302, { location: `${installation.url}${request.url}` }).end();
  });
  try {
    await new Promise<void>((resolve) => {
      elsewhere.listen(0, '127.0.0.1', resolve);
    });
    const { apiKey = '' } = await installation.start();
    const script = path.join(projectRoot, 'examples/clients/check.sh');
    if (!(await run(script, [installation.url, apiKey], { env: process.env }))) return 1;
    const env = {
      ...(await environment(installation, apiKey)),
      ALMANAC_REDIRECT_URL: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`,
    };
    const inC = { cwd: 'clients/r', env: { ...env, LC_ALL: 'C' } };
    const isGood =
      (await run('python3', ['-W', 'error::FutureWarning', '-m', 'unittest', 'test_calls', 'test_live'], {
        cwd: 'clients/python/tests',
        env,
      })) &&
      (await run('Rscript', ['--vanilla', 'tests/live.R'], inC)) &&
      (await run('Rscript', ['--vanilla', 'tests/live.R', fileOfR], inC));
    if (!isGood) return 1;
    await runExamples(installation, apiKey, env);
    await checkTools(installation, apiKey, env);
    return 0;
  } finally {
    elsewhere.close();
    await installation.remove();
  }
}

/** For the clients: both as installed packages, where the installation is, a key of plan Pro, and one of plan Free. */
async function environment(installation: Installation, apiKey: string): Promise<NodeJS.ProcessEnv> {
  const directory = path.dirname(installation.dataDir);
  const env = { ...installation.env, PATH: pathOfPrograms() };
  const modules = await installPythonClient(path.join(directory, 'python'), env);
  const library = await installRClient(path.join(directory, 'r'), env);
  process.stdout.write('the Python and R clients are built, checked and installed as packages\n');
  await installation.almanac('accounts', 'create', 'slow@example.org', '--plan', 'free');
  const made = await installation.almanac('keys', 'create', 'slow@example.org', '--name', 'slow');
  return {
    ...env,
    PYTHONPATH: modules,
    PYTHONDONTWRITEBYTECODE: '1',
    R_LIBS: library,
    ALMANAC_URL: installation.url,
    ALMANAC_KEY: apiKey,
    ALMANAC_SLOW_KEY: /pk_live_\w+/.exec(made)?.[0],
  };
}

/** @param options.cwd from the project's root. @returns whether the program exited with 0; it prints its errors itself. */
async function run(
  program: string,
  words: readonly string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
): Promise<boolean> {
  const cwd = path.join(projectRoot, options.cwd ?? '');
  const child = spawn(program, words, { ...options, cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

async function runExamples(
  installation: Installation,
  apiKey: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const directory = path.dirname(installation.dataDir);
  const examples = pages
    .flatMap(examplesOf)
    .filter((example) => example.kind === 'python' || example.kind === 'r');
  for (const example of examples) {
    await runExample(example, { directory, url: installation.url, apiKey, env });
  }
  process.stdout.write(`the ${examples.length} Python and R examples of ${pages.join(', ')} run\n`);
}
