// CSV written by the browser, in the format of the API's CSV: RFC 4180, formulas defused.
import { harmless } from '../../kernel/formula.ts';

/** Numbers are unchanged, text is escaped so that no spreadsheet runs it, and null is an empty cell. */
export type Cell = string | number | null;

export function csvOfRows(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'number' ? String(cell) : harmless(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
