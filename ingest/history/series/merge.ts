// Merges a series into another: the points that the other one lacks are added to it as of today, and the old id becomes its alias. The old
// series keeps its row, so that readers still get what was published under its id before.
import type { Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { emitRowEvents } from '../../load/events/load-events.ts';
import type { CsvBatch } from '../../read/csv-batch.ts';
import type { Transacting } from '../../load/lock/give-way-to-release.ts';
import { inputOfRows, type LoadResult } from '../../load/store/load-options.ts';
import { noCounts } from '../../load/store/load-record.sql.ts';
import { loadPoints } from '../../load/points/load-points.ts';
import { insertAuditEvent } from '../audit.sql.ts';
import { changeUnderLock } from '../change-under-lock.ts';
import { findLastBreak } from './break.sql.ts';
import { refuseDeleted, requireById, type ChangeOptions, type SeriesChange } from './change.ts';
import type { FoundSeries } from './change.sql.ts';
import { findContinued } from './continuation.sql.ts';
import {
  completeMerge,
  findConflicts,
  findMergedInto,
  findShape,
  moveIds,
  readPointsToMerge,
  type Conflict,
  type Pair,
  type Shape,
} from './merge.sql.ts';

export interface MergeOptions extends ChangeOptions {
  /** The present id of the series that gets the points of `id`. */
  into: string;
  /** The series whose value wins where both have a point with different values; if omitted, such points make the merge fail. */
  prefer?: 'old' | 'into';
}

export interface Merge extends SeriesChange {
  pointsNew: number;
  pointsRevised: number;
  /** The points that both had with different values. */
  conflicts: number;
}

/** A refusal names at most this many conflicts. */
const namedMax = 5;
const pageSize = 5_000;

/**
 * Merges the series. After it resolves, every call that begins sees the merge. The points are a load of `observations`, which can be
 * retracted; `restoreSeries` gives the old series its ids back.
 * @throws Failure `not_found`; `conflict` if the series do not fit, or have different values and none is preferred; then nothing is
 * changed.
 */
export function mergeSeries(database: Transacting, options: MergeOptions): Promise<Merge> {
  return changeUnderLock(database, options, async (on, today) => {
    const old = await requireById(on, options.id);
    const into = await requireById(on, options.into);
    await refuseUnmergeable(on, old, into);
    const conflicts = await findConflicts(on, pairOf(old, into), namedMax);
    if (options.prefer === undefined && conflicts.count > 0) refuseConflicts(old.id, into.id, conflicts);
    const merged = await mergeWithin(on, old, into, { ...options, today });
    return { ...merged, series: into.id, conflicts: conflicts.count };
  });
}

const pairOf = (old: FoundSeries, into: FoundSeries): Pair => ({ old: old.seriesNo, into: into.seriesNo });

/** @throws Failure `conflict` with the reason why the series cannot be merged. */
async function refuseUnmergeable(on: Transaction, old: FoundSeries, into: FoundSeries): Promise<void> {
  if (old.seriesNo === into.seriesNo) fail('conflict', `"${old.id}" cannot be merged into itself.`);
  for (const series of [old, into]) {
    refuseDeleted(series);
    if (series.isOfItem)
      fail('conflict', `"${series.id}" has the prices of an item: such series cannot be merged.`);
  }
  for (const series of [old, into]) await refuseBreaks(on, series);
  const merged = await findMergedInto(on, old.seriesNo);
  if (merged !== undefined)
    fail(
      'conflict',
      `"${merged}" was merged into "${old.id}": almanac series restore ${merged}, then merge each into "${into.id}".`,
    );
  const [one, other] = [await findShape(on, old.seriesNo), await findShape(on, into.seriesNo)];
  const differing = differences(one, other);
  if (differing.length > 0)
    fail('conflict', `"${old.id}" does not fit "${into.id}": ${differing.join('; ')}.`);
}

async function refuseBreaks(on: Transaction, { id, seriesNo }: FoundSeries): Promise<void> {
  const last = await findLastBreak(on, seriesNo);
  if (last?.continuedBy === null)
    fail(
      'conflict',
      `"${id}" has points of several units (almanac series break): such series cannot be merged.`,
    );
  const [continued] = await findContinued(on, seriesNo);
  const [earlier, later] = last === undefined ? [continued, id] : [id, last.continuedBy];
  if (earlier !== undefined)
    fail(
      'conflict',
      `"${earlier}" is continued by "${later}" (almanac series break): such series cannot be merged.`,
    );
}

function differences(old: Shape, into: Shape): string[] {
  const texts = (['frequency', 'fiscal_year_end', 'unit', 'unit_multiplier'] as const)
    .filter((fact) => old[fact] !== into[fact])
    .map((fact) => `its ${fact} is ${old[fact] ?? 'none'}, not ${into[fact] ?? 'none'}`);
  if (old.dimensions === null || into.dimensions === null) return texts;
  const list = (names: readonly string[]) => names.join(', ') || 'none';
  const [had, has] = [list(old.dimensions), list(into.dimensions)];
  return had === has ? texts : [...texts, `its dimensions are ${had}, not ${has}`];
}

function refuseConflicts(
  old: string,
  into: string,
  { count, first }: { count: number; first: readonly Conflict[] },
): never {
  const named = first.map((conflict) => {
    const dims = Object.entries(conflict.dims).map(([name, value]) => `, ${name} ${value}`);
    return `${conflict.date}${dims.join('')}: ${conflict.old ?? 'missing'} and ${conflict.into ?? 'missing'}`;
  });
  const more = count > first.length ? `; and ${count - first.length} more` : '';
  fail(
    'conflict',
    `"${old}" and "${into}" have different values of ${count === 1 ? 'a point' : `${count} points`} (${named.join('; ')}${more}). ` +
      `--prefer old or --prefer into chooses which are kept.`,
  );
}

async function mergeWithin(
  on: Transaction,
  old: FoundSeries,
  into: FoundSeries,
  options: MergeOptions & { today: string },
): Promise<{ loadNo: number; pointsNew: number; pointsRevised: number }> {
  const { reason = null, prefer = 'into', clock, today } = options;
  const pair = pairOf(old, into);
  // Before the points, so that their events reach endpoints that filter by an id of the old series.
  await moveIds(on, { ...pair, oldId: old.id, intoId: into.id, day: today });
  const { loadNo, pointsNew, pointsRevised } = await storePoints(on, old, into, options);
  if (loadNo === null) throw new Error('the load of a merge has one vintage, and so a number');
  await completeMerge(on, { ...pair, loadNo, reason });
  await emitRowEvents(on, { loadNo, dataset: 'series', at: clock.now() }, { ...noCounts, pointsRevised: 1 });
  const details = { merged_into: into.id, prefer, points_new: pointsNew, points_revised: pointsRevised };
  await insertAuditEvent(on, { action: 'series.merged', subject: old.id, loadNo, reason, details });
  return { loadNo, pointsNew, pointsRevised };
}

/** Loads the points of the old series into the other one as of today, as a long file. */
async function storePoints(
  on: Transaction,
  old: FoundSeries,
  into: FoundSeries,
  { prefer, clock, seriesTimeZone, today }: MergeOptions & { today: string },
): Promise<LoadResult> {
  const { dimensions } = await findShape(on, old.seriesNo);
  const names = dimensions ?? [];
  return loadPoints(
    on,
    {
      ...inputOfRows(
        ['series_id', 'date', 'value', 'status', ...names],
        pointRows(on, { old, into, names, all: prefer === 'old' }),
        today,
      ),
      batchesAsk: true,
    },
    {
      dataset: 'observations',
      input: '-',
      sourceName: `series.merged ${old.id}`,
      isRelease: false,
      seriesTimeZone,
      clock,
    },
  );
}

async function* pointRows(
  on: Transaction,
  { old, into, names, all }: { old: FoundSeries; into: FoundSeries; names: readonly string[]; all: boolean },
): AsyncGenerator<CsvBatch> {
  let after = { line_no: -1, date: '-infinity' };
  let line = 2;
  for (;;) {
    const points = await readPointsToMerge(on, pairOf(old, into), { after, all, limit: pageSize });
    const last = points.at(-1);
    if (last === undefined) return;
    after = last;
    const first = line;
    line += points.length;
    yield {
      rows: points.map(({ date, value, status, dims }) => [
        ...[into.id, date, value ?? '', status ?? ''],
        ...names.map((name) => dims[name] ?? ''),
      ]),
      lines: points.map((_, i) => first + i),
    };
  }
}
