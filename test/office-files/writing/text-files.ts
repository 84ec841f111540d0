// A table as text: with delimiters, as a web page, as SpreadsheetML, as the content of an OpenDocument sheet.
import { serialOf } from '../periods.ts';
import type { Cell, Table } from '../office-file.ts';
import { zipOf } from './zip.ts';

export interface TextStyle {
  delimiter: string;
  newline: string;
  quotes: 'where needed' | 'all' | 'texts';
  /** A line `sep=;` is before all others. */
  sepLine: boolean;
  /** A blank is behind each delimiter, as in `"a", "b"`. */
  blank: boolean;
}

export function delimited(
  { rows }: Table,
  { delimiter, newline, quotes, sepLine, blank }: TextStyle,
): string {
  const between = blank ? `${delimiter} ` : delimiter;
  const lines = rows.map((row) =>
    row.map((cell) => quoted(cell, delimiter, blank ? 'all' : quotes)).join(between),
  );
  return [...(sepLine ? [`sep=${delimiter}`] : []), ...lines].map((line) => line + newline).join('');
}

function quoted({ text }: Cell, delimiter: string, quotes: TextStyle['quotes']): string {
  const isNeeded = text.includes(delimiter) || /["\r\n]/.test(text);
  const isWanted = quotes === 'all' || (quotes === 'texts' && /\p{L}/u.test(text));
  return isNeeded || isWanted ? `"${text.replaceAll('"', '""')}"` : text;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Which cells are covered by the merge of another, and how far the first reaches. */
function spansOf({ merges }: Table): {
  covered: Set<string>;
  spans: Map<string, { rows: number; columns: number }>;
} {
  const covered = new Set<string>();
  const spans = new Map<string, { rows: number; columns: number }>();
  for (const [row, column, lastRow, lastColumn] of merges) {
    for (let r = row; r <= lastRow; r++) for (let c = column; c <= lastColumn; c++) covered.add(`${r} ${c}`);
    covered.delete(`${row} ${column}`);
    spans.set(`${row} ${column}`, { rows: lastRow - row + 1, columns: lastColumn - column + 1 });
  }
  return { covered, spans };
}

/** A web page, as many offices name `.xls`. */
export function webPage(table: Table, charset: string): string {
  const { covered, spans } = spansOf(table);
  const rows = table.rows.map((row, r) => {
    const cells = row.map(({ text }, c) => {
      if (covered.has(`${r} ${c}`)) return '';
      const span = spans.get(`${r} ${c}`);
      const wide = span === undefined ? '' : ` rowspan="${span.rows}" colspan="${span.columns}"`;
      return `<td${wide}>${escaped(text)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<html><head><meta http-equiv="Content-Type" content="text/html; charset=${charset}"></head><body><table border="1">\n${rows.join('\n')}\n</table></body></html>\n`;
}

const isDate = (format = '') => /[dy]/.test(format) && format !== 'General';

/** SpreadsheetML 2003, the XML of one file. */
export function spreadsheetMl({ rows }: Table): string {
  const lines = rows.map((row) => {
    const cells = row.map(({ text, number, format }) => {
      if (number === undefined) return `<Cell><Data ss:Type="String">${escaped(text)}</Data></Cell>`;
      if (isDate(format))
        return `<Cell ss:StyleID="d"><Data ss:Type="DateTime">${dayOf(number)}T00:00:00.000</Data></Cell>`;
      return `<Cell${format?.endsWith('%') === true ? ' ss:StyleID="p"' : ''}><Data ss:Type="Number">${number}</Data></Cell>`;
    });
    return `<Row>${cells.join('')}</Row>`;
  });
  const styles =
    '<Styles><Style ss:ID="d"><NumberFormat ss:Format="Short Date"/></Style><Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style></Styles>';
  return `<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">${styles}<Worksheet ss:Name="Data"><Table>${lines.join('\n')}</Table></Worksheet></Workbook>`;
}

const dayOf = (serial: number) =>
  new Date((serial - serialOf('1970-01-01')) * 86_400_000).toISOString().slice(0, 10);

/** An OpenDocument spreadsheet of one sheet. */
export function openDocument(table: Table): Buffer {
  const { covered, spans } = spansOf(table);
  const rows = table.rows.map((row, r) => {
    const cells = row.map((cell, c) => {
      if (covered.has(`${r} ${c}`)) return '<table:covered-table-cell/>';
      const span = spans.get(`${r} ${c}`);
      const wide =
        span === undefined
          ? ''
          : ` table:number-columns-spanned="${span.columns}" table:number-rows-spanned="${span.rows}"`;
      return `<table:table-cell${wide}${odsValue(cell)}>${cell.text === '' ? '' : `<text:p>${escaped(cell.text)}</text:p>`}</table:table-cell>`;
    });
    return `<table:table-row>${cells.join('')}</table:table-row>`;
  });
  const names = ['office', 'table', 'text'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${names.join(' ')} office:version="1.2"><office:body><office:spreadsheet><table:table table:name="Data">${rows.join('')}</table:table></office:spreadsheet></office:body></office:document-content>`;
  const type = 'application/vnd.oasis.opendocument.spreadsheet';
  const manifest = `<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="${type}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`;
  return zipOf({ mimetype: type, 'content.xml': content, 'META-INF/manifest.xml': manifest });
}

function odsValue({ text, number, format }: Cell): string {
  if (number === undefined) return text === '' ? '' : ' office:value-type="string"';
  if (isDate(format)) return ` office:value-type="date" office:date-value="${dayOf(number)}"`;
  return ` office:value-type="${format?.endsWith('%') === true ? 'percentage' : 'float'}" office:value="${number}"`;
}
