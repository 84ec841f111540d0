// The content of the comparison chart: the lines of the loaded series in the window, made comparable, with names, colours and missing
// parts.
import { unitBreaks } from '../../../domain/chart/captions.ts';
import { pointAt, ratio, rebased, valueAt } from '../../../domain/chart/comparison.ts';
import type { ChartLine } from '../../../domain/chart/layout.ts';
import { segmentNo, type ChartPoint } from '../../../domain/chart/line-points.ts';
import { periodName } from '../../../domain/chart/text.ts';
import { csvOfRows } from '../../text/csv.ts';
import type { SizelessChart } from '../series/shown.ts';
import { textOf, type CompareState } from './compare-state.ts';
import type { Loaded } from './load-compared.ts';

type Frequency = SizelessChart['frequency'];

export interface Row {
  loaded: Loaded;
  line: ChartLine & { styleNo: number };
  /** Why it has no line. */
  missing: string | null;
  /** The change of the published values since the base, in percent. */
  change: { percent: number } | null;
}

export interface Comparison {
  /** The series have no period in common in which they can be compared in this mode. */
  hasNoCommonPeriod: boolean;
  chart: SizelessChart;
  rows: Row[];
  dates: string[];
  /** The day of the base; null if nothing is loaded. */
  base: string | null;
  /** Days that may be chosen as base, and the frequency of their periods. */
  bases: string[];
  baseFrequency: Frequency;
}

/** From the most observations to the fewest. */
const frequencies: readonly Frequency[] = [
  'daily',
  'irregular',
  'weekly',
  'monthly',
  'quarterly',
  'semiannual',
  'annual',
];

export function comparisonOf({ mode, base: asked, years }: CompareState, all: readonly Loaded[]): Comparison {
  const coarsest =
    all
      .map(({ meta }) => meta.frequency)
      .sort(byCoarseness)
      .at(-1) ?? 'monthly';
  const finest = all.map(({ meta }) => meta.frequency).sort(byCoarseness)[0] ?? 'monthly';
  // The last date at which all have values: a discontinued series is compared over its last years.
  const [until = ''] = all.flatMap(({ points }) => points.at(-1)?.date ?? []).sort();
  const from =
    years === null ? '' : `${String(Number(until.slice(0, 4)) - years).padStart(4, '0')}${until.slice(4)}`;
  const shown = all.map(({ points }) => points.filter(({ date }) => date > from));
  const bases = basesOf(all, shown, coarsest);
  const base = asked ?? bases[0] ?? null;
  const names = namesOf(all);
  const ends = distinctEnds(names);
  const rows = all.map((loaded, i) =>
    rowOf(loaded, shown[i] ?? [], { mode, base, from, name: ends[i] ?? '', all }),
  );
  const unit = {
    rebased: base === null ? 'Index' : `Index, ${periodName(base, coarsest)} = 100`,
    levels: unitsOf(all),
    ratio: `Ratio to ${names[0] ?? 'the first series'}`,
  }[mode];
  const lines = rows.map(({ line }) => line);
  const isEmpty = lines.every(({ points }) => points.every(({ value }) => value === null));
  return {
    hasNoCommonPeriod:
      isEmpty && all.length > 1 && (mode === 'ratio' || (mode === 'rebased' && base === null)),
    chart: {
      title: 'Comparison',
      unit,
      frequency: finest,
      lines,
      isLog: false,
      base: mode === 'rebased' ? 100 : null,
    },
    rows,
    dates: [...new Set(lines.flatMap(({ points }) => points.map(({ date }) => date)))].sort(),
    base,
    bases,
    baseFrequency: coarsest,
  };
}

function byCoarseness(a: Frequency, b: Frequency): number {
  return frequencies.indexOf(a) - frequencies.indexOf(b);
}

/** Days at which every series has a value other than zero: the periods of the coarsest. */
function basesOf(all: readonly Loaded[], shown: readonly ChartPoint[][], coarsest: Frequency): string[] {
  const position = all.findIndex(({ meta }) => meta.frequency === coarsest);
  const candidates = shown[position]?.map(({ date }) => date) ?? [];
  return candidates.filter((date) =>
    all.every(({ points, meta }) => {
      const value = valueAt(points, date, meta.frequency);
      return value !== null && value !== 0;
    }),
  );
}

interface RowContext {
  mode: CompareState['mode'];
  base: string | null;
  from: string;
  name: string;
  all: readonly Loaded[];
}

