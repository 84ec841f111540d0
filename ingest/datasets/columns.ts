// Matches the header of a file with the columns of a dataset: --map, --set, --ignore, and the names as they are.
import type { Column } from '../files/cells.ts';
import { IngestFailure, misuse } from '../load/failure.ts';
import type { Dataset } from './dataset.ts';

export interface ColumnOptions {
  /** Our name → the file's name. */
  map?: Readonly<Record<string, string>>;
  /** Our name → the constant for every row. */
  set?: Readonly<Record<string, string>>;
  /** The file's columns to ignore. */
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
 * The columns of the file under our names, in the file's order. A column named in `map` takes that name; one that is
 * spelled as a known column, in any case, is that column; any other keeps its name. Columns without a name are ignored.
 * @throws IngestFailure if a mapped or ignored name is not in the header, or two columns get the same name.
 */
export function sourceColumns(
  header: readonly string[],
  options: ColumnOptions,
  known: ReadonlySet<string>,
): SourceColumn[] {
  const { map = {}, set = {}, ignore = [] } = options;
  const titles = header.map((title) => title.trim());
  for (const title of [...Object.values(map), ...ignore]) {
    if (!titles.includes(title))
      misuse(
        `The file has no column "${title}"; its columns are ${titles.filter((each) => each !== '').join(', ')}.`,
      );
  }
  const targetOf = new Map(Object.entries(map).map(([target, title]) => [title, target]));
  if (targetOf.size < Object.keys(map).length) misuse('Two --map name the same column of the file.');

  const columns: SourceColumn[] = [];
  for (const [index, title] of titles.entries()) {
    if (title === '' || ignore.includes(title)) continue;
    const ownName =
      known.has(title.toLowerCase()) && !Object.hasOwn(map, title.toLowerCase())
        ? title.toLowerCase()
        : title;
    columns.push({ target: targetOf.get(title) ?? ownName, title, index });
  }
  const seen = new Set<string>();
  for (const { target, title } of columns) {
    if (seen.has(target))
      throw new IngestFailure(
        'invalid_file',
        `Two columns of the file are ${target} (the second is "${title}").`,
      );
    if (Object.hasOwn(set, target))
      misuse(`${target} is a column of the file and a constant of --set: leave one out.`);
    seen.add(target);
  }
  return columns;
}

/** A column of a dataset, and where its cells come from: a column of the file, or a constant of --set. */
export interface DatasetCell {
  column: Column;
  title: string;
  /** -1 for a constant. */
  index: number;
  constant: string;
}

/** The cells of every row. @throws IngestFailure as `sourceColumns` does, and for a column that the dataset has not. */
export function datasetCells(
  dataset: Dataset,
  header: readonly string[],
  options: ColumnOptions,
): DatasetCell[] {
  const known = new Map(dataset.columns.map((column) => [column.name, column]));
  const named = (name: string): Column =>
    known.get(name) ??
    misuse(
      `${dataset.name} has no column ${name}; it has ${[...known.keys()].join(', ')}. ` +
        `Rename it by --map, or leave it out by --ignore.`,
    );
  const fromFile = sourceColumns(header, options, new Set(known.keys())).map(({ target, title, index }) => ({
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

/** @throws IngestFailure always: every row needs the column, and neither the file nor --set has it. */
export function failLacking(name: string, header: readonly string[]): never {
  misuse(
    `The file has no column ${name}; its columns are ${header.join(', ')}. ` +
      `Name it by --map ${name}=…, or give it to every row by --set ${name}=…`,
  );
}
