// The values of the fan chart as a table, for screen readers.
import { useMemo, useState } from 'preact/hooks';
import { firstPrints, valueAt, type RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { DataTable } from '../../components/data-table.tsx';
import { dayText } from '../../text/times.ts';
import type { Formats } from './formats.ts';

interface FiguresTableProps {
  table: RevisionTable;
  formats: Formats;
  /** The first period. */
  fromNo: number;
  /** A vintage beside the newest. */
  vintageNo?: number;
}

const rowsMost = 100;

export function FiguresTable({ table, formats, fromNo, vintageNo }: FiguresTableProps) {
  const [isOpen, setIsOpen] = useState(false);
  const prints = useMemo(
    () => new Map(firstPrints(table).map((print) => [print.dateNo, print.value])),
    [table],
  );
  const numbers = Array.from({ length: table.dates.length - fromNo }, (_, i) => table.dates.length - 1 - i);
  const text = (value: number | null | undefined) => (value == null ? '–' : formats.value(value));
  const inVintage = (label: string, no: number) => ({
    label,
    right: true,
    cell: (dateNo: number) => text(valueAt(table, dateNo, no)),
  });
  return (
    <details class="as-table" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>The values as a table</summary>
      {isOpen && (
        <DataTable
          caption="The first prints, and the values of vintages"
          dense
          cards={false}
          rows={numbers.slice(0, rowsMost)}
          keyOf={String}
          columns={[
            { label: formats.periodName, cell: (dateNo) => formats.period(table.dates[dateNo] ?? '') },
            { label: 'First print', right: true, cell: (dateNo) => text(prints.get(dateNo)) },
            ...(vintageNo === undefined
              ? []
              : [inVintage(`As of ${dayText(table.vintages[vintageNo] ?? '')}`, vintageNo)]),
            inVintage('Newest', table.vintages.length - 1),
          ]}
        />
      )}
      {isOpen && numbers.length > rowsMost && (
        <p class="basis">The newest {rowsMost}; the CSV file has all of them.</p>
      )}
    </details>
  );
}
