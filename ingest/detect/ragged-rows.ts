// Finds rows of a text file with more numbers than the header names columns: commas of numbers that are not quoted divide them.
import { entryAt } from '../../kernel/entries.ts';
import { isNumberText } from '../cells/cell-forms.ts';
import type { Sample } from '../read/table-rows.ts';
import type { Layout } from './table/layout.ts';

/** Why the cells of a row may be in the wrong columns; null if no row is too long. */
export function raggedReason(
  { rows, lines, delimiter }: Sample,
  { headerRows, firstRow }: Layout,
): string | null {
  if (delimiter === undefined) return null;
  const named = Math.max(...headerRows.map((at) => entryAt(rows, at).length));
  const at = rows.findIndex(
    (row, each) => each >= firstRow && row.slice(named).some((cell) => isNumberText(cell)),
  );
  if (at < 0) return null;
  return `line ${entryAt(lines, at)} has ${entryAt(rows, at).length} cells, and the header names ${named} columns: quote each number that has a "${delimiter}", or add the missing name`;
}
