// Other possible readings of a table: each doubt turns a finding into a guess, with its reason, or refuses the table.
import { entryAt } from '../../../kernel/entries.ts';
import { centredGroup } from '../table/header-lines.ts';
import { mixedOrder } from '../table/mixed-order.ts';
import type { SheetDoubts } from '../../read/workbook.ts';
import { doubt, type About, type Draft, type Seen } from './proposal.ts';
import {
  doubtDimensions,
  doubtNumbers,
  doubtNumbersAndDates,
  doubtTitles,
  doubtVintages,
} from './column-doubts.ts';
import { daysAcross, doubtDates, doubtParts, doubtPeriods, doubtYears, fiscalParts } from './date-doubts.ts';
import { doubtHeadings, doubtLines, otherPeriods } from './row-doubts.ts';

/** @param sheet the doubts about the cells of a workbook. @param above the lines above the data. @returns why the table cannot be read, or null. */
export function addDoubts(
  draft: Draft,
  seen: Seen,
  { about, sheet = {}, above }: { about: About; sheet?: SheetDoubts | undefined; above: readonly string[][] },
): string | null {
  const { layout, columns, rows } = seen;
  if (sheet.date !== undefined) doubt(draft, 'date', sheet.date);
  if (sheet.values !== undefined)
    doubt(draft, draft.entry.values === undefined ? 'date' : 'values', sheet.values);
  if (
    sheet.serial !== undefined &&
    layout.dates.kind === 'column' &&
    layout.dates.found.style.format === 'Excel serial'
  )
    return sheet.serial;
  doubtYears(draft, layout, rows, about);
  doubtPeriods(draft, layout, rows);
  doubtParts(draft, layout, columns, rows);
  doubtDates(draft, layout, columns, rows);
  doubtDimensions(draft, seen);
  doubtNumbersAndDates(draft, seen);
  doubtLines(draft, seen, above);
  doubtNumbers(draft, seen);
  doubtVintages(draft, seen);
  doubtTitles(draft, seen);
  const centred =
    layout.dates.kind === 'column'
      ? centredGroup(
          layout.headerRows.map((at) => entryAt(above, at)),
          columns.values.toSorted((a, b) => a - b),
        )
      : null;
  if (centred !== null)
    doubt(
      draft,
      'values',
      `${centred.title} is to the left of ${centred.group}, and may belong to it: names of groups may be centred above their columns`,
    );
  return (
    fiscalParts(layout) ??
    daysAcross(layout) ??
    mixedOrder(layout, rows) ??
    otherPeriods(layout, rows) ??
    doubtHeadings(draft, seen)
  );
}
