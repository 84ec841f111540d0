// The thread that writes a workbook.
import { parentPort } from 'node:worker_threads';
import { utils, write, type CellObject, type WorkSheet } from '@e965/xlsx';
import { dayNumber } from '../../kernel/dates.ts';
import type { Cell, Sheet } from './workbook.ts';

/** Excel's number of 1970-01-01. */
const epoch = 25_569;
/** 1900-03-01: Excel has a 29 February 1900, which never existed, and no day before 1900. */
const firstDay = 61;
const textLengthMax = 32_767;
const decimalsMax = 30;

parentPort?.once('message', (sheets: readonly Sheet[]) => {
  const workbook = utils.book_new();
  for (const sheet of sheets) utils.book_append_sheet(workbook, worksheetOf(sheet), sheet.name);
  const bytes = write(workbook, { type: 'buffer', bookType: 'xlsx', compression: true }) as Uint8Array;
  parentPort?.postMessage(bytes, []);
});

function worksheetOf({ header, rows, widths }: Sheet): WorkSheet {
  const sheet: WorkSheet = {};
  header.forEach((text, c) => (sheet[utils.encode_cell({ r: 0, c })] = textCell(text)));
  rows.forEach((cells, r) => {
    for (const [c, cell] of cells)
      if (cell !== null) sheet[utils.encode_cell({ r: r + 1, c })] = cellOf(cell);
  });
  sheet['!ref'] = utils.encode_range({
    s: { r: 0, c: 0 },
    e: { r: rows.length, c: Math.max(0, header.length - 1) },
  });
  sheet['!cols'] = widths.map((wch) => ({ wch }));
  return sheet;
}

function cellOf(cell: NonNullable<Cell>): CellObject {
  if (typeof cell === 'string') return textCell(cell);
  if ('date' in cell) {
    const day = dayNumber(cell.date) + epoch;
    return day < firstDay ? textCell(cell.date) : { t: 'n', v: day, z: 'yyyy-mm-dd' };
  }
  const number = Number(cell.digits);
  if (!Number.isFinite(number)) return textCell(cell.digits);
  // The published decimals are shown, including zeros at the end.
  const decimals = /^-?\d+\.(\d+)$/.exec(cell.digits)?.[1]?.length ?? 0;
  return decimals === 0 || decimals > decimalsMax
    ? { t: 'n', v: number }
    : { t: 'n', v: number, z: `0.${'0'.repeat(decimals)}` };
}

const textCell = (text: string): CellObject => ({ t: 's', v: text.slice(0, textLengthMax) });
