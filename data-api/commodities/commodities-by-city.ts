// GET /v1/commodities/by-city: the price of an item in each city, its changes over a week and a year, and its rank. A date selects the
// newest price per city in the period that the date represents.
import { z } from 'zod';
import { digits } from '../../kernel/digits.ts';
import { entryAt, entryOf, memberOf } from '../../kernel/entries.ts';
import { refuseParam } from '../../kernel/errors.ts';
import type { Queryable } from '../../kernel/database.ts';
import { formatParam, listCsv } from '../../kernel/http/list.ts';
import {
  dateParam,
  idsParam,
  oneOfParam,
  periodParam,
  repeatableParam,
  windowParams,
} from '../../kernel/http/params.ts';
import { addDays, type DateRange } from '../../kernel/dates.ts';
import { monthsPerPeriod, periodEnd } from '../../domain/periods.ts';
import { pricesFilter, priceParams, requireCities, requireItem } from './commodities.ts';
import { decimal, percentChange } from '../decimal.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { combinationsThatPass } from '../series/dims.ts';
import { filterPoints, noPoints, type Points } from '../series/stored/point-columns.ts';
import { readAll, readFirst, type Selection } from '../series/stored/points.ts';
import { metaOf, withBreaksAt } from '../series/series-meta.ts';
import { stateOf } from '../series/series-read.ts';
import { toRequest, transformParam } from '../series/series-request.ts';
import { seriesSchemaWith } from '../series/series-schema.ts';
import type { Series } from '../series/stored/series.sql.ts';
import { slackDays } from '../series/computed/legs.ts';
import {
  prepareTransform,
  transformedValues,
  type Computation,
} from '../series/computed/transformed-points.ts';

const citiesMax = 100;

interface CityPrice {
  date: string;
  /** The published digits, or the result of the transform. */
  value: string;
  dims: Readonly<Record<string, string>>;
  city_name: string;
  /** In percent; null if there is no earlier price to compare with. */
  change_1w_pct: string | null;
  change_1y_pct: string | null;
  /** 1 is the cheapest; equal prices share a rank. */
  rank: number;
}

export const getCommoditiesByCity = endpoint({
  summary: 'The newest price of an item in each city, its changes over a week and a year, and its rank.',
  query: {
    ...priceParams,
    date: periodParam
      .optional()
      .describe(
        'A day or a period; a day selects its period or, for daily and weekly items, for the seven days that end with it. ' +
          'Default the newest day with a price, unless `from` or `to` is given.',
      ),
    ...windowParams,
    cities: idsParam('city', citiesMax).optional().describe('Comma-separated ids; default all cities.'),
    dims: repeatableParam(z.string())
      .default([])
      .describe('As for `/v1/series/{id}`; replaces the parameters of the same name.'),
    transform: transformParam.describe('Applied to the prices of each city; `rank` is by the result.'),
    sort: oneOfParam(['price', '-price', 'city', '-city'])
      .default('price')
      .describe('The order: by value or by city; `-` for descending.'),
    vintage: dateParam
      .optional()
      .describe('The prices as published at the end of that day. Feature `vintages`.'),
    format: formatParam,
  },
  json: seriesSchemaWith({
    city_name: z.string(),
    change_1w_pct: z
      .number()
      .nullable()
      .describe(
        'Percent, against the last price on or before the same day a week earlier, at most a week older; null for monthly and longer periods.',
      ),
    change_1y_pct: z.number().nullable().describe('Percent, as `transform=yoy` computes it.'),
    rank: z.int().describe('1 is the cheapest; equal prices have the same rank.'),
  }),
  errors: ['not_found', 'plan_required', 'transform_not_applicable', 'unknown_dimension', 'gone'],
  handler: async (dependencies, { query, call }) => {
    const { database } = dependencies;
    if (query.date !== undefined && (query.from !== undefined || query.to !== undefined))
      refuseParam('date', '"date" cannot be combined with "from" or "to".');
    const { from, to, vintage } = toRequest(
      { ...query, sort: 'asc', fields: [], incomplete: false },
      call,
      dependencies,
    );
    const { found, cityNames } = await call.stage('lookup', async () => ({
      found: await requireItem(dependencies, call, query.item, vintage),
      cityNames: await requireCities(dependencies, query.cities ?? [], 'cities'),
    }));
    const series = withBreaksAt(found, vintage, found.version);
    const asked: Selection = {
      series,
      lineNos: combinationsOf(series, query),
      ...(query.date === undefined ? { from, to } : windowOfDate(series, query.date)),
      order: 'desc',
      vintage,
      release: 'current',
      wanted: 'values',
      version: series.version,
    };
    const isLatest = query.date === undefined && query.from === undefined && query.to === undefined;
    return {
      identity: ['by-city', query, ...stateOf(series), [...cityNames]],
      lastModified: series.changedAt,
      format: query.format,
      fileName: `${series.id}-by-city`,
      async read() {
        const { transform } = query;
        const selection = isLatest ? await call.stage('sql', () => newestWindow(database, asked)) : asked;
        const computation =
          transform === undefined
            ? null
            : await call.stage('transform', () => prepareTransform(database, selection, transform, null));
        const rows = await call.stage('sql', async () => {
          const points = await readFirst(database, selection);
          const priced = await withChanges(dependencies, selection, computation, { points, cityNames });
          return ranked(priced, query.sort);
        });
        const text = await call.stage('render', () =>
          query.format === 'csv' ? byCityCsv(rows) : byCityJson(series, { vintage, computation }, rows),
        );
        return { text };
      },
    };
  },
});

