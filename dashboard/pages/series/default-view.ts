// The default view of the series page, if the URL has no selection and no window: which lines, how many, and how many years.

export interface Dimension {
  name: string;
  values: readonly string[];
  labels: Readonly<Record<string, string>>;
}

/** The selectable values of a series. */
export interface Selectable {
  dims: readonly Dimension[];
  /** Combinations of values, those with the newest points first. */
  newest_combinations: readonly Readonly<Record<string, string>>[];
}

/** Dimension → its selected values, in the order of the series. */
export type Selection = Readonly<Record<string, readonly string[]>>;

/** The default number of lines: with more, a chart is hard to read. */
export const linesByDefault = 8;

/** Without a window in the URL, the page shows the newest years. */
export const yearsByDefault = 15;

/** The number of lines of a selection. */
export function lineCount(selected: Selection): number {
  return Object.values(selected).reduce((product, values) => product * values.length, 1);
}

/** All values if they result in at most the default number of lines; otherwise those of each dimension with the newest points. */
export function defaultSelection({ dims, newest_combinations: newest }: Selectable): Selection {
  let room = linesByDefault;
  return Object.fromEntries(
    dims.map(({ name, values }) => {
      const count = values.length <= room ? values.length : dims.length === 1 ? room : 1;
      const ranked = new Set([...newest.flatMap((each) => each[name] ?? []), ...values]);
      const chosen = new Set([...ranked].slice(0, count));
      const some = values.filter((value) => chosen.has(value));
      room = Math.floor(room / some.length);
      return [name, some];
    }),
  );
}
