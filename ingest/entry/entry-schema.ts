// The schema of almanac.yml, which describes each table of a folder so that it can be loaded. It is strict; editors show its descriptions
// through almanac.schema.json.
import { z } from 'zod';
import { datasetNamed } from '../datasets/datasets.ts';
import { metadataNames } from '../datasets/metadata.ts';
import { datasetKeys, keysThatClash } from './dataset-keys.ts';
import { negativeForms } from '../cells/numbers/number-formats.ts';
import { isFactor } from '../cells/numbers/observation-values.ts';
import { schedulePattern, scheduleRule } from './schedule.ts';
import { isUrl } from '../read/file-path.ts';

export const descriptionFile = 'almanac.yml';

const factor = z.union([z.string(), z.number().transform(String)]);
const line = z.int().min(1, 'is the number of a line, 1 or more').max(100_000);
const title = z.string().min(1).max(500);
const titles = z.array(title).max(10_000);
/** YAML parses a bare 2024-01-31 or 5 as a date or a number; a fact is text. */
const fact = z.union([z.string().max(10_000), z.number().transform(String)]);

const meaningOf = new Map(datasetNamed('series').columns.map(({ name, meaning }) => [name, meaning]));
const optional = (name: string) => fact.optional().describe(meaningOf.get(name) ?? '');
const needed = (name: string) => fact.describe(meaningOf.get(name) ?? '');
const facts = {
  name: optional('name'),
  unit: optional('unit'),
  frequency: needed('frequency'),
  source: optional('source'),
};
const furtherFacts = Object.fromEntries(
  [...metadataNames].filter((name) => !(name in facts)).map((name) => [name, optional(name)]),
);

const template =
  'Texts may hold {Title of a column}, {column} (the title of the column of the value), {line 3} (its cell in that line above the data), {file} (the name of the file) and {frequency of date} (annual, quarterly or monthly, by the date of the row)';

function isExpression(text: string): boolean {
  try {
    return new RegExp(text).source !== '';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

const dateForm = {
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:-[A-Za-z]{4})?$/, 'a language such as de, fr or sr-Latn')
    .optional()
    .describe('The language of the names of months, such as de; left out: English'),
  marks: z
    .record(title, z.string().max(16).nullable())
    .optional()
    .describe('Signs behind a date, as p in 2023p → the status of its points; null: none'),
  fill: z
    .literal(true)
    .optional()
    .describe(
      'true: the year is only in the first row of its periods; in one column, it is before or behind the first month or quarter of the year, or in a row above it',
    ),
};

const describedDates = [
  z.strictObject({
    column: z
      .union([title, z.array(title).min(1).max(5)])
      .describe('The column of the dates. Of a list, such as [Year, Month], the texts are joined by spaces'),
    format: z
      .string()
      .optional()
      .describe('A named form such as D/M/YYYY, or a pattern; left out: forms with one meaning'),
    ...dateForm,
  }),
  z.strictObject({
    across: z.literal('columns').describe('columns: each column whose title is a date is a period'),
    after: title
      .optional()
      .describe(
        'With across: the words before each period, as Population in the title Population 2021, or over all periods in another line of the header',
      ),
    year: title
      .optional()
      .describe(
        'With across: the column of the years, if the titles are months or quarters; or of these, if the titles are years',
      ),
    format: z
      .string()
      .optional()
      .describe('As of a column; with year, of the year, a space and the title: YYYY/M'),
    ...dateForm,
  }),
  z.strictObject({
    in: z
      .enum(['title', 'file name'])
      .describe(
        'title or file name: the file is of one day, which is in the lines above the data or in its name',
      ),
  }),
  z.strictObject({ value: z.string().describe('The day or period that the whole file is of') }),
] as const;
/** Of an entry with `dataset`: that has the columns of the dates. */
const dates = z.union([
  ...describedDates,
  z.strictObject({ format: z.string().describe('As of a column; with dataset, of every column of dates') }),
]);
const described = z.union(describedDates);

