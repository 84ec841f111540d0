// Finds the entries of almanac.yml for a file, and those without one.
import { isUrl, matches } from '../read/file-path.ts';
import type { TableDescription } from './entry-schema.ts';

/** The entries for a file, one for each sheet of a workbook: those that name the file, else those whose pattern matches. */
export function entriesFor(path: string, entries: readonly TableDescription[]): TableDescription[] {
  const fitting = entries.filter(({ file }) => [file].flat().some((pattern) => matches(pattern, path)));
  const isNaming = ({ file }: TableDescription) => [file].flat().includes(path);
  const named = new Set(fitting.filter(isNaming).map(({ sheet }) => sheet));
  return fitting.filter((entry) => isNaming(entry) || !named.has(entry.sheet));
}

/** The entries that load tables and name no file of the folder. @param paths its files that are read. */
export function entriesWithoutFile(
  paths: readonly string[],
  entries: readonly TableDescription[],
): TableDescription[] {
  const isThere = (pattern: string) => isUrl(pattern) || paths.some((path) => matches(pattern, path));
  return entries.filter(({ file, skip }) => skip === undefined && ![file].flat().some(isThere));
}
