// The keys of an entry whose file has the columns of a dataset; `almanac ingest` has a flag for each. Without `dataset`, an entry describes
// a table of observations in its own layout.
import { z } from 'zod';
import { datasetNames } from '../datasets/datasets.ts';

const text = z.string().min(1);
/** YAML reads a bare 2024-01-31 or 5 as what it looks like; a constant is text. */
const constant = z.union([z.string().max(10_000), z.number().transform(String)]);

export const datasetKeys = {
  dataset: z
    .enum(datasetNames)
    .optional()
    .describe(
      'The dataset whose columns the file has, such as nav; left out: observations, as date, values and series describe them',
    ),
  map: z
    .record(text, text)
    .optional()
    .describe(
      'Our name of a column → its title in the file, as value: Price; left out: a title that spells one of our names is it',
    ),
  set: z
    .record(text, constant)
    .optional()
    .describe(
      'Column → the constant of every row; with create also the facts of what is made, such as frequency, unit, source and name; left out: none',
    ),
  create: z
    .boolean()
    .optional()
    .describe('true: series, items and cities that do not exist are made; left out: they stop the load'),
  wide: z
    .boolean()
    .optional()
    .describe(
      'true: one column for each series (of nav: for each fund), the dates in the first; left out: one row for each value',
    ),
  prefix: z
    .string()
    .optional()
    .describe("What is put before the ids of a wide file's columns; left out: nothing"),
  skip_rows: z
    .int()
    .min(0, 'is 0 or more')
    .max(999_999, 'is at most 999999')
    .optional()
    .describe('How many rows below the header are not data; left out: 0'),
  map_value: z
    .record(text, z.record(z.string(), constant))
    .optional()
    .describe(
      'Column → text → what it is read as, as market: { All markets: Islamabad }; left out: each cell is read as it is',
    ),
  resource: text
    .optional()
    .describe('The resource of a datapackage.json that is loaded; left out: the only one'),
};

/** Keys that entries of a dataset's columns share with others; all further ones describe a layout. */
const commonKeys = new Set([
  ...['file', 'sheet', 'schedule', 'skip', 'encoding', 'delimiter', 'header', 'date', 'decimal', 'thousands'],
  ...['missing', 'multiply', 'ignore', 'leave_out', 'vintage', 'full', 'repeated', 'skip_invalid', 'guessed'],
]);

interface GivenEntry {
  dataset?: unknown;
  header?: unknown;
  date?: object | undefined;
  vintage?: unknown;
  multiply?: unknown;
}

/** The keys of the entry that are mutually exclusive, each with the reason. */
export function keysThatClash(entry: GivenEntry): { path: string[]; message: string }[] {
  const given = Object.keys(entry).filter((key) => entry[key as keyof GivenEntry] !== undefined);
  const { date, multiply } = entry;
  const isFormatOnly =
    date !== undefined && !['column', 'across', 'in', 'value'].some((part) => part in date);
  const clashes: { path: string[]; message: string }[] = [];
  const refuse = (key: string, message: string) => void clashes.push({ path: [key], message });
  if (entry.dataset === undefined) {
    for (const key of given) if (key in datasetKeys) refuse(key, 'is for an entry with the key dataset');
    if (isFormatOnly) refuse('date', 'lacks column, across, in or value, which say where the dates are');
    if (typeof multiply === 'object')
      refuse('multiply', 'is one factor: only an entry with the key dataset has one for each column');
    return clashes;
  }
  for (const key of given)
    if (!commonKeys.has(key) && !(key in datasetKeys))
      refuse(key, 'is not for an entry with the key dataset, whose columns are those of the dataset');
  if (date !== undefined && (!isFormatOnly || Object.keys(date).length > 1))
    refuse('date', 'is { format: … } in an entry with the key dataset; map names the column');
  if (Array.isArray(entry.header)) refuse('header', 'is one line in an entry with the key dataset');
  if (typeof entry.vintage === 'object' && entry.vintage !== null && 'column' in entry.vintage)
    refuse('vintage', 'is a column by map: { vintage: … } in an entry with the key dataset');
  return clashes;
}
