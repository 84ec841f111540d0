// GET /v1/commodities: the prices of an item in a city, or their national average, as a series; and the public lists.
// Hides that prices are the series `commodity.<item>`: what is read, transformed and sent is a view of that series.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { nearestName, oneOfParam, parseQuery } from '../../kernel/http/params.ts';
import { cityList, itemList, listCityNames, listItemIds } from './commodities.sql.ts';
import type { Dependencies } from '../dependencies.ts';
import { listParams, sendList } from '../list.ts';
import { Conditions } from '../list.sql.ts';
import { requireSeries } from '../series/series-read.ts';
import { seriesParams, toRequest } from '../series/series-request.ts';
import type { Series } from '../series/series.sql.ts';
import { sendSeries } from '../series/series.ts';

/** The city that is the average of all. */
const national = 'national';
/** Belongs to no stored combination. */
const averageNo = -1;

/** Which prices: each has one type and one statistic. */
export const priceParams = {
  item: z.string(),
  price_type: oneOfParam(['retail', 'wholesale', 'farmgate']).default('retail'),
  stat: oneOfParam(['avg', 'min', 'max']).default('avg'),
};

const { dims: _dims, ...params } = seriesParams;
const pricesQuery = z.object({ ...priceParams, city: z.string().default(national), ...params });

/** GET /v1/commodities. Without a city: the unweighted mean over the cities that have a price at the date. */
export function getCommodities(dependencies: Dependencies): Handler {
  return async function getCommodities(request, response, call) {
    const { asked, item, city, dims } = await call.stage('parse', () => {
      const query = parseQuery(pricesQuery, request.url);
      const dims = { city: query.city, price_type: query.price_type, stat: query.stat };
      const filter = new Map(Object.entries(dims).map(([name, value]) => [name, new Set([value])]));
      const asked = { ...toRequest({ ...query, dims: [] }, call, dependencies), filter };
      return { asked, item: query.item, city: query.city, dims };
    });
    const series = await call.stage('lookup', async () => {
      const prices = await requireItem(dependencies, item, asked.vintage);
      if (city === national) return withAverage(prices, dims);
      await requireCities(dependencies, [city], 'city');
      return { ...prices, id: `${prices.id}.${city}` };
    });
    await sendSeries(request, response, call, dependencies, { endpoint: 'commodities', series, asked });
  };
}

/** The series of an item's prices. @throws Failure `not_found` with the nearest item where one is near. */
export async function requireItem(
  dependencies: Dependencies,
  item: string,
  vintage: string | null,
): Promise<Series> {
  const ids = await listItemIds(dependencies.database);
  if (ids.includes(item)) return requireSeries(dependencies, `commodity.${item}`, vintage);
  const nearest = nearestName(item, ids);
  const hint = nearest === undefined ? 'GET /v1/commodities/items lists them.' : `Did you mean "${nearest}"?`;
  return fail('not_found', `There is no item "${item.slice(0, 80)}". ${hint}`, { param: 'item' });
}

/** id → name of all cities. @throws Failure `not_found` where one of the asked is none of them. */
export async function requireCities(
  { database }: Dependencies,
  asked: readonly string[],
  param: string,
): Promise<ReadonlyMap<string, string>> {
  const names = await listCityNames(database);
  const unknown = asked.find((city) => !names.has(city));
  if (unknown === undefined) return names;
  const nearest = nearestName(unknown, [...names.keys()]);
  const hint =
    nearest === undefined ? 'GET /v1/commodities/cities lists them.' : `Did you mean "${nearest}"?`;
  return fail('not_found', `There is no city "${unknown.slice(0, 80)}". ${hint}`, { param });
}

/** The series with one combination: the average of the cities' prices of that type and statistic. */
function withAverage(prices: Series, dims: { city: string; price_type: string; stat: string }): Series {
  const averageOf = prices.combinations
    .filter((each) => each.dims['price_type'] === dims.price_type && each.dims['stat'] === dims.stat)
    .map(({ dimsNo }) => dimsNo);
  return { ...prices, combinations: averageOf.length === 0 ? [] : [{ dimsNo: averageNo, dims, averageOf }] };
}

const itemQuery = z.object({ category: z.string().optional(), ...listParams(itemList) });

/** GET /v1/commodities/items. */
export function getCommodityItems(dependencies: Dependencies): Handler {
  return async function getCommodityItems(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(itemQuery, request.url));
    const where = new Conditions().and(asked.category, (p) => `i.category = ${p}`);
    await sendList(request, response, call, dependencies, { list: itemList, asked, where });
  };
}

const cityQuery = z.object({ province: z.string().optional(), ...listParams(cityList) });

/** GET /v1/commodities/cities. */
export function getCommodityCities(dependencies: Dependencies): Handler {
  return async function getCommodityCities(request, response, call) {
    const asked = await call.stage('parse', () => parseQuery(cityQuery, request.url));
    const where = new Conditions().and(asked.province, (p) => `c.province = ${p}`);
    await sendList(request, response, call, dependencies, { list: cityList, asked, where });
  };
}
