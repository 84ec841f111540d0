// Writes releases as an iCalendar file (RFC 5545), for calendars that subscribe to a URL. A release without a known time is an all-day
// event.
import { icsProduct, icsProperties } from '../../domain/release-ics.ts';
import type { StatedRelease } from './calendar.sql.ts';

/** @param madeOn the day on which the file is made: the same releases give the same bytes all day. */
export function releasesIcs(releases: readonly StatedRelease[], madeOn: string): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `PRODID:${icsProduct}`,
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'X-WR-CALNAME:Release calendar',
    ...releases.flatMap((release) => eventLines(release, madeOn)),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function eventLines(release: StatedRelease, madeOn: string): string[] {
  const about = [release.reference_period, release.source].filter((text) => text !== null).join(', ');
  return [
    'BEGIN:VEVENT',
    `UID:${escape(release.id)}`,
    `DTSTAMP:${compact(madeOn)}T000000Z`,
    release.time_confirmed
      ? `DTSTART:${compact(release.release_at)}`
      : `DTSTART;VALUE=DATE:${compact(release.release_date)}`,
    `SUMMARY:${escape(release.title)}`,
    `DESCRIPTION:${escape([about, ...release.series].join('\n'))}`,
    `STATUS:${release.status === 'cancelled' ? 'CANCELLED' : release.time_confirmed ? 'CONFIRMED' : 'TENTATIVE'}`,
    ...(release.url === null ? [] : [`URL:${release.url}`]),
    'TRANSP:TRANSPARENT',
    ...ownLines(release),
    'END:VEVENT',
  ];
}

/** Properties that only a load of the file reads: see domain/release-ics.ts. */
function ownLines(release: StatedRelease): string[] {
  const texts: Record<keyof typeof icsProperties, string | null> = {
    source: release.source,
    publication: release.stated_publication,
    release_at: release.release_at.replace(/\.\d+/, ''),
    time_zone: release.time_zone,
    time_confirmed: release.stated_time_confirmed === null ? null : String(release.stated_time_confirmed),
    reference_period: release.reference_period,
    frequency: release.frequency,
    kind: release.kind,
    status: release.stated_status,
    importance: release.importance,
    series_ids: release.series.length === 0 ? null : release.series.join(';'),
  };
  return Object.entries(texts).flatMap(([column, text]) =>
    text === null ? [] : [`${icsProperties[column as keyof typeof texts]}:${escape(text)}`],
  );
}

/** `2024-03-01T11:00:00.000Z` → `20240301T110000Z`. */
function compact(time: string): string {
  return time.replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
}

function escape(text: string): string {
  return text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r\n|\r|\n/g, '\\n');
}

/** Folds a line at 75 octets: the rest continues on the next line, after a space. No character is split. */
function fold(line: string): string {
  let folded = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > 75) {
      folded += '\r\n ';
      octets = 1;
    }
    folded += character;
    octets += size;
  }
  return folded;
}
