// Parses the parameters of the series endpoints into the input of a read. Every fault is a 400 that names the parameter, or the 403 of a
// plan without vintages.
import { z } from 'zod';
import { dateIn } from '../../kernel/clock.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import { cursorParam } from '../../kernel/http/list.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import {
  dateParam,
  flagParam,
  idsParam,
  integerParam,
  oneOfParam,
  periodParam,
  repeatableParam,
  someOfParam,
  windowOf,
  windowParams,
} from '../../kernel/http/params.ts';
import type { DateRange } from '../../kernel/dates.ts';
import { requireByPin } from '../pin.ts';
import type { Dependencies } from '../dependencies.ts';
import { canonicalDims, parseDims, type DimsFilter } from './dims.ts';
import { defaultPointFields, includedFields, pointFields, type PointField } from './series-envelope.ts';
import { fredUnits, transforms, type Transform } from '../../domain/transforms.ts';
import {
  aggregates,
  targetFrequencies,
  type Aggregate,
  type TargetFrequency,
} from '../../domain/aggregates.ts';

export const limitDefault = 1_000;
const limitMax = 100_000;
/** The maximum number of series in a URL. */
export const idsMax = 100;
/** The maximum number of series in a body. */
const queriedIdsMax = 1_000;
const idLengthMax = 128;
const layouts = ['long', 'wide'] as const;

/** The parameters of a call about a series. */
export interface SeriesRequest {
  /** Inclusive. */
  from: string;
  /** Inclusive. */
  to: string;
  sort: 'asc' | 'desc';
  /** Undefined: the default for JSON, all for the other formats. */
  limit: number | undefined;
  cursor: string | undefined;
  format: SeriesFormat;
  fields: readonly PointField[];
  filter: DimsFilter;
  vintage: string | null;
  /** The load that the answer is pinned to; null: the newest, or that of the cursor. */
  version: number | null;
  release: 'first' | 'current';
  wanted: 'values' | 'all';
  transform: Transform | null;
  /** The period whose value is 100; null: the first value of the window. */
  base: DateRange | null;
  /** The frequency that the points are aggregated to; null: as published. */
  frequency: TargetFrequency | null;
  aggregate: Aggregate;
  /** Whether incomplete periods have a value too. */
  incomplete: boolean;
  /** How many of the newest points of each combination are requested; null: a page. */
  last: number | null;
}

/** The filter by dimension values. */
export const dimsParam = repeatableParam(z.string())
  .default([])
  .describe('`side:buy|sell,city:Lahore`: a comma is AND over dimensions, `|` is OR within one. Repeatable.');
const fredNames = Object.keys(fredUnits).filter((name): name is keyof typeof fredUnits => name in fredUnits);
/** By its own name or by FRED's. FRED's `lin` means no transform. */
export const transformParam = oneOfParam([
  ...transforms,
  ...fredNames.filter((name): name is Exclude<keyof typeof fredUnits, 'log'> => name !== 'log'),
])
  .transform((name): Transform | undefined => (isFredUnit(name) ? (fredUnits[name] ?? undefined) : name))
  .optional();

function isFredUnit(name: string): name is keyof typeof fredUnits {
  return Object.hasOwn(fredUnits, name);
}

/** Aggregate the points to a lower frequency. */
const aggregationParams = {
  frequency: oneOfParam(targetFrequencies)
    .optional()
    .describe(
      'The frequency of the answer, lower than that of the series or the same: aggregated first, then transformed. Weeks end on Sunday.',
    ),
  aggregate: oneOfParam(aggregates)
    .optional()
    .describe('For `frequency`: what a period is of its points; default `avg`.'),
  incomplete: flagParam(false).describe('For `frequency`: includes periods that are not complete.'),
};
const lineFormats = ['json', 'csv', 'ndjson'] as const;
const seriesFormats = [...lineFormats, 'xlsx'] as const;
export type SeriesFormat = (typeof seriesFormats)[number];
const seriesFormatParam = oneOfParam(seriesFormats)
  .default('json')
  .describe(
    'The format of the answer; `ndjson` is a line of JSON per point, `xlsx` a workbook. The header `Accept` with its media type selects one too.',
  );
const lineFormatParam = oneOfParam(lineFormats)
  .default('json')
  .describe(
    'The format of the answer; `ndjson` is a line of JSON per point. The header `Accept` with its media type selects one too.',
  );
/** Select the fields of a point and the state of the data. */
const pointParams = {
  dims: dimsParam,
  ...aggregationParams,
  transform: transformParam.describe('See docs/transforms.md; also by the names of FRED, such as `pc1`.'),
  base: periodParam
    .optional()
    .describe('For `transform=index`: the date at which the index is 100; default the first value.'),
  vintage: dateParam
    .optional()
    .describe('The data as published at the end of that day, not in the future. Feature `vintages`.'),
  format: seriesFormatParam,
  fields: someOfParam(pointFields)
    .default(defaultPointFields)
    .describe('The fields of a point; default `date,value,dims`.'),
  include: someOfParam(includedFields)
    .optional()
    .describe(
      '`notes`: adds the footnotes of each point, `note` in CSV. They are those of today, for any vintage.',
    ),
};
/** `date` and `-date` as in every other list. */
const sortParam = oneOfParam(['asc', 'desc', 'date', '-date'])
  .default('asc')
  .transform((sort) => (sort === 'desc' || sort === '-date' ? 'desc' : 'asc'))
  .meta({ description: 'By date; `date` is `asc`, `-date` is `desc`.', override: { default: 'asc' } });

