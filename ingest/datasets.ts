// The one table of datasets: which columns a file of each may have, their types, the key, and where the rows go.
// Everything that `almanac ingest` knows about a dataset stands here; a new one is a new row.
import { frequencies, isDate } from '../kernel/periods.ts';
import { misuse } from './failure.ts';

export type ColumnType =
  | 'text'
  | 'series_id'
  | 'frequency'
  | 'date'
  | 'number'
  | 'integer'
  | 'month_day' // MM-DD
  | 'list'; // text parts divided by ;

export interface Column {
  name: string;
  type: ColumnType;
  required: boolean;
  meaning: string;
  /** Characters at most, for text. */
  lengthMax?: number;
  /** Both inclusive, for integers. */
  range?: readonly [least: number, most: number];
}

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

export const seriesIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

interface CellType {
  /** The cell as PostgreSQL reads it; undefined where it is not of the type. */
  read: (text: string, column: Column) => string | undefined;
  expected: (column: Column) => string;
}

const cellTypes: Record<ColumnType, CellType> = {
  text: {
    read: (text, { lengthMax = Infinity }) =>
      text.length <= lengthMax && isPrintable(text) ? text : undefined,
    expected: ({ lengthMax }) =>
      lengthMax === undefined ? 'text' : `text of at most ${lengthMax} characters`,
  },
  series_id: {
    read: (text) => (seriesIdPattern.test(text) ? text : undefined),
    expected: () => 'a series id: letters, digits, . _ and -, at most 128, beginning with a letter or digit',
  },
  frequency: {
    read: (text) => frequencies.find((frequency) => frequency === text.toLowerCase()),
    expected: () => `one of ${frequencies.join(', ')}`,
  },
  date: {
    read: (text) => (isDate(text) ? text : undefined),
    expected: () => 'a date, YYYY-MM-DD',
  },
  number: {
    read: (text) => (/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text) ? text : undefined),
    expected: () => 'a number',
  },
  integer: {
    read: (text, { range: [least, most] = [-Infinity, Infinity] }) =>
      /^[+-]?\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? text : undefined,
    expected: ({ range }) =>
      range === undefined ? 'a whole number' : `a whole number from ${range[0]} to ${range[1]}`,
  },
  month_day: {
    read: (text) => (isDate(`2024-${text}`) ? text : undefined),
    expected: () => 'a month and day, MM-DD',
  },
  list: {
    read: (text) => (isPrintable(text) ? arrayLiteral(text.split(';')) : undefined),
    expected: () => 'words divided by ;',
  },
};

/**
 * A cell as PostgreSQL reads it (a list in its array form), null where it is empty, undefined where it is not of the
 * column's type. Numbers and dates of observations have readers of their own, in values.ts and dates.ts.
 */
export function readCell(column: Column, text: string): string | null | undefined {
  return text === '' ? null : cellTypes[column.type].read(text, column);
}

/** What a cell of the column should say, for messages and for --describe. */
export function expectedOf(column: Column): string {
  return cellTypes[column.type].expected(column);
}

function arrayLiteral(parts: string[]): string {
  const words = parts.map((part) => part.trim()).filter((part) => part !== '');
  return `{${words.map((word) => `"${word.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Line breaks and tabs are allowed; other control characters are not text. */
function isPrintable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- refusing control characters is the point
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);
}
