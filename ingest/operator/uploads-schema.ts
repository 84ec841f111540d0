// The request and response schemas of /v1/operator/uploads.
import { z } from 'zod';
import type { Upload } from '../publisher/uploads/uploads.sql.ts';
import { instantText } from '../../kernel/clock.ts';
import { tableEnding, tableEndings } from '../read/file-kind.ts';

const findingSchema = z.object({
  path: z.string().describe('A key of the entry, such as `series.unit`.'),
  value: z.string(),
  evidence: z.string(),
});

const choiceSchema = z.object({
  key: z.string().describe('The guess that it replaces, such as `date`.'),
  question: z.string().describe('With a cell of the file as an example.'),
  options: z
    .array(
      z.object({
        label: z.string().describe('The meaning of the option.'),
        set: z
          .record(z.string(), z.unknown())
          .describe(
            'The keys of the entry that it changes, such as `series.unit` and `date.format`; null: the key is removed.',
          ),
      }),
    )
    .describe(
      'The first option is the present value. Empty if the choice takes a text: send it in `set` of the check.',
    ),
  text: z.string().nullable().describe('The fact that the text sets; null: the choice takes no text.'),
});

const lineCount = z.int().min(0);
export const previewSchema = z.object({
  points: z
    .array(
      z.object({
        line: z.int().describe('The line of the file.'),
        series: z.string(),
        dims: z.record(z.string(), z.string()),
        date: z.iso.date(),
        value: z.string().nullable().describe('With its digits; null: missing.'),
        status: z.string().nullable(),
        vintage: z.iso.date().nullable().describe('The day of publication; null: that of the load.'),
      }),
    )
    .describe('The first points, some in between and the last, as they will be served.'),
  points_read: lineCount.describe('The number of points in the lines that were read.'),
  is_whole: z.boolean().describe('Whether all lines were read.'),
  left_out: z
    .array(
      z.object({
        reason: z.string(),
        count: lineCount,
        examples: z.array(z.object({ line: z.int(), text: z.string() })),
      }),
    )
    .describe('Rows that are not loaded.'),
  columns_left_out: z.array(z.object({ title: z.string(), reason: z.string() })),
  refused: z
    .array(z.object({ line: z.int(), column: z.string(), text: z.string(), expected: z.string() }))
    .describe('The first five cells that the load refuses.'),
  refused_count: lineCount,
  fault: z.string().nullable().describe('Why no rows are shown; null: rows are shown.'),
});

const tableSchema = z.object({
  table: z.int().min(0).describe('Its number, from 0.'),
  sheet: z.string().nullable().describe('The sheet of a workbook; null: its first, or not a workbook.'),
  lines_read: z
    .int()
    .min(0)
    .describe(
      'The number of lines read for detection: all, or a sample (at most the first 50,000, some in between and the last).',
    ),
  sure: z.array(findingSchema),
  guesses: z.array(findingSchema),
  skip: z.string().nullable().describe('Why it cannot be published as a table; null: it can.'),
  entry: z.string().describe('Its entry of almanac.yml, as YAML.'),
  sample: z.array(z.array(z.string())).describe('The first ten lines.'),
  choices: z.array(choiceSchema).describe('The guesses for which an option can be chosen or a text sent.'),
  preview: previewSchema.nullable().describe('Its rows as they will be served; null: it is not a table.'),
});

export const uploadRowSchema = z.object({
  id: z.string(),
  name: z.string(),
  publication: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  account: z.string().describe('The account of the operator who sent it.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe('When the upload is deleted.'),
  published: z.array(z.int()).describe('The numbers of its tables that were published.'),
});

export const uploadSchema = uploadRowSchema.extend({ tables: z.array(tableSchema) });

export function rowOf(upload: Upload): z.output<typeof uploadRowSchema> {
  const { id, name, publication, bytes, sha256, accountId, createdAt, expiresAt, published } = upload;
  return {
    ...{ id, name, publication, bytes, sha256, account: accountId, published },
    created_at: instantText(createdAt),
    expires_at: instantText(expiresAt),
  };
}

/** Defaults for an upload that an older version has read. */
const ofOlderVersions = { choices: [], preview: null };

export const uploadOf = (upload: Upload): z.output<typeof uploadSchema> => ({
  ...rowOf(upload),
  tables: z
    .array(tableSchema)
    .parse((upload.tables as object[]).map((table) => ({ ...ofOlderVersions, ...table }))),
});

/** A label; its extension and a date in it determine how the file is read. */
export const nameParam = z
  .string()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
  .regex(
    /^[^/\\\p{C}\p{Zl}\p{Zp}]+$/u,
    'must be the name of a file, without a folder and without control characters',
  )
  .refine((name) => !name.startsWith('.'), 'must not begin with a dot')
  .refine((name) => tableEnding.test(name), `must end with one of ${tableEndings.join(', ')}`);

export const publicationParam = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/, 'letters, digits and . _ - are allowed, at most 80');