const tableShape = z.strictObject({
  file: z
    .union([title, z.array(title).min(1)])
    .describe(
      'A file below the folder of almanac.yml, a URL, or a list of them. * matches any text, so files of one form can share an entry',
    ),
  sheet: title.optional().describe('The sheet of a workbook; left out: the first'),
  schedule: z
    .string()
    .regex(schedulePattern, scheduleRule)
    .optional()
    .describe(
      'When the publisher fetches the URL again, in SERIES_TIME_ZONE: every 15 minutes, hourly, daily 10:30, weekly mon 06:00',
    ),
  skip: z
    .string()
    .optional()
    .describe(
      'The reason why the file is not loaded. With "guessed" the exit code is 1 until it is confirmed',
    ),
  ...datasetKeys,
  encoding: z.string().optional().describe('utf-8, utf-16le, windows-1252 …; left out: detected'),
  delimiter: z.string().optional().describe('The sign between the cells; left out: detected'),
  quote: z
    .literal("'")
    .optional()
    .describe('The sign around cells that have the delimiter in them; left out: "'),
  split: z.literal(',').optional().describe('The first cell of each row holds several, divided by this sign'),
  crosstab: z
    .strictObject({
      periods: line.describe('The line of the periods'),
      groups: line.describe(
        'The line of the groups, above or below that of the periods; the same line if each title has both, as in Births 2023',
      ),
    })
    .optional()
    .describe(
      'Each column of values has a period and a group, such as Men or Women, in its titles. Each row is read once for each group, with the column Group. The lower line is then the header',
    ),
  header: z
    .union([line, z.array(line).min(1).max(10)])
    .optional()
    .describe(
      'The line of the column names, from 1. The names of a list of lines are joined; left out: 1, with dataset',
    ),
  first: line.optional().describe('The first line of data; left out: only with dataset'),
  date: dates.optional().describe('Where the dates are; left out: only with dataset'),
  values: z
    .union([title, titles])
    .optional()
    .describe(
      'The column of values, or a list; "*": every column that the entry does not name; left out: with dataset, or with dates across the columns',
    ),
  decimal: z.enum(['.', ',']).optional().describe('The decimal separator; left out: a point'),
  thousands: z
    .enum(['.', ',', "'", '_', ' '])
    .optional()
    .describe('The sign between groups of digits; left out: none'),
  missing: z
    .array(z.string())
    .optional()
    .describe('Texts that mean missing, beside the empty cell; left out: none'),
  flags: z
    .record(title, z.string().max(16).nullable())
    .optional()
    .describe('Signs beside a number or in its place → the status that they mean; null: none'),
  multiples: z
    .record(title, z.string().refine(isFactor, 'is not a factor'))
    .optional()
    .describe('Signs behind a number → its factor, as M: 1000000'),
  negative: z
    .array(z.enum(negativeForms))
    .optional()
    .describe(
      'How numbers below zero are written beside -5: parentheses for (5), trailing for 5-, triangle for △5 and ▲5',
    ),
  multiply: z
    .union([factor, z.record(title, factor)])
    .optional()
    .describe(
      'The factor of all values, such as 1000000. With dataset also column → factor, as nav: 100; left out: 1',
    ),
  series: z
    .strictObject({ id: title.describe(template), ...facts, ...furtherFacts })
    .optional()
    .describe(
      `The id of the series, and its facts: name, unit, frequency, source and all others of the dataset series. ${template}`,
    ),
  columns: z
    .record(
      title,
      z.strictObject({
        id: title.optional(),
        name: facts.name,
        unit: facts.unit,
        frequency: facts.frequency.optional(),
        source: facts.source,
        ...furtherFacts,
      }),
    )
    .optional()
    .describe('Title of a column of values → facts of its series, as usdprice: { unit: USD }'),
  dimensions: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/), title)
    .optional()
    .describe('The name of a dimension → the column of its values'),
  status: z
    .union([title, z.strictObject({ beside: z.literal('values') })])
    .optional()
    .describe(
      'The column of the status; { beside: values }: the column to the right of each column of values',
    ),
  fill: titles.optional().describe('Columns whose empty cells repeat the cell above; left out: none'),
  ignore: z
    .array(z.string().min(1).max(100_000))
    .max(10_000)
    .optional()
    .describe('Columns that are not loaded; left out: none'),
  only: z
    .record(title, z.string().refine(isExpression, 'is not a regular expression'))
    .optional()
    .describe(
      'Column → regular expression: rows that do not match it are not loaded; left out: all rows are',
    ),
  leave_out: z
    .record(title, z.array(z.string()))
    .optional()
    .describe('Column → texts: rows that have one of them are not loaded; left out: all rows are'),
  vintage: z
    .union([
      z.string(),
      z.strictObject({ in: z.literal('file name') }),
      z.strictObject({ column: title, format: z.string().optional() }),
    ])
    .optional()
    .describe(
      'The day of publication: a date, { in: file name } or { column: Published }; left out: the day of the load',
    ),
  full: z
    .boolean()
    .optional()
    .describe(
      'true: the file has all points of its series, and points missing from it are deleted as of the vintage; left out: they stay',
    ),
  repeated: z
    .literal('first')
    .optional()
    .describe(
      'first: of rows that state one point, the first is loaded and the others are reported; left out: they stop the load',
    ),
  skip_invalid: z
    .boolean()
    .optional()
    .describe('true: rows that are not valid are left out and reported; left out: they stop the load'),
  guessed: z
    .array(z.string())
    .optional()
    .describe('The unconfirmed guesses: the entry is loaded with --yes, or once this line is deleted'),
});

export const tableSchema = tableShape
  .refine(({ file, schedule }) => schedule === undefined || [file].flat().every(isUrl), {
    path: ['schedule'],
    error: 'is for URLs: a file of the folder is loaded when almanac publish is run',
  })
  .superRefine((entry, context) => {
    for (const clash of keysThatClash(entry)) context.addIssue({ code: 'custom', ...clash });
  });

export type TableDescription = z.infer<typeof tableSchema>;

export const descriptionSchema = z
  .strictObject({
    version: z.literal(1).describe('The version of the format of this file'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/, 'letters, digits and . _ - are allowed, at most 80')
      .describe(
        'The name under which the database remembers the loads of this folder, from whatever machine',
      ),
    tables: z.array(tableSchema).describe('The tables, one entry for each file or for files of one form'),
  })
  .describe('How almanac publish loads the tables of a folder');

export type Description = z.infer<typeof descriptionSchema>;

/** An entry of a table in a layout of its own that can be loaded: it is not skipped, and has all that a load needs. */
export type LoadableTable = Omit<TableDescription, 'date' | 'multiply'> &
  Required<Pick<TableDescription, 'header' | 'first' | 'series'>> & {
    date: z.infer<typeof described>;
    multiply?: string | undefined;
  };

/** The keys that the entry lacks for a load; empty if it is complete. The columns of a dataset are known. */
export function lackingIn(table: TableDescription): string[] {
  if (table.dataset !== undefined) return [];
  const lacking = (['header', 'first', 'date', 'series'] as const).filter((key) => table[key] === undefined);
  const isAcross = table.date !== undefined && 'across' in table.date;
  return table.values === undefined && !isAcross ? [...lacking, 'values'] : lacking;
}

/** The JSON Schema of almanac.yml, for editors. */
export function jsonSchema(): object {
  return z.toJSONSchema(descriptionSchema, { io: 'input', target: 'draft-7' });
}
