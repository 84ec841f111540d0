// Which licences packages may have, and which the packages of package-lock.json have. Hides where a package states its licence.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';

export interface LockedPackage {
  /** Its folder, from the root of the project. */
  where: string;
  /** Of the package; another than that of its folder where npm's overrides replace one. */
  name: string;
  version: string;
  /** Whether only the development of the project needs it. */
  isDevelopment: boolean;
  /** As the lockfile has it: an SPDX expression as a rule. */
  license: string | undefined;
  /** Of its archive, as `sha512-` and base64; undefined for packages of the project's own. */
  integrity: string | undefined;
}

/**
 * SPDX identifiers of licences that allow use and redistribution with code under Apache-2.0. MPL-2.0 requires that its files stay under it: they are
 * used unchanged.
 */
const allowed = [
  ...['MIT', 'MIT-0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'BlueOak-1.0.0'],
  ...['MPL-2.0', 'Python-2.0', 'PSF-2.0', 'Unlicense', 'CC0-1.0', 'Zlib'],
];

/** Packages whose package.json has no SPDX expression, with the licence that their files state. */
const stated: Readonly<Record<string, string>> = {
  pause: 'MIT', // Readme.md
  'humanize-number': 'MIT', // Readme.md
  'nodejs-polars': 'MIT', // LICENSE of nodejs-polars, which also covers its binaries
};

/** The packages of the lockfile, for all platforms: those that an installation may run, and those for development alone. */
export function lockedPackages(): { shipped: LockedPackage[]; development: LockedPackage[] } {
  const lock = JSON.parse(readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<
      string,
      { name?: string; version?: string; link?: boolean; dev?: boolean; license?: string; integrity?: string }
    >;
  };
  const all = Object.entries(lock.packages).flatMap(
    ([where, { name, version, link, dev, license, integrity }]) => {
      const folder = where.split('node_modules/').at(-1) ?? '';
      if (version === undefined || link === true || folder === where) return []; // the project's own
      return [{ where, name: name ?? folder, version, isDevelopment: dev === true, license, integrity }];
    },
  );
  return {
    shipped: all.filter(({ isDevelopment }) => !isDevelopment),
    development: all.filter(({ isDevelopment }) => isDevelopment),
  };
}

/** The problem with the licence of a package, as a sentence; undefined if there is none. */
export function licenceFault(each: LockedPackage): string | undefined {
  const { name } = each;
  const found = installedLicence(each.where);
  const isStated = (license: string | undefined) => license !== undefined && !/^SEE LICENSE/i.test(license);
  const expressions = [each.license, found].filter(isStated);
  if (expressions.length === 0)
    expressions.push(stated[name] ?? stated[name.replace(/-(?:android|darwin|linux|win32)-.*$/, '')]);
  if (expressions[0] === undefined)
    return `${name} states no licence: read its files, and add it to "stated"`;
  const refused = expressions.find((expression) => !isAllowed(expression ?? ''));
  return refused === undefined ? undefined : `${name} has the licence "${refused}", which is not on the list`;
}

/** Whether an SPDX expression of names, AND, OR and parentheses can be fulfilled by licences of the list. */
export function isAllowed(expression: string): boolean {
  const inner = /^\(([^()]*)\)$/.exec(expression.trim())?.[1] ?? expression.trim();
  if (/[()]/.test(inner)) return false; // nested: nobody uses it, so a person decides
  return inner
    .split(/\s+OR\s+/)
    .some((option) => option.split(/\s+AND\s+/).every((name) => allowed.includes(name)));
}

/** The licence that an installed package states, also in the old forms of package.json. */
function installedLicence(where: string): string | undefined {
  const file = path.join(projectRoot, where, 'package.json');
  if (!existsSync(file)) return undefined; // for another platform
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8')) as {
    license?: string | { type: string };
    licenses?: { type: string }[];
  };
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ');
}
