// Starts a private installation and reads it with other programs: pandas, R and LibreOffice on the URL itself (examples/clients/check.sh),
// the tests of the Python and R clients, and the Python and R examples of the docs. If the programs cannot be installed (not root,
// not Debian) it says so and exits with 0.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';
import { examplesOf, runExample } from './docs/docs-examples.ts';
import { underGuard } from './run/guard.ts';
import { createInstallation, type Installation } from './services/instance.ts';

const programs = [
  ['python3', '-c', 'import pandas'],
  ['Rscript', '-e', 'library(curl); library(jsonlite)'],
  ['soffice', '--version'],
] as const;
const present = programs.every(
  ([program, ...words]) => spawnSync(program, words, { stdio: 'ignore' }).status === 0,
);
const pages = ['README.md', 'docs/clients.md', 'clients/python/README.md'];

if (present || (process.getuid?.() === 0 && existsSync('/etc/debian_version'))) {
  await underGuard(check);
} else {
  process.stdout.write(
    'The clients are left out: pandas, R with curl and jsonlite, and LibreOffice are not here and cannot be installed.\n',
  );
}

async function check(): Promise<number> {
  const installation = await createInstallation();
  const elsewhere = createServer((request, response) => {
    response.writeHead(302, { location: `${installation.url}${request.url}` }).end();
  });
  try {
    await new Promise<void>((resolve) => {
      elsewhere.listen(0, '127.0.0.1', resolve);
    });
    const { apiKey = '' } = await installation.start();
    const script = path.join(projectRoot, 'examples/clients/check.sh');
    const env = {
      ...(await environment(installation, apiKey)),
      ALMANAC_REDIRECT_URL: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`,
    };
    const isGood =
      (await run(script, [installation.url, apiKey], { env: process.env })) &&
      (await run('python3', ['-W', 'error::FutureWarning', '-m', 'unittest', 'test_calls', 'test_live'], {
        cwd: 'clients/python/tests',
        env,
      })) &&
      (await run('Rscript', ['--vanilla', 'test.R'], { cwd: 'clients/r', env: { ...env, LC_ALL: 'C' } }));
    if (!isGood) return 1;
    await runExamples(installation, apiKey, env);
    return 0;
  } finally {
    elsewhere.close();
    await installation.remove();
  }
}

/** For the clients: where the installation is, a key of plan Pro, and one of plan Free. */
async function environment(installation: Installation, apiKey: string): Promise<NodeJS.ProcessEnv> {
  await installation.almanac('accounts', 'create', 'slow@example.org', '--plan', 'free');
  const hasPandas = spawnSync('python3', ['-c', 'import pandas'], { stdio: 'ignore' }).status === 0;
  const made = await installation.almanac('keys', 'create', 'slow@example.org', '--name', 'slow');
  return {
    ...installation.env,
    PATH: hasPandas ? process.env['PATH'] : `/usr/bin:${process.env['PATH']}`, // Debian's own Python has Debian's pandas
    PYTHONPATH: path.join(projectRoot, 'clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
    ALMANAC_URL: installation.url,
    ALMANAC_KEY: apiKey,
    ALMANAC_SLOW_KEY: /pk_live_\w+/.exec(made)?.[0],
  };
}

/** @param options.cwd from the project's root. @returns whether the program ended with 0; it tells what is wrong itself. */
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
  copyFileSync(path.join(projectRoot, 'clients/r/almanac.R'), path.join(directory, 'almanac.R'));
  const examples = pages
    .flatMap(examplesOf)
    .filter((example) => example.kind === 'python' || example.kind === 'r');
  for (const example of examples) {
    await runExample(example, { directory, url: installation.url, apiKey, env });
  }
  process.stdout.write(`the ${examples.length} Python and R examples of ${pages.join(', ')} run\n`);
}
