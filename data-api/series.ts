// GET /v1/series/{id} and /v1/series/{id}/latest: the points of a series, by page or as one stream.
// Hides nothing: each handler reads from the parameters to the answer.
import type { Request, Response } from 'express';
import { z } from 'zod';
import { dateIn } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { fail } from '../kernel/errors.ts';
import type { Call, Handler } from '../kernel/http.ts';
import {
  booleanParam,
  dateParam,
  integerParam,
  nearestName,
  oneOfParam,
  parseQuery,
  periodParam,
  repeatableParam,
} from '../kernel/params.ts';
import type { Dependencies } from './dependencies.ts';
import { canonicalDims, combinationsThatPass, parseDims } from './dims.ts';
import {
  csvType,
  defaultPointFields,
  jsonType,
  pointFields,
  seriesCsv,
  seriesJson,
  type PointField,
} from './envelope.ts';
import {
  appendPoints,
  blockPoints,
  filterPoints,
  noPoints,
  readBlocks,
  readNewest,
  type Place,
  type Points,
  type Selection,
} from './points.ts';
import { cachingHeaders, sendNotModified, sendStream, sendText } from './reply.ts';
import { findNeighbourIds, findSeries, type Series } from './series.sql.ts';

const limitDefault = 1_000;
const limitMax = 100_000;
/** A client may keep an answer, and asks whether it still holds: a load is seen by the next call. */
const keyedCacheControl = 'private, no-cache';
const wholeHistory = { from: '0001-01-01', to: '9999-12-31' };

/** `fields=date,value`: a choice of what a point shows, in the order of the envelope. */
const fieldsParam = z.string().transform((text, context): readonly PointField[] => {
  const asked = text.split(',');
  const unknown = asked.find((name) => !(pointFields as readonly string[]).includes(name));
  if (unknown === undefined) return pointFields.filter((field) => asked.includes(field));
  context.issues.push({
    code: 'custom',
    input: text,
    message: `must be some of ${pointFields.join(', ')}, with a comma between them`,
  });
  return z.NEVER;
});

const latestParams = {
  dims: repeatableParam(z.string()).default([]),
  vintage: dateParam.optional(),
  format: oneOfParam(['json', 'csv']).default('json'),
  fields: fieldsParam.default(defaultPointFields),
};
const latestQuery = z.object(latestParams);

const seriesQuery = z.object({
  ...latestParams,
  from: periodParam.optional(),
  to: periodParam.optional(),
  sort: oneOfParam(['asc', 'desc']).default('asc'),
  limit: integerParam(1, limitMax).optional(),
  cursor: z.string().optional(),
  release: oneOfParam(['first']).optional(),
  include_missing: booleanParam.default(false),
});

/** GET /v1/series/{id}. */
export function getSeries(dependencies: Dependencies): Handler {
  const { database, cursors } = dependencies;
  return async function getSeries(request, response, call) {
    const query = await call.stage('parse', () => {
      const parsed = parseQuery(seriesQuery, request.url);
      requireVintages(parsed.vintage, parsed.release, call, dependencies);
      return parsed;
    });
    const { sort, limit, format, fields, release = 'current', include_missing: includeMissing } = query;
    const vintage = query.vintage ?? null;
    const { from, to } = windowOf(query.from, query.to);
    const series = await call.stage('lookup', () => requireSeries(database, request, vintage));
    const filter = parseDims(query.dims);
    const walk = JSON.stringify([
      series.id,
      from,
      to,
      sort,
      canonicalDims(filter),
      vintage,
      release,
      includeMissing,
    ]);
    const [version = series.version, date, dimsNo] =
      query.cursor === undefined ? [] : (cursors.open(query.cursor, walk) as [number, string, number]);
    const after = date === undefined || dimsNo === undefined ? null : { date, dimsNo };
    const selection: Selection = {
      series,
      dimsNos: combinationsThatPass(series, filter),
      from,
      to,
      order: sort,
      vintage,
      release,
      includeMissing,
      version,
    };
    const headers = cachingHeaders(request, {
      identity: [walk, series.rowVersion, version, after, limit, format, fields],
      lastModified: series.changedAt,
      cacheControl: keyedCacheControl,
    });
    if (sendNotModified(request, response, headers)) return;

    if (format === 'csv' && limit === undefined) {
      const blocks = pointsAfter(database, selection, after, blockPoints);
      await sendCsvStream(request, response, headers, series, fields, blocks);
      return;
    }
    const page = await call.stage('sql', () => readPage(database, selection, after, limit ?? limitDefault));
    const nextCursor =
      page.last === null ? null : cursors.seal([version, page.last.date, page.last.dimsNo], walk);
    await sendPage(request, response, call, {
      headers,
      series,
      fields,
      format,
      meta: metaOf(series, vintage),
      points: page.points,
      nextCursor,
    });
  };
}

