// The dependencies of handlers that answer as of a day: they read the database as it was then, and use no cache of the present state.
import { LRUCache } from 'lru-cache';
import type { Dependencies } from '../dependencies.ts';
import { findSeries } from '../series/stored/series.sql.ts';
import { endOf } from '../../domain/as-of/end-of-day.ts';
import { databaseAsOf, queryAsOf } from '../../domain/as-of/statements.ts';

/** A key is pinned to one day, and the keys of an installation usually share few days. */
const daysMax = 100;

/** Creates the value of each day once. */
export function cachedByDay<Value extends object>(make: (day: string) => Value): (day: string) => Value {
  const cache = new LRUCache<string, Value>({ max: daysMax });
  return (day) => {
    const value = cache.get(day) ?? make(day);
    cache.set(day, value);
    return value;
  };
}

/** @param day `YYYY-MM-DD`. */
export function dependenciesAsOf(dependencies: Dependencies, day: string): Dependencies {
  const { seriesTimeZone, edition, drawingSlots, clock } = dependencies;
  const endsMs = endOf(day, seriesTimeZone).getTime();
  const database = databaseAsOf(dependencies.database, day, seriesTimeZone);
  const now = () => new Date(Math.min(clock.now().getTime(), endsMs));
  return {
    ...dependencies,
    database,
    longReads: queryAsOf(dependencies.longReads, day, seriesTimeZone),
    seriesFacts: {
      known: () => undefined,
      find: (id, vintage) => findSeries(database, id, vintage, now()),
    },
    drawingSlots: {
      draw: (image, draw) => drawingSlots.draw({ ...image, name: `${image.name} as of ${day}` }, draw),
    },
    clock: { now },
    asOf: day,
    present: dependencies,
    edition: `${edition} as of ${day}`,
  };
}