function combinationsOf(
  series: Series,
  asked: {
    price_type: string;
    stat: string;
    dims: readonly string[];
    cities?: readonly string[] | undefined;
  },
): number[] {
  const passing = combinationsThatPass(series, pricesFilter(asked));
  return series.combinations
    .filter(({ lineNo, dims: { city } }) => {
      if (city === undefined || !passing.includes(lineNo)) return false; // a general load may add prices with no city
      return asked.cities === undefined || asked.cities.includes(city);
    })
    .map(({ lineNo }) => lineNo);
}

/** Without `date`, `from` or `to`: the window of the newest date on which any city has a price, as if that date were requested. */
async function newestWindow(database: Queryable, asked: Selection): Promise<Selection> {
  const { dates } = await readFirst(database, asked);
  const newest = dates.reduce((a, b) => (a > b ? a : b), '');
  return newest === '' ? asked : { ...asked, ...windowOfDate(asked.series, { from: newest, to: newest }) };
}

/** The window of a date's prices: its period; for a day in a daily or weekly series, the week that ends on it. */
function windowOfDate({ frequency, fiscalYearEnd }: Series, date: DateRange): DateRange {
  if (monthsPerPeriod[frequency] !== undefined)
    return { from: date.from, to: periodEnd(date.to, frequency, fiscalYearEnd ?? undefined) };
  if (date.from !== date.to || date.from < '0001-01-08') return date;
  return { from: addDays(date.from, 1 - slackDays), to: date.to };
}

/** The prices with their changes, transformed if requested; earlier prices are read for each date. */
async function withChanges(
  { database }: Dependencies,
  selection: Selection,
  computation: Computation | null,
  { points, cityNames }: { points: Points; cityNames: ReadonlyMap<string, string> },
): Promise<Omit<CityPrice, 'rank'>[]> {
  const { series } = selection;
  const dimsOf = new Map(series.combinations.map(({ lineNo, dims }) => [lineNo, dims]));
  const rows: Omit<CityPrice, 'rank'>[] = [];
  for (const date of new Set(points.dates)) {
    const block = filterPoints(points, (i) => points.dates[i] === date);
    const own = { ...selection, lineNos: block.lineNos };
    const overYear = await transformedValues(database, own, changeOverYear, block);
    const shown =
      computation === null ? block.values : await transformedValues(database, own, computation, block);
    const weeks = await weeksBefore(database, own, block);
    block.lineNos.forEach((lineNo, i) => {
      const value = entryAt(block.values, i);
      if (shown[i] === '') return;
      const dims = entryOf(dimsOf, lineNo);
      rows.push({
        date,
        value: entryAt(shown, i),
        dims,
        city_name: cityNames.get(memberOf(dims, 'city')) ?? '', // a general load may add a city that no list names
        change_1w_pct: weekChange(series, weeks, { date, value, lineNo }),
        change_1y_pct: entryAt(overYear, i) || null,
      });
    });
  }
  return rows;
}

/** As `transform=yoy` computes it. */
const changeOverYear: Computation = {
  transform: 'yoy',
  bases: new Map(),
  moments: new Map(),
  baseDate: null,
};

/** The prices with which those of a date are compared over a week, ascending; none for periods longer than a week. */
async function weeksBefore(database: Queryable, selection: Selection, block: Points): Promise<Points> {
  const date = entryAt(block.dates, 0);
  if (monthsPerPeriod[selection.series.frequency] !== undefined || date < '0001-01-22') return noPoints();
  const to = addDays(date, -7);
  const from = addDays(to, -slackDays);
  return readAll(database, { ...selection, from, to, order: 'asc' });
}

/** Compares with the last price on or before the same day a week earlier, at most a week older and in the same unit. */
function weekChange(
  { breaks }: Series,
  weeks: Points,
  { date, value, lineNo }: { date: string; value: string; lineNo: number },
): string | null {
  const at = weeks.lineNos.lastIndexOf(lineNo);
  if (at < 0 || breaks.some((each) => each.date > entryAt(weeks.dates, at) && each.date <= date)) return null;
  return percentChange(decimal(value), decimal(entryAt(weeks.values, at)));
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
function byCityJson(
  series: Series,
  { vintage, computation }: { vintage: string | null; computation: Computation | null },
  rows: readonly CityPrice[],
): string {
  const meta = metaOf(series, { vintage, version: series.version }, computation);
  const pagination = { next_cursor: null, count: rows.length };
  return JSON.stringify({ success: true, series: series.id, meta, data: rows.map(shownRow), pagination });
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
];

function byCityCsv(rows: readonly CityPrice[]): string {
  const cells = rows.map((row) => ({ ...row.dims, ...shownRow(row) }));
  return listCsv(cells, csvColumns);
}

/** A row of the answer. */
function shownRow(row: CityPrice) {
  return {
    ...row,
    value: digits(row.value),
    change_1w_pct: digits(row.change_1w_pct),
    change_1y_pct: digits(row.change_1y_pct),
  };
}
