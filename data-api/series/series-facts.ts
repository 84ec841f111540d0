// Caches the facts of series in memory; every call first asks the database whether they still hold.
// Hides that concurrent calls share one statement. A call waits for a statement that began after the call arrived,
// so the next call sees a load, in this process as in any other.
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../kernel/database.ts';
import { findSeries, readRowVersions, type Series } from './series.sql.ts';

export interface SeriesFacts {
  /** The series of that id, as it stands now, or undefined. @param vintage fills the fields that speak of a vintage. */
  find(id: string, vintage: string | null): Promise<Series | undefined>;
  /** Whether the series stands as it did in that version of its row. */
  isCurrent(id: string, rowVersion: string): Promise<boolean>;
}

const seriesMax = 5_000;
/** A series with more combinations is large, and is read anew each time. */
const combinationsMax = 1_000;

export function createSeriesFacts(database: Queryable): SeriesFacts {
  const kept = new LRUCache<string, Series>({ max: seriesMax });
  const rowVersionOf = createAsker((ids) => readRowVersions(database, ids));

  return {
    async find(id, vintage) {
      const name = vintage === null ? id : `${id} ${vintage}`; // no id has a blank
      const known = kept.get(name);
      // Whatever changes a fact changes the row: a load that changes points, a vintage that does, new metadata.
      const isCurrent = known !== undefined && (await this.isCurrent(id, known.rowVersion));
      const series = isCurrent ? known : await findSeries(database, id, vintage);
      if (series === undefined || series.combinations.length > combinationsMax) kept.delete(name);
      else kept.set(name, series);
      return series;
    },
    isCurrent: (id, rowVersion) => rowVersionOf(id).then((found) => found === rowVersion),
  };
}

/** When all calls that have arrived by now have been begun, so that one question serves them. */
const turnEnd = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Asks for many ids at once: while one question is under way, what arrives waits for the next. */
function createAsker<Answer>(
  ask: (ids: string[]) => Promise<ReadonlyMap<string, Answer>>,
): (id: string) => Promise<Answer | undefined> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: { ids: Set<string>; answers: Promise<ReadonlyMap<string, Answer>> } | null = null;

  function openNext(): NonNullable<typeof next> {
    const ids = new Set<string>();
    const answers = underWay.then(turnEnd).then(() => {
      next = null;
      return ask([...ids]);
    });
    underWay = answers.catch(() => undefined); // those who asked are told; the next question is asked all the same
    return { ids, answers };
  }

  return (id) => {
    next ??= openNext();
    next.ids.add(id);
    return next.answers.then((answers) => answers.get(id));
  };
}
