// The end of a day in a time zone.

/** The last instant of a day. @param day `YYYY-MM-DD`. @param timeZone an IANA name. */
export function endOf(day: string, timeZone: string): Date {
  const next = Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone);
  return new Date(next.epochMilliseconds - 1);
}
