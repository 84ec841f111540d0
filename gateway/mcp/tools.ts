// The tools of /mcp: the purpose of each, its parameters, and the reads of /v1 that answer it.
import { z } from 'zod';
import { parsePeriod } from '../../kernel/dates.ts';
import { Failure } from '../../kernel/errors.ts';
import { periodRule, severalText } from '../../kernel/http/params.ts';

/** A tool. Its answer has one part per read, under the part's name. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  /** The path of the reads in the OpenAPI document. */
  route: string;
  /** The names of the parts of the answer. */
  parts: readonly string[];
  /** For each read, the tool parameter that sets its `vintage`; errors name this parameter. Default `as_of`. */
  days: readonly string[];
  /**
   * The targets of the reads, one for each part; all are read as of `as_of`. If the route has an equivalent parameter, the target includes it, so that its
   * URL returns the same data later. @throws Failure `invalid_parameter`.
   */
  reads(given: never): readonly string[];
  /** Which rows remain when an answer is too long: the newest of a series, or the beginning of a list. */
  keeps: 'first' | 'last';
}

const day = z.iso.date();
const period = z
  .string()
  .max(10, periodRule)
  .refine((text) => parsePeriod(text) !== null, periodRule)
  .describe('A day or a period: `2024-03-31`, `2024-03`, `2024-Q1`, `2024`.');
const asOf = day
  .optional()
  .describe('Answer as if nothing had been published after this day. Needs a plan with pinned_keys.');
const id = z.string().min(1).max(200).describe('The id of a series, as `search` gives it.');
const ids = z.array(id).min(1).max(10).describe('Ids of series. Each counts as one call.');
const limit = (most: number, usual: number) => z.int().min(1).max(most).default(usual);
const words = z.array(z.string().min(1).max(200)).max(20).optional();

const selection = {
  dims: z.string().max(500).optional().describe('Dimension values, such as `side:buy|sell,city:Lahore`.'),
  frequency: z.enum(['weekly', 'monthly', 'quarterly', 'semiannual', 'annual']).optional(),
  aggregate: z.enum(['avg', 'sum', 'last', 'first', 'min', 'max']).optional(),
  transform: z.string().max(40).optional().describe('Such as `yoy`, `mom`, `pct_change`, `index`, `log`.'),
};
const range = { from: period.optional(), to: period.optional() };

function tool<Shape extends z.ZodRawShape>(
  given: Omit<Tool, 'input' | 'parts' | 'days' | 'keeps' | 'reads'> & {
    input: Shape;
    parts?: readonly string[];
    days?: readonly string[];
    keeps?: Tool['keeps'];
    reads(given: z.output<z.ZodObject<Shape>>): readonly string[];
  },
): Tool {
  return { parts: ['answer'], days: ['as_of'], keeps: 'last', ...given, input: z.strictObject(given.input) };
}

