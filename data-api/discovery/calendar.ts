// GET /v1/calendar: when publishers release what, as JSON, CSV or iCalendar.
// Hides nothing: the handler reads from the parameters to the answer.
import { z } from 'zod';
import { dateIn } from '../../kernel/clock.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { integerParam, oneOfParam, parseQuery, windowOf, windowParams } from '../../kernel/http/params.ts';
import { addDays, type DateRange } from '../../kernel/dates.ts';
import { listReleases, type ReleaseQuery } from './calendar.sql.ts';
import type { Dependencies } from '../dependencies.ts';
import { csvType, jsonType, listCsv, listJson } from '../envelope.ts';
import { icsType, releasesIcs } from './ics.ts';
import { cachingHeaders, nextPageLink, sendNotModified, sendText } from '../../kernel/http/reply.ts';

const daysDefault = 30;

const calendarQuery = z.object({
  ...windowParams,
  source: z.string().optional(),
  series: z.string().optional(),
  status: oneOfParam(['scheduled', 'released', 'delayed', 'cancelled']).optional(),
  importance: oneOfParam(['low', 'medium', 'high']).optional(),
  sort: oneOfParam(['release_at', '-release_at']).default('release_at'),
  limit: integerParam(1, 1_000).default(100),
  cursor: z.string().optional(),
  format: oneOfParam(['json', 'csv', 'ics']).default('json'),
});

const columns = [
  'id',
  'title',
  'source',
  'release_at',
  'release_date',
  'time_zone',
  'time_confirmed',
  'reference_period',
  'frequency',
  'kind',
  'status',
  'importance',
  'series',
  'url',
] as const;

/** GET /v1/calendar. Without `from` it begins today; without `to` it ends thirty days after it begins. */
export function getCalendar({ database, cursors, clock, seriesTimeZone }: Dependencies): Handler {
  return async function getCalendar(request, response, call) {
    const { limit, cursor, format, ...asked } = await call.stage('parse', () =>
      parseQuery(calendarQuery, request.url),
    );
    const now = clock.now();
    const { from, to } = shownWindow(windowOf(asked), dateIn(seriesTimeZone, now));
    const { source, series, status, importance, sort } = asked;
    const pageQuery = JSON.stringify([
      'calendar',
      asked.from,
      asked.to,
      source,
      series,
      status,
      importance,
      sort,
    ]);
    const after = cursor === undefined ? null : (cursors.open(cursor, pageQuery) as [string, string]);
    const query: ReleaseQuery = {
      from,
      to,
      now,
      source,
      series,
      status,
      importance,
      sort,
      after,
      limit: limit + 1,
    };

    const found = await call.stage('sql', () => listReleases(database, query));
    const releases = found.slice(0, limit);
    const last = releases.at(-1);
    const nextCursor =
      found.length > limit && last !== undefined ? cursors.seal([last.release_at, last.id], pageQuery) : null;
    const answer = await call.stage('render', () => {
      if (format === 'ics')
        return { type: icsType, text: releasesIcs(releases, now.toISOString().slice(0, 10)) };
      if (format === 'csv') return { type: csvType, text: listCsv(releases, columns) };
      return { type: jsonType, text: listJson(releases, nextCursor) };
    });
    const headers = cachingHeaders(request, {
      identity: [answer.text, nextCursor],
      lastModified: null,
      cacheControl: 'public',
    });
    if (sendNotModified(request, response, headers)) return;
    const link = format === 'json' ? {} : nextPageLink(request, nextCursor);
    await sendText(request, response, { ...answer, headers: { ...headers, ...link } });
  };
}

/**
 * Without an end the window ends in thirty days, or thirty days after it begins, whichever is later; without a beginning
 * it begins today, or thirty days before an end that is past.
 */
function shownWindow({ from, to }: ReturnType<typeof windowOf>, today: string): DateRange {
  if (to !== undefined) {
    const isPast = to < today;
    return { from: from ?? (isPast ? within(addDays(to, -daysDefault)) : today), to };
  }
  const begin = from ?? today;
  return { from: begin, to: within(addDays(begin < today ? today : begin, daysDefault)) };
}

/** The calendar of dates begins and ends somewhere. */
function within(date: string): string {
  if (/^\d{4}-/.test(date)) return date < '0001-01-01' ? '0001-01-01' : date;
  return date.startsWith('+') ? '9999-12-31' : '0001-01-01';
}
