import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import semver from 'semver';
import { lockFile, ownNodeVersion, withoutMetDemands, type Lock } from './lock-engines.ts';
import { projectRoot } from '../kernel/project.ts';

const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock;

test('an install under any Node gives no warning for packages that the project’s Node can run', (t) => {
  t.deepEqual(lock, withoutMetDemands(lock), 'run: node scripts/lock-engines.ts');
  const asks = (node: string): Lock => ({
    packages: { 'node_modules/a': { engines: { node, npm: '>=8' } } },
  });
  t.deepEqual(withoutMetDemands(asks('>=22')), {
    packages: { 'node_modules/a': { engines: { npm: '>=8' } } },
  });
  for (const unchanged of ['>=18', `>${ownNodeVersion}`])
    t.deepEqual(withoutMetDemands(asks(unchanged)), asks(unchanged));
});

test('the Node of the project is one that every installed package asks for', (t) => {
  let asked = 0;
  for (const where of Object.keys(lock.packages)) {
    const file = path.join(projectRoot, where, 'package.json');
    if (where === '' || !existsSync(file)) continue; // for another platform
    const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines?: { node?: string } };
    if (engines?.node === undefined) continue;
    t.true(semver.satisfies(ownNodeVersion, engines.node), `${where} asks for ${engines.node}`);
    asked++;
  }
  t.true(asked > 100);
});