/** GET /v1/series/{id}/latest: the newest point of each combination. */
export function getLatest(dependencies: Dependencies): Handler {
  const { database } = dependencies;
  return async function getLatest(request, response, call) {
    const query = await call.stage('parse', () => {
      const parsed = parseQuery(latestQuery, request.url);
      requireVintages(parsed.vintage, undefined, call, dependencies);
      return parsed;
    });
    const { format, fields } = query;
    const vintage = query.vintage ?? null;
    const series = await call.stage('lookup', () => requireSeries(database, request, vintage));
    const filter = parseDims(query.dims);
    const selection: Selection = {
      series,
      dimsNos: combinationsThatPass(series, filter),
      ...wholeHistory,
      order: 'asc',
      vintage,
      release: 'current',
      includeMissing: false,
      version: series.version,
    };
    const headers = cachingHeaders(request, {
      identity: ['latest', series.id, canonicalDims(filter), vintage, series.rowVersion, format, fields],
      lastModified: series.changedAt,
      cacheControl: keyedCacheControl,
    });
    if (sendNotModified(request, response, headers)) return;
    const points = await call.stage('sql', () => readNewest(database, selection));
    await sendPage(request, response, call, {
      headers,
      series,
      fields,
      format,
      meta: metaOf(series, vintage),
      points,
      nextCursor: null,
    });
  };
}

/**
 * Checks that the caller may ask for a past state, and that the day has come.
 * @throws Failure `plan_required`, or `invalid_parameter` for a vintage in the future.
 */
function requireVintages(
  vintage: string | undefined,
  release: string | undefined,
  call: Call,
  { clock, seriesTimeZone }: Dependencies,
): void {
  if (vintage === undefined && release === undefined) return;
  const param = vintage === undefined ? 'release' : 'vintage';
  if (!call.identity.features.includes('vintages')) {
    fail('plan_required', `"${param}" asks for a past state of the data, which belongs to a higher plan.`, {
      param,
    });
  }
  const today = dateIn(seriesTimeZone, clock.now());
  if (vintage !== undefined && vintage > today) {
    fail('invalid_parameter', `"vintage" must not be in the future; today is ${today} (${seriesTimeZone}).`, {
      param,
    });
  }
}

/** @throws Failure `invalid_parameter` where the window ends before it begins. */
function windowOf(
  from: { from: string } | undefined,
  to: { to: string } | undefined,
): { from: string; to: string } {
  const window = { from: from?.from ?? wholeHistory.from, to: to?.to ?? wholeHistory.to };
  if (window.from > window.to) fail('invalid_parameter', '"from" must not be after "to".', { param: 'from' });
  return window;
}

/** @throws Failure `not_found` with the nearest id where one is near. */
export async function requireSeries(
  database: Database,
  request: Request,
  vintage: string | null,
): Promise<Series> {
  const id = String(request.params['id']);
  const series = await findSeries(database, id, vintage);
  if (series !== undefined) return series;
  const nearest = nearestName(id, await findNeighbourIds(database, id));
  return fail(
    'not_found',
    `There is no series "${id.slice(0, 128)}".${nearest === undefined ? ' GET /v1/catalog lists them.' : ` Did you mean "${nearest}"?`}`,
    { param: 'id' },
  );
}

/** The points behind a place, in blocks. */
async function* pointsAfter(
  database: Database,
  selection: Selection,
  after: Place | null,
  pointsWanted: number,
): AsyncGenerator<Points> {
  if (after === null) {
    yield* readBlocks(database, selection, pointsWanted);
    return;
  }
  const ahead = selection.order === 'asc' ? 1 : -1;
  const rest =
    selection.order === 'asc' ? { ...selection, from: after.date } : { ...selection, to: after.date };
  for await (const block of readBlocks(database, rest, pointsWanted)) {
    // Only the date of the place itself can hold points that were sent already.
    yield filterPoints(
      block,
      (i) => block.dates[i] !== after.date || ((block.dimsNos[i] ?? 0) - after.dimsNo) * ahead > 0,
    );
  }
}

