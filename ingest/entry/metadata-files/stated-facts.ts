// The facts of series from metadata beside a file of data, and their checks: a text that cannot be a fact is an error that names the file.
import { plainCells } from '../../cells/cells.ts';
import { datasetNamed } from '../../datasets/datasets.ts';
import { fault } from './read-metadata.ts';

/** Facts by the names of the dataset series; `name` is the title of the table, or of the column. */
export type Facts = Readonly<Record<string, string>>;

export interface StatedFacts {
  facts: Facts;
  /** By the title of the column. */
  columns: ReadonlyMap<string, Facts>;
  /** The names of the files that state them, for evidence. */
  from: string;
}

/** The facts of one file. */
export type Stated = Omit<StatedFacts, 'from'>;

const columns = new Map(datasetNamed('series').columns.map((column) => [column.name, column]));

/**
 * The texts as facts; undefined and empty ones are dropped. Braces would be placeholders of almanac.yml: they become parentheses.
 * @throws IngestFailure if one is not valid for its fact.
 */
export function factsOf(
  file: string,
  where: string,
  texts: Readonly<Record<string, string | undefined>>,
): Facts {
  const facts = Object.entries(texts).flatMap(([name, given]) => {
    const text = (given ?? '').trim().replaceAll('{', '(').replaceAll('}', ')');
    const column = columns.get(name);
    if (text === '' || column === undefined) return [];
    if (plainCells.read(column, text) === undefined)
      fault(file, `${where}, ${name} is "${text.slice(0, 60)}": expected ${plainCells.expected(column)}`);
    return [[name, text] as const];
  });
  return Object.fromEntries(facts);
}

/** The licence, and the address of its terms if that can be shown. */
export function licenceFacts(
  name: string | undefined,
  url: string | undefined,
): { licence?: string | undefined; licence_url?: string | undefined } {
  return {
    licence: name ?? url,
    licence_url: url !== undefined && /^https:\/\/\S+$/.test(url) ? url : undefined,
  };
}
