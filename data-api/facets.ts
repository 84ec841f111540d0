// Facets of lists: the schema and the answer of counts by value.
import { z } from 'zod';
import type { FacetCount } from './search/hits.sql.ts';

/** facet → its most common values, with the number of entries for each. */
export function facetsSchema(names: readonly string[]) {
  const counts = z.array(z.object({ value: z.string(), count: z.int() }));
  return z.object(Object.fromEntries(names.map((name) => [name, counts])));
}

/** Groups counts of values by facet. */
export function toFacets<Name extends string>(
  names: readonly Name[],
  counts: readonly FacetCount<NoInfer<Name>>[],
): object {
  const byFacet = Map.groupBy(counts, ({ facet }) => facet);
  const valuesOf = (name: Name) => byFacet.get(name)?.map(({ value, count }) => ({ value, count })) ?? [];
  return Object.fromEntries(names.map((name) => [name, valuesOf(name)]));
}

/** The number of all entries. @param facet one that each entry has a value of. */
export function totalOf<Name extends string>(
  counts: readonly FacetCount<Name>[],
  facet: NoInfer<Name>,
): number {
  return counts.reduce((total, each) => (each.facet === facet ? total + each.count : total), 0);
}
