// The R client as a package: built, checked and installed. Hides R's commands and where it installs.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../../kernel/project.ts';
import { runProgram } from '../run-program.ts';

const source = path.join(projectRoot, 'clients/r');
const name = 'almanacclient';

export const rPackages = ['r-base-core', 'r-cran-curl', 'r-cran-jsonlite'];

/**
 * Runs `R CMD build`, `check` and `INSTALL` on the package, without a network.
 * @param directory for the output.
 * @returns the library with it, for R_LIBS. @throws Error if a command fails, or the check has an error, a warning or a note.
 */
export async function installRClient(directory: string, env: NodeJS.ProcessEnv): Promise<string> {
  const library = path.join(directory, 'library');
  // R CMD check asks the repository for its index; this one is empty.
  const index = path.join(directory, 'repository/src/contrib/PACKAGES');
  await mkdir(library, { recursive: true });
  await mkdir(path.dirname(index), { recursive: true });
  await writeFile(index, '');
  const profile = path.join(directory, 'profile.R');
  await writeFile(profile, `options(repos = c(CRAN = "file://${path.join(directory, 'repository')}"))\n`);
  const settings = { LC_ALL: 'C.UTF-8', R_PROFILE_USER: profile, _R_CHECK_FORCE_SUGGESTS_: 'false' };
  const r = (...words: string[]) =>
    runProgram('R', ['CMD', ...words], { cwd: directory, env: { ...env, ...settings } });

  await r('build', source);
  const archive = (await readdir(directory)).find((file) => file.endsWith('.tar.gz'));
  if (archive === undefined) throw new Error('R CMD build made no archive.');
  await r('check', '--no-manual', archive);
  const log = await readFile(path.join(directory, `${name}.Rcheck/00check.log`), 'utf8');
  if (!/^Status: OK$/m.test(log)) throw new Error(`R CMD check found something:\n${log}`);
  await r('INSTALL', `--library=${library}`, archive);
  return library;
}
