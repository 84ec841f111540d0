// Shared by the parts of the demo data: the form of a file, the name of its source, and a seeded random generator.

/** One file, as the command line would load it. */
export interface DemoFile {
  dataset: string;
  /** The vintage of the file; undefined for the day of the load. */
  vintage?: string;
  /** CSV lines, the header first, without line ends. */
  lines(): Iterable<string>;
}

export const source = 'Almanac demo generator (synthetic)';

/** CSV lines of rows by their columns, the header first; a column that a row omits is an empty cell. */
export function* csvLines(
  header: string,
  rows: Iterable<Readonly<Record<string, string | number | undefined>>>,
): Iterable<string> {
  yield header;
  const columns = header.split(',');
  for (const row of rows) yield columns.map((column) => row[column] ?? '').join(',');
}

/** A generator of numbers in [0, 1), the same for the same seed everywhere (mulberry32 over an FNV-1a hash). */
export function random(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i += 1) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
