import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { lockedPackages } from './licences.ts';
import { createSbom } from './sbom.ts';
import { projectRoot } from '../kernel/project.ts';

const sbom = createSbom();
const idOf = ({ name, version }: { name: string; version?: string }) => `${name}@${version ?? ''}`;

test('the bill of materials has every package of the lockfile that an installation may run, and no development-only package', (t) => {
  const listed = new Set(sbom.components.map(idOf));
  const { shipped, development } = lockedPackages();
  t.true(shipped.length > 100);
  t.deepEqual(
    shipped.filter((each) => !listed.has(idOf(each))).map(({ where }) => where),
    [],
  );
  const ran = new Set(shipped.map(idOf));
  t.deepEqual(
    development.map(idOf).filter((id) => !ran.has(id) && listed.has(id)),
    [],
  );
});

test('it lists the programs that packages bring: Node, PostgreSQL with its libraries, argon2 and resvg', (t) => {
  const files = sbom.components.filter(({ type }) => type === 'file').map(({ name }) => name);
  for (const pattern of [
    /\/bin\/postgres$/,
    /\/bin\/node$/,
    /argon2.*\.node$/,
    /resvg.*\.node$/,
    /libcrypto/,
  ])
    t.true(
      files.some((name) => pattern.test(name)),
      String(pattern),
    );
  for (const { hashes } of sbom.components.filter(({ type }) => type === 'file'))
    t.regex(hashes?.[0]?.content ?? '', /^[0-9a-f]{64}$/);
});

test('it names this project and its version, and two runs give the same bytes', (t) => {
  const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  t.is(sbom.bomFormat, 'CycloneDX');
  t.like(sbom.metadata.component, { name: 'almanac', version });
  t.deepEqual(createSbom(), sbom);
});
