// GET /fred/v2/release/observations: the present points of all series of a release, in pages of a given number of points. A page is sent as
// it is read; a series with dimensions counts as several of FRED's.
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { isDate } from '../../kernel/dates.ts';
import { fail } from '../../kernel/errors.ts';
import { integerParam, oneOfParam, readParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { listSeriesStatesOf, type SeriesState } from '../discovery/releases.sql.ts';
import { cachedReleases, type PublicationRow } from '../discovery/releases.ts';
import { endpoint } from '../endpoint.ts';
import type { Points } from '../series/stored/point-columns.ts';
import { requireSeries } from '../series/series-read.ts';
import { fredDate } from './dates.ts';
import { combinationsOf, numberParam, requireNumbered, type FredSeries } from './find-series.ts';
import { datingOf, requestOf } from './observations.ts';
import { lastDay } from './real-time.ts';
import { describedSeries } from './fred-series.ts';
import { readPointsOf } from './vintage-cells.ts';

const limitMax = 500_000;

/** The position of the first point of a page: `SERIES,DATE`. */
interface Place {
  seriesId: string;
  date: string;
}

const placeParam = readParam((text): Place | null => {
  const comma = text.lastIndexOf(',');
  const date = text.slice(comma + 1);
  return comma > 0 && isDate(date) ? { seriesId: text.slice(0, comma), date } : null;
}, 'must be the "next_cursor" of a page').meta({ override: { type: 'string' } });

const releaseShape = { release_id: z.int(), name: z.string(), url: z.string() };
const seriesShape = {
  series_id: z.string(),
  title: z.string(),
  frequency: z.string(),
  units: z.string(),
  seasonal_adjustment: z.string(),
  last_updated: z.iso.datetime(),
  copyright_id: z.string().describe('Always empty.'),
  notes: z.string(),
  observations: z.array(z.object({ date: z.iso.date(), value: z.string() })).describe('By date.'),
};

export const getFredReleaseObservations = endpoint({
  summary: 'The points of all series of a release, in the form of FRED. Feature `bulk`.',
  query: {
    release_id: numberParam('release'),
    format: oneOfParam(['json']).default('json'),
    limit: integerParam(1, limitMax)
      .default(limitMax)
      .meta({
        description: 'The most points of the answer, of all series.',
        override: { default: limitMax },
      }),
    next_cursor: placeParam.optional().describe('The `next_cursor` of the previous page.'),
  },
  formats: ['json'],
  json: z.object({
    release: z.object({
      ...releaseShape,
      sources: z.array(z.object({ name: z.string(), url: z.string() })),
    }),
    series: z.array(z.object(seriesShape)).describe('By id. A series may go on in the next page.'),
    has_more: z.boolean(),
    next_cursor: z.string().optional().describe('`SERIES,DATE`: the first point of the next page.'),
  }),
  errors: ['not_found', 'conflict', 'plan_required'],
  handler: async (dependencies, { query, call }) => {
    requireBulk(call);
    const cached = await call.stage('lookup', () => cachedReleases(dependencies));
    const release = requireNumbered(cached.value, query.release_id, 'release');
    const states = await call.stage('sql', () => listSeriesStatesOf(dependencies.database, release));
    const shown = shownRelease(release, query.release_id, dependencies.publicUrl);
    return {
      identity: ['fred v2 release observations', query, shown, states],
      lastModified: newestOf(states),
      format: 'json',
      read: () => ({ parts: pageParts(dependencies, call, { ...query, release: shown, states }) }),
    };
  },
});

/** @throws Failure `plan_required`. Checked here again, without trusting the gateway's check. */
function requireBulk(call: ServiceCall): void {
  if (call.identity.features.includes('bulk')) return;
  fail('plan_required', 'All series of a release in one call require a higher plan. See GET /v1/plans.');
}

const shownRelease = (
  { id, name, url, source, source_id }: PublicationRow,
  release_id: number,
  publicUrl: string,
) => ({
  ...{ release_id, name, url: url ?? `${publicUrl}/v1/releases/${id}` },
  sources: [{ name: source, url: `${publicUrl}/v1/sources/${source_id}` }],
});

function newestOf(states: readonly SeriesState[]): Date | null {
  const newest = states.reduce((ms, { changedAt }) => Math.max(ms, changedAt.getTime()), 0);
  return states.length === 0 ? null : new Date(newest);
}

interface Page {
  release: object;
  states: readonly SeriesState[];
  limit: number;
  next_cursor?: Place | undefined;
}

async function* pageParts(
  dependencies: Dependencies,
  call: ServiceCall,
  { release, states, limit, next_cursor: place }: Page,
): AsyncGenerator<string> {
  let before = `{"release":${JSON.stringify(release)},"series":[`;
  let left = limit;
  for await (const found of seriesFrom(dependencies, call, states, place)) {
    const from = found.id === place?.seriesId ? place.date : '0001-01-01';
    const points = await pointsFrom(dependencies, call, found, from);
    const { length } = points.dates;
    if (left > 0 || length === 0) {
      yield before + seriesText(found, points, left);
      before = ',';
    }
    if (length > left) {
      const next = `${found.id},${fredDate(points.dates[left] ?? '', found.series)}`;
      yield `${before === ',' ? '' : before}],"has_more":true,"next_cursor":${JSON.stringify(next)}}\n`;
      return;
    }
    left -= length;
  }
  yield `${before === ',' ? '' : before}],"has_more":false}\n`;
}

/** The series from a position on, each read on demand. */
async function* seriesFrom(
  dependencies: Dependencies,
  call: ServiceCall,
  states: readonly SeriesState[],
  place: Place | undefined,
): AsyncGenerator<FredSeries> {
  const [first = '', ...values] = (place?.seriesId ?? '').split('~');
  for (const { id } of states) {
    if (id < first) continue;
    const all = combinationsOf(await requireSeries(dependencies, call, id, null), id);
    yield* id === first ? all.filter((each) => (each.values ?? '') >= values.join('~')) : all;
  }
}

function pointsFrom(
  dependencies: Dependencies,
  call: ServiceCall,
  found: FredSeries,
  observation_start: string,
): Promise<Points> {
  const window = { observation_start, observation_end: lastDay };
  const request = requestOf(
    { ...window, units: 'lin', aggregation_method: 'avg' },
    datingOf(found, { units: 'lin' }),
  );
  return readPointsOf(dependencies, call, found, request);
}

/** A series with the first of its points. */
function seriesText({ id, series }: FredSeries, { dates, values }: Points, most: number): string {
  const { title, frequency, units, seasonal_adjustment } = describedSeries(series);
  return JSON.stringify({
    ...{ series_id: id, title, frequency, units, seasonal_adjustment },
    last_updated: instantText(series.changedAt),
    ...{ copyright_id: '', notes: series.description ?? '' },
    observations: dates.slice(0, most).map((date, i) => {
      const value = values[i] ?? '';
      return { date: fredDate(date, series), value: value === '' ? '.' : value };
    }),
  });
}
