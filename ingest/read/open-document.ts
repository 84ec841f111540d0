// What the library that reads workbooks does not state of an OpenDocument file (.ods): which sheets, rows and columns are hidden.
import { inflateRawSync } from 'node:zlib';
import { partsOf } from './zip-parts.ts';

/** Runs of rows or columns, as [first, behind the last], from 0. */
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

/** What is hidden in each sheet in order: by hand, or rows by a filter. @param archive a sound .ods file. */
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
