// Caches the facts of series in memory; every call checks with the database that they are current, here or by the statement that reads.
// Concurrent calls share one statement. A call waits for a statement that began after the call arrived, so the next call sees a load, in
// this process as in any other.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { Queryable } from '../../kernel/database.ts';
import { findSeries, readRowVersions, releasesMax, type Series } from './stored/series.sql.ts';

export interface SeriesFacts {
  /** The cached facts of the series, which may be stale: for a statement that checks them. */
  known(id: string, vintage: string | null): Series | undefined;
  /** The current state of the series, or undefined. @param vintage fills the fields about a vintage. */
  find(id: string, vintage: string | null): Promise<Series | undefined>;
}

const seriesMax = 5_000;
/** Series with more combinations are large, and are read again each time. */
const combinationsMax = 1_000;

interface Cached {
  series: Series;
  /** When it was read, in ms. */
  readMs: number;
}

export function createSeriesFacts(database: Queryable, clock: Clock): SeriesFacts {
  const cache = new LRUCache<string, Cached>({ max: seriesMax });
  const knownAs = (name: string): Series | undefined => {
    const cached = cache.get(name);
    return cached !== undefined && hasNextRelease(cached, clock.now().getTime()) ? cached.series : undefined;
  };
  const rowVersionOf = createAsker((ids) => readRowVersions(database, ids));

  return {
    known: (id, vintage) => knownAs(nameOf(id, vintage)),
    async find(id, vintage) {
      const name = nameOf(id, vintage);
      const known = knownAs(name);
      // Every change of a fact changes the row: a load that changes points or a vintage, or new metadata.
      const isCurrent = known !== undefined && (await rowVersionOf(id)) === known.rowVersion;
      if (isCurrent) return known;
      const now = clock.now();
      const series = await findSeries(database, id, vintage, now);
      if (series === undefined || series.combinations.length > combinationsMax) cache.delete(name);
      else cache.set(name, { series, readMs: now.getTime() });
      return series;
    },
  };
}

/** Whether the next release at the time is known: not if all that were read have passed, or the clock was set back. */
function hasNextRelease({ series: { releases }, readMs }: Cached, nowMs: number): boolean {
  return nowMs >= readMs && (releases.length < releasesMax || Date.parse(releases.at(-1) ?? '') > nowMs);
}

function nameOf(id: string, vintage: string | null): string {
  return vintage === null ? id : `${id} ${vintage}`; // no id contains a space
}

/** Resolves when all calls received so far have begun, so that one statement serves them. */
const turnEnd = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Batches lookups of ids: those that arrive while one is running wait for the next. */
function createAsker<Answer>(
  ask: (ids: string[]) => Promise<ReadonlyMap<string, Answer>>,
): (id: string) => Promise<Answer | undefined> {
  let inFlight: Promise<unknown> = Promise.resolve();
  let next: { ids: Set<string>; answers: Promise<ReadonlyMap<string, Answer>> } | null = null;

  function openNext(): NonNullable<typeof next> {
    const ids = new Set<string>();
    const answers = inFlight.then(turnEnd).then(() => {
      next = null;
      return ask([...ids]);
    });
    inFlight = answers.catch(() => undefined); // callers see the error; the next lookup runs anyway
    return { ids, answers };
  }

  return (id) => {
    next ??= openNext();
    next.ids.add(id);
    return next.answers.then((answers) => answers.get(id));
  };
}
