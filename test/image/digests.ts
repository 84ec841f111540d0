// The files of an image by their content, mode and kind, to compare two builds. Times are left out, as a builder sets them (SOURCE_DATE_EPOCH).
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** @returns the entry of each path, hidden ones too: `mode kind digest`, or the target of a link. */
export function digestsOf(directory: string): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return new Map(names.map((name) => [name, digestOf(path.join(directory, name))]));
}

function digestOf(file: string): string {
  const found = lstatSync(file);
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isSymbolicLink()) return `link ${readlinkSync(file)}`;
  if (found.isFile()) return `${mode} file ${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
  return `${mode} ${found.isDirectory() ? 'directory' : 'other'}`;
}

/** The paths at which two images differ. */
export function differences(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name)).toSorted();
}
