// A table of an upload that was checked or published, as it is sent to operators.
import { z } from 'zod';
import { previewSchema } from '../../entry/table-preview.ts';
import { count, interruptionsSchema, pointCountsSchema } from '../../load/load-report.ts';

const countsSchema = {
  rows_read: count,
  rows_rejected: count.describe('Rows that are not valid.'),
  ...pointCountsSchema,
};

export const checkedTableSchema = z.object({
  publishable: z.boolean().describe('False: rows are not valid, and nothing would be published.'),
  ...countsSchema,
  rejects: z
    .array(z.object({ line: z.int(), column: z.string(), reason: z.string() }))
    .describe('The first twenty rows that are not valid.'),
  notes: z.array(z.string()),
  series_count: count.describe('The series of the table.'),
  series_changed: count,
  series: z
    .array(
      z.object({
        id: z.string(),
        is_new: z.boolean(),
        points_new: count,
        points_revised: count,
        points_deleted: count,
      }),
    )
    .describe('The first fifty of those that change.'),
  largest_changes: z
    .array(
      z.object({
        series: z.string(),
        dims: z.record(z.string(), z.string()),
        date: z.iso.date(),
        before: z.number().nullable(),
        after: z.number().nullable(),
        percent: z.number().nullable(),
      }),
    )
    .describe('The twenty points that are revised most, in percent.'),
  preview: previewSchema.describe('Its rows as they will be served.'),
});

export type CheckedTable = z.output<typeof checkedTableSchema>;

export const publishedTableSchema = z.object({
  load: z.int().nullable().describe('The number of the load; null: it is under embargo.'),
  release: z.int().nullable().describe('The number of the release under embargo; null: it is published.'),
  ...countsSchema,
  series_count: count,
  series_ids: z.array(z.string()).describe('The first twenty.'),
  interruptions: interruptionsSchema,
});

export type PublishedTable = z.output<typeof publishedTableSchema>;
