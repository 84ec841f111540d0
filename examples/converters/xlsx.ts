// Reads the first sheet of an Excel workbook (.xlsx) as rows of text, with Node alone: a zip archive of XML.
// Enough for tables written by programs. It reads no formulas and no styles, so dates that Excel stores as day numbers stay numbers.
import { readFileSync } from 'node:fs';
import { unzip } from '../markets/zip.ts';

/** Row by row, cell by cell; '' where a cell is empty. @throws Error where the file is no such workbook. */
export function readFirstSheet(file: string): string[][] {
  const archive = unzip(readFileSync(file));
  const xml = (name: string) => archive.get(name)?.toString() ?? '';
  const sheet = xml('xl/worksheets/sheet1.xml');
  if (sheet === '') throw new Error(`${file} has no xl/worksheets/sheet1.xml.`);
  const shared = [...xml('xl/sharedStrings.xml').matchAll(/<si>(.*?)<\/si>/gs)].map(([, item = '']) =>
    textIn(item),
  );

  const rows: string[][] = [];
  for (const [, letters = '', row, attributes = '', content = ''] of sheet.matchAll(
    /<c r="([A-Z]+)(\d+)"([^>]*?)(?:\/>|>(.*?)<\/c>)/gs,
  )) {
    const cells = (rows[Number(row) - 1] ??= []);
    cells[columnNumber(letters)] = cellText(attributes, content, shared);
  }
  return Array.from(rows, (cells) => Array.from(cells ?? [], (cell) => cell ?? ''));
}

function cellText(attributes: string, content: string, shared: readonly string[]): string {
  const value = /<v>(.*?)<\/v>/s.exec(content)?.[1] ?? '';
  if (attributes.includes('t="s"')) return shared[Number(value)] ?? '';
  if (attributes.includes('t="inlineStr"')) return textIn(content);
  if (attributes.includes(' t="') || value === '') return decoded(value);
  // A workbook stores binary fractions, 306.39999999999998 for 306.4. The original text is the shortest decimal of the same double.
  return String(Number(value));
}

/** `A` is 0, `Z` 25, `AA` 26. */
function columnNumber(letters: string): number {
  return letters.split('').reduce((number, letter) => number * 26 + parseInt(letter, 36) - 9, 0) - 1;
}

function textIn(xml: string): string {
  return [...xml.matchAll(/<t\b[^>]*>(.*?)<\/t>/gs)].map(([, text = '']) => decoded(text)).join('');
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole);
}