export const tools: readonly Tool[] = [
  tool({
    name: 'search',
    title: 'Search',
    description:
      'Finds series by words or id. Free of charge. Start here, then use `describe` or `get_series`.',
    route: '/v1/search',
    keeps: 'first',
    input: {
      ...{ q: z.string().min(1).max(200), type: words, frequency: words, source: words, category: words },
      ...{ limit: limit(50, 10), as_of: asOf },
    },
    reads: ({ as_of: _pin, ...query }) => [target('/v1/search', query)],
  }),
  tool({
    name: 'describe',
    title: 'Describe a series',
    description:
      'The metadata of one series: unit, frequency, source, licence, dimensions, notes. Costs nothing.',
    route: '/v1/catalog/{id}',
    input: { id, as_of: asOf },
    reads: ({ id: series }) => [target(`/v1/catalog/${encoded(series)}`, {})],
  }),
  tool({
    name: 'get_series',
    title: 'Get series',
    description:
      'The observations of up to 10 series, with metadata, from newest to oldest: of each series the newest 1,000 or `limit`, or with `last` the newest of each combination. Costs one call per series.',
    route: '/v1/series',
    keeps: 'first',
    input: {
      ...{ ids, ...range, ...selection, last: z.int().min(1).max(1000).optional() },
      ...{ limit: z.int().min(1).max(1000).optional(), as_of: asOf },
    },
    reads: ({ as_of, ...query }) => [target('/v1/series', { ...query, vintage: as_of, sort: 'desc' })],
  }),
  tool({
    name: 'latest',
    title: 'Latest values',
    description: 'The newest observation of up to 10 series, with metadata. Costs one call per series.',
    route: '/v1/series',
    input: { ids, ...selection, as_of: asOf },
    reads: ({ as_of, ...query }) => [target('/v1/series', { ...query, last: 1, vintage: as_of })],
  }),
  tool({
    name: 'compare',
    title: 'Compare two vintages',
    description:
      'The observations of up to 10 series as published on two days, newest first, to see what was revised. Costs two calls per series.',
    route: '/v1/series',
    keeps: 'first',
    parts: ['a', 'b'],
    days: ['as_of_a', 'as_of_b'],
    input: { ids, as_of_a: day, as_of_b: day, ...range, ...selection, as_of: asOf },
    reads({ as_of, as_of_a: a, as_of_b: b, ...query }) {
      for (const [param, vintage] of Object.entries({ as_of_a: a, as_of_b: b }))
        if (as_of !== undefined && vintage > as_of)
          throw refused(param, `${param} is ${vintage}, which is later than as_of, ${as_of}.`);
      return [a, b].map((vintage) => target('/v1/series', { ...query, vintage, sort: 'desc' }));
    },
  }),
  tool({
    name: 'revisions',
    title: 'Revisions',
    description:
      'How the published values of one series changed from vintage to vintage: of one `date`, or of a range. Costs one call.',
    route: '/v1/series/{id}/triangle',
    input: {
      ...{ id, date: period.optional().describe('One day or period; instead of `from` and `to`.'), ...range },
      ...{ dims: selection.dims, last: limit(200, 24).describe('The newest N vintages.'), as_of: asOf },
    },
    reads({ id: series, date, from = date, to = date, as_of, ...query }) {
      if (date !== undefined && (from !== date || to !== date))
        throw refused('date', 'Give either date, or from and to.');
      const path = `/v1/series/${encoded(series)}/triangle`;
      return [target(path, { from, to, ...query, vintages_to: as_of })];
    },
  }),
  tool({
    name: 'calendar',
    title: 'Release calendar',
    description: 'When data is published: past and planned releases between two days. Costs nothing.',
    route: '/v1/calendar',
    keeps: 'first',
    input: { ...range, source: words, series: words, limit: limit(100, 25), as_of: asOf },
    reads: ({ as_of: _pin, ...query }) => [target('/v1/calendar', query)],
  }),
  tool({
    name: 'changes',
    title: 'Changes',
    description: 'What has changed in the data since a day or instant, in order. Costs nothing.',
    route: '/v1/updates',
    keeps: 'first',
    input: {
      since: z.string().max(30).optional().describe('Such as `2024-03-31` or `2024-03-31T08:30:00Z`.'),
      ...{ type: words, series: words, source: words, limit: limit(100, 25), as_of: asOf },
    },
    reads: ({ as_of: _pin, ...query }) => [target('/v1/updates', query)],
  }),
];

function refused(param: string, message: string): Failure {
  return new Failure('invalid_parameter', message, { param });
}

/** Half of a surrogate pair, which JSON can contain and a URL cannot, becomes U+FFFD, which the routes refuse. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

type Value = string | number | readonly string[] | undefined;

function target(path: string, query: Readonly<Record<string, Value>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          `${name}=${encoded(typeof value === 'object' ? severalText(value) : String(value)).replaceAll('%2C', ',')}`,
        ],
  );
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
}
