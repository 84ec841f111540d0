// Matches the header of a file with the columns of a dataset, using --map, --set, --ignore and the titles.
import type { Column } from '../cells/cells.ts';
import { IngestFailure, usageError } from '../failure.ts';
import { shellWord } from './shell-word.ts';
import type { Dataset } from './dataset.ts';

export interface ColumnOptions {
  /** Our name → the file's name. */
  map?: Readonly<Record<string, string>>;
  /** Our name → the constant for every row. */
  set?: Readonly<Record<string, string>>;
  /** The file's columns to ignore, each a title or a list of titles with commas. */
  ignore?: readonly string[];
}

export interface SourceColumn {
  /** Our name for the column. */
  target: string;
  /** The file's name for it, for messages. */
  title: string;
  index: number;
}

/**
 * The columns of the file under our names, in the file's order. A column named in `map` takes that name, or each of several; one that is
 * spelled as a known column (case-insensitive) is that column; any other keeps its name. Columns without a name are ignored.
 * @throws IngestFailure if a mapped or ignored name is not in the header, or two columns get the same name.
 */
export function sourceColumns(
  header: readonly string[],
  options: ColumnOptions,
  known: ReadonlySet<string>,
): SourceColumn[] {
  const { map = {}, set = {} } = options;
  const titles = header.map((title) => title.trim());
  const ignore = ignoredTitles(options.ignore, titles);
  for (const title of [...Object.values(map), ...ignore]) {
    if (!titles.includes(title))
      usageError(
        `The file has no column "${title}"; its columns are ${titles.filter((each) => each !== '').join(', ')}.`,
      );
  }
  const targetsOf = Map.groupBy(Object.keys(map), (target) => map[target]);

  const columns: SourceColumn[] = [];
  for (const [index, title] of titles.entries()) {
    if (title === '' || ignore.includes(title)) continue;
    const ownName =
      known.has(title.toLowerCase()) && !Object.hasOwn(map, title.toLowerCase())
        ? title.toLowerCase()
        : title;
    for (const target of targetsOf.get(title) ?? [ownName]) columns.push({ target, title, index });
  }
  const seen = new Set<string>();
  for (const { target, title } of columns) {
    if (seen.has(target))
      throw new IngestFailure(
        'invalid_file',
        `Two columns of the file are ${target} (the second is "${title}").`,
      );
    if (Object.hasOwn(set, target))
      usageError(`${target} is both a column of the file and a constant of --set. Remove one of them.`);
    seen.add(target);
  }
  return columns;
}

/** The titles that --ignore contains: each text is a list, unless it is itself a title. */
export function ignoredTitles(ignore: readonly string[] | undefined, titles: readonly string[]): string[] {
  return (ignore ?? []).flatMap((text) => (titles.includes(text) ? [text] : text.split(',')));
}

/** A column of a dataset, and where its cells come from: a column of the file, or a constant of --set. */
export interface DatasetCell {
  column: Column;
  title: string;
  /** -1 for a constant. */
  index: number;
  constant: string;
}

/** The cells of every row. @throws IngestFailure as `sourceColumns` does, and for a column that the dataset does not have. */
export function datasetCells(
  dataset: Dataset,
  header: readonly string[],
  options: ColumnOptions,
): DatasetCell[] {
  const known = new Map(dataset.columns.map((column) => [column.name, column]));
  const named = (name: string): Column =>
    known.get(name) ??
    usageError(`--set ${name}: ${dataset.name} has no such column; it has ${[...known.keys()].join(', ')}.`);
  const columns = sourceColumns(header, options, new Set(known.keys()));
  const unknown = columns.filter(({ target }) => !known.has(target));
  if (unknown.length > 0)
    failUnusable(
      `${dataset.name} has no column ${unknown.map(({ target }) => target).join(', ')}; it has ` +
        `${[...known.keys()].join(', ')}. Rename with --map, or exclude with`,
      unknown.map(({ title }) => ['--ignore', title]),
    );
  const fromFile = columns.map(({ target, title, index }) => ({
    column: named(target),
    title,
    index,
    constant: '',
  }));
  const constants = Object.entries(options.set ?? {}).map(([name, constant]) => ({
    column: named(name),
    title: name,
    index: -1,
    constant: constant.trim(),
  }));
  return [...fromFile, ...constants];
}

/** @throws IngestFailure if --multiply names a column that no row has. */
export function refuseIdleFactors(
  cells: readonly DatasetCell[],
  factors: Readonly<Record<string, string>> = {},
): void {
  for (const name of Object.keys(factors))
    if (!cells.some(({ column }) => column.name === name))
      usageError(`--multiply ${name}: the file has no such column.`);
}

/**
 * @param fix what to add to the command for each column, such as `['--ignore', 'note']`.
 * @throws IngestFailure always: the file has columns that cannot be used as they are.
 */
export function failUnusable(
  reason: string,
  fix: readonly (readonly [flag: string, value: string])[],
): never {
  const words = fix.flat();
  throw new IngestFailure('usage', `${reason} ${words.map(shellWord).join(' ')}.`, { fix: words });
}

/** @throws IngestFailure always: every row needs the column, and neither the file nor --set has it. */
export function failLacking(name: string, header: readonly string[]): never {
  usageError(
    `The file has no column ${name}; its columns are ${header.join(', ')}. ` +
      `Rename a column with --map ${name}=…, or set a constant with --set ${name}=…`,
  );
}
