// GET /v1/calendar: the release calendar as JSON, CSV or iCalendar.
import { z } from 'zod';
import { dateIn, nextDayIn } from '../../kernel/clock.ts';
import { countJson, limitDefault, listOf, renderList, rowOf } from '../../kernel/http/list.ts';
import { oneOfParam, windowOf, windowParams } from '../../kernel/http/params.ts';
import { addDays, withinCalendar, type DateRange } from '../../kernel/dates.ts';
import { countReleases, importances, listReleases, releaseSchema, releaseStatuses } from './calendar.sql.ts';
import { endpoint } from '../endpoint.ts';
import { boundsOf, idsOf, requireJsonCount } from '../list-params.ts';
import { releasesIcs } from './ics.ts';
import { cachedListParams } from './cached-list.ts';

const daysDefault = 30;

const { params, bounded } = cachedListParams({
  shape: releaseSchema.shape,
  sorts: ['release_at'],
  sort: 'release_at',
  filters: {
    source: z.string().describe('The exact source.'),
    series: z.string().describe('The id of a series in the release.'),
    status: oneOfParam(releaseStatuses),
    importance: oneOfParam(importances),
  },
});

/** Without `from` it begins today; without `to` it ends thirty days after it begins. */
export const getCalendar = endpoint({
  summary: 'The release calendar, as JSON, CSV or iCalendar.',
  query: {
    ...windowParams,
    ...params,
    format: oneOfParam(['json', 'csv', 'ics']).default('json').describe('`ics`: a calendar to subscribe to.'),
  },
  json: listOf(rowOf(releaseSchema)),
  caching: 'public',
  handler: async ({ database, cursors, clock, seriesTimeZone }, { query, call }) => {
    const { limit, cursor, format, fields, source, series, status, importance } = query;
    requireJsonCount(query);
    const now = clock.now();
    const { from, to } = shownWindow(windowOf(query), dateIn(seriesTimeZone, now));
    const sort = query.sort === '-release_at' ? '-release_at' : 'release_at';
    const narrowed = { ids: idsOf(query), bounds: boundsOf(query, bounded) };
    const filter = { source, series, status, importance, ...narrowed };
    const pageQuery = JSON.stringify(['calendar', query.from, query.to, filter, sort]);
    const after = cursor === undefined ? null : (cursors.open(cursor, pageQuery) as [string, string]);
    const most = limit ?? (format === 'json' ? limitDefault : Infinity);
    return {
      // No identity: the status of a release depends on the clock.
      format,
      fileName: 'calendar',
      async read() {
        const asked = { from, to, now, ...filter };
        if (query.count_only) {
          call.changesAt(changeOf([], status, now, seriesTimeZone));
          return { text: countJson(await call.stage('sql', () => countReleases(database, asked))) };
        }
        const found = await call.stage('sql', () =>
          listReleases(database, {
            ...asked,
            sort,
            after,
            limit: most === Infinity ? null : most + 1,
            stated: format === 'ics',
          }),
        );
        const releases = found.slice(0, most);
        call.changesAt(changeOf(releases, status, now, seriesTimeZone));
        const last = found.length > most ? releases.at(-1) : undefined;
        const nextCursor = last === undefined ? null : cursors.seal([last.release_at, last.id], pageQuery);
        const written = await call.stage('render', () =>
          format === 'ics'
            ? releasesIcs(releases, now.toISOString().slice(0, 10))
            : renderList(releases, { fields, format, nextCursor }),
        );
        return { text: written, nextCursor };
      },
    };
  },
});

/**
 * When the clock changes the answer next: a release comes, a day ends where the publisher is or, for iCalendar, in UTC. An answer filtered
 * by status may miss a release whose status changes at any time, so it is not cacheable.
 */
function changeOf(
  releases: readonly { release_at: string }[],
  status: readonly string[] | undefined,
  now: Date,
  timeZone: string,
): number {
  if (status !== undefined) return now.getTime();
  const coming = releases.map(({ release_at: at }) => Date.parse(at)).filter((at) => at > now.getTime());
  return Math.min(...coming, nextDayIn(timeZone, now).getTime(), nextDayIn('UTC', now).getTime());
}

/**
 * Without an end the window ends in thirty days, or thirty days after its start, whichever is later; without a start
 * it starts today, or thirty days before an end that is past.
 */
function shownWindow({ from, to }: ReturnType<typeof windowOf>, today: string): DateRange {
  if (to !== undefined) {
    const isPast = to < today;
    return { from: from ?? (isPast ? withinCalendar(addDays(to, -daysDefault)) : today), to };
  }
  const begin = from ?? today;
  return { from: begin, to: withinCalendar(addDays(begin < today ? today : begin, daysDefault)) };
}
