// Writes the files that a service runs by into a directory, for an image: TypeScript with its types stripped, the packages that it imports,
// and the built dashboard. Hides which files those are. Usage: node scripts/runtime-tree.ts DIRECTORY
import { hash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

const project = path.resolve(import.meta.dirname, '..');
const sources = [
  'almanac.ts',
  'scripts/health.ts',
  ...['accounts-api', 'cli', 'data-api', 'domain', 'embedded', 'gateway', 'ingest', 'kernel', 'migrations'],
];
const asTheyAre = ['config', 'dashboard/.build', 'openapi/openapi.json', 'LICENSE'];
// Packages have sources, types, source maps and manuals, which no service reads.
const notRun = /\.(?:[cm]?tsx?|map|md|flow)$|(?:^|\/)\.[^/]*$/;

/** Imports of the project's own files, threads that run one (`new URL`), and imports of packages. */
const ownImport = /(\bfrom\s+|\bimport\s+|\bimport\(|\bnew URL\()(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g;
const packageImport =
  /(?:\bfrom\s+|\bimport\s+|\bimport\(|\brequire\(|\bcreateRequire\([^()]*\)\(\s*)['"]((?:@[\w.-]+\/)?[a-z][\w.-]*)(?=['"/])/g;

/** JavaScript of a source file: `.ts` becomes `.mjs`, in the names of files and in imports. Lines and columns stay where they are. */
export function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source).replace(ownImport, '$1$2$3.mjs$2');
}

/** The packages that JavaScript imports by name. */
export function importedPackages(code: string): string[] {
  return [...code.matchAll(packageImport)].map((match) => match[1] ?? '');
}

/** @param into absolute; files that are there are replaced. */
function writeRuntimeTree(into: string): void {
  const imported = new Set<string>();
  for (const name of sources.flatMap(filesOf)) {
    if (/\.test\.ts$|\.md$|^gateway\/stubs\//.test(name)) continue;
    if (!name.endsWith('.ts')) {
      copy(name, into);
      continue;
    }
    const code = toJavaScript(readFileSync(path.join(project, name), 'utf8'));
    for (const each of importedPackages(code)) imported.add(each);
    write(path.join(into, name.replace(/\.ts$/, '.mjs')), code);
  }
  for (const name of asTheyAre) copy(name, into);
  const { name, version, license, type } = JSON.parse(
    readFileSync(path.join(project, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const packages = hash('sha256', readFileSync(path.join(project, 'package-lock.json'))); // of `buildOf`
  const manifest = { name, version, license, type, packages };
  write(path.join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const directory of packagesFor(imported)) copyPackage(directory, into);
}

function filesOf(name: string): string[] {
  if (path.extname(name) !== '') return [name];
  return globSync(`${name}/**/*`, { cwd: project, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(project, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** The directories, within node_modules, of packages and of everything that they depend on and that is installed. */
function packagesFor(names: Iterable<string>): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    if (name.startsWith('@types/')) return; // of some packages, a dependency
    const directory = installed(name, from);
    if (directory === undefined || found.has(directory)) return;
    found.add(directory);
    const manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Manifest;
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(each, directory);
  };
  for (const name of names) visit(name, project);
  return [...found].toSorted();
}

function installed(name: string, from: string): string | undefined {
  for (let directory = from; directory.startsWith(project); directory = path.dirname(directory)) {
    const candidate = path.join(directory, 'node_modules', name);
    if (existsSync(path.join(candidate, 'package.json'))) return candidate;
  }
  return undefined;
}

/** Without the packages inside it, which are copied if they are needed. */
function copyPackage(directory: string, into: string): void {
  const real = realpathSync(directory); // packages of the project's own are links
  cpSync(real, path.join(into, path.relative(project, directory)), {
    recursive: true,
    dereference: true,
    filter: (file) => {
      const name = path.relative(real, file);
      return name === '' || (!notRun.test(name) && !/(?:^|\/)node_modules$/.test(name));
    },
  });
}

function copy(name: string, into: string): void {
  mkdirSync(path.dirname(path.join(into, name)), { recursive: true });
  cpSync(path.join(project, name), path.join(into, name), { recursive: true });
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) {
    process.stderr.write('Usage: node scripts/runtime-tree.ts DIRECTORY\n');
    process.exitCode = 2;
  } else writeRuntimeTree(path.resolve(directory));
}
