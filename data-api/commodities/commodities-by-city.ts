// GET /v1/commodities/by-city: the price of an item in each city, its changes over a week and a year, and its rank.
// Hides how a date finds its prices: the newest of the period it means, city by city.
import { z } from 'zod';
import { entryAt, entryOf, memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import {
  dateParam,
  idsParam,
  oneOfParam,
  parseQuery,
  periodParam,
  windowParams,
} from '../../kernel/http/params.ts';
import { addDays, type DateRange } from '../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd } from '../../domain/periods.ts';
import { priceParams, requireCities, requireItem } from './commodities.ts';
import { decimal, percentChange } from '../decimal.ts';
import type { Dependencies } from '../dependencies.ts';
import { digits, type Digits } from '../../kernel/digits.ts';
import { csvType, jsonType, listCsv } from '../envelope.ts';
import { filterPoints, readAll, readFirst, type Points, type Selection } from '../series/points.ts';
import { cachingHeaders, sendNotModified, sendText } from '../../kernel/http/reply.ts';
import { metaOf } from '../series/series-meta.ts';
import { toRequest } from '../series/series-request.ts';
import type { Series } from '../series/series.sql.ts';
import { lookBack, slackDays, transformValues } from '../series/transform.ts';

const citiesMax = 100;
const changeDecimals = 10;

const byCityQuery = z.object({
  ...priceParams,
  date: periodParam.optional(),
  ...windowParams,
  cities: idsParam('city', citiesMax).optional(),
  sort: oneOfParam(['price', '-price', 'city', '-city']).default('price'),
  vintage: dateParam.optional(),
  format: oneOfParam(['json', 'csv']).default('json'),
});

interface CityPrice {
  date: string;
  /** Published digits. */
  value: string;
  dims: Readonly<Record<string, string>>;
  cityName: string;
  /** Percent, to ten decimals; null where there is nothing to compare with. */
  change1wPct: string | null;
  change1yPct: string | null;
  /** 1 is the cheapest; equal prices have the same. */
  rank: number;
}

/** GET /v1/commodities/by-city. Without `date`, `from` or `to`: the newest date at which any city has a price. */
export function getCommoditiesByCity(dependencies: Dependencies): Handler {
  const { database } = dependencies;
  return async function getCommoditiesByCity(request, response, call) {
    const { asked, window, vintage } = await call.stage('parse', () => {
      const asked = parseQuery(byCityQuery, request.url);
      if (asked.date !== undefined && (asked.from !== undefined || asked.to !== undefined))
        fail('invalid_parameter', '"date" is one date; use it without "from" and "to".', { param: 'date' });
      const { from, to, vintage } = toRequest(
        { ...asked, sort: 'asc', dims: [], fields: [] },
        call,
        dependencies,
      );
      return { asked, window: { from, to }, vintage };
    });
    const { series, cityNames } = await call.stage('lookup', async () => ({
      series: await requireItem(dependencies, asked.item, vintage),
      cityNames: await requireCities(dependencies, asked.cities ?? [], 'cities'),
    }));
    const headers = cachingHeaders(request, {
      identity: ['by-city', asked, series.rowVersion, series.releases[0], [...cityNames]],
      lastModified: series.changedAt,
      cacheControl: 'private',
    });
    if (sendNotModified(request, response, headers)) return;

    const selection: Selection = {
      series,
      dimsNos: combinationsOf(series, asked),
      ...(asked.date === undefined ? window : windowOfDate(series, asked.date)),
      order: 'desc',
      vintage,
      release: 'current',
      wanted: 'values',
      version: series.version,
    };
    const isLatest = asked.date === undefined && asked.from === undefined && asked.to === undefined;
    const rows = await call.stage('sql', async () => {
      const newest = await readFirst(database, selection);
      const latest = newest.dates.reduce((a, b) => (a > b ? a : b), '');
      const points = isLatest ? filterPoints(newest, (i) => newest.dates[i] === latest) : newest;
      return ranked(await withChanges(dependencies, selection, points, cityNames), asked.sort);
    });
    const answer = await call.stage('render', () =>
      asked.format === 'csv'
        ? { type: csvType, text: listCsv(rows.map(toCsvRow), csvColumns) }
        : { type: jsonType, text: byCityJson(series, vintage, rows) },
    );
    await sendText(request, response, { ...answer, headers });
  };
}

function combinationsOf(
  { combinations }: Series,
  asked: { price_type: string; stat: string; cities?: readonly string[] | undefined },
): number[] {
  return combinations
    .filter(
      ({ dims: { city, price_type, stat } }) =>
        city !== undefined && // a general load may bring a price of no city
        price_type === asked.price_type &&
        stat === asked.stat &&
        (asked.cities === undefined || asked.cities.includes(city)),
    )
    .map(({ dimsNo }) => dimsNo);
}

/** Where the prices of a date are: its period; of a day in a daily or weekly series, the week that ends with it. */
function windowOfDate({ frequency, fiscalYearEnd }: Series, date: DateRange): DateRange {
  if (monthsPerPeriod[frequency] !== undefined)
    return { from: date.from, to: periodEnd(date.to, frequency, fiscalYearEnd ?? undefined) };
  if (date.from !== date.to || date.from < '0001-01-08') return date;
  return { from: addDays(date.from, 1 - slackDays), to: date.to };
}

/** Each price with its changes; the earlier prices are read once a date. */
async function withChanges(
  { database }: Dependencies,
  selection: Selection,
  points: Points,
  cityNames: ReadonlyMap<string, string>,
): Promise<Omit<CityPrice, 'rank'>[]> {
  const { series } = selection;
  const dimsOf = new Map(series.combinations.map(({ dimsNo, dims }) => [dimsNo, dims]));
  const rows: Omit<CityPrice, 'rank'>[] = [];
  for (const date of new Set(points.dates)) {
    const block = filterPoints(points, (i) => points.dates[i] === date);
    const history = await readAll(database, {
      ...selection,
      dimsNos: block.dimsNos,
      from: lookBack('yoy', series.frequency, date),
      to: date,
      order: 'asc',
    });
    const earlier = filterPoints(history, (i) => history.dates[i] !== date);
    const rule = { transform: 'yoy', frequency: series.frequency, bases: new Map() } as const;
    const overYear = transformValues(rule, earlier, block);
    block.dimsNos.forEach((dimsNo, i) => {
      const value = entryAt(block.values, i);
      const dims = entryOf(dimsOf, dimsNo);
      rows.push({
        date,
        value,
        dims,
        cityName: cityNames.get(memberOf(dims, 'city')) ?? '', // a general load may bring a city that no list names
        change1wPct: weekChange(series, earlier, { date, value, dimsNo }),
        change1yPct: entryAt(overYear, i) || null,
      });
    });
  }
  return rows;
}

/** Against the last price on or before the same day a week earlier, at most a week older; null for longer periods. */
function weekChange(
  { frequency }: Series,
  earlier: Points,
  { date, value, dimsNo }: { date: string; value: string; dimsNo: number },
): string | null {
  if (monthsPerPeriod[frequency] !== undefined || date < '0001-01-22') return null;
  const weekAgo = addDays(date, -7);
  const at = earlier.dates.findLastIndex((day, i) => earlier.dimsNos[i] === dimsNo && day <= weekAgo);
  const isNear = at >= 0 && entryAt(earlier.dates, at) >= addDays(weekAgo, -slackDays);
  return isNear ? percentChange(decimal(value), decimal(entryAt(earlier.values, at)), changeDecimals) : null;
}

function ranked(rows: readonly Omit<CityPrice, 'rank'>[], sort: string): CityPrice[] {
  const byPrice = rows.toSorted((a, b) => Number(a.value) - Number(b.value) || byCity(a, b));
  const withRanks = byPrice.map((row) => ({
    ...row,
    rank: 1 + byPrice.findIndex((other) => Number(other.value) === Number(row.value)),
  }));
  const sorted = sort.endsWith('city') ? withRanks.toSorted(byCity) : withRanks;
  return sort.startsWith('-') ? sorted.toReversed() : sorted;
}

function byCity(a: Omit<CityPrice, 'rank'>, b: Omit<CityPrice, 'rank'>): number {
  return memberOf(a.dims, 'city') < memberOf(b.dims, 'city') ? -1 : 1;
}

/** The series envelope, each point with its changes and its rank. */
function byCityJson(series: Series, vintage: string | null, rows: readonly CityPrice[]): string {
  const data = rows.map((row) => ({
    date: row.date,
    value: digits(row.value),
    dims: row.dims,
    city_name: row.cityName,
    change_1w_pct: digits(row.change1wPct),
    change_1y_pct: digits(row.change1yPct),
    rank: row.rank,
  }));
  const pagination = { next_cursor: null, count: rows.length };
  return JSON.stringify({
    success: true,
    series: series.id,
    meta: metaOf(series, { vintage, version: series.version }, null),
    data,
    pagination,
  });
}

const csvColumns = [
  'date',
  'value',
  'city',
  'price_type',
  'stat',
  'city_name',
  'change_1w_pct',
  'change_1y_pct',
  'rank',
] as const;

function toCsvRow(row: CityPrice): Record<(typeof csvColumns)[number], string | Digits | number | null> {
  return {
    date: row.date,
    value: digits(row.value),
    city: memberOf(row.dims, 'city'),
    price_type: memberOf(row.dims, 'price_type'),
    stat: memberOf(row.dims, 'stat'),
    city_name: row.cityName,
    change_1w_pct: digits(row.change1wPct),
    change_1y_pct: digits(row.change1yPct),
    rank: row.rank,
  };
}
