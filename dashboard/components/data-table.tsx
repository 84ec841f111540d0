// A table whose rows become lists of labels and values on a phone.
import type { ComponentChild } from 'preact';

export interface Column<Row> {
  label: string;
  cell: (row: Row, index: number) => ComponentChild;
  /** Numbers are aligned right. */
  right?: boolean;
  /** The label of the value on a phone; by default `label`. */
  phoneLabel?: (row: Row) => string;
  /** On a phone: `hide` it, or show it `plain`, without its label. The first column is always plain. */
  phone?: 'hide' | 'plain';
}

interface DataTableProps<Row> {
  /** The content of the table, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  dense?: boolean;
  /** False: it stays a table on a phone, for a few short columns. */
  cards?: boolean;
  selected?: (row: Row) => boolean;
}

export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  dense,
  cards = true,
  selected,
}: DataTableProps<Row>) {
  return (
    <table class={[cards && 'cards', dense && 'dense'].filter(Boolean).join(' ')}>
      <caption class="vh">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.label} scope="col" class={classOf(column)}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row)} class={selected?.(row) === true ? 'sel' : undefined}>
            {columns.map((column, i) => (
              <td
                key={column.label}
                class={classOf(column)}
                data-l={
                  i === 0 || column.phone === 'plain' ? undefined : (column.phoneLabel?.(row) ?? column.label)
                }
              >
                {column.cell(row, index)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The column of the buttons that act on a row. */
export const actionsColumn = { label: 'Actions', right: true, phone: 'plain' } as const;

interface RowButtonProps {
  /** What it does: `Revoke`. */
  label: string;
  /** The name of the row, for screen readers. */
  of: string;
  isDangerous?: boolean;
  onClick: () => void;
}

export function RowButton({ label, of, isDangerous = false, onClick }: RowButtonProps) {
  const kind = isDangerous ? 'btn sml danger' : 'btn sml';
  return (
    <button class={kind} type="button" aria-label={`${label} ${of}`} onClick={onClick}>
      {label}
    </button>
  );
}

function classOf<Row>({ right, phone }: Column<Row>): string | undefined {
  const names = [right === true && 'right', phone === 'hide' && 'hide-p'].filter(Boolean).join(' ');
  return names === '' ? undefined : names;
}
