// Sums over the history of a selection, per combination: the running totals before a block, and the sums for a standard deviation.
// Consecutive blocks share one read of the history.
import type { Queryable } from '../../../kernel/database.ts';
import { addDays } from '../../../kernel/dates.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { decimal, minus, plus, zero, type Decimal } from '../../decimal.ts';
import { noMoments, withValue, type Moments } from '../../logarithms.ts';
import type { Points } from '../stored/point-columns.ts';
import { blockPoints, readBlocks, type Selection } from '../stored/points.ts';
import { segmentsOf } from './transform.ts';

/** Combination, as numbered by `segmentNo` → the sum of its values. */
export type SumOf = ReadonlyMap<number, Decimal>;

/** The running totals of a selection whose blocks are passed in order, each once. */
export interface Totals {
  /** The totals of all points before the oldest of the block. */
  before(block: Points): Promise<SumOf>;
}

export const noTotals: SumOf = new Map();

export const breakDates = ({ series }: Selection): string[] => series.breaks.map(({ date }) => date);

export function createTotals(database: Queryable, selection: Selection): Totals {
  let previousBlock: Points | null = null;
  const totals = new Map<number, Decimal>();
  const breaks = breakDates(selection);
  return {
    async before(block) {
      if (previousBlock === null) {
        const [oldest = ''] = [block.dates[0] ?? '', block.dates.at(-1) ?? ''].toSorted();
        await eachValue(database, selection, oldest, (segment, value) => {
          totals.set(segment, plus(totals.get(segment) ?? zero, value));
        });
      } else {
        const isAscending = selection.order === 'asc';
        const between = isAscending ? previousBlock : block;
        for (const [segment, value] of valuesOf(breaks, between)) {
          const total = totals.get(segment) ?? zero;
          totals.set(segment, isAscending ? plus(total, value) : minus(total, value));
        }
      }
      previousBlock = block;
      return totals;
    },
  };
}

/** The count, sum and sum of squares of all values of the series, as of the vintage. */
export async function readMoments(
  database: Queryable,
  selection: Selection,
): Promise<ReadonlyMap<number, Moments>> {
  const moments = new Map<number, Moments>();
  await eachValue(database, selection, null, (segment, value) => {
    moments.set(segment, withValue(moments.get(segment) ?? noMoments, value));
  });
  return moments;
}

/** Reads all values of the selected combinations before a date; null for all dates. */
async function eachValue(
  database: Queryable,
  selection: Selection,
  before: string | null,
  onValue: (segment: number, value: Decimal) => void,
): Promise<void> {
  if (before !== null && before <= '0001-01-01') return;
  const history: Selection = {
    ...selection,
    from: '0001-01-01',
    to: before === null ? '9999-12-31' : addDays(before, -1),
    order: 'asc',
    wanted: 'values',
    hasDetails: false,
  };
  const breaks = breakDates(selection);
  for await (const block of readBlocks(database, history, blockPoints))
    for (const [segment, value] of valuesOf(breaks, block)) onValue(segment, value);
}

function valuesOf(breaks: readonly string[], block: Points): [segment: number, value: Decimal][] {
  const segments = segmentsOf(breaks, block);
  return block.values.flatMap((text, i) =>
    text === '' ? [] : [[entryAt(segments, i), decimal(text)] satisfies [number, Decimal]],
  );
}
