// The transformed points of a selection, in blocks: computed on the whole history, then cut to the selection, so that no page, order or
// format changes a value. Reads the additional points that a block is compared with.
import type { Queryable } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { fail, refuseParam } from '../../../kernel/errors.ts';
import { addDays, addMonths, withinCalendar, type DateRange } from '../../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd } from '../../../domain/periods.ts';
import { decimal, rounded, type Decimal } from '../../decimal.ts';
import { isApplicable, unitPreserving, type Transform } from '../../../domain/transforms.ts';
import type { Moments } from '../../logarithms.ts';
import { breakDates, createTotals, noTotals, readMoments, type Totals } from './history-sums.ts';
import { filterPoints, noPoints, type Points } from '../stored/point-columns.ts';
import { readAll, readBlocks, readFirst, readNewest, type Selection } from '../stored/points.ts';
import { segmentNo, slackDays, type Columns } from './legs.ts';
import { isWindowed, lookBack, lookBackEnd, transformValues, type TransformRule } from './transform.ts';

/** The decimals of changes, sums and averages of means, which have many more. */
const decimalsOfMeans = 12;

/** A requested transform, ready to be computed. */
export interface Computation {
  transform: Transform;
  /** For `index`: combination, as numbered by `segmentNo` → the value set to 100. */
  bases: ReadonlyMap<number, Decimal>;
  /** For `zscore`: combination, as numbered by `segmentNo` → all its values. */
  moments: ReadonlyMap<number, Moments>;
  /** The date of that value; null if there is none, or the combinations have different ones. */
  baseDate: string | null;
}

/**
 * Checks the transform against the series, and finds the base of an index.
 * @param base the period whose first non-zero value is 100; null for the window of the selection.
 * @throws Failure `transform_not_applicable`; `invalid_parameter` if the base is before or after all data.
 */
export async function prepareTransform(
  database: Queryable,
  selection: Selection,
  transform: Transform,
  base: DateRange | null,
): Promise<Computation> {
  const { frequency } = selection.series;
  if (!isApplicable(transform, frequency)) {
    fail(
      'transform_not_applicable',
      `"${transform}" has no meaning for ${frequency} data. Use yoy or pct_change.`,
      {
        param: 'transform',
      },
    );
  }
  const none = { transform, bases: new Map(), moments: new Map(), baseDate: null };
  if (transform === 'zscore') return { ...none, moments: await readMoments(database, selection) };
  if (transform !== 'index') return none;
  const window = baseWindow(selection, base);
  const found = await readFirst(database, { ...selection, ...window, wanted: 'not_zero' });
  if (base !== null && found.dates.length === 0) await requireData(database, selection, window);
  return {
    ...none,
    bases: new Map(
      found.lineNos.map((lineNo, i) => [
        segmentNo(breakDates(selection), lineNo, entryAt(found.dates, i)),
        decimal(entryAt(found.values, i)),
      ]),
    ),
    baseDate: new Set(found.dates).size === 1 ? entryAt(found.dates, 0) : null,
  };
}

/** @throws Failure if the selected combinations have data, and none of it on either side of a day of the base. */
async function requireData(
  database: Queryable,
  selection: Selection,
  base: Pick<Selection, 'from' | 'to'>,
): Promise<void> {
  const all = { ...selection, from: '0001-01-01', to: '9999-12-31', wanted: 'values' } as const;
  const [first] = (await readFirst(database, { ...all, order: 'asc' })).dates.toSorted();
  const last = (await readFirst(database, { ...all, order: 'desc' })).dates.toSorted().at(-1);
  if (first === undefined || last === undefined || (base.from <= last && base.to >= first)) return;
  refuseParam('base', `"base" must be within the data of ${selection.series.id}: from ${first} to ${last}.`);
}

/** The most blocks that are cached while others follow: 50,000 points. */
const previousBlocksMax = 10;

/**
 * The transformed points of a selection, block by block. Points that are no longer cached when a block is compared with them are read
 * again.
 */
