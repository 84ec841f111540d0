// Caches the last validators (ETags) of URLs and what they depend on: a repeated call is answered without being parsed.
// Evicts the least recently used.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.ts';
import type { CachingHeaders } from '../kernel/http/answer.ts';
import type { SeriesFacts } from './series/series-facts.ts';
import type { Series } from './series/series.sql.ts';

export interface UrlValidatorCache {
  get(url: string): CachedUrl | undefined;
  /** Whether the URL would get the same answer now. */
  holds(known: CachedUrl): Promise<boolean>;
  keep(url: string, headers: CachingHeaders, series: Series): void;
}

interface CachedUrl {
  headers: CachingHeaders;
  /** The series: the answer stays the same until it changes. */
  id: string;
  rowVersion: string;
  /** When it was made: clocks are also set back. */
  fromMs: number;
  /** The next release, which the answer names; after it, the answer changes. */
  untilMs: number;
}

const urlsMax = 10_000;
const urlLengthMax = 500;

export function createUrlValidatorCache(
  seriesFacts: Pick<SeriesFacts, 'isCurrent'>,
  clock: Clock,
): UrlValidatorCache {
  const urls = new LRUCache<string, CachedUrl>({ max: urlsMax });
  return {
    get: (url) => urls.get(url),
    holds({ id, rowVersion, fromMs, untilMs }) {
      const nowMs = clock.now().getTime();
      return nowMs >= fromMs && nowMs < untilMs
        ? seriesFacts.isCurrent(id, rowVersion)
        : Promise.resolve(false);
    },
    keep(url, headers, { id, rowVersion, releases: [nextRelease] }) {
      if (url.length > urlLengthMax) return;
      const untilMs = nextRelease === undefined ? Number.POSITIVE_INFINITY : Date.parse(nextRelease);
      urls.set(url, { headers, id, rowVersion, fromMs: clock.now().getTime(), untilMs });
    },
  };
}
