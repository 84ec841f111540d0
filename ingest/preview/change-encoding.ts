// Converts an entry whose texts were read in one encoding to the texts of the same bytes in another encoding: its columns are found by
// their titles, which depend on the encoding.
import type { LoadableTable, TableDescription } from '../entry/entry-schema.ts';
import { titlesOf } from '../detect/table/header-lines.ts';
import { namedDimensions } from '../detect/propose.ts';
import { linesOf as headerLines } from '../reshape/reshape-plan.ts';
import type { Sample } from '../read/table-rows.ts';
import type { EntryChange, EntryValue } from '../entry/resolve-guesses.ts';

/** The change of the entry from one encoding to another. @param before the rows by the one, after by the other. */
export function renamedBy(
  entry: TableDescription,
  encoding: string,
  { before, after }: { before: Sample; after: Sample },
): EntryChange {
  const texts = textsBy(entry as LoadableTable, before, after);
  const change: Record<string, EntryValue> = { encoding };
  if (texts.size === 0) return change;
  for (const [key, value] of Object.entries(entry)) {
    if (['file', 'sheet', 'encoding', 'guessed'].includes(key)) continue;
    if (key === 'series') {
      for (const [fact, own] of Object.entries(value as Record<string, string>))
        noteIfOther(change, `series.${fact}`, own, renamed(own, texts));
    } else if (key === 'dimensions') change[key] = dimensionsBy(value as Record<string, string>, texts);
    else noteIfOther(change, key, value, renamed(value, texts));
  }
  return change;
}

function noteIfOther(
  change: Record<string, EntryValue>,
  key: string,
  before: EntryValue,
  after: EntryValue,
): void {
  if (JSON.stringify(before) !== JSON.stringify(after)) change[key] = after;
}

/** Names that were derived from the titles are derived again. */
function dimensionsBy(
  dimensions: Readonly<Record<string, string>>,
  texts: ReadonlyMap<string, string>,
): EntryValue {
  const titles = Object.values(dimensions);
  const now = titles.map((title) => texts.get(title) ?? title);
  const made = namedDimensions(titles);
  const isMade = Object.keys(made).every((name, at) => name === Object.keys(dimensions)[at]);
  return isMade
    ? namedDimensions(now)
    : Object.fromEntries(Object.keys(dimensions).map((name, at) => [name, now[at] ?? '']));
}

const inBrackets = /\(([^()]+)\)\s*$/;

/** The texts of cells by the one encoding → by the other: titles first, as several cells of a header may make one. */
function textsBy(table: LoadableTable, before: Sample, after: Sample): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [at, row] of before.rows.entries()) {
    const other = after.rows[at] ?? [];
    for (const [column, cell] of row.entries()) {
      const [own, now] = [cell.trim(), (other[column] ?? '').trim()];
      if (own !== now && own !== '') texts.set(own, now);
    }
  }
  const titles = titlesIn(table, before);
  const others = titlesIn(table, after);
  for (const [at, title] of titles.entries()) {
    const now = others[at];
    if (now === undefined || now === title) continue;
    texts.set(title, now);
    const [, part] = inBrackets.exec(title) ?? [];
    const [, partNow] = inBrackets.exec(now) ?? [];
    if (part !== undefined && partNow !== undefined && part !== partNow) texts.set(part, partNow);
  }
  return texts;
}

function titlesIn({ header }: LoadableTable, { rows, lines }: Sample): string[] {
  const heads = headerLines(header).map((line) => rows[lines.indexOf(line)] ?? []);
  return titlesOf(heads, Math.max(0, ...heads.map((row) => row.length)));
}

/** Whole texts, keys, and the parts of texts in braces. */
function renamed(value: EntryValue, texts: ReadonlyMap<string, string>): EntryValue {
  if (typeof value === 'string')
    return (
      texts.get(value) ??
      value.replaceAll(/\{([^{}]*)\}/g, (part, title: string) => {
        const now = texts.get(title);
        return now === undefined ? part : `{${now}}`;
      })
    );
  if (Array.isArray(value)) return value.map((each) => renamed(each, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [texts.get(key) ?? key, renamed(each, texts)]),
  );
}
