// Records the migrations of the version in package.json as released, before it is tagged: node scripts/record-schema.ts
// From then on migrations/released.test.ts refuses a change of them.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';
import type { Migration } from '../kernel/schema.sql.ts';
import { knownMigrations } from '../migrations/run.ts';

/** By version: the checksum of each migration, by its name. */
export type Releases = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const releasesFile = path.join(projectRoot, 'migrations/released.json');

/** Faults that prevent databases of earlier releases from being migrated, as sentences. @param known in the order of their names. */
export function releasedFaults(releases: Releases, known: readonly Migration[]): string[] {
  const now = new Map(known.map(({ name, checksum }) => [name, checksum]));
  return Object.entries(releases).flatMap(([version, migrations]) => {
    const last = Object.keys(migrations).toSorted().at(-1) ?? '';
    const altered = Object.entries(migrations).flatMap(([name, checksum]) => {
      if (now.get(name) === checksum) return [];
      return now.has(name)
        ? `${name}.sql was released with ${version} and has changed: restore it, and make the change in a new migration`
        : `${name}.sql was released with ${version} and is missing: restore it`;
    });
    const early = known.filter(({ name }) => name < last && !Object.hasOwn(migrations, name));
    return [
      ...altered,
      ...early.map(
        ({ name }) =>
          `${name}.sql comes before migrations of ${version}, whose databases have run those: give it a number after ${last}`,
      ),
    ];
  });
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const releases = JSON.parse(readFileSync(releasesFile, 'utf8')) as Releases;
  if (Object.hasOwn(releases, version)) {
    process.stderr.write(
      `The schema of ${version} is on record. Raise "version" in package.json to record another.\n`,
    );
    process.exitCode = 1;
  } else {
    const migrations = Object.fromEntries(knownMigrations().map(({ name, checksum }) => [name, checksum]));
    writeFileSync(releasesFile, `${JSON.stringify({ ...releases, [version]: migrations }, null, 2)}\n`);
    process.stdout.write(`Recorded ${Object.keys(migrations).length} migrations of ${version}.\n`);
  }
}
