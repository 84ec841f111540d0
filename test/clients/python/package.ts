// The Python client as a package: built, installed from its folder, and its type hints used. Hides pip and where it installs.
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../../kernel/project.ts';
import { runProgram } from '../run-program.ts';

const source = path.join(projectRoot, 'clients/python');

/** Debian's modules that the client needs, that build and install it, and that check its types. */
export const pythonModules = ['pandas', 'pip', 'build', 'hatchling', 'mypy'];
export const pythonPackages = [
  'python3-pandas',
  'python3-pip',
  'python3-build',
  'python3-hatchling',
  'python3-mypy',
];

const installedAsItself = `
import importlib.metadata, pathlib, sys
import almanac
assert pathlib.Path(almanac.__file__).is_relative_to(sys.argv[1]), almanac.__file__
assert importlib.metadata.version("almanac-client") == almanac.__version__
`;

// mypy fails for a comment that ignores no error.
const use = `
import pandas as pd
import almanac

frame: pd.DataFrame = almanac.get(["DEMO.CPI"], as_of="2026-09-30", dims={"side": "buy"}, client=almanac.Client(key="x"))
almanac.get("DEMO.CPI", transform="double")  # type: ignore[arg-type]
almanac.get("DEMO.CPI", "2026-09-30")  # type: ignore[misc]
`;

/**
 * Builds the package as for a registry, and installs it from its folder.
 * @param directory for the output. @param env its `python3` has `pythonModules`.
 * @returns where it is installed, for PYTHONPATH. @throws Error if a step fails, or leaves a file in the folder.
 */
export async function installPythonClient(directory: string, env: NodeJS.ProcessEnv): Promise<string> {
  await mkdir(directory, { recursive: true });
  const python = (...words: string[]) =>
    runProgram('python3', words, { cwd: directory, env: { ...env, PYTHONDONTWRITEBYTECODE: '1' } });
  const installed = path.join(directory, 'installed');
  const before = await filesOf(source);
  // Debian's hatchling lacks a package that it needs for editable installations only.
  const build = ['--no-isolation', '--skip-dependency-check', '--outdir', 'dist', source];
  await python('-m', 'build', ...build);
  const offline = ['--no-index', '--no-deps', '--no-build-isolation', '--no-cache-dir'];
  const quiet = ['--quiet', '--root-user-action=ignore', '--disable-pip-version-check'];
  await python('-m', 'pip', 'install', ...quiet, ...offline, '--target', installed, source);
  const left = (await filesOf(source)).filter((file) => !before.includes(file));
  if (left.length > 0) throw new Error(`pip or build left in clients/python: ${left.join(', ')}`);
  const files = await filesOf(installed);
  for (const needed of ['py.typed', 'LICENSE'])
    if (!files.some((file) => path.basename(file) === needed))
      throw new Error(`The installed Python client lacks ${needed}.`);

  const typed = { ...env, PYTHONPATH: installed, MYPYPATH: installed };
  const words = ['-c', installedAsItself, installed];
  await runProgram('python3', words, { cwd: directory, env: typed });
  await writeFile(path.join(directory, 'use.py'), use);
  const strict = ['-m', 'mypy', '--strict', '--ignore-missing-imports', '--cache-dir', '/dev/null'];
  await runProgram('python3', [...strict, 'use.py'], { cwd: directory, env: typed });
  await runProgram('python3', [...strict, '-p', 'almanac'], { cwd: directory, env: typed });
  return installed;
}

async function filesOf(directory: string): Promise<string[]> {
  return existsSync(directory) ? readdir(directory, { recursive: true }) : [];
}
