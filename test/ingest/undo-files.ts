// Files as the steps of the oracle write them, and what is loaded when one is repeated.
import type { RepeatStep } from './undo-steps.ts';
import type { State } from './vintages-model.ts';

export interface WrittenRow {
  /** Any that the series has. */
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
  /** They are in a column of the file; otherwise it has one vintage, which the call names. */
  hasColumn: boolean;
}

/** The same file again, or a part of it. */
export function repeated({ vintages }: WrittenFile, { omits, hasColumn }: RepeatStep): WrittenFile {
  const kept = hasColumn && !(omits === 'a vintage' && vintages.length > 1) ? vintages : vintages.slice(-1);
  const isKept = (_: unknown, at: number) => omits !== 'rows' || at % 2 === 0;
  return { hasColumn, vintages: kept.map((load) => ({ ...load, rows: load.rows.filter(isKept) })) };
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