export async function* transformedBlocks(
  database: Queryable,
  selection: Selection,
  computation: Computation,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const previousBlocks: Points[] = [];
  const totals = createTotals(database, selection);
  for await (const block of readBlocks(database, selection, pointsWanted)) {
    if (block.dates.length === 0) continue;
    const values = await transformedValues(database, selection, computation, block, {
      previousBlocks,
      totals,
    });
    if (selection.order === 'asc') previousBlocks.push(block);
    if (previousBlocks.length > previousBlocksMax) previousBlocks.shift();
    const isWhole = selection.wanted === 'all' || !values.includes('');
    yield isWhole ? { ...block, values } : filterPoints({ ...block, values }, (i) => values[i] !== '');
  }
}

/** The points known from before a block. */
interface Preceding {
  /** The blocks just before it, ascending, which are used if they reach back far enough. */
  previousBlocks: readonly Points[];
  totals: Totals;
}

/**
 * The transformed values of points of the selection, in their order; '' for a point without one. Reads the earlier points that they need.
 */
export async function transformedValues(
  database: Queryable,
  selection: Selection,
  { transform, bases, moments }: Pick<Computation, 'transform' | 'bases' | 'moments'>,
  points: Points,
  preceding: Preceding = { previousBlocks: [], totals: createTotals(database, selection) },
): Promise<string[]> {
  const totals = transform === 'cumulative' ? await preceding.totals.before(points) : noTotals;
  const { frequency } = selection.series;
  const rule = { transform, frequency, bases, moments, totals, breaks: breakDates(selection) };
  const history = await earlierPoints(database, selection, rule, {
    points,
    previousBlocks: preceding.previousBlocks,
  });
  const values = transformValues(rule, history, points);
  const isOfMeans = selection.aggregation?.aggregate === 'avg' && unitPreserving.has(transform);
  return isOfMeans ? values.map((text) => (text === '' ? '' : rounded(text, decimalsOfMeans))) : values;
}

/** The most legs of a point. */
const legsMax = 2;

/** The points before the oldest of the given points, with which these are compared, by date ascending. */
async function earlierPoints(
  database: Queryable,
  selection: Selection,
  { transform, frequency }: TransformRule,
  { points: { dates }, previousBlocks }: { points: Points; previousBlocks: readonly Points[] },
): Promise<Columns> {
  const [oldest = '', newest = ''] = [dates[0] ?? '', dates.at(-1) ?? ''].toSorted();
  const from = lookBack(transform, frequency, oldest);
  if (from >= oldest) return noPoints();
  const first = previousBlocks.findLastIndex((block) => entryAt(block.dates, 0) <= from);
  if (first >= 0) return joined(previousBlocks.slice(first));
  const before = { ...selection, from, to: addDays(oldest, -1), order: 'asc', wanted: 'values' } as const;
  // Without a window of time, the few before each combination's oldest point are enough, of any age.
  if (!isWindowed(transform, frequency)) return readNewest(database, before, legsMax);
  const end = lookBackEnd(transform, newest);
  return readAll(database, end < before.to ? { ...before, to: end } : before);
}

function joined(blocks: readonly Points[]): Columns {
  return {
    dates: blocks.flatMap((block) => block.dates),
    values: blocks.flatMap((block) => block.values),
    lineNos: blocks.flatMap((block) => block.lineNos),
  };
}

/**
 * Where to look for the base of an index, and from which end. A day means the period that contains it; if the
 * observations have no periods, the last one on or before it.
 */
function baseWindow(
  { series, from, to }: Selection,
  base: DateRange | null,
): Pick<Selection, 'from' | 'to' | 'order'> {
  if (base === null) return { from, to, order: 'asc' };
  const months = monthsPerPeriod[series.frequency];
  const reachesBack = base.from >= '0003'; // no data is published before year 1
  if (months === undefined) {
    if (base.from !== base.to || !reachesBack) return { ...base, order: 'asc' };
    return { from: addDays(base.from, -slackDays), to: base.to, order: 'desc' };
  }
  const endOf = (date: string): string =>
    withinCalendar(periodEnd(date, series.frequency, series.fiscalYearEnd ?? undefined));
  const before = reachesBack ? endOf(addMonths(endOf(base.from), -months)) : null;
  return { from: before === null ? base.from : addDays(before, 1), to: endOf(base.to), order: 'asc' };
}
