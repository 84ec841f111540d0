// The texts around a chart: the names of its unit and periods, and of lines by the dimension values in which they differ.
import type { Aggregate, TargetFrequency } from '../aggregates.ts';
import type { Frequency } from '../periods.ts';
import { unitPreserving } from '../transforms.ts';

/** The name of a transform; `null` for levels as published. */
export const transformNames: Readonly<Record<string, string>> = {
  yoy: 'Change on the year',
  mom: 'Change on the month',
  pct_change: 'Change on the period before',
  '3ma': 'Mean of three periods',
  change: 'Change on the period before',
  change_yoy: 'Change on the year',
  annualised: 'Annual rate of change',
  log: 'Logarithm',
  log_change: 'Log change on the period before',
  log_change_annualised: 'Annual rate of log change',
  cumulative: 'Running total',
  zscore: 'Distance from the mean',
};

export const multiplierNames: Readonly<Record<number, string>> = {
  3: 'thousands',
  6: 'millions',
  9: 'billions',
  12: 'trillions',
};

/** The unit in words, with its multiplier and the transform: `PKR, millions`, `Change on the year, %`; empty if unknown. */
export function unitName(
  { unit, unitMultiplier }: { unit: string | null; unitMultiplier: number | null },
  transform: string | null,
): string {
  const size =
    unitMultiplier === null || unitMultiplier === 0
      ? null
      : (multiplierNames[unitMultiplier] ?? `10^${unitMultiplier}`);
  return [transformNames[transform ?? ''] ?? null, unit, size].filter((part) => part !== null).join(', ');
}

/** How points were aggregated; without `source_frequency` they are those of the series. */
interface Aggregation {
  frequency: Frequency;
  source_frequency?: Frequency | undefined;
  aggregate?: Aggregate | undefined;
}

const aggregateNames: Readonly<Record<Aggregate, string>> = {
  avg: 'mean',
  sum: 'sum',
  last: 'last value',
  first: 'first value',
  min: 'lowest value',
  max: 'highest value',
};
const periodNames: Readonly<Record<TargetFrequency, string>> = {
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  semiannual: 'half-year',
  annual: 'year',
};

/** The unit of a chart, with the frequency if its points were aggregated: `Quarterly mean, change on the year, %`. */
export function chartUnit(meta: Parameters<typeof unitAt>[0] & Aggregation, lastDate: string): string {
  const unit = unitName(unitAt(meta, lastDate), meta.transform);
  const { frequency, source_frequency: source, aggregate } = meta;
  if (source === undefined || aggregate === undefined) return unit;
  const name = `${frequency.charAt(0).toUpperCase()}${frequency.slice(1)} ${aggregateNames[aggregate]}`;
  // The name of a transform is a phrase; a unit may be a proper name.
  const rest = meta.transform === null ? unit : unit.charAt(0).toLowerCase() + unit.slice(1);
  return rest === '' ? name : `${name}, ${rest}`;
}

/**
 * How a period is computed from the published points: `Each quarter is the mean of its monthly values.`; null if the points are as
 * published.
 */
export function aggregationText({
  frequency,
  source_frequency: source,
  aggregate,
}: Aggregation): string | null {
  if (source === undefined || aggregate === undefined) return null;
  const period = Object.hasOwn(periodNames, frequency) ? periodNames[frequency as TargetFrequency] : 'period';
  return `Each ${period} is the ${aggregateNames[aggregate].replace(' value', '')} of its ${source} values.`;
}

interface Unit {
  unit: string | null;
  unit_multiplier: number | null;
}

/** The breaks of the unit; a continuation as another series changes none of the series' own points. */
export function unitBreaks<Break extends { date: string }>(
  breaks: readonly Break[],
): Exclude<Break, { continued_by: string }>[] {
  return breaks.filter((each): each is Exclude<Break, { continued_by: string }> => !('continued_by' in each));
}

/**
 * The unit of the newest of the points that are shown: they may end before a break of the series, whose unit is the one after the break.
 */
export function unitAt(
  meta: Unit & {
    transform: string | null;
    breaks: readonly ({ date: string; from: Unit } | { date: string; continued_by: string })[];
  },
  lastDate: string,
): { unit: string | null; unitMultiplier: number | null } {
  // Values of other transforms have a unit of their own.
  const isOfSeries = meta.transform === null || unitPreserving.has(meta.transform);
  const next = isOfSeries ? unitBreaks(meta.breaks).find(({ date }) => date > lastDate) : undefined;
  const { unit, unit_multiplier: unitMultiplier } = next?.from ?? meta;
  return { unit, unitMultiplier };
}

type Dims = Readonly<Record<string, string>>;
/** Dimension → value → its label, for values that have one. */
type Labels = Readonly<Record<string, Dims>>;

/** The names of lines, and their common part, which belongs in the title. */
export function lineNames(lines: readonly Dims[], labels: Labels): { names: string[]; common: string } {
  const [first] = lines;
  if (first === undefined) return { names: [], common: '' };
  const dimensions = Object.keys(first);
  const differing = dimensions.filter((name) => lines.some((dims) => dims[name] !== first[name]));
  const named = (dims: Dims, some: readonly string[]): string =>
    some.map((name) => labelOf(labels, name, dims[name] ?? '')).join(', ');
  return {
    names: lines.map((dims) => named(dims, differing)),
    common: named(
      first,
      dimensions.filter((name) => !differing.includes(name)),
    ),
  };
}

/** The label of a dimension value, or the value itself. */
export function labelOf(labels: Labels, dimension: string, value: string): string {
  const known = Object.hasOwn(labels, dimension) ? labels[dimension] : undefined;
  return known !== undefined && Object.hasOwn(known, value) ? (known[value] ?? value) : value;
}
