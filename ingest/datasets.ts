// The one table of datasets: which columns a file of each may have, their types, the key, and where the rows go.
// Everything that `almanac ingest` knows about a dataset stands here; a new one is a new row.
import { expectedOf, type Column, type ColumnType } from './cells.ts';
import { misuse } from './failure.ts';

export interface Dataset {
  name: string;
  meaning: string;
  /** `points`: observations with revisions, by their own rules. `table`: one row a key, inserted or updated. */
  kind: 'points' | 'table';
  /** The table that the rows end up in. */
  target: string;
  key: readonly string[];
  columns: readonly Column[];
  /** What a column that is not in the list means; without it, such a column is an error. */
  otherColumns?: string;
}

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

export const datasets: readonly Dataset[] = [
  {
    name: 'series',
    meaning: 'The metadata of series: made where the id is new, changed where it is known.',
    kind: 'table',
    target: 'data.series',
    key: ['series_id'],
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
];

export const datasetNames: readonly string[] = datasets.map((dataset) => dataset.name);

/** @throws IngestFailure where there is no such dataset. */
export function datasetNamed(name: string): Dataset {
  const found = datasets.find((dataset) => dataset.name === name);
  return found ?? misuse(`There is no dataset ${name}; there are ${datasetNames.join(', ')}.`);
}

export interface DatasetDescription {
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
