// What main passes to the handlers of this service.
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Log } from '../kernel/log.ts';
import type { Cursors } from '../kernel/http/cursor.ts';
import type { ResponseCache } from '../kernel/http/response-cache.ts';
import type { UrlValidatorCache } from './url-validator-cache.ts';
import type { SeriesFacts } from './series/series-facts.ts';

export interface Dependencies {
  database: Database;
  cursors: Cursors;
  seriesFacts: SeriesFacts;
  responseCache: ResponseCache;
  urlValidatorCache: UrlValidatorCache;
  clock: Clock;
  /** The publisher's time zone, an IANA name: vintages are days in it. */
  seriesTimeZone: string;
  log: Log;
}
