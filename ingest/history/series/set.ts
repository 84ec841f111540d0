// Sets facts of a series, such as its name, with the checks of the dataset `series`.
import type { Database, Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { factColumns } from '../../datasets/metadata.ts';
import { plainCells, type Column } from '../../cells/cells.ts';
import { changeSeries, refuseDeleted, type ChangeOptions, type SeriesChange } from './change.ts';
import type { FoundSeries } from './change.sql.ts';
import { findFactChanges, findPublished, updateFacts, type FactChange } from './set.sql.ts';

export interface SetOptions extends ChangeOptions {
  /** Fact → its text; empty clears the fact. */
  facts: Readonly<Record<string, string>>;
}

export interface FactsChange extends SeriesChange {
  /** The facts that differed, in the order of the dataset's columns. */
  changes: FactChange[];
}

/** Facts that a price series gets from its item. */
const factsOfItem: ReadonlySet<string> = new Set(['name', 'unit', 'frequency', 'source', 'category']);
/** The dates of points are the ends of periods, which depend on these facts. */
const datingFacts: ReadonlySet<string> = new Set(['frequency', 'fiscal_year_end']);

/**
 * Facts have no vintages: readers of every vintage see the new ones, and the audit event has the previous ones.
 * @throws Failure `not_found`; `invalid_parameter` for a fact that series do not have, or a value of the wrong type; `conflict` if a fact
 * cannot be changed, or none would change.
 */
export async function setFacts(
  database: Pick<Database, 'transaction'>,
  { facts, ...options }: SetOptions,
): Promise<FactsChange> {
  const values = readFacts(facts);
  let changes: FactChange[] = [];
  const change = await changeSeries(database, 'series.changed', options, {
    async refuse(series, on) {
      refuseDeleted(series);
      changes = await findFactChanges(on, series.seriesNo, values);
      await refuseChanges(on, series, changes);
    },
    async apply({ on, series, loadNo }) {
      await updateFacts(on, loadNo, [{ seriesNo: series.seriesNo, values }]);
      return { series: series.id, details: { changes } };
    },
  });
  return { ...change, changes };
}

/** The facts in PostgreSQL's format, in the order of the columns. @throws Failure `invalid_parameter`. */
export function readFacts(facts: Readonly<Record<string, string>>): Record<string, string | null> {
  const unknown = Object.keys(facts).filter((fact) => !factColumns.some(({ name }) => name === fact));
  if (unknown.includes('series_id'))
    fail('invalid_parameter', 'series_id is changed by: almanac series rename');
  if (unknown.length > 0)
    fail('invalid_parameter', `${unknown.join(', ')} cannot be set; a series has ${factNames}.`);
  const values: Record<string, string | null> = {};
  for (const column of factColumns) {
    const text = facts[column.name];
    if (text === undefined) continue;
    const value = readFact(column, text);
    if (value === undefined) fail('invalid_parameter', invalidFact(column, text));
    values[column.name] = value;
  }
  return values;
}

/** For messages. */
export const factNames = factColumns.map(({ name }) => name).join(', ');

export const unknownFact = (name: string): string =>
  `"${name}" is not a fact of a series, which has ${factNames}.`;

/** The longest text quoted in a message. */
const quotedMax = 60;

/** @param text of the fact; a long one is shortened. */
export function invalidFact(column: Column, text: string): string {
  const quoted = text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text;
  return `${column.name}="${quoted}": ${plainCells.expected(column)} is expected.`;
}

/** The fact in PostgreSQL's format; null clears it, undefined if the text is invalid. */
export function readFact(column: Column, text: string): string | null | undefined {
  const value = plainCells.read(column, text.trim());
  if (value !== null) return value;
  if (column.required) return undefined;
  return column.type === 'list' ? '{}' : null;
}

async function refuseChanges(
  on: Transaction,
  series: FoundSeries,
  changes: readonly FactChange[],
): Promise<void> {
  if (changes.length === 0) fail('conflict', `"${series.id}" has these facts already.`);
  const ofItem = ofItemBecause(series, changes);
  if (ofItem !== null) fail('conflict', ofItem);
  if (isDated(changes) && (await findPublished(on, [series.seriesNo])).size > 0)
    fail('conflict', datedBecause(series, changes));
}

/** Why the facts of a price series cannot be changed; null if they can. */
export function ofItemBecause(
  { id, isOfItem }: Pick<FoundSeries, 'id' | 'isOfItem'>,
  changes: readonly FactChange[],
): string | null {
  const ofItem = changes.map(({ fact }) => fact).filter((fact) => isOfItem && factsOfItem.has(fact));
  if (ofItem.length === 0) return null;
  return `"${id}" has the prices of an item, from which it gets its ${ofItem.join(', ')}. To change the item, load the dataset commodity-items.`;
}

/** The facts that the series has from its item, or that its observations are dated by: setting another value is refused. */
export const fixedFacts = ({
  isOfItem,
  isPublished,
}: {
  isOfItem: boolean;
  isPublished: boolean;
}): string[] =>
  factColumns
    .map(({ name }) => name)
    .filter((name) => (isOfItem && factsOfItem.has(name)) || (isPublished && datingFacts.has(name)));

/** Whether the dates of points depend on one of the facts. */
export const isDated = (changes: readonly FactChange[]): boolean =>
  changes.some(({ fact }) => datingFacts.has(fact));

/** Why the facts that date the points of a series cannot change once it has observations. */
export function datedBecause({ id }: Pick<FoundSeries, 'id'>, changes: readonly FactChange[]): string {
  const dating = changes.map(({ fact }) => fact).filter((fact) => datingFacts.has(fact));
  return `"${id}" has observations, which are dated by its ${dating.join(' and ')}: load them as another series.`;
}
