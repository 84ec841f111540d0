// The archive of a workbook. Only sound archives are passed to the library that reads workbooks. Also finds the hidden sheets, rows and columns of an
// OpenDocument (.ods), which that library does not report.
import { inflateRawSync } from 'node:zlib';
import { isAsStated, partsOf, unpackedSize } from './zip-parts.ts';

/** A workbook is a zip archive: unpacked it may be a thousand times as large. */
const unpackedBytesMax = 512 * 1024 * 1024;

/** Why the content cannot be read as a workbook and what to do, as the end of a sentence; null if it can, or is not an archive. */
export function archiveFault(content: Buffer): string | null {
  if (!content.subarray(0, 2).equals(Buffer.from('PK'))) return null;
  const parts = partsOf(content);
  if (parts === null) return 'its archive is damaged.';
  const names = new Set(parts.map(({ name }) => name.toLowerCase().replaceAll('\\', '/').replace(/^\//, '')));
  if (names.has('index/document.iwa') || names.has('index.zip'))
    return 'it is a Numbers file. Save it as .xlsx or as CSV.';
  if (!names.has('[content_types].xml') && !names.has('content.xml'))
    return 'it is an archive without a workbook. Save it as .xlsx or as CSV.';
  const unpacked = unpackedSize(parts);
  if (unpacked > unpackedBytesMax)
    return `it is ${Math.ceil(unpacked / 1024 / 1024)} MB unpacked; the limit is ${unpackedBytesMax / 1024 / 1024} MB. Save its sheets as CSV.`;
  return isAsStated(parts) ? null : 'its archive is damaged: a part is not as large as it states.';
}

/** Ranges of rows or columns, as [first, after the last], from 0. */
type Runs = [number, number][];

export interface HiddenIn {
  /** The sheet itself is hidden. */
  isSheet: boolean;
  rows: Runs;
  columns: Runs;
}

const start = /<table:table(-row|-column)?((?:\s(?:"[^"]*"|'[^']*'|[^>"'])*)?)>/g;

const hidingStyle =
  /<style:style\s[^>]*?style:name="([^"]+)"[^>]*>\s*<style:table-properties\s[^>]*?table:display="false"/g;

/** The parts of each sheet, in order, that are hidden by hand, or, for rows, by a filter. @param archive a sound .ods file. */
export function hiddenIn(archive: Buffer): HiddenIn[] {
  const content = contentOf(archive);
  const hidingStyles = new Set([...content.matchAll(hidingStyle)].map(([, name = '']) => name));
  const sheets: HiddenIn[] = [];
  let [row, column] = [0, 0];
  for (const [, kind, attributes = ''] of content.matchAll(start)) {
    const last = sheets.at(-1);
    if (kind === undefined) {
      if (/\stable:is-sub-table=["']true["']/.test(attributes)) continue;
      const style = /\stable:style-name="([^"]+)"/.exec(attributes)?.[1];
      sheets.push({ isSheet: style !== undefined && hidingStyles.has(style), rows: [], columns: [] });
      [row, column] = [0, 0];
      continue;
    }
    const isRow = kind === '-row';
    const repeated = /\stable:number-(?:rows|columns)-repeated=["'](\d+)["']/.exec(attributes)?.[1];
    const from = isRow ? row : column;
    const end = from + Number(repeated ?? 1);
    if (/\stable:visibility=["'](?:collapse|filter)["']/.test(attributes))
      last?.[isRow ? 'rows' : 'columns'].push([from, end]);
    if (isRow) row = end;
    else column = end;
  }
  return sheets;
}

function contentOf(archive: Buffer): string {
  const part = partsOf(archive)?.find(({ name }) => name === 'content.xml');
  if (part === undefined) return '';
  return (part.method === 0 ? part.packed : inflateRawSync(part.packed)).toString();
}
