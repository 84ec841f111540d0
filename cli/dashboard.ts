// Builds the dashboard if it is missing or stale, into dashboard/.build/ under a name derived from its sources. Vite runs as a process of
// its own: it uses no memory of the services, and is stopped with them.
import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { projectRoot } from '../kernel/project.ts';

const run = promisify(execFile);
const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

const buildDirectory = path.join(projectRoot, 'dashboard/.build');
/** The inputs of the dashboard: its own files, its imports, the guides, and the versions of the packages. */
export const dashboardSources = [
  'dashboard',
  'clients/typescript',
  'domain/chart',
  'domain/dims-text.ts',
  'domain/periods.ts',
  'domain/aggregates.ts',
  'domain/transforms.ts',
  'kernel/dates.ts',
  'kernel/entries.ts',
  'kernel/text/counted.ts',
  'kernel/text/html.ts',
  'kernel/formula.ts',
  'docs',
  'package.json',
  'package-lock.json',
];
const sourceOfPage = path.join(projectRoot, 'dashboard/index.html');
const staleAfterMs = 86_400_000;

/**
 * The directory of the dashboard built from the present sources; builds it if it is missing. An image has one build, and no sources. Two
 * processes may build at once: the first to finish gives the directory its name.
 * @param signal aborts a build. @param into the folder of the builds; by default `dashboard/.build`.
 * @throws Error with a remedy if Vite is not installed, or with Vite's output.
 */
export async function builtDashboard({
  signal,
  into = buildDirectory,
}: { signal?: AbortSignal; into?: string } = {}): Promise<string> {
  const [onlyBuild] = existsSync(sourceOfPage) ? [] : await readdir(into);
  if (onlyBuild !== undefined) return path.join(into, onlyBuild);
  const directory = path.join(into, await digestOf(dashboardSources));
  if (existsSync(directory)) return directory;
  const vite = path.join(projectRoot, 'node_modules/vite/bin/vite.js');
  if (!existsSync(vite))
    throw new Error('The dashboard is not built, and Vite, which builds it, is not installed: run npm ci.');
  const unfinished = path.join(into, `unfinished-${randomUUID()}`);
  try {
    const building = run(
      process.execPath,
      [vite, 'build', path.join(projectRoot, 'dashboard'), '--outDir', unfinished, '--logLevel', 'warn'],
      {
        cwd: projectRoot,
        env: { ...process.env, NODE_ENV: 'production' },
        ...(signal === undefined ? {} : { signal }),
      },
    );
    const { pid } = building.child;
    // Behind the services that start meanwhile: the first calls are made before the first page is opened.
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    await building;
    await compressAll(unfinished);
    await renameBuild(unfinished, directory);
  } catch (error) {
    throw new Error(`The dashboard could not be built. ${outputOf(error)}`.trimEnd(), { cause: error });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  await removeStale(into, directory);
  return directory;
}

async function digestOf(names: readonly string[]): Promise<string> {
  const files = (await Promise.all(names.map(filesBelow))).flat().sort();
  const digests = await Promise.all(
    files.map(async (file) => `${file} ${hash('sha256', await readFile(path.join(projectRoot, file)))}`),
  );
  return hash('sha256', digests.join('\n')).slice(0, 16);
}

const picturesOfDocs = path.join('docs', 'images'); // not part of any guide

/** The file itself, or all files of the directory but builds, as paths from the project's root. */
async function filesBelow(name: string): Promise<string[]> {
  const at = path.join(projectRoot, name);
  if (!existsSync(at)) return [];
  if ((await stat(at)).isFile()) return [name];
  const entries = await readdir(at, { withFileTypes: true });
  const below = entries
    .filter(({ name: entry }) => !entry.startsWith('.') && entry !== 'node_modules' && entry !== 'dist')
    .map((entry) => path.join(name, entry.name))
    .filter((file) => file !== picturesOfDocs);
  return (await Promise.all(below.map(filesBelow))).flat();
}

/** Once, at the best quality: the gateway sends the results as they are. */
async function compressAll(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  await Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const content = await readFile(file);
      await writeFile(`${file}.br`, await brotli(content));
      await writeFile(`${file}.gz`, await gzip(content, { level: 9 }));
    }),
  );
}

/** A directory is renamed as a whole, so that no process sees an unfinished build under the name of a finished one. */
async function renameBuild(unfinished: string, directory: string): Promise<void> {
  try {
    await rename(unfinished, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error; // otherwise another process has built the same files first
  }
}

/** Removes the builds of earlier sources; not those of today, which a starting gateway may be reading. */
async function removeStale(builds: string, current: string): Promise<void> {
  for (const name of await readdir(builds)) {
    const directory = path.join(builds, name);
    if (directory === current) continue;
    const found = statSync(directory, { throwIfNoEntry: false }); // another process may have removed it
    if (found !== undefined && Date.now() - found.mtimeMs > staleAfterMs)
      await rm(directory, { recursive: true, force: true });
  }
}

function outputOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'stderr' in error && typeof error.stderr === 'string' && error.stderr !== ''
    ? error.stderr
    : error.message;
}
