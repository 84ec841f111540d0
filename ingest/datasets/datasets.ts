// The table of datasets: for each, the columns a file may have, their types, the key, and the target of the rows. `almanac ingest` knows
// datasets only from this table; a new dataset is a new row.
import { plainCells, type Column } from '../cells/cells.ts';
import { column, day, flag, required, text, word } from './column-types.ts';
import type { Dataset, Reference } from './dataset.ts';
import { usageError } from '../failure.ts';
import { fundDatasets } from './fund-datasets.ts';
import { marketDatasets } from './market-datasets.ts';

const seriesColumns: readonly Column[] = [
  required('series_id', 'series_id', 'identifier, exact case'),
  required('name', 'text', 'title', { lengthMax: 500 }),
  text('unit', 200, 'unit of the values; empty if unknown'),
  required('frequency', 'frequency', 'of the observations'),
  text('source', 500, 'who publishes it; empty if unknown'),
  text('description', 10_000, 'what is measured, and how'),
  text('geography', 200, 'country or place'),
  text('seasonal_adjustment', 100, 'such as SA or NSA'),
  column('unit_multiplier', 'integer', 'power of ten of the unit', { range: [-30, 30] }),
  column('decimals', 'integer', 'digits to show', { range: [0, 30] }),
  text('licence', 1_000, 'terms of use'),
  column('licence_url', 'https_url', 'the URL of the terms'),
  text('attribution', 1_000, 'how to cite it'),
  column('fiscal_year_end', 'month_day', 'MM-DD, for annual series whose year is not the calendar year'),
  column('tags', 'list', 'words, separated by ;'),
  text('category', 500, 'path, parts separated by /'),
  column('methodology_url', 'https_url', 'the URL of the description of its methods'),
];

const itemColumns: readonly Column[] = [
  required('item_id', 'slug', 'id, by which prices refer to the item'),
  required('name', 'text', 'name in English', { lengthMax: 200 }),
  text('name_local', 200, 'name where it is sold'),
  text('category', 200, 'path, parts separated by /'),
  required('unit', 'text', 'the quantity that a price is for, such as 20 Kg bag', { lengthMax: 80 }),
  column('unit_quantity', 'number', '20 of 20 Kg bag', { range: [1e-9, 1e9] }),
  text('unit_measure', 40, 'Kg of 20 Kg bag'),
  required('currency', 'currency', 'of the prices'),
  column('coicop', 'coicop', 'class of consumption'),
  required('frequency', 'frequency', 'of the prices'),
  required('source', 'text', 'who publishes the prices', { lengthMax: 500 }),
  flag('active', 'whether prices are still published'),
];

const cityColumns: readonly Column[] = [
  required('city_id', 'city', 'id, by which prices refer to the city'),
  required('name', 'text', 'name in English', { lengthMax: 200 }),
  text('province', 200, 'province or state'),
  column('latitude', 'number', 'degrees, north positive', { range: [-90, 90] }),
  column('longitude', 'number', 'degrees, east positive', { range: [-180, 180] }),
];

const aSeries: Reference = {
  column: 'series_id',
  table: 'data.series',
  key: 'series_id',
  number: 'series_no',
  expected: 'a series that exists',
};

/** The properties of every dataset of points. */
const pointDate = required('date', 'date', 'day or period; stored as the last day of the period');
const pointStatus = text('status', 16, 'observation status, such as E or P');

/** Facts of an item or a city that a price file may have, used where --create creates one. */
const priceFacts = [...itemColumns, ...cityColumns].filter(
  ({ name }) => !['item_id', 'city_id', 'name', 'active'].includes(name),
);

