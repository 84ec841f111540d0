// Statistics of the revisions of first prints: mean, its distance from zero, size and direction, some releases later and until the newest
// vintage. They compare periods whose first print is known and that have a value then, in the same base and unit.
import { comparableUntil } from './comparable.ts';
import { firstPrints, valueAt, type RevisionTable } from './table.ts';

/** The number of releases after the first print; `latest`: the newest vintage in the base and unit of the first print. */
export type Horizon = number | 'latest';

export interface HorizonStatistics {
  horizon: Horizon;
  /** Periods compared. */
  count: number;
  /** The mean of the revisions: later value − first print. */
  mean: number;
  /** Mean / (standard deviation / √count); null with fewer than two periods or without any variation. */
  t: number | null;
  /** The mean of the sizes of the revisions. */
  meanSize: number;
  /** The revision of the largest size, with its sign; the first of equal ones. */
  largest: number;
  revisedUp: number;
}

const releaseHorizons = [1, 2, 3, 5, 12] as const;

/** The statistics of each horizon that at least one period has reached; `latest` last. */
export function revisionStatistics(table: RevisionTable): HorizonStatistics[] {
  const untilOf = comparableUntil(table);
  const prints = firstPrints(table).map((print) => ({
    ...print,
    last: untilOf(print.dateNo, print.vintageNo),
  }));
  return [...releaseHorizons, 'latest' as const].flatMap((horizon) => {
    const revisions = prints.flatMap(({ dateNo, vintageNo, value, last }) => {
      const until = horizon === 'latest' ? last : vintageNo + horizon;
      // A period that only the last vintage has cannot have been revised.
      if (until <= vintageNo || until > last) return [];
      const later = valueAt(table, dateNo, until);
      return later === null ? [] : [later - value];
    });
    return revisions.length === 0 ? [] : [{ horizon, ...statisticsOf(revisions) }];
  });
}

function statisticsOf(revisions: readonly number[]): Omit<HorizonStatistics, 'horizon'> {
  const count = revisions.length;
  const mean = sum(revisions) / count;
  const variance = count < 2 ? 0 : sum(revisions.map((each) => (each - mean) ** 2)) / (count - 1);
  return {
    count,
    mean,
    t: variance === 0 ? null : mean / Math.sqrt(variance / count),
    meanSize: sum(revisions.map(Math.abs)) / count,
    largest: revisions.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most)),
    revisedUp: revisions.filter((each) => each > 0).length,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Fewer periods are too few to judge. */
export const judgedFrom = 8;

/** The findings from the statistics; undefined without any. */
export interface Verdict {
  latest: HorizonStatistics;
  /** `unknown`: too few periods. `none`: not distinguishable from chance. */
  lean: 'up' | 'down' | 'none' | 'unknown';
  /** The first horizon with at least half of the size of the whole revision; undefined if it takes longer, or there is no revision. */
  mostWithin: number | undefined;
}

/** @param statistics as `revisionStatistics` gives them. */
export function verdictOf(statistics: readonly HorizonStatistics[]): Verdict | undefined {
  const latest = statistics.find(({ horizon }) => horizon === 'latest');
  if (latest === undefined) return undefined;
  const { count, t, mean } = latest;
  const lean = count < judgedFrom ? 'unknown' : isLean(t, mean) ? (mean > 0 ? 'up' : 'down') : 'none';
  const within = statistics.find(
    ({ horizon, meanSize }) => horizon !== 'latest' && meanSize >= latest.meanSize / 2,
  );
  const mostWithin = latest.meanSize > 0 && typeof within?.horizon === 'number' ? within.horizon : undefined;
  return { latest, lean, mostWithin };
}

/** Without any variation, every first print was revised by the same amount. */
function isLean(t: number | null, mean: number): boolean {
  return t === null ? mean !== 0 : Math.abs(t) >= 2;
}
