// Starts a private installation and reads it with third-party clients: examples/clients/check.sh.
// If the programs cannot be installed (not root, not Debian) it says so and exits with 0.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../kernel/settings.ts';
import { examplesOf, runExample } from './docs/docs-examples.ts';
import { underGuard } from './run/guard.ts';
import { createInstallation } from './services/instance.ts';

const programs = [
  ['python3', '-c', 'import pandas'],
  ['Rscript', '--version'],
  ['soffice', '--version'],
] as const;
const present = programs.every(
  ([program, ...words]) => spawnSync(program, words, { stdio: 'ignore' }).status === 0,
);

if (present || (process.getuid?.() === 0 && existsSync('/etc/debian_version'))) {
  await underGuard(check);
} else {
  process.stdout.write(
    'The clients are left out: pandas, R and LibreOffice are not here and cannot be installed.\n',
  );
}

async function check(): Promise<number> {
  const installation = await createInstallation();
  try {
    const serving = await installation.start();
    const script = path.join(projectRoot, 'examples/clients/check.sh');
    const result = spawnSync(script, [installation.url, serving.apiKey ?? ''], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (result.status !== 0) return result.status ?? 1;
    const { url, env, dataDir } = installation;
    const examples = examplesOf('README.md').filter((example) => example.kind === 'python');
    for (const example of examples) {
      await runExample(example, {
        directory: path.dirname(dataDir),
        url,
        apiKey: serving.apiKey ?? '',
        env: { ...env, PATH: `/usr/bin:${env['PATH']}` },
      });
    }
    process.stdout.write(`the ${examples.length} Python examples of README.md run\n`);
    return 0;
  } finally {
    await installation.remove();
  }
}