export const datasets: readonly Dataset[] = [
  {
    name: 'series',
    meaning: 'The metadata of series. A new id creates a series; an existing id updates it.',
    kind: 'table',
    target: 'data.series',
    key: ['series_id'],
    series: 't.series_id',
    columns: seriesColumns,
  },
  {
    name: 'observations',
    meaning: 'The values of series, long (one row per value) or wide (one column per series, with --wide).',
    kind: 'points',
    target: 'data.observations',
    key: ['series_id', 'date', 'dimensions', 'vintage'],
    columns: [
      required('series_id', 'series_id', 'identifier of the series; or use --set series_id=…'),
      pointDate,
      required('value', 'number', 'as published; empty: published as missing'),
      pointStatus,
      day('vintage', 'day on which the value was published, instead of --vintage'),
      ...seriesColumns
        .filter((column) => column.name !== 'series_id')
        .map((column) => ({
          ...column,
          required: false,
          meaning: `${column.meaning}; used if --create creates the series`,
        })),
    ],
    otherColumns: 'a dimension of that name (leave one out with --ignore)',
  },
  {
    name: 'dimension-labels',
    meaning: 'The labels of the dimension values of a series that are codes.',
    kind: 'table',
    target: 'data.dimension_labels',
    key: ['series_id', 'dimension', 'value'],
    references: [aSeries],
    rules: [
      {
        columns: ['dimension', 'series_id'],
        holds:
          't.dimension in (select unnest(s.dimensions) from data.series s where s.series_id = t.series_id)',
        expected: 'a dimension of the series',
      },
    ],
    columns: [
      required('series_id', 'series_id', 'the series'),
      required('dimension', 'text', 'its dimension', { lengthMax: 63 }),
      required('value', 'text', 'the value as in the observations', { lengthMax: 200 }),
      required('label', 'text', 'its label', { lengthMax: 300 }),
    ],
  },
  {
    name: 'footnotes',
    meaning:
      'Notes on series and on their points, as they are now. A file has all notes of its series; a row without text means that there are none.',
    kind: 'table',
    target: 'data.footnotes',
    key: ['series_id', 'date', 'dims', 'mark'],
    whole: ['series_id'],
    statedBy: 'text',
    references: [aSeries],
    rules: [
      {
        columns: ['dims', 'series_id'],
        holds: `t.dims = '{}' or exists (
          select from data.series s join data.series_dims d using (series_no) where s.series_id = t.series_id and d.dims @> t.dims)`,
        expected: 'dimension values that points of the series have',
      },
    ],
    columns: [
      required('series_id', 'series_id', 'the series'),
      column('date', 'point_date', 'day or period of the point; empty: the note is on the series', {
        unlessGiven: '-infinity',
      }),
      column('dims', 'dims', 'dimension values of the points; empty: any', { unlessGiven: '{}' }),
      column('mark', 'text', 'such as 1 or *', { lengthMax: 16, unlessGiven: '' }),
      text('text', 2_000, 'the note; empty: there is none'),
    ],
  },
  {
    name: 'commodity-items',
    meaning: 'Items with prices. A new id creates an item; an existing id updates it.',
    kind: 'table',
    target: 'data.commodity_items',
    key: ['item_id'],
    recordsFormerRows: true,
    series: `'commodity.' || t.item_id`,
    columns: itemColumns,
  },
  {
    name: 'commodity-cities',
    meaning: 'Cities in which prices are collected.',
    kind: 'table',
    target: 'data.commodity_cities',
    key: ['city_id'],
    recordsFormerRows: true,
    columns: cityColumns,
  },
  {
    name: 'commodity-prices',
    meaning:
      'Prices by item and city, with vintages as observations have them. --create creates missing items and cities.',
    kind: 'points',
    target: 'data.observations',
    key: ['item', 'city', 'date', 'price_type', 'stat', 'vintage'],
    columns: [
      required('item', 'slug', 'the item: its id, or the name from which its id is made'),
      required('city', 'city', 'the city: its id, or the name from which its id is made'),
      pointDate,
      required('price', 'number', 'in the currency and for the unit of the item'),
      word('price_type', ['retail', 'wholesale', 'farmgate'], 'who sells; default: retail'),
      word('stat', ['avg', 'min', 'max'], 'which price of the markets of the city; default: avg'),
      pointStatus,
      day('vintage', 'day of publication, instead of --vintage'),
      ...priceFacts.map((column) => ({
        ...column,
        required: false,
        meaning: `${column.meaning}; for --create`,
      })),
    ],
  },
  {
    name: 'calendar',
    meaning:
      'When publishers release what: a CSV file, or an iCalendar file (.ics) with one event per release.',
    kind: 'table',
    target: 'data.releases',
    key: ['release_id'],
    recordsFormerRows: true,
    columns: [
      required('release_id', 'text', 'id, kept when the date moves (UID of an event)', { lengthMax: 200 }),
      required('title', 'text', 'what is released (SUMMARY)', { lengthMax: 500 }),
      required('source', 'text', 'who releases it, as its series spell it', { lengthMax: 500 }),
      text('publication', 500, 'the release that this is one date of; default: the title'),
      required('release_at', 'instant', 'when, in time_zone (DTSTART)'),
      required('time_zone', 'time_zone', 'of the publisher (TZID)'),
      flag('time_confirmed', 'whether the hour is known; default: whether it is not midnight'),
      text('reference_period', 100, 'what it is about, such as 2026-10'),
      column('frequency', 'frequency', 'how often it is published'),
      word('kind', ['new', 'revised'], 'first figures or a revision'),
      word('status', ['scheduled', 'released', 'delayed', 'cancelled'], 'default: by the clock'),
      word('importance', ['low', 'medium', 'high'], 'to markets'),
      column('series_ids', 'list', 'the series that it contains, separated by ;'),
      column('url', 'url', 'where it will be published'),
    ],
  },
  ...fundDatasets,
  ...marketDatasets,
];

export const datasetNames: readonly string[] = datasets.map((dataset) => dataset.name);

/** @throws IngestFailure if the dataset does not exist. */
export function datasetNamed(name: string): Dataset {
  const found = datasets.find((dataset) => dataset.name === name);
  return found ?? usageError(`There is no dataset ${name}; there are ${datasetNames.join(', ')}.`);
}

/** Why --wide is rejected for a dataset. */
export function notWide({ name }: Dataset): string {
  const others = datasets.filter(({ wide }) => wide !== undefined).map((dataset) => dataset.name);
  return `--wide: not for ${name}, only for ${['observations', ...others].join(' and ')}.`;
}

/** The output of `almanac ingest --describe <dataset>`. @throws IngestFailure if the dataset does not exist. */
export function describe(dataset: string) {
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
      expected: plainCells.expected(column),
    })),
    otherColumns: otherColumns ?? null,
  };
}
