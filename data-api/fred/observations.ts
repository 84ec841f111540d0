// GET /fred/series/observations and /fred/series/vintagedates: the points of a series by real-time period or by vintage, with a row per
// period of validity, or a column for each vintage.
import { z } from 'zod';
import { fail, refuseParam } from '../../kernel/errors.ts';
import type { Queryable } from '../../kernel/database.ts';
import { isDate } from '../../kernel/dates.ts';
import { dateParam, oneOfParam, readParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { fredUnits, isApplicable } from '../../domain/transforms.ts';
import { requireByPin } from '../pin.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { lowerFrequencies, type TargetFrequency } from '../../domain/aggregates.ts';
import { requireVintages, type SeriesRequest } from '../series/series-request.ts';
import { seriesErrors } from '../series/series.ts';
import { stateOf } from '../series/series-read.ts';
import { readVintageDays } from '../triangle/revisions.sql.ts';
import {
  answerParams,
  fileTypes,
  fredReply,
  limitParam,
  offsetParam,
  pageShape,
  realtimeShape,
  sortOrderParam,
  type FredDocument,
} from './answer.ts';
import { fredDate, storedWindow, type Dating } from './dates.ts';
import { requireCombination, requireFredSeries, seriesIdParam, type FredSeries } from './find-series.ts';
import { dayBefore, lastDay, realtimeFacts, realtimeOf, type Realtime } from './real-time.ts';
import { readCells, readPointsOf, type CellRow } from './vintage-cells.ts';

const unitNames = ['lin', 'chg', 'ch1', 'pch', 'pc1', 'pca', 'cch', 'cca', 'log'] as const;
/** FRED's name → the frequency; null if this service does not compute it. */
const frequencyNames = {
  d: 'daily',
  w: 'weekly',
  bw: null,
  m: 'monthly',
  q: 'quarterly',
  sa: 'semiannual',
  a: 'annual',
  wef: null,
  weth: null,
  wew: null,
  wetu: null,
  wem: null,
  wesu: 'weekly',
  wesa: null,
  bwew: null,
  bwem: null,
} as const;
const aggregations = { avg: 'avg', sum: 'sum', eop: 'last' } as const;
const outputTypes = ['1', '2', '3', '4'] as const;

/** The value in FRED's answers if no `observation_start` was sent. It is not a bound: a series may begin earlier. */
const noStart = '1600-01-01';

const daysRule = 'must be days that exist, YYYY-MM-DD, separated by commas';
const vintageDatesParam = readParam((text) => {
  const days = text.split(',');
  return days.every(isDate) ? [...new Set(days)].sort() : null;
}, daysRule).meta({ lengthMax: 12_000, override: { type: 'string' } });

export const observationParams = {
  series_id: seriesIdParam,
  ...answerParams,
  observation_start: dateParam.optional().describe('Only periods that begin on that day or later.'),
  observation_end: dateParam.default(lastDay).describe('Only periods that begin up to that day.'),
  units: oneOfParam(unitNames).default('lin').describe('The transform; docs/transforms.md has the formulas.'),
  frequency: oneOfParam(Object.keys(frequencyNames) as [keyof typeof frequencyNames])
    .optional()
    .describe('A lower frequency: aggregated first, then transformed. Weeks end on Sunday.'),
  aggregation_method: oneOfParam(['avg', 'sum', 'eop'])
    .default('avg')
    .describe('For `frequency`: the mean, the sum, or the last value of a period.'),
  output_type: oneOfParam(outputTypes)
    .default('1')
    .describe(
      '`1`: a row for each value and real-time period. `2`: a column for each vintage. `3`: the same, new and revised values only. `4`: first releases. 2 to 4 need the feature `vintages`.',
    ),
  vintage_dates: vintageDatesParam
    .optional()
    .describe('The vintages, in place of a real-time period. Feature `vintages`.'),
  sort_order: sortOrderParam,
  limit: limitParam(100_000),
  offset: offsetParam,
};
type Query = z.output<z.ZodObject<typeof observationParams>>;

export const getFredObservations = endpoint({
  summary: 'The points of a series, in the form of FRED.',
  query: observationParams,
  formats: fileTypes,
  json: z.object({
    ...realtimeShape,
    observation_start: z.iso.date(),
    observation_end: z.iso.date(),
    units: z.enum(unitNames),
    output_type: z.int(),
    file_type: z.enum(fileTypes),
    order_by: z.literal('observation_date'),
    ...pageShape,
    observations: z
      .array(z.record(z.string(), z.string()))
      .describe(
        '`date` and `value`, or a member `<id>_<YYYYMMDD>` for each vintage. `.` is a missing value.',
      ),
  }),
  errors: seriesErrors,
  handler: async (dependencies, { query, call }) => {
    const realtime = realtimePeriodOf(query, dependencies, call);
    const isPresent = realtime.start === realtime.today && realtime.end === realtime.today;
    if (!isPresent || query.output_type !== '1') requireVintages(paramOfVintages(query), call);
    const found = await call.stage('lookup', () => requireFredSeries(dependencies, call, query.series_id));
    requireCombination(found);
    const { series } = found;
    return fredReply(query.file_type, {
      identity: ['fred observations', query, realtime, ...stateOf(series), series.version],
      lastModified: series.changedAt,
      read: () => call.stage('sql', () => documentOf(dependencies, call, found, { query, realtime })),
    });
  },
});

/** @throws Failure `invalid_parameter`. */
function realtimePeriodOf(query: Query, dependencies: Dependencies, call: ServiceCall): Realtime {
  const { vintage_dates: days, output_type } = query;
  if (days === undefined) return realtimeOf(query, dependencies, call, output_type === '1' ? 'today' : 'all');
  const refuse = (message: string) => refuseParam('vintage_dates', message);
  if (query.realtime_start !== undefined || query.realtime_end !== undefined)
    refuse('"vintage_dates" cannot be combined with "realtime_start" or "realtime_end".');
  if (output_type === '4') refuse('"vintage_dates" cannot be combined with output_type=4.');
  const [start = '', end = start] = [days[0], days.at(-1)];
  requireByPin(dependencies.asOf, end, 'vintage_dates');
  const { today } = realtimeOf({}, dependencies, call);
  if (end > today) refuse(`"vintage_dates" must not be in the future; today is ${today}.`);
  return { start, end, today };
}

function paramOfVintages({ vintage_dates, realtime_start, output_type }: Query): string {
  if (vintage_dates !== undefined) return 'vintage_dates';
  if (output_type !== '1') return 'output_type';
  return realtime_start === undefined ? 'realtime_end' : 'realtime_start';
}

interface Asked {
  query: Query;
  realtime: Realtime;
}
type Row = Readonly<Record<string, string>>;

async function documentOf(
  dependencies: Dependencies,
  call: ServiceCall,
  found: FredSeries,
  asked: Asked,
): Promise<FredDocument> {
  const { query, realtime } = asked;
  const dating = datingOf(found, query);
  const request = requestOf(query, dating);
  const { output_type, file_type, limit, offset, sort_order, units } = query;
  const rows =
    output_type === '4'
      ? await firstReleases(dependencies, call, found, { ...asked, request, dating })
      : await rowsByVintage(dependencies, call, found, { ...asked, request, dating });
  if (sort_order === 'desc') rows.reverse();
  const { observation_start, observation_end } = query;
  return {
    head: {
      ...realtimeFacts(realtime),
      ...{ observation_start: observation_start ?? noStart, observation_end, units },
      ...{ output_type: Number(output_type), file_type },
      ...{ order_by: 'observation_date', sort_order, count: rows.length, offset, limit },
    },
    root: 'observations',
    item: 'observation',
    rows: rows.slice(offset, offset + limit),
  };
}

/**
 * How the rows are dated.
 * @throws Failure `invalid_parameter` for a frequency that is not computed, `transform_not_applicable`: by the names of this endpoint.
 */
export function datingOf({ series }: FredSeries, asked: Pick<Query, 'frequency' | 'units'>): Dating {
  const { id, frequency: own, fiscalYearEnd } = series;
  const frequency = asked.frequency === undefined ? own : frequencyNames[asked.frequency];
  const refuse = (message: string) => refuseParam('frequency', message);
  if (frequency === null)
    return refuse(
      `"frequency" ${asked.frequency} is not computed: weeks end on Sunday (w). Use w, m, q, sa or a.`,
    );
  if (frequency !== own) {
    if (own === 'irregular')
      return refuse(`"frequency" cannot be changed for ${id}, which is irregular. Omit "frequency".`);
    const lower = lowerFrequencies(own);
    if (!lower.some((allowed) => allowed === frequency)) {
      const codes = ['w', 'm', 'q', 'sa', 'a'] as const;
      const names = codes.filter((code) => lower.includes(frequencyNames[code])).join(', ');
      const hint = names === '' ? 'None is lower.' : `Lower ones are ${names}.`;
      return refuse(`"frequency" must not be higher than that of ${id}, which is ${own}. ${hint}`);
    }
  }
  const transform = fredUnits[asked.units];
  if (transform !== null && !isApplicable(transform, frequency))
    fail(
      'transform_not_applicable',
      `"units" ${asked.units} has no meaning for ${frequency} data. Use pc1 or pch.`,
      {
        param: 'units',
      },
    );
  return { frequency, fiscalYearEnd };
}

/** The same request to /v1/series. */
export function requestOf(
  {
    observation_start = '0001-01-01',
    observation_end,
    units,
    frequency,
    aggregation_method,
  }: Pick<Query, 'observation_start' | 'observation_end' | 'units' | 'frequency' | 'aggregation_method'>,
  dating: Dating,
): SeriesRequest {
  if (observation_start > observation_end)
    refuseParam('observation_start', '"observation_start" must not be after "observation_end".');
  const target = frequency === undefined || dating.frequency === 'daily' ? null : dating.frequency;
  return {
    ...storedWindow(observation_start, observation_end, dating),
    ...{ sort: 'asc', limit: undefined, cursor: undefined, format: 'json', fields: ['date', 'value'] },
    ...{ filter: new Map(), vintage: null, version: null, release: 'current', wanted: 'all' },
    ...{ transform: fredUnits[units], base: null, frequency: target as TargetFrequency | null },
    ...{ aggregate: aggregations[aggregation_method], incomplete: false, last: null },
  };
}

interface Reading extends Asked {
  request: SeriesRequest;
  dating: Dating;
}

/** The first published value of each date, if it was published in the real-time period; valid until the end of that period. */
async function firstReleases(
  dependencies: Dependencies,
  call: ServiceCall,
  found: FredSeries,
  { request, dating, realtime }: Reading,
): Promise<Row[]> {
  const { dates, values, publishedOn } = await readPointsOf(dependencies, call, found, {
    ...{ ...request, release: 'first', fields: ['date', 'value', 'published_on'] },
  });
  const rows: Row[] = [];
  for (const [i, date] of dates.entries()) {
    const day = publishedOn[i] ?? '';
    if (day < realtime.start || day > realtime.end) continue;
    rows.push(periodRow({ start: day, end: realtime.end }, fredDate(date, dating), values[i] ?? ''));
  }
  return rows;
}

async function rowsByVintage(
  dependencies: Dependencies,
  call: ServiceCall,
  found: FredSeries,
  reading: Reading,
): Promise<Row[]> {
  const { query, realtime, request, dating } = reading;
  const { today } = realtime;
  const columns = await columnsOf(dependencies, found, query, realtime);
  const cells = await readCells(dependencies, call, found, { request, vintages: columns.days, today });
  const dated = cells.map((row) => ({ ...row, date: fredDate(row.date, dating) }));
  return query.output_type === '1'
    ? dated.flatMap((row) => periodsOf(row, columns.days, realtime.end))
    : dated.flatMap((row) => vintageRow(found.id, row, columns, query.output_type === '3'));
}

/** The vintages that are read, ascending; the first `hidden` ones only serve for comparison. */
interface Columns {
  days: readonly string[];
  hidden: number;
}

async function columnsOf(
  { longReads }: Dependencies,
  found: FredSeries,
  { vintage_dates, output_type }: Query,
  { start, end, today }: Realtime,
): Promise<Columns> {
  if (vintage_dates !== undefined) return { days: vintage_dates, hidden: 0 };
  if (start === end && output_type === '1') return { days: [start], hidden: 0 };
  const all = await vintageDaysOf(longReads, found);
  const within = all.filter((day) => day >= start && day <= end);
  const previousDay = all.findLast((day) => day < start);
  if (output_type === '1')
    return {
      days: previousDay === undefined || within[0] === start ? within : [start, ...within],
      hidden: 0,
    };
  if (within.length === 0) return { days: [end < today ? end : today], hidden: 0 };
  if (output_type === '2' || previousDay === undefined) return { days: within, hidden: 0 };
  return { days: [previousDay, ...within], hidden: 1 };
}

/** The days of the vintages of an id: until a merge, those of the series that it named. */
async function vintageDaysOf(longReads: Queryable, { series }: FredSeries): Promise<string[]> {
  const { seriesNo, version, merged } = series;
  const days = await readVintageDays(longReads, seriesNo, version);
  if (merged === null) return days;
  const before = await readVintageDays(longReads, merged.seriesNo, merged.loadNo);
  const { on } = merged;
  return [...before.filter((day) => day < on), on, ...days.filter((day) => day > on)];
}

/** A row for each value and the days on which it was valid. */
function periodsOf({ date, cells }: CellRow, days: readonly string[], last: string): Row[] {
  const rows: Row[] = [];
  for (let i = 0, next = 0; i < cells.length; i = next) {
    const value = cells[i] ?? null;
    next = i + 1;
    while (next < cells.length && cells[next] === value) next += 1;
    if (value === null) continue;
    const until = days[next];
    const end = until === undefined ? last : dayBefore(until);
    rows.push(periodRow({ start: days[i] ?? '', end }, date, value));
  }
  return rows;
}

const periodRow = ({ start, end }: { start: string; end: string }, date: string, value: string): Row => ({
  realtime_start: start,
  realtime_end: end,
  date,
  value: value === '' ? '.' : value,
});

/** A row with a member for each vintage that has the date; none if no vintage has it. */
function vintageRow(
  id: string,
  { date, cells }: CellRow,
  { days, hidden }: Columns,
  changedOnly: boolean,
): Row[] {
  const row: Record<string, string> = { date };
  for (let i = hidden; i < cells.length; i += 1) {
    const value = cells[i] ?? null;
    if (value === null || (changedOnly && i > 0 && cells[i - 1] === value)) continue;
    row[`${id}_${(days[i] ?? '').replaceAll('-', '')}`] = value === '' ? '.' : value;
  }
  return Object.keys(row).length === 1 ? [] : [row];
}

export const getFredVintageDates = endpoint({
  summary: 'The days on which a series was published or revised, in the form of FRED. Feature `vintages`.',
  query: {
    series_id: seriesIdParam,
    ...answerParams,
    sort_order: sortOrderParam,
    limit: limitParam(10_000),
    offset: offsetParam,
  },
  formats: fileTypes,
  json: z.object({
    ...realtimeShape,
    order_by: z.literal('vintage_date'),
    ...pageShape,
    vintage_dates: z.array(z.iso.date()),
  }),
  errors: ['not_found', 'gone', 'plan_required'],
  handler: async (dependencies, { query, call }) => {
    requireVintages(undefined, call);
    const realtime = realtimeOf(query, dependencies, call, 'all');
    const found = await call.stage('lookup', () => requireFredSeries(dependencies, call, query.series_id));
    const { series } = found;
    const { sort_order, offset, limit } = query;
    return fredReply(query.file_type, {
      identity: ['fred vintagedates', query, realtime, ...stateOf(series), series.version],
      lastModified: series.changedAt,
      async read() {
        const { longReads } = dependencies;
        const all = await call.stage('sql', () => vintageDaysOf(longReads, found));
        const days = all.filter((day) => day >= realtime.start && day <= realtime.end);
        if (sort_order === 'desc') days.reverse();
        return {
          head: {
            ...realtimeFacts(realtime),
            ...{ order_by: 'vintage_date', sort_order, count: days.length, offset, limit },
          },
          root: 'vintage_dates',
          item: 'vintage_date',
          rows: days.slice(offset, offset + limit),
        };
      },
    });
  },
});
