// Resolves ids: the series of a `series_id`, or the release, source or category of a number. A series with dimensions has an id in FRED's
// form for each combination of their values, DEMO.FX~EUR~buy, in the order of its dimensions.
import { numberOfNameId } from '../../domain/name-id.ts';
import { Failure, fail, refuseParam } from '../../kernel/errors.ts';
import { integerParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { z } from 'zod';
import type { Dependencies } from '../dependencies.ts';
import { requireSeries } from '../series/series-read.ts';
import type { Series } from '../series/stored/series.sql.ts';

export const seriesIdParam = z
  .string()
  .describe(
    'The id of a series, or the same in lower case. Of a series with dimensions, also a value of each: `DEMO.FX~EUR~buy`.',
  );

/** A series, or one combination of its dimension values. */
export interface FredSeries {
  series: Series;
  /** The id by which it was found. */
  askedId: string;
  /** The values in the id, joined by `~`; null if it has none. */
  values: string | null;
  /** Its id in FRED's form. */
  id: string;
  /** Null: the series has no points, or has several combinations and the id names none of them. */
  lineNo: number | null;
}

/** @throws Failure `not_found`, `gone`. */
export async function requireFredSeries(
  dependencies: Dependencies,
  call: ServiceCall,
  seriesId: string,
): Promise<FredSeries> {
  const mark = seriesId.indexOf('~');
  const [name, values] = mark < 0 ? [seriesId, null] : [seriesId.slice(0, mark), seriesId.slice(mark + 1)];
  const { series, askedId } = await findByName(dependencies, call, name);
  const lineNo = lineNoOf(series, values);
  if (values === null) return { series, askedId, values, id: series.id, lineNo };
  if (lineNo === null || series.dimensions.length === 0)
    return fail('not_found', `There is no series "${seriesId.slice(0, 80)}". ${hintOf(series)}`, {
      param: 'series_id',
    });
  return { series, askedId, values, id: `${series.id}~${values}`, lineNo };
}

/** The combination with the values; without values, the only one. */
export function lineNoOf(series: Series, values: string | null): number | null {
  const ids = valuesOf(series);
  if (values !== null) return ids.get(values) ?? null;
  const [only = null] = ids.size === 1 ? ids.values() : [];
  return only;
}

/** @throws Failure `invalid_parameter` that names three ids if the series has several combinations and the id names none. */
export function requireCombination({ series, lineNo }: FredSeries): void {
  if (lineNo !== null || series.combinations.length === 0) return;
  refuseParam(
    'series_id',
    `"series_id" must name a value of each dimension (${series.dimensions.join(', ')}). ${hintOf(series)}`,
  );
}

/** The values of each combination, joined by `~` → its number. */
export function valuesOf({ combinations, dimensions }: Series): ReadonlyMap<string, number> {
  return new Map(
    combinations.map(({ dims, lineNo }) => [dimensions.map((name) => dims[name] ?? '').join('~'), lineNo]),
  );
}

/** A series in FRED's form: a series for each combination of its dimension values, in their order; itself if it has no dimensions. */
export function combinationsOf(series: Series, askedId: string): FredSeries[] {
  const all = [...valuesOf(series)].sort(([a], [b]) => (a < b ? -1 : 1));
  const [only] = all;
  if (only === undefined || series.dimensions.length === 0)
    return [{ series, askedId, values: null, id: series.id, lineNo: only?.[1] ?? null }];
  return all.map(([values, lineNo]) => ({ series, askedId, values, id: `${series.id}~${values}`, lineNo }));
}

function hintOf(series: Series): string {
  if (series.dimensions.length === 0) return `${series.id} has no dimensions.`;
  const some = [...valuesOf(series).keys()]
    .toSorted()
    .slice(0, 3)
    .map((values) => `${series.id}~${values}`);
  return some.length === 0 ? '' : `Such as ${some.join(', ')}.`;
}

async function findByName(dependencies: Dependencies, call: ServiceCall, name: string) {
  const upper = name.toUpperCase();
  const find = async (askedId: string) => ({
    askedId,
    series: await requireSeries(dependencies, call, askedId, null),
  });
  try {
    return await find(name);
  } catch (error) {
    if (!(error instanceof Failure) || error.param !== 'id') throw error;
    if (error.code === 'not_found' && upper !== name) {
      const found = await find(upper).catch(() => null);
      if (found !== null) return found;
    }
    throw new Failure(error.code, error.message, { param: 'series_id', detail: error.detail });
  }
}

const listedAt = {
  release: 'GET /fred/releases',
  source: 'GET /fred/sources',
  category: 'GET /fred/category/children',
};
type Numbered = keyof typeof listedAt;

/** The number of a release, a source or a category. */
export const numberParam = (what: Numbered) =>
  integerParam(0, 2_147_483_647).describe(`The id of a ${what}: ${listedAt[what]} has it.`);

/** The row that has a number. @throws Failure `not_found`; `conflict`, which names the rows, if several have it. */
export function requireNumbered<Row extends { id: string; name: string }>(
  rows: readonly Row[],
  number: number,
  what: Numbered,
): Row {
  const param = `${what}_id`;
  const [found, ...others] = rows.filter(({ id }) => numberOfNameId(id) === number);
  if (found === undefined)
    return fail('not_found', `There is no ${what} ${number}. ${listedAt[what]} lists them.`, { param });
  if (others.length > 0) {
    const names = [found, ...others].map(({ name }) => `"${name}"`).join(' and ');
    fail(
      'conflict',
      `"${param}" ${number} is the number of ${names}. Ask for their series by name: GET /v1/catalog.`,
      {
        param,
      },
    );
  }
  return found;
}
