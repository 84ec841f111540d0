// Reads a web page saved as a spreadsheet, which many offices offer with the ending .xls: the rows of its largest table, as text.
import { Parser } from 'htmlparser2';
import { IngestFailure } from '../failure.ts';

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A footnote number or a power next to digits: read as plain digits, it would change the number. */
function superscript(text: string): string {
  if (!/^[\d\s(),;.-]*$/.test(text)) return text;
  return text
    .replaceAll(/[^\d-]/g, '')
    .replaceAll(/\d/g, (digit) => superscripts[Number(digit)] ?? digit)
    .replaceAll('-', '⁻');
}

/** The text of a piece of HTML; superscript digits are such characters. */
export function htmlText(html: string): string {
  let text = '';
  let raised = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (name === 'sup') raised += 1;
      else if (name === 'br') text += '\n';
    },
    ontext(part) {
      text += raised > 0 ? superscript(part) : part;
    },
    onclosetag(name) {
      if (name === 'sup') raised -= 1;
    },
  });
  parser.end(html);
  return text;
}

interface Building {
  rows: string[][];
  /** Cells that extend down from a row above: column → text, and for how many further rows. */
  down: Map<number, { text: string; rows: number }>;
  cell: { text: string; columns: number; rows: number } | null;
  depth: number;
  /** How many superscripts are open. */
  raised: number;
}

const cellsMost = 2_000_000;

/** @returns the rows of the largest table, with cells repeated that span several rows; null if the page has none. */
export function htmlTable(page: string): string[][] | null {
  const tables: string[][][] = [];
  let open: Building[] = [];
  let cells = 0;
  const count = () => {
    if (++cells > cellsMost)
      throw new IngestFailure(
        'invalid_file',
        `The page has too many cells; the limit for a table is ${cellsMost}. Save it as CSV.`,
      );
  };
  const closeCell = (table: Building) => {
    if (table.cell === null) return;
    const row = (table.rows.at(-1) ?? table.rows[table.rows.push([]) - 1]) as string[];
    const { text, columns, rows } = table.cell;
    table.cell = null;
    fillRowspans(table, row, count);
    const clean = text.replaceAll(/\s+/g, ' ').trim();
    for (let column = 0; column < columns; column++) {
      count();
      if (rows > 1) table.down.set(row.length, { text: column === 0 ? clean : '', rows: rows - 1 });
      row.push(column === 0 ? clean : '');
    }
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'table') {
          open.push({ rows: [], down: new Map(), cell: null, depth: open.length, raised: 0 });
          return;
        }
        const table = open.at(-1);
        if (table === undefined) return;
        if (name === 'tr') {
          closeCell(table);
          table.rows.push([]);
        } else if (name === 'td' || name === 'th') {
          closeCell(table);
          const span = (text: string | undefined) =>
            Math.min(1_000, Math.max(1, Number.parseInt(text ?? '1', 10) || 1));
          table.cell = { text: '', columns: span(attributes['colspan']), rows: span(attributes['rowspan']) };
          table.raised = 0;
        } else if (name === 'br' && table.cell !== null) table.cell.text += ' ';
        else if (name === 'sup') table.raised += 1;
      },
      ontext(text) {
        const table = open.at(-1);
        if (table?.cell !== null && table !== undefined)
          table.cell.text += table.raised > 0 ? superscript(text) : text;
      },
      onclosetag(name) {
        const table = open.at(-1);
        if (table === undefined) return;
        if (name === 'sup') table.raised = Math.max(0, table.raised - 1);
        if (name === 'td' || name === 'th' || name === 'tr') closeCell(table);
        if (name === 'tr') fillRowspans(table, table.rows.at(-1) ?? [], count);
        if (name === 'table') {
          closeCell(table);
          tables.push(table.rows);
          open = open.slice(0, -1);
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.write(page);
  parser.end();
  for (const { rows } of open) tables.push(rows);
  const size = (rows: readonly string[][]) =>
    rows.reduce((sum, row) => sum + row.filter((cell) => cell !== '').length, 0);
  const [largest] = tables.toSorted((a, b) => size(b) - size(a));
  return largest === undefined || size(largest) === 0
    ? null
    : largest.map((row) => row.map((cell) => cell.replaceAll('\u00a0', ' ').trim()));
}

/** The cells that extend into a row from above, up to the first free column. */
function fillRowspans(table: Building, row: string[], count: () => void): void {
  for (let above = table.down.get(row.length); above !== undefined; above = table.down.get(row.length)) {
    if (above.rows === 1) table.down.delete(row.length);
    else table.down.set(row.length, { ...above, rows: above.rows - 1 });
    count();
    row.push(above.text);
  }
}