const orderParams = {
  sort: sortParam,
  limit: integerParam(1, limitMax)
    .optional()
    .describe(
      `Points per page; default ${limitDefault}. CSV and NDJSON without a limit are the whole selection.`,
    ),
  last: integerParam(1, limitMax)
    .optional()
    .describe('Only so many of the newest points of each combination, instead of pages.'),
};
export const stateParams = {
  release: oneOfParam(['first'])
    .optional()
    .describe(
      'The first published value of each point: a publication as missing does not count. Feature `vintages`.',
    ),
  include_missing: flagParam(false).describe('Includes points without a value, as null.'),
};
/** Pin an answer: later loads are ignored. */
const pinParams = {
  version: integerParam(0, 999_999_999_999_999)
    .optional()
    .describe('A `meta.version`, with `vintage` or `release`: pins the answer to that load, permanently.'),
};

/** The parameters for the newest points. */
export const latestParams = {
  from: windowParams.from.describe('Only points of that day or later.'),
  sort: sortParam,
  ...pointParams,
  format: lineFormatParam,
  ...pinParams,
};
/** The parameters for one series. */
export const seriesParams = {
  ...windowParams,
  ...orderParams,
  cursor: cursorParam,
  ...pointParams,
  ...stateParams,
  ...pinParams,
};
/** The parameters for a chart of one series. Periods published as missing are always read: they are gaps in its lines. */
export const chartedParams = {
  ...windowParams,
  dims: pointParams.dims,
  ...aggregationParams,
  transform: pointParams.transform,
  base: pointParams.base,
  vintage: pointParams.vintage,
  release: stateParams.release,
  last: orderParams.last,
  ...pinParams,
};
/** The ids of several series, of any allowed length; servers still accept a URL of a hundred. */
const seriesIdsParam = (most: number) =>
  idsParam('series', most).meta({ lengthMax: most * (idLengthMax + 1) });

/** The parameters for several series, in a URL. */
export const manySeriesParams = {
  ids: seriesIdsParam(idsMax).describe('Comma-separated ids.'),
  ...windowParams,
  ...orderParams,
  ...pointParams,
  ...stateParams,
  layout: oneOfParam(layouts)
    .optional()
    .describe(
      'For `format=csv`, and `wide` for `xlsx`: `long` is a line per point with the column `series`, the default; `wide` is a line per date and a column per series.',
    ),
};

export type ManySeriesQuery = z.output<z.ZodObject<typeof manySeriesParams>>;
/** The same, in a body. */
export const queriedSeriesParams = {
  ...manySeriesParams,
  ids: seriesIdsParam(queriedIdsMax).describe('The ids.'),
};
/** The maximum size of that body: its ids, with quotes and commas, and 12 KB for the rest. */
export const queryBytesMax = 144 * 1024;

/** @throws Failure `invalid_parameter` if many series together would have more points than allowed for one. */
export function requireFewPoints({
  ids,
  limit = limitDefault,
  format,
}: {
  ids: readonly string[];
  limit?: number | undefined;
  format: SeriesFormat;
}): void {
  if (format !== 'json') return;
  if (limit * ids.length <= limitMax) return;
  refuseParam(
    'limit',
    `"limit", ${limitDefault} by default, times the number of series must not be over ${limitMax}. For ${ids.length} series, it may be ${Math.floor(limitMax / ids.length)}.`,
  );
}

/** @throws Failure `invalid_parameter` for parameters that a table does not support, or that only a table supports. */
export function requireTable(query: ManySeriesQuery): void {
  const { format, layout, limit } = query;
  if (format === 'xlsx') return requireWorkbook(query, layout);
  if (format !== 'csv' && layout !== undefined) refuseParam('layout', '"layout" is for format=csv.');
  if (format !== 'json' && limit !== undefined)
    refuseParam('limit', `"limit" is for format=json: ${format} has all points. Use from, to or last.`);
  if (layout === 'wide') requireValuesAlone(query, 'layout=long: a wide table');
}

/** @throws Failure `invalid_parameter` for parameters that a workbook does not support. @param layout of several series. */
export function requireWorkbook(query: WorkbookQuery, layout?: string): void {
  if (query.format !== 'xlsx') return;
  for (const name of ['limit', 'cursor'] as const)
    if (query[name] !== undefined)
      refuseParam(name, `"${name}" is not for format=xlsx: a workbook has all points. Use from, to or last.`);
  if (layout === 'long') refuseParam('layout', 'A workbook has layout=wide. layout=long is for format=csv.');
  requireValuesAlone(query, 'other formats: a workbook');
}

