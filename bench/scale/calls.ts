// The calls of the scale bench. Each is for another series or another selection, so that no answer is cached.
import type { Call } from '../instruments/sizes.ts';
import { measures } from '../series/words.ts';
import { pointsPerSeries } from './ground.ts';

/**
 * @param words of the names of the series.
 * @param seriesAsked the number of series to call for, far from each other in a large database, so that services cache the same amount at either
 * size.
 */
export function scaleCalls(words: readonly string[], seriesAsked: number): Call[] {
  let asked = 0;
  const anySeries = (rows: number): string =>
    // 617,283 has no factor in common with powers of ten.
    `S${(((asked * 617_283) % seriesAsked) + 1) * (rows / pointsPerSeries / seriesAsked)}`;
  /** A day before the first point. */
  const anyDay = (): string => new Date(Date.UTC(1800, 0, asked % 60_000)).toISOString().slice(0, 10);
  const anyWord = (from: readonly string[]): string => from[asked % from.length] ?? '';
  const call = (name: string, path: (rows: number) => string): Call => ({
    name,
    path(rows) {
      asked += 1;
      return path(rows);
    },
  });
  return [
    call('a series', (rows) => `/v1/series/${anySeries(rows)}?from=${anyDay()}`),
    call('its newest point', (rows) => `/v1/series/${anySeries(rows)}/latest`),
    call('a vintage', (rows) => `/v1/series/${anySeries(rows)}?vintage=2010-01-01&from=${anyDay()}`),
    call('the list of its vintages', (rows) => `/v1/series/${anySeries(rows)}/vintages`),
    call('an entry of the catalogue', (rows) => `/v1/catalog/${anySeries(rows)}`),
    call('20 of the catalogue', () => `/v1/catalog?limit=20&updated_after=${anyDay()}`),
    call(
      '20 of a category (more series)',
      () => `/v1/catalog?limit=20&category=Accounts/${anyWord(words.slice(0, 60))}`,
    ),
    call('the catalogue with its facets', () => '/v1/catalog?limit=20&facets=true'),
    call(
      'facets of a category (counted, more series)',
      () => `/v1/catalog?limit=20&facets=true&category=Accounts/${anyWord(words.slice(0, 60))}`,
    ),
    call('the status (more series)', () => '/v1/status'),
    call('search: an id', (rows) => `/v1/search?limit=20&q=${anySeries(rows)}`),
    call('search: a rare word (more hits)', () => `/v1/search?limit=20&q=${anyWord(words.slice(-300))}`),
    call(
      'search: two words (more hits)',
      () => `/v1/search?limit=20&q=${encodeURIComponent(`${anyWord(measures)} ${anyWord(words)}`)}`,
    ),
  ];
}
