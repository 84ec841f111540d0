// A table that was found in an upload, as it is stored and sent to operators.
import { z } from 'zod';
import { previewSchema } from '../../entry/table-preview.ts';

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

export const foundTableSchema = z.object({
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

export type FoundTable = z.output<typeof foundTableSchema>;
