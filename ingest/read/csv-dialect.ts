// Detects the delimiter and the quote character of a text file from the lines of its beginning.

export interface Dialect {
  delimiter: string;
  quote: '"' | "'";
  /** There are blanks between a delimiter and a quote, as in `"a", "b"`; they do not belong to the cell. */
  hasBlanks: boolean;
}

/** A comma and a point also occur within numbers and texts, so the others are preferred where several split the lines alike. */
export const delimiters: readonly string[] = ['\t', ';', '|', ','];

/**
 * The delimiter that splits the most lines into equally many cells; titles and notes may be split differently. A first line `sep=;` names
 * it.
 * @param text the beginning of the file; its last line may be cut.
 */
export function detectDialect(text: string): Dialect {
  const quote = isSingleQuoted(text) ? "'" : '"';
  const named = /^\uFEFF?sep=(.)\r?\n/i.exec(text)?.[1];
  const hasBlanks = new RegExp(`[,;|] +${quote}`).test(text);
  if (named !== undefined) return { delimiter: named, quote, hasBlanks };
  const quoted = quote === '"' ? /"(?:[^"]|"")*"/g : /'(?:[^']|'')*'/g;
  const lines = text
    .replaceAll(quoted, 'q') // not '': a line of quoted cells and tabs would be blank, and dropped
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== '');
  const scored = delimiters.map((delimiter) => {
    const counts = Map.groupBy(lines, (line) => line.split(delimiter).length);
    counts.delete(1);
    const most = Math.max(0, ...[...counts.values()].map((group) => group.length));
    return { delimiter, lines: most };
  });
  const best = scored.reduce((found, each) => (each.lines > found.lines ? each : found));
  return { delimiter: best.lines === 0 ? ',' : best.delimiter, quote, hasBlanks };
}

/** Whether most cells are in single quotes, and the text has no double quote. */
function isSingleQuoted(text: string): boolean {
  if (text.includes('"') || !text.includes("'")) return false;
  const cells = text
    .split(/[\t;|,]|\r\n|\n|\r/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  return cells.filter((cell) => /^'.*'$/s.test(cell)).length * 2 > cells.length;
}
