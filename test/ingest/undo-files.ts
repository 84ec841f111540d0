// The files written by the steps of the oracle, and the content that is loaded when one is repeated.
import type { RepeatStep } from './undo-steps.ts';
import type { State } from './vintages-model.ts';

export interface WrittenRow {
  /** Any id of the series. */
  id: string;
  point: string;
  state: State;
}

export interface WrittenLoad {
  full: boolean;
  vintage: string;
  rows: WrittenRow[];
}

/** The vintages of a file, oldest first. */
export interface WrittenFile {
  vintages: readonly WrittenLoad[];
  /** Whether the vintages are in a column of the file; otherwise it has one vintage, named by the call. */
  hasColumn: boolean;
}

/** The same file, or a part of it. */
export function repeated({ vintages }: WrittenFile, { omits, hasColumn }: RepeatStep): WrittenFile {
  const selected =
    hasColumn && !(omits === 'a vintage' && vintages.length > 1) ? vintages : vintages.slice(-1);
  const isSelected = (_: unknown, at: number) => omits !== 'rows' || at % 2 === 0;
  return { hasColumn, vintages: selected.map((load) => ({ ...load, rows: load.rows.filter(isSelected) })) };
}

/** Its lines. */
export function csvOf({ vintages, hasColumn }: WrittenFile): string[] {
  const lines = vintages.flatMap(({ vintage, rows }) =>
    rows.map(({ id, point, state }) =>
      [id, ...point.split(' '), ...state.split('|'), ...(hasColumn ? [vintage] : [])].join(','),
    ),
  );
  return [`series_id,date,side,value,status${hasColumn ? ',vintage' : ''}`, ...lines];
}
