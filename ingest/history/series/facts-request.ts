// Reads the facts of series in a request, given as JSON has them. All faults are collected in one pass, as of a file.
import type { FactsFile } from './facts-file.ts';
import { factColumns } from '../../datasets/metadata.ts';
import { invalidFact, readFact, unknownFact } from './set.ts';

/** In the format of the lists of series; null and an empty text clear the fact. */
export type GivenFact = string | number | readonly string[] | null;

export interface GivenFacts {
  id: string;
  facts: Readonly<Record<string, GivenFact>>;
  before?: Readonly<Record<string, unknown>> | undefined;
}

/** The rows, parsed like those of a file; the line of a row is its number in the request. */
export function readFactsRequest(given: readonly GivenFacts[]): FactsFile {
  const read: FactsFile = { rows: [], faults: [] };
  const ids = new Set<string>();
  for (const [at, { id, facts, before }] of given.entries()) {
    const line = at + 1;
    if (ids.has(id)) read.faults.push({ ...{ line, id, fact: null }, text: `"${id}" is given twice.` });
    ids.add(id);
    const values = readValues(read, { line, id, facts });
    read.rows.push({ line, id, values, ...(before !== undefined && { before }) });
  }
  return read;
}

function readValues({ faults }: FactsFile, { line, id, facts }: GivenFacts & { line: number }) {
  const values: Record<string, string | null> = {};
  for (const [fact, given] of Object.entries(facts)) {
    const column = factColumns.find(({ name }) => name === fact);
    const text = textOf(given);
    const value = column === undefined ? undefined : readFact(column, text);
    if (value === undefined)
      faults.push({
        ...{ line, id, fact },
        text: column === undefined ? unknownFact(fact) : invalidFact(column, text),
      });
    else values[fact] = value;
  }
  return values;
}

/** The text of a fact in the format of a cell in a file. */
function textOf(given: GivenFact): string {
  if (given === null) return '';
  return typeof given === 'string' || typeof given === 'number' ? String(given) : given.join(';');
}
