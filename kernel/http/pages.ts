// Answers a list of account or operator endpoints: one page by its cursor, or all rows for CSV without a limit. A short list is paged in memory.
import type { Reply } from './answer.ts';
import type { CursorContent, Cursors } from './cursor.ts';
import { csvParts, limitDefault, limitMax, renderList, type Page, type Row } from './list.ts';

/** A row and its unique position in the list. */
export interface PlacedRow {
  row: Row;
  place: CursorContent;
}

/** Reads up to `most` rows after a position; null: from the beginning. */
type ReadRows = (after: CursorContent | null, most: number) => Promise<PlacedRow[]> | PlacedRow[];

interface ListAnswer {
  /** From `listParams`. */
  query: {
    sort: string;
    limit?: number | undefined;
    cursor?: string | undefined;
    fields: readonly string[];
    format: 'json' | 'csv';
  };
  /** Identifies the list, its owner and its filters: a cursor is valid only for the same ones. */
  of: readonly unknown[];
  read: ReadRows;
  fileName: string;
  /** For a public list, which may be cached: what its rows depend on. */
  version?: unknown;
}

export function page(
  cursors: Cursors,
  { query: { sort, limit, cursor, fields, format }, of, read, fileName, version }: ListAnswer,
): Reply {
  const pageQuery = JSON.stringify([...of, sort]);
  const first = cursor === undefined ? null : cursors.open(cursor, pageQuery);

  async function readPage(after: CursorContent | null, most: number): Promise<Page<CursorContent>> {
    const found = await read(after, most + 1);
    const shown = found.slice(0, most);
    const last = found.length > most ? shown.at(-1) : undefined;
    return { rows: shown.map(({ row }) => row), last: last?.place ?? null };
  }

  return {
    identity: [pageQuery, first, limit, fields, format, version],
    format,
    fileName,
    async read() {
      if (format === 'csv' && limit === undefined) {
        return { parts: csvParts((after) => readPage(after, limitMax), first, fields) };
      }
      const { rows, last } = await readPage(first, limit ?? limitDefault);
      const nextCursor = last === null ? null : cursors.seal(last, pageQuery);
      return { text: renderList(rows, { fields, format, nextCursor }), nextCursor };
    },
  };
}

/**
 * Pages a list that is short enough to be read whole, ordered by the positions of its rows.
 * @param sort descending if it begins with `-`.
 */
export function inMemory<Item extends Row>(
  rows: readonly Item[],
  sort: string,
  placeOf: (row: Item, position: number) => CursorContent,
): ReadRows {
  const sign = sort.startsWith('-') ? -1 : 1;
  const inOrder = (a: CursorContent, b: CursorContent) => sign * compare(a, b);
  const placed = rows
    .map((row, position) => ({ row, place: placeOf(row, position) }))
    .toSorted((a, b) => inOrder(a.place, b.place));
  return (after, most) =>
    placed.filter(({ place }) => after === null || inOrder(place, after) > 0).slice(0, most);
}

/** Compares by the first part that differs. */
function compare(a: CursorContent, b: CursorContent): number {
  for (const i of a.keys()) {
    const [one, other] = [a[i] ?? '', b[i] ?? ''];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
