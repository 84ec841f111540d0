// When a source is fetched: parses `schedule` of almanac.yml, and computes the next instant, including on days on which clocks change.

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** The whole grammar. */
export const schedulePattern = new RegExp(
  `^(?:every (?<minutes>5|10|15|20|30) minutes|(?<hourly>hourly)|` +
    `(?:daily|weekly (?<weekday>${weekdays.join('|')}))(?: (?<time>(?:[01]\\d|2[0-3]):[0-5]\\d))?)$`,
);

export const scheduleRule =
  'must be "every N minutes" (5, 10, 15, 20 or 30), "hourly", "daily", "daily 10:30", "weekly mon" or "weekly mon 06:00"';

/**
 * The first instant of a schedule after another instant. Minutes are counted from the full hour of the local time; a day without a time of
 * day begins at 00:00. A time that a day lacks, because clocks go forward, is moved by the length of the gap; of a time that occurs twice,
 * the first counts.
 * @param timeZone an IANA name. @throws RangeError if the text is not a schedule.
 */
export function nextInstant(schedule: string, timeZone: string, after: Date): Date {
  const words = schedulePattern.exec(schedule)?.groups;
  if (words === undefined) throw new RangeError(`The schedule "${schedule}" ${scheduleRule}.`);
  const here = Temporal.Instant.fromEpochMilliseconds(after.getTime()).toZonedDateTimeISO(timeZone);
  const { minutes, hourly, time = '00:00', weekday } = words;
  if (minutes !== undefined || hourly !== undefined)
    return nextMinute(here, minutes === undefined ? 60 : Number(minutes));
  // From the day before: if clocks skip a day (Pacific/Apia, 2011-12-30), its time falls on the following day.
  for (let day = here.toPlainDate().subtract({ days: 1 }); ; day = day.add({ days: 1 })) {
    if (weekday !== undefined && weekdays[day.dayOfWeek - 1] !== weekday) continue;
    const at = day.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) });
    if (at.epochMilliseconds > after.getTime()) return new Date(at.epochMilliseconds);
  }
}

/** Minute by minute: clocks may change by half an hour, and within an hour. */
function nextMinute(here: Temporal.ZonedDateTime, every: number): Date {
  let at = here.round({ smallestUnit: 'minute', roundingMode: 'floor' }).add({ minutes: 1 });
  while (at.minute % every !== 0) at = at.add({ minutes: 1 });
  return new Date(at.epochMilliseconds);
}
