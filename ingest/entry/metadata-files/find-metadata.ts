// Finds the metadata beside a file of data, from its folder up to that of almanac.yml, and merges their facts. If two state one fact, CSV
// on the Web overrides a data package, which overrides a README; the nearer folder overrides the farther.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { tableEnding } from '../../read/file-kind.ts';
import { namesIn, wordsOf } from '../file-name.ts';
import { csvwFacts, csvwNames } from './csvw-facts.ts';
import { isPackage, packageFacts } from './package-facts.ts';
import { readmeFacts } from './readme-facts.ts';
import type { Facts, Stated, StatedFacts } from './stated-facts.ts';

/**
 * @param root the folder of almanac.yml, or of the given files.
 * @param data the file of data, below it, with slashes.
 * @returns undefined if nothing is stated.
 * @throws IngestFailure that names the file of metadata that cannot be read.
 */
export function findMetadata(root: string, data: string): StatedFacts | undefined {
  const found: (Stated & { file: string })[] = [];
  const parts = data.split('/');
  for (let depth = parts.length - 1; depth >= 0; depth--) {
    const folder = path.join(root, ...parts.slice(0, depth));
    found.push(...statedIn(folder, parts.slice(depth).join('/')));
  }
  if (found.length === 0) return undefined;
  const columns = new Map<string, Facts>();
  for (const stated of found.toReversed())
    for (const [title, facts] of stated.columns) columns.set(title, { ...columns.get(title), ...facts });
  return {
    facts: Object.assign({}, ...found.map(({ facts }) => facts).toReversed()) as Facts,
    columns,
    from: found.map(({ file }) => path.relative(root, file)).join(', '),
  };
}

function statedIn(folder: string, data: string): (Stated & { file: string })[] {
  const names = readdirSync(folder);
  const at = (name: string) => path.join(folder, name);
  const stated: (Stated & { file: string })[] = [];
  const add = (name: string, of: Stated | undefined) => {
    if (of !== undefined && Object.keys(of.facts).length + of.columns.size > 0)
      stated.push({ ...of, file: at(name) });
  };
  const csvw = data.includes('/') ? [] : csvwNames(data).filter((name) => names.includes(name));
  for (const name of csvw) add(name, csvwFacts(at(name), data));
  for (const name of names.filter(isPackage)) add(name, packageFacts(at(name), data));
  const readme = names.find((name) => /^readme\.md$/i.test(name));
  const isOfSeveral = data.includes('/') || names.filter((name) => tableEnding.test(name)).length > 1;
  const of = readme === undefined ? undefined : readmeFacts(at(readme));
  if (readme !== undefined) add(readme, of !== undefined && isOfSeveral ? withFile(of, data) : of);
  return stated;
}

/** A title that several tables share, with the name of the file behind it. */
function withFile(of: Stated, data: string): Stated {
  const { name } = of.facts;
  if (name === undefined) return of;
  const { stem } = namesIn(path.posix.basename(data));
  return stem === '' ? of : { ...of, facts: { ...of.facts, name: `${name}, ${wordsOf(stem)}` } };
}
