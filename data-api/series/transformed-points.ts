// The transformed points of a selection, in blocks: computed on the whole history, then cut to the selection.
// Hides the extra read of the points before the selection: no page, order or format changes a value.
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { addDays, addMonths, type DateRange } from '../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd } from '../../domain/periods.ts';
import { decimal, type Decimal } from '../decimal.ts';
import {
  blockPoints,
  filterPoints,
  noPoints,
  readAll,
  readBlocks,
  readFirst,
  readNewest,
  type Points,
  type Selection,
} from './points.ts';
import { segmentNo, slackDays, type Legs } from './legs.ts';
import {
  isApplicable,
  legsOf,
  lookBack,
  transformValues,
  valuesWith,
  type Transform,
  type TransformRule,
} from './transform.ts';

/** A requested transform, ready to be computed. */
export interface Computation {
  transform: Transform;
  /** For `index`: combination, as numbered by `segmentNo` → the value set to 100. */
  bases: ReadonlyMap<number, Decimal>;
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
  if (transform !== 'index') return { transform, bases: new Map(), baseDate: null };
  const window = baseWindow(selection, base);
  const found = await readFirst(database, { ...selection, ...window, wanted: 'not_zero' });
  if (base !== null && found.dates.length === 0) await requireData(database, selection, window);
  return {
    transform,
    bases: new Map(
      found.dimsNos.map((dimsNo, i) => [
        segmentNo(breakDates(selection), dimsNo, entryAt(found.dates, i)),
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
  fail(
    'invalid_parameter',
    `"base" must be within the data of ${selection.series.id}: from ${first} to ${last}.`,
    { param: 'base' },
  );
}

/** The transformed points of a selection, block by block. */
export async function* transformedBlocks(
  database: Queryable,
  selection: Selection,
  computation: Computation,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const rule = ruleOf(selection, computation);
  for await (const transformed of blocksTransformed(database, selection, rule, pointsWanted)) {
    const { values } = transformed;
    const isWhole = selection.wanted === 'all' || !values.includes('');
    yield isWhole ? transformed : filterPoints(transformed, (i) => values[i] !== '');
  }
}

/** The points of a selection with transformed values, '' where there is none. Each point is read once, and those before the selection. */
function blocksTransformed(
  database: Queryable,
  selection: Selection,
  rule: TransformRule,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const { transform } = rule;
  if (transform === 'index' || !isWindowed(rule))
    return blockByBlock(database, selection, rule, pointsWanted);
  const legs = legsOf({ ...rule, transform }, selection.order);
  return selection.order === 'asc'
    ? ascending(database, selection, { rule, legs }, pointsWanted)
    : descending(database, selection, { rule, legs }, pointsWanted);
}

interface LegsOfRule {
  rule: TransformRule;
  legs: Legs;
}

/** The transformed values of points of one date, in their order; '' for a point without one. Reads as far back as the transform looks. */
export async function transformedOnDate(
  database: Queryable,
  selection: Selection,
  { transform, bases }: Computation,
  points: Points,
): Promise<string[]> {
  const rule = ruleOf(selection, { transform, bases });
  const before = historyOf({ ...selection, dimsNos: points.dimsNos }, rule, entryAt(points.dates, 0));
  if (before === null) return transformValues(rule, noPoints(), points);
  const history = isWindowed(rule)
    ? await readAll(database, before)
    : await readNewest(database, before, legsMax);
  return transformValues(rule, history, points);
}

/** The transform as a rule for the points of the selection. */
function ruleOf(
  selection: Selection,
  { transform, bases }: Pick<Computation, 'transform' | 'bases'>,
): TransformRule {
  return { transform, frequency: selection.series.frequency, bases, breaks: breakDates(selection) };
}

/** Whether a transform compares with points in a window of time; otherwise with the last few points, of any age. */
function isWindowed({ transform, frequency }: TransformRule): boolean {
  return transform === 'yoy' || transform === 'mom' || monthsPerPeriod[frequency] !== undefined;
}

/** Where a point needs at most the few before it: these are read for each block. */
async function* blockByBlock(
  database: Queryable,
  selection: Selection,
  rule: TransformRule,
  pointsWanted: number,
): AsyncGenerator<Points> {
  for await (const block of readBlocks(database, selection, pointsWanted)) {
    if (block.dates.length === 0) continue;
    const before = historyOf(selection, rule, oldestOf(block, selection));
    const history = before === null ? noPoints() : await readNewest(database, before, legsMax);
    yield { ...block, values: transformValues(rule, history, block) };
  }
}

/** Where a point needs one up to a year before it: the points of that time are kept while the blocks pass. */
async function* ascending(
  database: Queryable,
  selection: Selection,
  { rule, legs }: LegsOfRule,
  pointsWanted: number,
): AsyncGenerator<Points> {
  let isFirst = true;
  for await (const block of readBlocks(database, selection, pointsWanted)) {
    if (block.dates.length === 0) continue;
    const before = isFirst ? historyOf(selection, rule, oldestOf(block, selection)) : null;
    if (before !== null)
      for await (const history of readBlocks(database, before, blockPoints)) legs.add(history);
    isFirst = false;
    legs.add(block);
    yield { ...block, values: valuesWith(rule, legs, block) };
    legs.forget(lookBack(rule.transform, rule.frequency, entryAt(block.dates, block.dates.length - 1)));
  }
}

/** The same, newest first: a block waits until the points before it have been read, which are the next blocks. */
async function* descending(
  database: Queryable,
  selection: Selection,
  { rule, legs }: LegsOfRule,
  pointsWanted: number,
): AsyncGenerator<Points> {
  const waiting: Points[] = [];
  for await (const block of olderBlocks(database, selection, rule, pointsWanted)) {
    const oldest = oldestOf(block, selection);
    if (oldest >= selection.from) waiting.push(block);
    else if (waiting.length === 0) return;
    legs.add(block);
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const nextOldest = oldestOf(next, selection);
      if (lookBack(rule.transform, rule.frequency, nextOldest) < oldest) break;
      waiting.shift();
      yield { ...next, values: valuesWith(rule, legs, next) };
      legs.forget(nextOldest);
    }
  }
  for (const block of waiting) yield { ...block, values: valuesWith(rule, legs, block) };
}

/** The blocks of a descending selection, then those of its history; a block belongs to one of them. */
async function* olderBlocks(
  database: Queryable,
  selection: Selection,
  { transform, frequency }: TransformRule,
  pointsWanted: number,
): AsyncGenerator<Points> {
  let to = selection.to;
  for await (const block of readBlocks(database, selection, pointsWanted)) {
    if (block.dates.length === 0) continue;
    yield block;
    to = addDays(oldestOf(block, selection), -1);
    break;
  }
  if (to === selection.to) return;
  // A short page needs no more than the history of its first block; all that follows is read in blocks of full size.
  const ends = [lookBack(transform, frequency, addDays(to, 1)), selection.from];
  for (const from of [...ends.toSorted().toReversed(), lookBack(transform, frequency, selection.from)]) {
    if (from > to) continue;
    const wanted = to < selection.from ? 'values' : selection.wanted;
    for await (const block of readBlocks(database, { ...selection, from, to, wanted }, blockPoints))
      if (block.dates.length > 0) yield block;
    to = addDays(from, -1);
  }
}

const breakDates = ({ series }: Selection): string[] => series.breaks.map(({ date }) => date);

/** The most legs of a point. */
const legsMax = 2;

function oldestOf({ dates }: Points, { order }: Selection): string {
  return entryAt(dates, order === 'asc' ? 0 : dates.length - 1);
}

/** The points before the date that its transformed value may need; null if none. */
function historyOf(
  selection: Selection,
  { transform, frequency }: TransformRule,
  date: string,
): Selection | null {
  const from = lookBack(transform, frequency, date);
  return from < date ? { ...selection, from, to: addDays(date, -1), order: 'asc', wanted: 'values' } : null;
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
