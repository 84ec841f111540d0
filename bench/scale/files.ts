// The files that the scale bench loads, line by line. Points are numbered as in bench/series/fill.sql.ts: the months since 1980.

/** Points `first` to `last` of each series; another `edition` of a point has another value. */
export function* pointLines(
  ids: Iterable<string>,
  { first, last, edition }: { first: number; last: number; edition: number },
): Generator<string> {
  yield 'series_id,date,value';
  for (const id of ids)
    for (let n = first; n <= last; n += 1) yield `${id},${monthEnd(n)},${value(n, edition)}`;
}

/** The ids of `count` series, numbered in steps of `step`: S2000, S3000 …; S1, S2 … by default. */
export function* seriesIds(count: number, step = 1): Generator<string> {
  for (let i = 1; i <= count; i += 1) yield `S${i * step}`;
}

/** Ids of series that were never loaded. */
export function* newSeriesIds(count: number, load: number): Generator<string> {
  for (let i = 1; i <= count; i += 1) yield `NEW${load}.${i}`;
}

function monthEnd(n: number): string {
  return new Date(Date.UTC(1980, n, 0)).toISOString().slice(0, 10);
}

function value(n: number, edition: number): string {
  return (100 + ((n * 7 + edition * 13) % 997) / 100).toFixed(2);
}