function rowOf(
  loaded: Loaded,
  shown: readonly ChartPoint[],
  { mode, base, from, name, all }: RowContext,
): Row {
  const { meta, compared, points } = loaded;
  const [first] = all;
  const breaks = breaksOf(loaded);
  let drawn: ChartPoint[] | null = [...shown];
  if (mode === 'rebased') {
    drawn =
      base === null
        ? null
        : (rebased(points, base, meta.frequency, breaks)?.filter(({ date }) => date > from) ?? null);
  } else if (mode === 'ratio' && first !== undefined)
    drawn = loaded === first ? [] : ratio(shown, first.points);
  const last = points.findLast(({ value }) => value !== null);
  const basePoint = base === null ? undefined : pointAt(points, base, meta.frequency);
  const atBase = basePoint?.value ?? null;
  const isOfOneUnit = last !== undefined && segmentNo(breaks, last.date) === segmentNo(breaks, basePoint?.date ?? ''); // prettier-ignore
  const isChangeKnown = isOfOneUnit && last.value !== null && atBase !== null && atBase !== 0;
  return {
    loaded,
    line: {
      name,
      points: drawn ?? [],
      frequency: meta.frequency,
      styleNo: distinctIds(all).indexOf(idOf(loaded)),
      isDotted: isOlder(loaded, all),
      breaks: mode === 'ratio' && first !== undefined ? [...breaks, ...breaksOf(first)].sort() : breaks,
    },
    missing:
      drawn === null && base !== null
        ? `No value other than zero in ${periodName(base, meta.frequency)}`
        : mode === 'ratio' && loaded === first && compared === first.compared
          ? 'The others are divided by it'
          : null,
    change: isChangeKnown ? { percent: ((last.value ?? 0) / atBase - 1) * 100 } : null,
  };
}

function breaksOf({ meta }: Loaded): string[] {
  return unitBreaks(meta.breaks).map(({ date }) => date);
}

function idOf({ compared: { id }, dims }: Loaded): string {
  return `${id} ${dims ?? ''}`;
}

function distinctIds(all: readonly Loaded[]): string[] {
  return [...new Set(all.map(idOf))];
}

/** Whether the comparison has the same line at a later vintage. */
function isOlder(loaded: Loaded, all: readonly Loaded[]): boolean {
  const { vintage } = loaded.compared;
  return (
    vintage !== null &&
    all.some(
      (other) =>
        other !== loaded && idOf(other) === idOf(loaded) && (other.compared.vintage ?? '9999') > vintage,
    )
  );
}

/** The name of each line: with its vintage if the same line occurs twice, and with its dimension values if it has any. */
function namesOf(all: readonly Loaded[]): string[] {
  const ids = all.map(idOf);
  return all.map(({ meta, compared, dimsName }, i) => {
    const isTwice = ids.filter((id) => id === ids[i]).length > 1;
    const of = dimsName === null ? '' : `, ${dimsName}`;
    // The day comes first, as a long name is cut at its end.
    const asOf =
      isTwice && compared.vintage !== null ? `${periodName(compared.vintage, 'daily', true)}, ` : '';
    return `${asOf}${meta.name}${of}`;
  });
}

/** The names without their common beginning, in whole parts up to a comma. */
function distinctEnds(names: readonly string[]): string[] {
  if (names.length < 2) return [...names];
  const parts = names.map((name) => name.split(/(?<=, )/));
  const [first = []] = parts;
  const shortest = Math.min(...parts.map(({ length }) => length));
  let shared = 0;
  while (shared < shortest - 1 && parts.every((each) => each[shared] === first[shared])) shared += 1;
  return parts.map((each) => each.slice(shared).join(''));
}

function unitsOf(all: readonly Loaded[]): string {
  const units = [...new Set(all.flatMap(({ meta }) => meta.unit ?? []))];
  if (all.some(({ meta }) => meta.unit === null) && units.length > 0) return 'Each in its own unit';
  return units.length > 1 ? 'Each in its own unit' : (units[0] ?? '');
}

/** The values on screen as CSV: one column per line. */
export function comparisonCsv({ rows, dates }: Comparison): string {
  const columns = rows.map(({ line }) => new Map(line.points.map(({ date, value }) => [date, value])));
  const head = ['date', ...rows.map(({ loaded }) => textOf(loaded.compared))];
  const body = dates.map((date) => [date, ...columns.map((column) => column.get(date) ?? null)]);
  return csvOfRows([head, ...body]);
}
