// Reads a crosstab, whose columns have a period and a group in two lines (2023 over Men and Women) or in one title (`Births 2023`), as a table
// with a row for each group.
import { entryAt } from '../../kernel/entries.ts';
import { cellOf } from '../cells/cell-forms.ts';
import { IngestFailure } from '../failure.ts';
import type { CsvBatch } from './csv-batch.ts';

/** The lines of the periods and of the groups, from 1: one line with both, or two that follow one another, in either order. */
export interface Crosstab {
  periods: number;
  groups: number;
}

export interface CrossedColumn {
  at: number;
  /** Its text in the upper line, or the one to the left of it: an upper text applies up to the next. Of one title: the group. */
  upper: string;
  lower: string;
}

/**
 * The columns whose text in the lower line recurs below another text of the upper line.
 * @param lower the same line as the upper one if each title has a group and a period.
 */
export function crossedColumns(upper: readonly string[], lower: readonly string[]): CrossedColumn[] {
  const named =
    upper === lower
      ? lower.flatMap((title, at) => groupAndPeriod(title, at))
      : besideAbove(upper, lower).filter((column) => column.upper !== '' && column.lower !== '');
  const firstOf = new Map<string, string>();
  const recurring = new Set<string>();
  for (const column of named)
    if ((firstOf.get(column.lower) ?? column.upper) === column.upper) firstOf.set(column.lower, column.upper);
    else recurring.add(column.lower);
  return named.filter((column) => recurring.has(column.lower));
}

function besideAbove(upper: readonly string[], lower: readonly string[]): CrossedColumn[] {
  let above = '';
  return Array.from({ length: Math.max(upper.length, lower.length) }, (_, at) => {
    const own = textAt(upper, at);
    if (own !== '') above = own;
    return { at, upper: above, lower: textAt(lower, at) };
  });
}

const period = String.raw`((?:1[5-9]|2[01])\d{2}(?:[\s-]?[MQKHTVW]\d{1,2})?)`;
const periodBehind = new RegExp(String.raw`^(\p{L}.*?)[\s,(/:_]+${period}\)?$`, 'su');
const periodBefore = new RegExp(String.raw`^${period}[\s,/:_]+(\p{L}.*)$`, 'su');

/** The group and the period of a title such as `Births 2023`, `births_2023` or `2023 Births`. The expressions are slow on longer titles. */
function groupAndPeriod(title: string, at: number): CrossedColumn[] {
  if (title.length > 200) return [];
  const [, before = '', group = ''] = periodBefore.exec(title.trim()) ?? [];
  const [, upper = group, lower = before] = periodBehind.exec(title.trim()) ?? [];
  return upper === '' ? [] : [{ at, upper, lower }];
}

/** The title of the column that the groups are read into. */
export const groupTitle = 'Group';

/** The rows of a crosstab as those of a table: the column of the groups, and one for each period. */
export class CrosstabRows {
  readonly #crosstab: Crosstab;
  #upper: readonly string[] = [];
  #plan: Plan | null = null;

  constructor(crosstab: Crosstab) {
    this.#crosstab = crosstab;
  }

  /**
   * Lines above the table pass unchanged; a row becomes as many as there are groups with a cell in it, all with its line.
   * @throws IngestFailure if no column has a period and a group, or two have the same.
   */
  of(batch: CsvBatch): CsvBatch {
    const { periods, groups } = this.#crosstab;
    const made: CsvBatch = { rows: [], lines: [] };
    for (const [at, row] of batch.rows.entries()) {
      const line = entryAt(batch.lines, at);
      for (const each of this.#rowsOf(row, line, Math.min(periods, groups), Math.max(periods, groups))) {
        made.rows.push(each);
        made.lines.push(line);
      }
    }
    return made;
  }

  /** The columns of the file that each column is made from, once the titles were read. */
  get sources(): number[][] {
    if (this.#plan === null) return [];
    const { others, periods, groups } = this.#plan;
    const ofPeriods = periods.map((_, place) =>
      [...groups.values()].map((columns) => entryAt(columns, place)),
    );
    return [...others.map((at) => [at]), [], ...ofPeriods];
  }

  #rowsOf(row: string[], line: number, upper: number, lower: number): string[][] {
    if (line === upper && upper < lower) {
      this.#upper = row;
      return [[]];
    }
    if (line === lower) {
      this.#plan = planOf(upper < lower ? this.#upper : row, row, this.#crosstab);
      return [[...this.#plan.titles, groupTitle, ...this.#plan.periods]];
    }
    return this.#plan === null ? [row] : rowsBy(this.#plan, row);
  }
}

interface Plan {
  /** How many columns the two lines have. */
  width: number;
  /** The columns that are not crossed. */
  others: number[];
  titles: string[];
  periods: string[];
  /** Each with the columns of its periods. */
  groups: Map<string, number[]>;
}

function planOf(upper: readonly string[], lower: readonly string[], { periods, groups }: Crosstab): Plan {
  const crossed = crossedColumns(upper, lower).map((column) => ({
    at: column.at,
    period: periods < groups ? column.upper : column.lower,
    group: periods < groups ? column.lower : column.upper,
  }));
  if (crossed.length === 0)
    throw new IngestFailure(
      'invalid_file',
      `No column has a period on line ${periods} and a group on line ${groups}: state the lines of both under crosstab.`,
    );
  const names = [...new Set(crossed.map(({ period }) => period))];
  const columns = new Map<string, number[]>();
  for (const { at, period, group } of crossed) {
    const own = columns.get(group) ?? names.map(() => -1);
    const place = names.indexOf(period);
    if (entryAt(own, place) >= 0)
      throw new IngestFailure(
        'invalid_file',
        `Two columns are "${group}" of "${period}": give each a name of its own.`,
      );
    own[place] = at;
    columns.set(group, own);
  }
  const width = Math.max(upper.length, lower.length);
  const taken = new Set(crossed.map(({ at }) => at));
  const others = Array.from({ length: width }, (_, at) => at).filter((at) => !taken.has(at));
  const titles = others.map((at) =>
    [...new Set([textAt(upper, at), textAt(lower, at)])].filter((text) => text !== '').join(' / '),
  );
  return { width, others, titles, periods: names, groups: columns };
}

/** A row without a cell in any group is a heading or a note, and one with the same word in all is a line of units: these stay one row. */
function rowsBy({ width, others, periods, groups }: Plan, row: readonly string[]): string[][] {
  const [own, beyond] = [others.map((at) => row[at] ?? ''), row.slice(width)];
  const filled = [...groups].filter(([, columns]) => columns.some((at) => textAt(row, at) !== ''));
  const texts = new Set(filled.flatMap(([, columns]) => columns.map((at) => textAt(row, at))));
  const [text = ''] = texts;
  if (texts.size === 0 || (texts.size === 1 && cellOf(text).kind === 'word' && own.join('').trim() === ''))
    return [[...own, '', ...periods.map(() => text), ...beyond]];
  return filled.map(([group, columns]) => [...own, group, ...columns.map((at) => row[at] ?? ''), ...beyond]);
}

const textAt = (row: readonly string[], at: number): string => (row[at] ?? '').replaceAll(/\s+/g, ' ').trim();
