// The almanac.yml entry by which a table of an upload is published, as an operator has confirmed or edited it.
import { usageError } from '../../failure.ts';
import type { TableDescription } from '../../entry/entry-schema.ts';
import { parseEntry } from '../../entry/entry-file.ts';
import { titled } from '../../entry/missing-facts.ts';
import { changed } from '../../entry/resolve-guesses.ts';
import { matches } from '../../read/file-path.ts';

/**
 * @param text the YAML. @param name of the file. @param facts of its series and columns, which override the entry. The name is the title of
 * the table; the distinguishing part of each series is appended to it.
 * @throws IngestFailure if it is not an entry, is for other files, or skips the table.
 */
export function entryOf(
  text: string,
  { name, facts }: { name: string; facts: Readonly<Record<string, string>> },
): TableDescription {
  const given = parseEntry(text);
  const files = [given.file].flat();
  if (!files.some((pattern) => matches(pattern, name)))
    usageError(
      `file: ${files.join(', ')} does not match the uploaded file ${name}. Keep the name, or use * as a wildcard.`,
    );
  if (given.skip !== undefined)
    usageError(
      `The entry excludes the table (skip: ${given.skip}). To publish the table, remove the key skip and describe it.`,
    );
  const { guessed: _, ...entry } = withFacts(given, facts);
  return entry;
}

/** A key of a fact of one column, such as `columns.Price.unit`. The title may contain dots. */
export const columnFactKey = /^columns\.(.+)\.(unit|source)$/s;

/** Given facts of all series override those of single columns in the entry; given facts of single columns override both. */
function withFacts(entry: TableDescription, facts: Readonly<Record<string, string>>): TableDescription {
  if (entry.series === undefined || Object.keys(facts).length === 0) return entry;
  const given = Object.entries(facts);
  const ofColumns = Object.fromEntries(given.filter(([key]) => columnFactKey.test(key)));
  const ofAll = Object.fromEntries(
    given
      .filter(([key]) => !columnFactKey.test(key))
      .map(([name, text]) => [name, name === 'name' ? titled(entry, text) : text]),
  );
  const columns = Object.entries(entry.columns ?? {}).map(([title, own]) => [
    title,
    Object.fromEntries(Object.entries(own).filter(([name]) => !Object.hasOwn(ofAll, name))),
  ]);
  return changed(
    {
      ...entry,
      series: { ...entry.series, ...ofAll },
      ...(entry.columns !== undefined && { columns: Object.fromEntries(columns) as typeof entry.columns }),
    },
    ofColumns,
  );
}
