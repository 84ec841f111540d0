// Leaves out the rows that --skip-where names, and replaces the cells that --map-value names, before a dataset reads the rows. A column is
// found by its title in the file, or by our name, to which --map maps it.
import { usageError } from '../../failure.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';

export interface RowOptions {
  /** Rows to leave out: those whose cell in the column is the value. */
  skipWhere?: readonly CellChoice[];
  /** Cells to read as another value. */
  mapValue?: readonly (CellChoice & { to: string })[];
}

interface CellChoice {
  /** The title in the file, or our name. */
  column: string;
  /** The cell without surrounding spaces, exact case. */
  value: string;
}

/**
 * @param onSkipped receives the number of rows left out, batch by batch.
 * @param notes receives, at the end, the choices that matched no row.
 * @throws IngestFailure for a column that the file does not have.
 */
export function selectRows(
  header: readonly string[],
  batches: AsyncIterable<CsvBatch>,
  options: RowOptions & { map?: Readonly<Record<string, string>> },
  onSkipped: (rows: number) => void,
  notes: string[],
): AsyncIterable<CsvBatch> {
  const at = (flag: string, { column }: CellChoice) => columnAt(header, column, options.map ?? {}, flag);
  const skips = (options.skipWhere ?? []).map((each) => ({ ...each, at: at('--skip-where', each) }));
  const replacements = (options.mapValue ?? []).map((each) => ({ ...each, at: at('--map-value', each) }));
  if (skips.length === 0 && replacements.length === 0) return batches;
  const idle = new Set([...skips, ...replacements]);
  return selected();

  async function* selected(): AsyncGenerator<CsvBatch> {
    for await (const { rows, lines } of batches) {
      for (const each of idle) if (rows.some((row) => row[each.at]?.trim() === each.value)) idle.delete(each);
      const included = rows.map((row) => !skips.some(({ at, value }) => row[at]?.trim() === value));
      onSkipped(included.filter((isIncluded) => !isIncluded).length);
      yield {
        rows: rows.filter((_, i) => included[i] === true).map(replaced),
        lines: lines.filter((_, i) => included[i] === true),
      };
    }
    for (const each of idle)
      notes.push(
        `${'to' in each ? '--map-value' : '--skip-where'} ${each.column}=${each.value} changed nothing: no row has that value.`,
      );
  }

  function replaced(row: string[]): string[] {
    const found = replacements.filter(({ at, value }) => row[at]?.trim() === value);
    if (found.length === 0) return row;
    return row.map((cell, i) => found.find(({ at }) => at === i)?.to ?? cell);
  }
}

function columnAt(
  header: readonly string[],
  column: string,
  map: Readonly<Record<string, string>>,
  flag: string,
): number {
  const titles = header.map((title) => title.trim());
  const wanted = [column, map[column]].filter((name) => name !== undefined);
  const exact = titles.findIndex((title) => wanted.includes(title));
  const at = exact >= 0 ? exact : titles.findIndex((title) => title.toLowerCase() === column.toLowerCase());
  if (at < 0) usageError(`${flag}: the file has no column ${column}; its columns are ${titles.join(', ')}.`);
  return at;
}
