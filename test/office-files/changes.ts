// Changes of a table or file that preserve its meaning: rows in another order, a total or a note below, another format.
import { delimited, type TextStyle } from './writing/text-files.ts';
import { workbook } from './writing/files.ts';
import { encoded } from './writing/encodings.ts';
import { empty, textCell, type Cell, type Table } from './office-file.ts';
import type { Draft } from './generate.ts';
import { randomOf } from './random.ts';
import { sumRow } from './surroundings.ts';

/** A file of the draft, changed; the name is always the same but for its ending. */
export interface Changed {
  ending: string;
  content: Buffer;
}

const plainStyle: TextStyle = {
  delimiter: ',',
  newline: '\n',
  quotes: 'where needed',
  sepLine: false,
  blank: false,
};

const asText = (
  table: Table,
  style: Partial<TextStyle> = {},
  ending = '.csv',
  encoding = 'utf-8',
): Changed => ({
  ending,
  content: encoded(delimited(table, { ...plainStyle, ...style }), encoding) ?? Buffer.of(),
});

/** The file that the others are compared with. */
export const unchanged = ({ sheet }: Draft): Changed => asText(sheet.table);

const endOf = ({ rows, end }: Table) => end ?? rows.length;

function withRows(table: Table, data: (rows: Cell[][]) => Cell[][]): Table {
  const { rows, first } = table;
  const end = endOf(table);
  return { ...table, rows: [...rows.slice(0, first), ...data(rows.slice(first, end)), ...rows.slice(end)] };
}

/** @returns null where the change does not fit the layout. */
type Change = (draft: Draft) => Changed | null;

export const changes: Readonly<Record<string, Change>> = {
  'rows in another order': ({ sheet: { table }, seed }) =>
    table.isFreeOrder ? asText(withRows(table, (rows) => randomOf(seed).shuffled(rows))) : null,
  'newest rows first': ({ sheet: { table } }) =>
    table.isFreeOrder ? asText(withRows(table, (rows) => rows.toReversed())) : null,
  'a total below': ({ sheet, statistics, layout }) => {
    if (layout.sumsDown !== true) return null;
    const total = sumRow(statistics.names.total, sheet, statistics, true);
    return asText(withRows(sheet.table, (rows) => [...rows, total]));
  },
  'a note below': ({ sheet: { table } }) =>
    asText({
      ...table,
      rows: [...table.rows, [], [textCell('Note: figures for the last periods may be revised.')]],
    }),
  'a source above': ({ sheet: { table } }) =>
    asText({ ...table, rows: [[textCell('Source: National Statistics Office')], [], ...table.rows] }),
  'a byte order mark': ({ sheet }) => asText(sheet.table, {}, '.csv', 'utf-8 with BOM'),
  'UTF-16': ({ sheet }) => asText(sheet.table, {}, '.csv', 'utf-16le with BOM'),
  'Windows line ends': ({ sheet }) => asText(sheet.table, { newline: '\r\n' }),
  'all cells in quotes': ({ sheet }) => asText(sheet.table, { quotes: 'all' }),
  'a blank column behind': ({ sheet: { table } }) =>
    asText({ ...table, rows: table.rows.map((row) => [...row, empty]) }),
  'a blank line above': ({ sheet: { table } }) => asText({ ...table, rows: [[], ...table.rows] }),
  semicolons: ({ sheet }) => asText(sheet.table, { delimiter: ';' }),
  tabs: ({ sheet }) => asText(sheet.table, { delimiter: '\t' }, '.tsv'),
  'the ending .xls': ({ sheet }) => asText(sheet.table, { delimiter: '\t' }, '.xls'),
  'a workbook': ({ sheet: { table } }) => ({
    ending: '.xlsx',
    content: workbook({ ...table, rows: table.rows.map((row) => row.map(typed)) }, 'xlsx'),
  }),
};

/** A cell of digits is a number in a workbook. */
function typed(cell: Cell): Cell {
  const isNumber = cell.number === undefined && /^-?(?:0|[1-9]\d{0,11})(?:\.\d+)?$/.test(cell.text);
  return isNumber ? { ...cell, number: Number(cell.text) } : cell;
}

/** Dates across instead of down: other ids, since the titles of columns have become texts of rows; the same series and values. */
export function transposed({ sheet: { table, series }, layout }: Draft): Changed | null {
  const isPlain = layout.sumsDown === true && table.first === 1 && series.length > 1;
  if (!isPlain) return null;
  const rows = table.rows.slice(0, endOf(table));
  const width = Math.max(...rows.map((row) => row.length));
  const turned = Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? empty));
  const isTitled = turned.filter((row) => row.some(({ text }) => text !== ''));
  return asText({ ...table, rows: isTitled, merges: [] });
}
