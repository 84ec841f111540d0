// GET /v1/commodities: the prices of an item in a city, or their national average, as a series; and the public lists. Prices are stored as
// the series `commodity.<item>`, which is read, transformed and sent like any other.
import { z } from 'zod';
import { entryOf } from '../../kernel/entries.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { nearestHint, oneOfParam } from '../../kernel/http/params.ts';
import { cityList, itemList, listCityNames, listItemIds } from './commodities.sql.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { listReply, paramsWithUpdates, schemaOf } from '../list.ts';
import { Conditions } from '../list.sql.ts';
import { parseDims, type DimsFilter } from '../series/dims.ts';
import { pageQueryOf, requireSeries, withPointNotes } from '../series/series-read.ts';
import { requireWorkbook, seriesParams, toRequest } from '../series/series-request.ts';
import type { Series } from '../series/stored/series.sql.ts';
import { pinnedHeaders, seriesErrors, seriesReply } from '../series/series.ts';
import { seriesSchema } from '../series/series-schema.ts';

/** The pseudo-city for the average of all cities. */
const national = 'national';
/** The number of the average, which is not a stored combination. */
const averageNo = -1;

/** Select prices by type and statistic. */
export const priceParams = {
  item: z.string().describe('An id of `/v1/commodities/items`.'),
  price_type: oneOfParam(['retail', 'wholesale', 'farmgate'])
    .default('retail')
    .describe('The kind of price.'),
  stat: oneOfParam(['avg', 'min', 'max']).default('avg').describe("Which statistic over the city's markets."),
};

/** Without a city: the unweighted mean over the cities that have a price on the date. */
export const getCommodities = endpoint({
  summary: 'The prices of an item in a city, or their national average, as a series.',
  query: {
    ...priceParams,
    city: z
      .string()
      .default(national)
      .describe('An id of `/v1/commodities/cities`, or `national`: the mean over all cities.'),
    ...seriesParams,
    dims: seriesParams.dims.describe('As for `/v1/series/{id}`; replaces the parameters of the same name.'),
  },
  json: seriesSchema,
  headers: pinnedHeaders,
  errors: seriesErrors,
  handler: async (dependencies, asked) => {
    const { query, call } = asked;
    requireWorkbook(query);
    const filter = pricesFilter(query, query.city);
    const cities = [...(filter.get('city') ?? [])];
    const [city = national] = cities;
    const request = { ...toRequest(query, call, dependencies), filter };
    const series = await call.stage('lookup', async () => {
      const item = await requireItem(dependencies, call, query.item, request.vintage);
      const prices = await withPointNotes(dependencies, call, item, request);
      if (cities.length > 1) return prices;
      if (city === national) return withAverage(prices, filter);
      await requireCities(dependencies, [city], 'city');
      return { ...prices, id: `${prices.id}.${city}` };
    });
    const pageQuery = pageQueryOf(series, request, dependencies.cursors);
    return seriesReply(dependencies, asked, { endpoint: 'commodities', pageQuery, request });
  },
});

/** The filter from `price_type`, `stat` and a city; dimensions named in `dims` override them. */
export function pricesFilter(
  { price_type, stat, dims }: { price_type: string; stat: string; dims: readonly string[] },
  city?: string,
): DimsFilter {
  const named = Object.entries({ ...(city === undefined ? {} : { city }), price_type, stat });
  return new Map<string, ReadonlySet<string>>([
    ...named.map(([name, value]) => [name, new Set([value])] as const),
    ...parseDims(dims),
  ]);
}

/** The series of an item's prices. @throws Failure `not_found`, which suggests the nearest item if there is one. */
export async function requireItem(
  dependencies: Dependencies,
  call: ServiceCall,
  item: string,
  vintage: string | null,
): Promise<Series> {
  const ids = await listItemIds(dependencies.database);
  if (ids.includes(item)) return requireSeries(dependencies, call, `commodity.${item}`, vintage);
  const hint = nearestHint(item, ids, 'GET /v1/commodities/items lists them.');
  return fail('not_found', `There is no item "${item.slice(0, 80)}". ${hint}`, { param: 'item' });
}

/** id → name of all cities. @throws Failure `not_found` if a requested city does not exist. */
export async function requireCities(
  { database }: Dependencies,
  asked: readonly string[],
  param: string,
): Promise<ReadonlyMap<string, string>> {
  const names = await listCityNames(database);
  const unknown = asked.find((city) => !names.has(city));
  if (unknown === undefined) return names;
  const hint = nearestHint(unknown, [...names.keys()], 'GET /v1/commodities/cities lists them.');
  return fail('not_found', `There is no city "${unknown.slice(0, 80)}". ${hint}`, { param });
}

/** The series with one combination: the average of the cities' prices of one type and statistic. */
function withAverage(prices: Series, filter: DimsFilter): Series {
  const [price_type, stat] = [oneOfFilter(filter, 'price_type'), oneOfFilter(filter, 'stat')];
  const averageOf = prices.combinations
    .filter(({ dims }) => dims['price_type'] === price_type && dims['stat'] === stat)
    .map(({ lineNo }) => lineNo);
  const dims = { city: national, price_type, stat };
  return { ...prices, combinations: averageOf.length === 0 ? [] : [{ lineNo: averageNo, dims, averageOf }] };
}

/** @throws Failure `invalid_parameter` if `dims` names several: an average over them is not defined. */
function oneOfFilter(filter: DimsFilter, name: string): string {
  const [value, ...others] = entryOf(filter, name);
  if (value === undefined || others.length > 0)
    refuseParam('dims', `The national average is of one ${name}: name one in "dims", or a city.`);
  return value;
}

export const getCommodityItems = endpoint({
  summary: 'The items that have prices.',
  query: paramsWithUpdates(itemList, { category: z.string().describe('The exact category.') }),
  json: schemaOf(itemList),
  caching: 'public',
  handler: (dependencies, { query, call }) => {
    const where = new Conditions().equals('category', query.category, 'i.category');
    return listReply(dependencies, call, { list: itemList, query, where });
  },
});

export const getCommodityCities = endpoint({
  summary: 'The cities that have prices.',
  query: paramsWithUpdates(cityList, { province: z.string().describe('The exact province.') }),
  json: schemaOf(cityList),
  caching: 'public',
  handler: (dependencies, { query, call }) => {
    const where = new Conditions().equals('province', query.province, 'c.province');
    return listReply(dependencies, call, { list: cityList, query, where });
  },
});
