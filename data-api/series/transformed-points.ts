// The transformed points of a selection, in blocks: computed on the whole history, then cut to the selection.
// Hides the extra read of the points before a block: no page, order or format changes a value.
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { addDays, addMonths, type DateRange } from '../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd } from '../../domain/periods.ts';
import { decimal, type Decimal } from '../decimal.ts';
import {
  filterPoints,
  noPoints,
  readAll,
  readBlocks,
  readFirst,
  type Points,
  type Selection,
} from './points.ts';
import { isApplicable, lookBack, slackDays, transformValues, type Transform } from './transform.ts';

/** A requested transform, ready to be computed. */
export interface Computation {
  transform: Transform;
  /** For `index`: combination → the value set to 100. */
  bases: ReadonlyMap<number, Decimal>;
  /** The date of that value; null if there is none, or the combinations have different ones. */
  baseDate: string | null;
}

/**
 * Checks the transform against the series, and finds the base of an index.
 * @param base the period whose first non-zero value is 100; null for the window of the selection.
 * @throws Failure `transform_not_applicable`.
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
  if (transform !== 'index') return { transform, bases: new Map(), baseDate: null };
  const found = await readFirst(database, {
    ...selection,
    ...baseWindow(selection, base),
    wanted: 'not_zero',
  });
  return {
    transform,
    bases: new Map(found.dimsNos.map((dimsNo, i) => [dimsNo, decimal(entryAt(found.values, i))])),
    baseDate: new Set(found.dates).size === 1 ? entryAt(found.dates, 0) : null,
  };
}

/** The transformed points of a selection, block by block. */
export async function* transformedBlocks(
  database: Queryable,
  selection: Selection,
  { transform, bases }: Computation,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const { frequency } = selection.series;
  for await (const block of readBlocks(database, selection, pointsWanted)) {
    if (block.dates.length === 0) continue;
    const oldest = entryAt(block.dates, selection.order === 'asc' ? 0 : block.dates.length - 1);
    const from = lookBack(transform, frequency, oldest);
    const history =
      from < oldest
        ? await readAll(database, {
            ...selection,
            from,
            to: addDays(oldest, -1),
            order: 'asc',
            wanted: 'values',
          })
        : noPoints();
    const values = transformValues({ transform, frequency, bases }, history, block);
    const transformed = { ...block, values };
    yield selection.wanted === 'all' ? transformed : filterPoints(transformed, (i) => values[i] !== '');
  }
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
    periodEnd(date, series.frequency, series.fiscalYearEnd ?? undefined);
  const before = reachesBack ? endOf(addMonths(endOf(base.from), -months)) : null;
  return { from: before === null ? base.from : addDays(before, 1), to: endOf(base.to), order: 'asc' };
}
