// The schema of the series envelope; series-envelope.ts writes the text.
import { z } from 'zod';
import { frequencies } from '../../domain/periods.ts';
import { listOf, paginationSchema } from '../../kernel/http/list.ts';
import { transforms } from '../../domain/transforms.ts';
import { aggregates } from '../../domain/aggregates.ts';

const text = z.string().nullable();
const day = z.iso.date().nullable();
const link = z.url().nullable();

const footnoteSchema = z
  .object({
    mark: text.describe('As published, such as 1 or *.'),
    text: z.string(),
    dims: z.record(z.string(), z.string()).describe('The note is on the points with these values.'),
  })
  .meta({ id: 'Footnote' });

const unitSchema = z.object({ unit: text, unit_multiplier: z.number().nullable() });
const breakSchema = z
  .object({
    date: z.iso.date().describe('Points from this date on are in the new unit.'),
    from: unitSchema,
    to: unitSchema,
    note: text,
    declared_on: z.iso.date().describe('Vintages from this day on have it.'),
  })
  .meta({ id: 'SeriesBreak' });

const frequencyShape = z.object({ frequency: z.enum(frequencies) });
const continuationSchema = z
  .object({
    date: z.iso.date().describe('Points from this date on are those of the other series.'),
    from: frequencyShape,
    to: frequencyShape,
    continued_by: z.string().describe('The id of the series that continues this one.'),
    note: text,
  })
  .meta({ id: 'SeriesContinuation' });

export const renamedFromSchema = z
  .string()
  .optional()
  .describe('The requested id, if it is an earlier id of the series.');

/** The facts of a series, in the order in which they are sent. */
export const factShapes = {
  name: z.string(),
  unit: text.describe('Null if unknown.'),
  frequency: z.enum(frequencies),
  source: text.describe('The publisher of the series; null if unknown.'),
  last_updated: z.iso
    .date()
    .nullable()
    .describe('The day of the newest publication; null for a vintage before the first.'),
  first_vintage: day,
  description: text,
  geography: text,
  seasonal_adjustment: text,
  unit_multiplier: z.number().nullable().describe('A power of ten.'),
  decimals: z.number().nullable(),
  dims: z.array(
    z.object({
      name: z.string(),
      values: z.array(z.string()),
      labels: z.record(z.string(), z.string()).describe('Value → label, for values that have one.'),
    }),
  ),
  first_date: day,
  last_date: day,
  observation_count: z.int().nullable().describe('Points with a value.'),
  next_release: z.iso.datetime().nullable(),
  licence: text,
  licence_url: link.describe('The URL of the terms.'),
  attribution: text,
  methodology_url: link.describe('Where its methods are explained.'),
  footnotes: z
    .array(footnoteSchema)
    .describe('The notes on the series. For those on single points: `include=notes`.'),
  breaks: z
    .array(z.union([breakSchema, continuationSchema]))
    .describe(
      'The dates from which its points have another unit, in order. Transforms do not compare values across such a date. ' +
        'At an entry with `continued_by`, another series of another frequency continues it.',
    ),
  continues: z.array(z.string()).describe('The ids of the series that this one continues.'),
  date_convention: z.literal('period_end'),
  fiscal_year_end: text,
  tags: z.array(z.string()),
  category: text,
  renamed_from: renamedFromSchema,
};

const metaSchema = z
  .object({
    ...factShapes,
    transform: z.enum(transforms).nullable(),
    vintage: day.describe('As requested.'),
    version: z.int().describe('The load that the points belong to.'),
    source_frequency: z
      .enum(frequencies)
      .optional()
      .describe('With `frequency`: that of the published points, if it is another.'),
    aggregate: z
      .enum(aggregates)
      .optional()
      .describe('With `frequency`: what each point is of the published ones of its period.'),
    source_unit: text.optional().describe('The unit before the transform.'),
    base_date: day
      .optional()
      .describe('The date at which an index is 100; null if the combinations have different dates.'),
    hints: z
      .array(z.string())
      .optional()
      .describe(
        'Probable mistakes in the call: values of `dims` that the series does not have, each with the nearest.',
      ),
  })
  .meta({ id: 'SeriesMeta' });

const pointShape = {
  date: z.iso.date().describe('The last day of its period.'),
  value: z.number().nullable().describe('With its published digits; null if missing.'),
  dims: z.record(z.string(), z.string()).describe('Dimension → value.'),
};

const pointSchema = z
  .object({
    ...pointShape,
    status: text.describe('As published, such as p for provisional.'),
    published_on: z.iso.date().describe('The day on which the value was published.'),
    notes: z.array(footnoteSchema).describe('With `include=notes`.'),
  })
  .partial()
  .meta({ id: 'Point' });

const envelopeOf = <Point extends z.ZodType>(point: Point, meta: z.ZodType = metaSchema) =>
  z.object({
    success: z.literal(true),
    series: z.string().describe('Its id.'),
    meta,
    data: z.array(point),
    pagination: paginationSchema,
  });

/** `fields` may omit any field of a point. */
export const seriesSchema = envelopeOf(pointSchema).meta({ id: 'Series' });

export const manySeriesSchema = listOf(seriesSchema);

/** The same, with more fields in each point. */
export const seriesSchemaWith = (fields: z.ZodRawShape) => envelopeOf(z.object({ ...pointShape, ...fields }));

/** The same, with more facts in `meta`. */
export const seriesSchemaWithMeta = (facts: z.ZodRawShape) =>
  envelopeOf(z.object(pointShape), z.object({ ...metaSchema.shape, ...facts }));

const vintageDay = z.iso.date().describe('The day of the vintage.');
const cellSchema = z.object({
  vintage: vintageDay,
  date: pointShape.date,
  value: pointShape.value,
  dims: pointShape.dims,
});
const rowSchema = z.object({
  date: pointShape.date,
  dims: pointShape.dims,
  values: z
    .array(z.number().nullable())
    .describe(
      'One per vintage of `meta.vintages`; null where the point is not in the vintage or was missing.',
    ),
});

/** All vintages of a series: a row per cell, or per point. */
export const triangleSchema = z
  .object({
    success: z.literal(true),
    series: z.string().describe('Its id.'),
    meta: z.object({
      ...metaSchema.shape,
      vintages: z.array(vintageDay).describe('The vintages shown, ascending.'),
    }),
    data: z.union([z.array(cellSchema), z.array(rowSchema)]).describe('By `layout`: cells, or rows.'),
    pagination: paginationSchema,
  })
  .meta({ id: 'Triangle' });
