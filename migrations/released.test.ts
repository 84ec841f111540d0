// Migrations that a release has brought never change again, and new ones come after them: so `almanac migrate` goes forward from every release.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { knownMigrations } from './run.ts';
import { releasedFaults, releasesFile, type Releases } from '../scripts/record-schema.ts';
import { projectRoot } from '../kernel/project.ts';

const released = read(releasesFile) as Releases;
const [first, second, third] = [
  { name: '000001_a', checksum: 'a' },
  { name: '000002_b', checksum: 'b' },
  { name: '000003_c', checksum: 'c' },
];

test('every migration of a release is here as it was released', (t) => {
  t.deepEqual(releasedFaults(released, knownMigrations()), []);
});

test('a version from 0.2.0 on has its schema on record', (t) => {
  const { version } = read(path.join(projectRoot, 'package.json')) as { version: string };
  const hasRecord = Object.hasOwn(released, version);
  t.true(hasRecord || version === '0.1.0', `run: node scripts/record-schema.ts (version ${version})`);
});

test('a released migration that is changed or removed, and a new one before it, are named', (t) => {
  const releases: Releases = { '1.0.0': { '000001_a': 'a', '000003_c': 'c' } };
  t.deepEqual(releasedFaults(releases, [first, third]), []);
  t.deepEqual(releasedFaults(releases, [first, third, { name: '000004_d', checksum: 'd' }]), []);
  t.deepEqual(releasedFaults(releases, [first, { ...third, checksum: 'other' }]), [
    '000003_c.sql was released with 1.0.0 and has changed: restore it, and make the change in a new migration',
  ]);
  t.deepEqual(releasedFaults(releases, [third]), [
    '000001_a.sql was released with 1.0.0 and is missing: restore it',
  ]);
  t.deepEqual(releasedFaults(releases, [first, second, third]), [
    '000002_b.sql comes before migrations of 1.0.0, whose databases have run those: give it a number after 000003_c',
  ]);
});

test('a migration between two releases may be new in the second', (t) => {
  const releases: Releases = {
    '1.0.0': { '000001_a': 'a' },
    '1.1.0': { '000001_a': 'a', '000002_b': 'b' },
  };
  t.deepEqual(releasedFaults(releases, [first, second, third]), []);
});

function read(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
