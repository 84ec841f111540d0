// The metadata of a series: `meta` of the envelope, and the full entry of the catalogue.
import type { Series } from './stored/series.sql.ts';
import { unitPreserving } from '../../domain/transforms.ts';
import type { Aggregation } from './stored/aggregation.ts';
import type { Computation } from './computed/transformed-points.ts';

/** The six fields of the contract first, then the other metadata. */
export function metaOf(
  series: Series,
  {
    vintage,
    version,
    aggregation = null,
    hints = [],
  }: {
    vintage: string | null;
    version: number;
    aggregation?: Aggregation | null;
    /** What the client probably did not intend, in sentences. */
    hints?: readonly string[];
  },
  computation: Computation | null,
) {
  const facts = factsOf(series);
  const { name, unit, frequency, source, last_updated, ...more } = facts;
  // Counts are known for the current state only.
  const counted =
    vintage === null
      ? {}
      : {
          last_updated: series.vintagePublishedOn,
          first_date: null,
          last_date: null,
          observation_count: null,
          next_release: null,
        };
  return {
    name,
    unit,
    frequency,
    source,
    last_updated,
    transform: computation?.transform ?? null,
    vintage,
    version,
    ...more,
    ...counted,
    ...(aggregation === null ? {} : aggregationFacts(aggregation)),
    ...(computation === null ? {} : transformFacts(series, computation)),
    ...(hints.length === 0 ? {} : { hints }),
  };
}

/** Present only if the request used an earlier id. */
export function renamedFrom({ renamedFrom: from }: Pick<Series, 'renamedFrom'>): { renamed_from?: string } {
  return from === null ? {} : { renamed_from: from };
}

/** The facts of a series in the answer. */
export function factsOf(series: Series) {
  return {
    ...renamedFrom(series),
    name: series.name,
    unit: series.unit,
    frequency: series.frequency,
    source: series.source,
    last_updated: series.lastUpdated ?? series.changedAt.toISOString().slice(0, 10),
    first_vintage: series.firstVintage,
    description: series.description,
    geography: series.geography,
    seasonal_adjustment: series.seasonalAdjustment,
    unit_multiplier: series.unitMultiplier,
    decimals: series.decimals,
    dims: series.dimensions.map((name) => dimensionOf(series, name)),
    first_date: series.firstDate,
    last_date: series.lastDate,
    observation_count: series.observationCount,
    next_release: series.releases[0] ?? null,
    licence: series.licence,
    licence_url: series.licenceUrl,
    attribution: series.attribution,
    methodology_url: series.methodologyUrl,
    footnotes: series.footnotes,
    breaks: breakFacts(series),
    continues: series.continues.map(({ id }) => id),
    date_convention: 'period_end',
    fiscal_year_end: series.fiscalYearEnd,
    tags: series.tags,
    category: series.category,
  };
}

/** The series with the breaks, the unit and the continuation as known then. Breaks are declared in the order of their dates. */
export function withBreaksAt(series: Series, vintage: string | null, version: number): Series {
  const isUnknown = ({ declaredOn, loadNo }: { declaredOn: string; loadNo: number }): boolean =>
    loadNo > version || (vintage !== null && declaredOn > vintage);
  const { breaks, continuation, continues } = series;
  const continuations = continuation === null ? [] : [continuation];
  if (![...breaks, ...continuations, ...continues].some(isUnknown)) return series;
  const unknownAt = breaks.findIndex(isUnknown);
  const { unit, unitMultiplier } = breaks[unknownAt] ?? series;
  return {
    ...{ ...series, unit, unitMultiplier },
    breaks: unknownAt === -1 ? breaks : breaks.slice(0, unknownAt),
    continuation: continuations.some(isUnknown) ? null : continuation,
    continues: continues.filter((each) => !isUnknown(each)),
  };
}

/** The breaks in the answer: the changed fact, from and to. */
function breakFacts({ breaks, unit, unitMultiplier, frequency, continuation }: Series) {
  const ofUnit = breaks.map((each, i) => {
    const next = breaks[i + 1] ?? { unit, unitMultiplier };
    return {
      date: each.date,
      from: { unit: each.unit, unit_multiplier: each.unitMultiplier },
      to: { unit: next.unit, unit_multiplier: next.unitMultiplier },
      note: each.note,
      declared_on: each.declaredOn,
    };
  });
  if (continuation === null) return ofUnit;
  const { date, id, frequency: next, note } = continuation;
  return [...ofUnit, { date, from: { frequency }, to: { frequency: next }, continued_by: id, note }];
}

/** A mean has decimals of its own; a sum, or a value selected from the points, has those of the source. */
function aggregationFacts({ source, aggregate }: Aggregation) {
  const own = aggregate === 'avg' ? { decimals: null } : {};
  return { source_frequency: source, aggregate, ...own };
}

/** Transforms in the unit of the source keep its multiplier and decimals; the others have a unit of their own, without either. */
function transformFacts(series: Series, { transform, baseDate }: Computation) {
  const source_unit = series.unit;
  if (unitPreserving.has(transform)) return { source_unit };
  const own = { source_unit, unit_multiplier: null, decimals: null };
  if (transform === 'log')
    return { ...own, unit: series.unit === null ? 'Natural log' : `Natural log (${series.unit})` };
  if (transform === 'zscore') return { ...own, unit: 'Standard deviations' };
  if (transform !== 'index') return { ...own, unit: '%' };
  return { ...own, unit: `Index (${baseDate ?? 'first value'} = 100)`, base_date: baseDate };
}

/** The values of a dimension, in the order in which they were first loaded, and their labels, if any. */
function dimensionOf({ combinations, labels }: Series, name: string) {
  const values = [...new Set(combinations.flatMap(({ dims }) => dims[name] ?? []))];
  const known = (Object.hasOwn(labels, name) ? labels[name] : undefined) ?? {};
  return {
    name,
    values,
    labels: Object.fromEntries(
      values.filter((value) => Object.hasOwn(known, value)).map((value) => [value, known[value]]),
    ),
  };
}