type WorkbookQuery = Pick<ManySeriesQuery, 'format' | 'fields' | 'include' | 'limit'> & {
  cursor?: string | undefined;
};

function requireValuesAlone({ fields, include }: WorkbookQuery, others: string): void {
  if (fields.join() !== defaultPointFields.join())
    refuseParam('fields', `"fields" is for ${others} has values alone.`);
  if (include !== undefined) refuseParam('include', `"include" is for ${others} has values alone.`);
}

/** @throws Failure `invalid_parameter` if the newest points of so many combinations would be more than allowed. */
export function requireFewNewest(last: number | null, combinations: number): void {
  if (last === null || last * combinations <= limitMax) return;
  refuseParam('last', `"last" times the number of combinations must not be over ${limitMax}.`);
}

/** Whether the answer has the notes on its points. They have no vintages, so no URL pins them. */
export const includesNotes = ({ fields }: SeriesRequest): boolean => fields.includes('notes');

/**
 * The canonical form of all that determines the points and their order: a cursor is valid only for the same form, and outlasts a rename.
 */
export function canonicalRequest(seriesNo: number, request: SeriesRequest): string {
  const { from, to, sort, filter, vintage, release, wanted, transform, base } = request;
  const { frequency, aggregate, incomplete } = request;
  return JSON.stringify([
    seriesNo,
    from,
    to,
    sort,
    canonicalDims(filter),
    vintage,
    release,
    wanted,
    transform,
    base?.from,
    base?.to,
    ...(frequency === null ? [] : [frequency, aggregate, incomplete]),
  ]);
}

/** @throws Failure `invalid_parameter` if parameters contradict each other; `plan_required`. */
export function toRequest(
  query: Omit<z.output<z.ZodObject<typeof latestParams>>, 'format'> & { format: SeriesFormat } & Partial<
      Omit<z.output<z.ZodObject<typeof seriesParams>>, 'format'>
    >,
  call: ServiceCall,
  dependencies: Dependencies,
): SeriesRequest {
  const { vintage = null, release = 'current', version = null, transform = null, base = null } = query;
  const { from = '0001-01-01', to = '9999-12-31' } = windowOf(query);
  const { frequency = null, aggregate, incomplete, last = null } = query;
  const request: SeriesRequest = {
    from,
    to,
    sort: query.sort ?? 'asc',
    limit: query.limit,
    cursor: query.cursor,
    format: query.format,
    fields: query.include === undefined ? query.fields : [...query.fields, ...query.include],
    filter: parseDims(query.dims),
    vintage,
    version,
    release,
    wanted: query.include_missing === true ? 'all' : 'values',
    transform,
    base,
    frequency,
    aggregate: aggregate ?? 'avg',
    incomplete,
    last,
  };
  requireTogether(query);
  if (base !== null && transform !== 'index') refuseParam('base', '"base" requires transform=index.');
  if (version !== null && vintage === null && release === 'current')
    refuseParam('version', '"version" requires vintage= or release=first.');
  if (vintage !== null) requireVintages('vintage', call);
  if (release === 'first') requireVintages('release', call);
  requirePast(vintage, dependencies);
  return request;
}

/** @throws Failure `invalid_parameter` if a parameter has no effect in combination with the others. */
function requireTogether({
  frequency,
  aggregate,
  incomplete,
  include,
  last,
  limit,
  cursor,
}: Partial<z.output<z.ZodObject<typeof seriesParams>>>): void {
  if (frequency === undefined && aggregate !== undefined)
    refuseParam('aggregate', '"aggregate" requires "frequency".');
  if (frequency === undefined && incomplete === true)
    refuseParam('incomplete', '"incomplete" requires "frequency".');
  if (frequency !== undefined && include?.includes('notes') === true)
    refuseParam('include', '"include=notes" is for the published points, not with "frequency".');
  if (last !== undefined && (limit !== undefined || cursor !== undefined))
    refuseParam('last', '"last" cannot be combined with "limit" or "cursor".');
}

/** @throws Failure `plan_required`. Checked here again, without trusting the gateway's check. */
export function requireVintages(param: string | undefined, call: ServiceCall): void {
  if (call.identity.features.includes('vintages')) return;
  fail('plan_required', 'Vintages require a higher plan. See GET /v1/plans.', { param });
}

/** @throws Failure `invalid_parameter` for a vintage in the future, or after the day that the key is pinned to. */
function requirePast(vintage: string | null, { clock, seriesTimeZone, asOf }: Dependencies): void {
  if (vintage === null) return;
  requireByPin(asOf, vintage, 'vintage');
  const today = dateIn(seriesTimeZone, clock.now());
  if (vintage <= today) return;
  refuseParam('vintage', `"vintage" must not be in the future; today is ${today} (${seriesTimeZone}).`);
}
