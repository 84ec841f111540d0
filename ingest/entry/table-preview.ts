// The preview of a table before it is loaded: its rows as they will be served, and the choices that settle its guesses.
import { z } from 'zod';
import type { Choice } from './resolve-guesses.ts';

export interface Inspected {
  preview: Preview;
  choices: Choice[];
}

const count = z.int().min(0);
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
  points_read: count.describe('The number of points in the lines that were read.'),
  is_whole: z.boolean().describe('Whether all lines were read.'),
  left_out: z
    .array(
      z.object({
        reason: z.string(),
        count: count,
        examples: z.array(z.object({ line: z.int(), text: z.string() })),
      }),
    )
    .describe('Rows that are not loaded.'),
  columns_left_out: z.array(z.object({ title: z.string(), reason: z.string() })),
  refused: z
    .array(z.object({ line: z.int(), column: z.string(), text: z.string(), expected: z.string() }))
    .describe('The first five cells that the load refuses.'),
  refused_count: count,
  fault: z.string().nullable().describe('Why no rows are shown; null: rows are shown.'),
});

/** Serialisable as JSON: it is sent between processes, and to operators. */
export type Preview = z.output<typeof previewSchema>;
export type PreviewPoint = Preview['points'][number];
export type LeftOutRows = Preview['left_out'][number];
export type RefusedInPreview = Preview['refused'][number];
