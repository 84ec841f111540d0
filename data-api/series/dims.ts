// Reads the filter `dims=side:buy,city:Lahore|Karachi` as combinations of dimension values.
import { readDims } from '../../domain/dims-text.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import { nearestHint, nearestName } from '../../kernel/http/params.ts';
import type { Series } from './stored/series.sql.ts';

/** Dimension → the values to include. */
export type DimsFilter = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reads all `dims` parameters of a request as one filter; a dimension named twice includes the values of both.
 * @throws Failure `invalid_parameter` if a part is not `<dimension>:<value>`.
 */
export function parseDims(texts: readonly string[]): DimsFilter {
  const filter = new Map<string, Set<string>>();
  for (const { name, values } of texts.flatMap(readDims)) {
    if (name === '' || values.includes(''))
      refuseParam(
        'dims',
        '"dims" must be <dimension>:<value>, with | between values and a comma between dimensions, such as dims=side:buy|sell,city:Lahore.',
      );
    filter.set(name, (filter.get(name) ?? new Set()).union(new Set(values)));
  }
  return filter;
}

/**
 * The combinations of the series that match; none if a value is unknown.
 * @throws Failure `unknown_dimension`, which names the known ones.
 */
export function combinationsThatPass(series: Series, filter: DimsFilter): number[] {
  for (const name of filter.keys()) {
    if (!series.dimensions.includes(name)) failUnknownDimension(name, series);
  }
  return series.combinations
    .filter(({ dims }) =>
      filter.entries().every(([name, values]) => {
        const value = dims[name];
        return value !== undefined && values.has(value);
      }),
    )
    .map(({ lineNo }) => lineNo);
}

const hintsMax = 10;

/** A sentence for each value of the filter that the series does not have, with the nearest that it has. */
export function unknownValues(series: Series, filter: DimsFilter): string[] {
  const sentences = [...filter].flatMap(([name, values]) => {
    const known = [...new Set(series.combinations.flatMap(({ dims }) => dims[name] ?? []))];
    const unknown = [...values].filter((value) => !known.includes(value));
    return unknown.map((value) => {
      const hint = nearestHint(value, known, '"dims" lists those that it has.');
      return `"${name}" has no value "${value.slice(0, 64)}". ${hint}`;
    });
  });
  return sentences.slice(0, hintsMax);
}

/** The canonical form of equivalent filters. */
export function canonicalDims(filter: DimsFilter): string[][] {
  return [...filter].map(([name, values]) => [name, ...[...values].sort()]).sort();
}

function failUnknownDimension(name: string, series: Series): never {
  const shown = name.slice(0, 64);
  if (series.dimensions.length === 0) {
    fail('unknown_dimension', `The series ${series.id} has no dimensions, so "${shown}" does not apply.`, {
      param: 'dims',
    });
  }
  const nearest = nearestName(name, series.dimensions);
  fail(
    'unknown_dimension',
    `The series ${series.id} has no dimension "${shown}".${nearest === undefined ? '' : ` Did you mean "${nearest}"?`} It has: ${series.dimensions.join(', ')}.`,
    { param: 'dims' },
  );
}
