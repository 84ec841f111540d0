// The lines above and below a table: titles, units, notes, sources, totals. Facts in them apply to all series.
import { empty, textCell, type Cell, type Sheet } from './office-file.ts';
import { plainNumbers, numberCell } from './number-forms.ts';
import type { Statistics } from './statistics.ts';

export interface Surrounded {
  sheet: Sheet;
  name: string;
}

type Line = readonly string[];
const heads: readonly { name: string; lines: readonly Line[]; unit_multiplier?: number }[] = [
  { name: 'a title', lines: [['Table 3.1: Selected statistics']] },
  { name: 'a title and a blank line', lines: [['Selected statistics of the regions'], []] },
  { name: 'titles', lines: [['National Statistics Office'], ['Statistical bulletin, issue 4'], []] },
  {
    name: 'in millions',
    lines: [['Selected statistics'], ['(in millions of dollars)'], []],
    unit_multiplier: 6,
  },
  { name: '(000)', lines: [['Persons (000)'], []], unit_multiplier: 3 },
  { name: 'a title with a year', lines: [['Statistics of 2024, revised'], ['Released 15 March 2024'], []] },
  { name: 'comments', lines: [['# Downloaded from the portal'], ['# Licence: CC BY 4.0']] },
];

const feet: readonly { name: string; lines: readonly Line[] }[] = [
  { name: 'a source', lines: [[], ['Source: National Statistics Office']] },
  {
    name: 'notes',
    lines: [[], ['Note: figures may not add up to totals.'], ['(p) provisional, (e) estimated']],
  },
  { name: 'numbered notes', lines: [['1) revised in 2024'], ['2) without overseas regions']] },
  { name: 'last update', lines: [[], ['Last updated: 2024-01-31'], ['© Statistics Office 2024']] },
  { name: 'blank lines', lines: [[], [], []] },
];

const listed = (names: readonly string[]) => names.join(', ') || 'nothing';

/** @param sumsDown A total over all dates may follow the rows. */
export function surround(sheet: Sheet, statistics: Statistics, sumsDown: boolean): Surrounded {
  const { random, names } = statistics;
  const width = Math.max(...sheet.table.rows.map((row) => row.length));
  const lineOf = (line: Line): Cell[] => [...line.map((text) => textCell(text))];
  const head = random.chance(0.35) ? random.pick(heads) : undefined;
  const foot = random.chance(0.35) ? random.pick(feet) : undefined;
  const sums =
    sumsDown && random.chance(0.2)
      ? random.pick([[names.total], [names.average], [names.total, names.average]])
      : [];
  const padded = random.chance(0.5);
  const full = (line: Cell[]) =>
    padded ? [...line, ...Array.from({ length: width - line.length }, () => empty)] : line;
  const above = (head?.lines ?? []).map((line) => full(lineOf(line)));
  const below = (foot?.lines ?? []).map((line) => full(lineOf(line)));
  const totals = sums.map((name, at) => sumRow(name, sheet, statistics, at === 0 && name === names.total));
  const { rows, merges, first } = sheet.table;
  const offset = above.length;
  const { unit_multiplier } = head ?? {};
  return {
    name: listed([
      ...(head ? [`above: ${head.name}`] : []),
      ...sums.map((name) => `sums: ${name}`),
      ...(foot ? [`below: ${foot.name}`] : []),
    ]),
    sheet: {
      ...sheet,
      table: {
        ...sheet.table,
        rows: [...above, ...rows, ...totals, ...below],
        merges: merges.map(
          ([row, column, lastRow, lastColumn]) =>
            [row + offset, column, lastRow + offset, lastColumn] as const,
        ),
        first: first + offset,
        end: rows.length + offset,
      },
      series:
        unit_multiplier === undefined
          ? sheet.series
          : sheet.series.map((each) => ({ ...each, facts: { unit_multiplier, ...each.facts } })),
    },
  };
}

/** The sum, or the mean, of each column of values, in the form of its numbers. */
export function sumRow(
  name: string,
  { table, series }: Sheet,
  { numbers, decimals, random }: Statistics,
  isSum: boolean,
): Cell[] {
  const values = series.map(({ points }) =>
    points.flatMap(({ value }) => (value === null ? [] : [Number(value)])),
  );
  const cells = values.map((column) => {
    const sum = column.reduce((all, value) => all + value, 0);
    const figure = isSum ? sum : sum / Math.max(1, column.length);
    return numberCell(figure.toFixed(decimals), random.chance(0.9) ? numbers : plainNumbers);
  });
  const width = table.rows[table.first]?.length ?? 2;
  return [
    textCell(name),
    ...cells,
    ...Array.from({ length: Math.max(0, width - 1 - cells.length) }, () => empty),
  ];
}
