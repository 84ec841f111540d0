// The one table of datasets: for each, the columns a file may have, their types, the key, and the target of the rows.
// Everything that `almanac ingest` knows about a dataset is here; a new dataset is a new row.
import { expectedOf, type Column, type ColumnType } from '../files/cells.ts';
import type { Dataset } from './dataset.ts';
import { misuse } from '../load/failure.ts';
import { fundDatasets } from './fund-datasets.ts';
import { marketDatasets } from './market-datasets.ts';

const seriesColumns: readonly Column[] = [
  { name: 'series_id', type: 'series_id', required: true, meaning: 'identifier, exact case' },
  { name: 'name', type: 'text', required: true, lengthMax: 500, meaning: 'title' },
  { name: 'unit', type: 'text', required: true, lengthMax: 200, meaning: 'unit of the values' },
  { name: 'frequency', type: 'frequency', required: true, meaning: 'of the observations' },
  { name: 'source', type: 'text', required: true, lengthMax: 500, meaning: 'who publishes it' },
  {
    name: 'description',
    type: 'text',
    required: false,
    lengthMax: 10_000,
    meaning: 'what is measured, and how',
  },
  { name: 'geography', type: 'text', required: false, lengthMax: 200, meaning: 'country or place' },
  {
    name: 'seasonal_adjustment',
    type: 'text',
    required: false,
    lengthMax: 100,
    meaning: 'such as SA or NSA',
  },
  {
    name: 'unit_multiplier',
    type: 'integer',
    required: false,
    range: [-30, 30],
    meaning: 'power of ten of the unit',
  },
  { name: 'decimals', type: 'integer', required: false, range: [0, 30], meaning: 'digits to show' },
  { name: 'licence', type: 'text', required: false, lengthMax: 1_000, meaning: 'terms of use' },
  { name: 'attribution', type: 'text', required: false, lengthMax: 1_000, meaning: 'how to cite it' },
  {
    name: 'fiscal_year_end',
    type: 'month_day',
    required: false,
    meaning: 'MM-DD, for annual series whose year is not the calendar year',
  },
  { name: 'tags', type: 'list', required: false, meaning: 'words, divided by ;' },
  { name: 'category', type: 'text', required: false, lengthMax: 500, meaning: 'path, parts divided by /' },
];

const itemColumns: readonly Column[] = [
  { name: 'item_id', type: 'slug', required: true, meaning: 'id; prices name the item by it' },
  { name: 'name', type: 'text', required: true, lengthMax: 200, meaning: 'name in English' },
  { name: 'name_local', type: 'text', required: false, lengthMax: 200, meaning: 'name where it is sold' },
  { name: 'category', type: 'text', required: false, lengthMax: 200, meaning: 'path, parts divided by /' },
  {
    name: 'unit',
    type: 'text',
    required: true,
    lengthMax: 80,
    meaning: 'what a price is for, such as 20 Kg bag',
  },
  { name: 'unit_quantity', type: 'number', required: false, range: [1e-9, 1e9], meaning: '20 of 20 Kg bag' },
  { name: 'unit_measure', type: 'text', required: false, lengthMax: 40, meaning: 'Kg of 20 Kg bag' },
  { name: 'currency', type: 'currency', required: true, meaning: 'of the prices' },
  { name: 'coicop', type: 'coicop', required: false, meaning: 'class of consumption' },
  { name: 'frequency', type: 'frequency', required: true, meaning: 'of the prices' },
  { name: 'source', type: 'text', required: true, lengthMax: 500, meaning: 'who publishes the prices' },
  { name: 'active', type: 'boolean', required: false, meaning: 'whether prices are still published' },
];

const cityColumns: readonly Column[] = [
  {
    name: 'city_id',
    type: 'slug',
    required: true,
    reserved: ['national'],
    meaning: 'id; prices name the city by it',
  },
  { name: 'name', type: 'text', required: true, lengthMax: 200, meaning: 'name in English' },
  { name: 'province', type: 'text', required: false, lengthMax: 200, meaning: 'province or state' },
  { name: 'latitude', type: 'number', required: false, range: [-90, 90], meaning: 'degrees, north positive' },
  {
    name: 'longitude',
    type: 'number',
    required: false,
    range: [-180, 180],
    meaning: 'degrees, east positive',
  },
];

