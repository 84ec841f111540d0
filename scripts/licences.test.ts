import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { isAllowed, licenceFault, lockedPackages } from './licences.ts';
import { projectRoot } from '../kernel/project.ts';

const { shipped, development } = lockedPackages();

test('every package of the lockfile has a licence of the list', (t) => {
  t.true(shipped.length > 200 && development.length > 200);
  t.deepEqual(
    [...shipped, ...development].flatMap((each) => licenceFault(each) ?? []),
    [],
  );
});

test('an unlisted or missing licence is reported with its package', (t) => {
  const absent = {
    where: 'node_modules/@a/b',
    name: '@a/b',
    version: '1.0.0',
    isDevelopment: false,
    integrity: undefined,
  };
  t.is(
    licenceFault({ ...absent, license: 'AGPL-3.0' }),
    '@a/b has the licence "AGPL-3.0", which is not on the list',
  );
  t.is(licenceFault({ ...absent, license: 'MIT' }), undefined);
  for (const license of [undefined, 'SEE LICENSE IN LICENSE'])
    t.regex(licenceFault({ ...absent, license }) ?? '', /^@a\/b states no licence/);
});

test('of several licences one must do if they are joined by OR, and all if by AND', (t) => {
  for (const good of ['MIT', '(MIT OR GPL-3.0)', 'GPL-2.0 OR Apache-2.0', 'MIT AND ISC'])
    t.true(isAllowed(good), good);
  for (const bad of ['', 'GPL-3.0', 'MIT AND GPL-3.0', '(MIT AND GPL-3.0)', 'UNLICENSED', 'mit-like'])
    t.false(isAllowed(bad), bad);
});

test('a package that is here without a licence in package.json has it in a file', (t) => {
  for (const name of ['pause', 'humanize-number'])
    t.regex(readFileSync(path.join(projectRoot, 'node_modules', name, 'Readme.md'), 'utf8'), /\bMIT\b/, name);
});