/** One page; `last` is the place of its last point where more follow. */
async function readPage(
  database: Database,
  selection: Selection,
  after: Place | null,
  limit: number,
): Promise<{ points: Points; last: Place | null }> {
  const points = noPoints();
  for await (const block of pointsAfter(database, selection, after, limit + 1)) {
    appendPoints(points, block);
    if (points.dates.length > limit) break;
  }
  if (points.dates.length <= limit) return { points, last: null };
  return {
    points: filterPoints(points, (i) => i < limit),
    last: { date: points.dates[limit - 1] ?? '', dimsNo: points.dimsNos[limit - 1] ?? 0 },
  };
}

interface PageAnswer {
  headers: Record<string, string>;
  series: Series;
  fields: readonly PointField[];
  format: 'json' | 'csv';
  meta: Record<string, unknown>;
  points: Points;
  nextCursor: string | null;
}

async function sendPage(request: Request, response: Response, call: Call, page: PageAnswer): Promise<void> {
  const { headers, series, fields, points, nextCursor } = page;
  if (page.format === 'json') {
    const text = await call.stage('render', () =>
      seriesJson(series, page.meta, { points, nextCursor }, fields),
    );
    await sendText(request, response, { type: jsonType, headers, text });
    return;
  }
  const text = await call.stage('render', () => {
    const csv = seriesCsv(series, fields);
    return csv.header + csv.lines(points);
  });
  const link = nextCursor === null ? {} : { link: `<${nextPageUrl(request, nextCursor)}>; rel="next"` };
  await sendText(request, response, {
    type: csvType,
    headers: { ...headers, ...attachment(series), ...link },
    text,
  });
}

async function sendCsvStream(
  request: Request,
  response: Response,
  headers: Record<string, string>,
  series: Series,
  fields: readonly PointField[],
  blocks: AsyncGenerator<Points>,
): Promise<void> {
  const csv = seriesCsv(series, fields);
  async function* parts(): AsyncGenerator<string> {
    let isFirst = true;
    for await (const block of blocks) {
      yield isFirst ? csv.header + csv.lines(block) : csv.lines(block);
      isFirst = false;
    }
    if (isFirst) yield csv.header;
  }
  await sendStream(request, response, {
    type: csvType,
    headers: { ...headers, ...attachment(series) },
    parts: parts(),
  });
}

function attachment(series: Series): Record<string, string> {
  // The letters of an id need no quoting in a header.
  return { 'content-disposition': `attachment; filename="${series.id}.csv"` };
}

/** The address of the next page, relative to the host: the client's own parameters with the cursor. */
function nextPageUrl(request: Request, cursor: string): string {
  const url = new URL(request.url, 'http://host');
  url.searchParams.set('cursor', cursor);
  return url.pathname + url.search;
}

/** `meta` of the envelope: the six fields of the contract first, then what else is known. */
function metaOf(series: Series, vintage: string | null): Record<string, unknown> {
  const { name, unit, frequency, source, last_updated, ...more } = factsOf(series, vintage);
  return { name, unit, frequency, source, last_updated, transform: null, vintage, ...more };
}

/** What is known of a series, as it is sent. @param vintage leaves out what is counted for the present state only. */
export function factsOf(series: Series, vintage: string | null) {
  const isPast = vintage !== null;
  return {
    name: series.name,
    unit: series.unit,
    frequency: series.frequency,
    source: series.source,
    last_updated:
      series.vintagePublishedOn ?? series.lastUpdated ?? series.changedAt.toISOString().slice(0, 10),
    first_vintage: series.firstVintage,
    description: series.description,
    geography: series.geography,
    seasonal_adjustment: series.seasonalAdjustment,
    unit_multiplier: series.unitMultiplier,
    decimals: series.decimals,
    dims: series.dimensions.map((name) => ({ name, values: valuesOf(series, name) })),
    first_date: isPast ? null : series.firstDate,
    last_date: isPast ? null : series.lastDate,
    observation_count: isPast ? null : series.observationCount,
    licence: series.licence,
    attribution: series.attribution,
    date_convention: 'period_end',
    fiscal_year_end: series.fiscalYearEnd,
    tags: series.tags,
    category: series.category,
  };
}

function valuesOf(series: Series, dimension: string): string[] {
  return [...new Set(series.combinations.flatMap(({ dims }) => dims[dimension] ?? []))];
}