/** Facts of an item or a city that a price file may hold, used where --create makes one. */
const priceFacts = [...itemColumns, ...cityColumns].filter(
  ({ name }) => !['item_id', 'city_id', 'name', 'active'].includes(name),
);

export const datasets: readonly Dataset[] = [
  {
    name: 'series',
    meaning: 'The metadata of series: made where the id is new, changed where it is known.',
    kind: 'table',
    target: 'data.series',
    key: ['series_id'],
    series: 't.series_id',
    columns: seriesColumns,
  },
  {
    name: 'observations',
    meaning: 'The values of series, long (one row a value) or wide (one column a series, with --wide).',
    kind: 'points',
    target: 'data.observations',
    key: ['series_id', 'date', 'dimensions', 'vintage'],
    columns: [
      {
        name: 'series_id',
        type: 'series_id',
        required: true,
        meaning: 'identifier of the series; or --set series_id=…',
      },
      {
        name: 'date',
        type: 'date',
        required: true,
        meaning: 'day or period; kept as the last day of the period',
      },
      {
        name: 'value',
        type: 'number',
        required: true,
        meaning: 'as published; empty is published as missing',
      },
      {
        name: 'status',
        type: 'text',
        required: false,
        lengthMax: 16,
        meaning: 'observation status, such as E or P',
      },
      {
        name: 'vintage',
        type: 'date',
        required: false,
        meaning: 'day on which the value was published, instead of --vintage',
      },
      ...seriesColumns
        .filter((column) => column.name !== 'series_id')
        .map((column) => ({
          ...column,
          required: false,
          meaning: `${column.meaning}; used where --create makes the series`,
        })),
    ],
    otherColumns: 'a dimension of that name (leave one out with --ignore)',
  },
  {
    name: 'dimension-labels',
    meaning: 'What the values of the dimensions of a series are called, where they are codes.',
    kind: 'table',
    target: 'data.dimension_labels',
    key: ['series_id', 'dimension', 'value'],
    references: [
      {
        column: 'series_id',
        table: 'data.series',
        key: 'series_id',
        number: 'series_no',
        expected: 'a series that exists',
      },
    ],
    rules: [
      {
        columns: ['dimension', 'series_id'],
        holds:
          't.dimension in (select unnest(s.dimensions) from data.series s where s.series_id = t.series_id)',
        expected: 'a dimension of the series',
      },
    ],
    columns: [
      { name: 'series_id', type: 'series_id', required: true, meaning: 'the series' },
      { name: 'dimension', type: 'text', required: true, lengthMax: 63, meaning: 'its dimension' },
      {
        name: 'value',
        type: 'text',
        required: true,
        lengthMax: 200,
        meaning: 'the value as observations have it',
      },
      { name: 'label', type: 'text', required: true, lengthMax: 300, meaning: 'what it is called' },
    ],
  },
  {
    name: 'commodity-items',
    meaning: 'What is priced: made where the id is new, changed where it is known.',
    kind: 'table',
    target: 'data.commodity_items',
    key: ['item_id'],
    series: `'commodity.' || t.item_id`,
    columns: itemColumns,
  },
  {
    name: 'commodity-cities',
    meaning: 'Where prices are taken.',
    kind: 'table',
    target: 'data.commodity_cities',
    key: ['city_id'],
    columns: cityColumns,
  },
  {
    name: 'commodity-prices',
    meaning:
      'Prices by item and city, with vintages as observations have them. --create makes items and cities.',
    kind: 'points',
    target: 'data.observations',
    key: ['item', 'city', 'date', 'price_type', 'stat', 'vintage'],
    columns: [
      {
        name: 'item',
        type: 'slug',
        required: true,
        meaning: 'the item: its id, or the name its id is made of',
      },
      {
        name: 'city',
        type: 'slug',
        required: true,
        reserved: ['national'],
        meaning: 'the city: its id, or the name its id is made of',
      },
      {
        name: 'date',
        type: 'date',
        required: true,
        meaning: 'day or period; kept as the last day of the period',
      },
      {
        name: 'price',
        type: 'number',
        required: true,
        meaning: 'in the currency and for the unit of the item',
      },
      {
        name: 'price_type',
        type: 'word',
        words: ['retail', 'wholesale', 'farmgate'],
        required: false,
        meaning: 'who sells; retail unless given',
      },
      {
        name: 'stat',
        type: 'word',
        words: ['avg', 'min', 'max'],
        required: false,
        meaning: 'which price of the markets of the city; avg unless given',
      },
      {
        name: 'status',
        type: 'text',
        required: false,
        lengthMax: 16,
        meaning: 'observation status, such as E or P',
      },
      { name: 'vintage', type: 'date', required: false, meaning: 'day of publication, instead of --vintage' },
      ...priceFacts.map((column) => ({
        ...column,
        required: false,
        meaning: `${column.meaning}; for --create`,
      })),
    ],
  },
  {
    name: 'calendar',
    meaning: 'When publishers release what: a CSV file, or an iCalendar file (.ics) with an event a release.',
    kind: 'table',
    target: 'data.releases',
    key: ['release_id'],
    columns: [
      {
        name: 'release_id',
        type: 'text',
        required: true,
        lengthMax: 200,
        meaning: 'id, kept when the date moves (UID of an event)',
      },
      { name: 'title', type: 'text', required: true, lengthMax: 500, meaning: 'what is released (SUMMARY)' },
      {
        name: 'source',
        type: 'text',
        required: true,
        lengthMax: 500,
        meaning: 'who releases it, as its series spell it',
      },
      { name: 'release_at', type: 'instant', required: true, meaning: 'when, in time_zone (DTSTART)' },
      { name: 'time_zone', type: 'time_zone', required: true, meaning: 'of the publisher (TZID)' },
      {
        name: 'time_confirmed',
        type: 'boolean',
        required: false,
        meaning: 'whether the hour is known; unless given, whether it is not midnight',
      },
      {
        name: 'reference_period',
        type: 'text',
        required: false,
        lengthMax: 100,
        meaning: 'what it is about, such as 2026-10',
      },
      { name: 'frequency', type: 'frequency', required: false, meaning: 'how often it comes' },
      {
        name: 'kind',
        type: 'word',
        words: ['new', 'revised'],
        required: false,
        meaning: 'first figures or a revision',
      },
      {
        name: 'status',
        type: 'word',
        words: ['scheduled', 'released', 'delayed', 'cancelled'],
        required: false,
        meaning: 'by the clock unless given',
      },
      {
        name: 'importance',
        type: 'word',
        words: ['low', 'medium', 'high'],
        required: false,
        meaning: 'to markets',
      },
      {
        name: 'series_ids',
        type: 'list',
        required: false,
        meaning: 'the series that it brings, divided by ;',
      },
      { name: 'url', type: 'url', required: false, meaning: 'where it will be' },
    ],
  },
  ...fundDatasets,
  ...marketDatasets,
];

export const datasetNames: readonly string[] = datasets.map((dataset) => dataset.name);

/** @throws IngestFailure where there is no such dataset. */
export function datasetNamed(name: string): Dataset {
  const found = datasets.find((dataset) => dataset.name === name);
  return found ?? misuse(`There is no dataset ${name}; there are ${datasetNames.join(', ')}.`);
}

interface DatasetDescription {
  name: string;
  meaning: string;
  key: readonly string[];
  columns: { name: string; type: ColumnType; required: boolean; meaning: string; expected: string }[];
  otherColumns: string | null;
}

/** What `almanac ingest --describe <dataset>` prints. @throws IngestFailure where there is no such dataset. */
export function describe(dataset: string): DatasetDescription {
  const { name, meaning, key, columns, otherColumns } = datasetNamed(dataset);
  return {
    name,
    meaning,
    key,
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type,
      required: column.required,
      meaning: column.meaning,
      expected: expectedOf(column),
    })),
    otherColumns: otherColumns ?? null,
  };
}
