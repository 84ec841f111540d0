import test from 'ava';
import fc from 'fast-check';
import { nextInstant, schedulePattern, weekdays } from './schedule.ts';

const zones = [
  'UTC',
  'Asia/Karachi',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe', // half an hour
  'America/Sao_Paulo', // at midnight
  'Pacific/Apia', // a day left out
];
const twoDigits = (n: number) => String(n).padStart(2, '0');
const timesOfDay = fc
  .option(fc.tuple(fc.nat(23), fc.nat(59)), { nil: null })
  .map((time) => (time === null ? '' : ` ${twoDigits(time[0])}:${twoDigits(time[1])}`));
const schedules = fc.oneof(
  fc.constantFrom(...[5, 10, 15, 20, 30].map((n) => `every ${n} minutes`), 'hourly'),
  timesOfDay.map((time) => `daily${time}`),
  fc.tuple(fc.constantFrom(...weekdays), timesOfDay).map(([day, time]) => `weekly ${day}${time}`),
);
const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Instants near a change of the clock of the zone, and any others. */
function instants(zone: string): fc.Arbitrary<Date> {
  const start = Temporal.ZonedDateTime.from(`2010-01-01T00:00[${zone}]`);
  const changes: number[] = [];
  for (let at = start.getTimeZoneTransition('next'); at !== null && at.year < 2027;) {
    changes.push(at.epochMilliseconds);
    at = at.getTimeZoneTransition('next');
  }
  const any = fc.date({
    min: new Date('2010-01-01T00:00:00Z'),
    max: new Date('2027-01-01T00:00:00Z'),
    noInvalidDate: true,
  });
  if (changes.length === 0) return any;
  const near = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -2 * dayMs, max: 2 * dayMs }))
    .map(([change, offMs]) => new Date(change + offMs));
  return fc.oneof(near, any);
}
const cases = fc
  .constantFrom(...zones)
  .chain((zone) => fc.tuple(fc.constant(zone), schedules, instants(zone)));

const localOf = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);

test('the next instant is later, matches the schedule, and no earlier match is skipped', (t) => {
  fc.assert(
    fc.property(cases, ([zone, schedule, after]) => {
      const next = nextInstant(schedule, zone, after).getTime();
      t.true(next > after.getTime());
      // Every moment before it gives the same next instant.
      for (const part of [0, 0.25, 0.5, 0.75, 0.999]) {
        const between = Math.floor(after.getTime() + (next - 1 - after.getTime()) * part);
        t.is(nextInstant(schedule, zone, new Date(between)).getTime(), next);
      }
      const local = localOf(next, zone);
      const { minutes, hourly, time = '00:00', weekday } = schedulePattern.exec(schedule)?.groups ?? {};
      if (minutes !== undefined || hourly !== undefined) {
        const every = Number(minutes ?? 60);
        t.is(local.minute % every, 0);
        for (let at = next - minuteMs; at > after.getTime(); at -= minuteMs)
          t.not(localOf(at, zone).minute % every, 0);
        return;
      }
      const isOfDay = local.toPlainTime().toString().slice(0, 5) === time;
      // Otherwise the day does not have the time: the clock of a minute before that time on this day shows why.
      if (!isOfDay) t.not(localOf(next, zone).offset, localOf(next - dayMs / 4, zone).offset);
      if (weekday === undefined || !isOfDay) return;
      const dayBefore = local.toPlainDate().subtract({ days: 1 });
      const isLeftOut = !dayBefore.toZonedDateTime(zone).toPlainDate().equals(dayBefore);
      const days = [local.toPlainDate(), ...(isLeftOut ? [dayBefore] : [])];
      t.true(days.some((day) => weekdays[day.dayOfWeek - 1] === weekday));
    }),
    { numRuns: 500 },
  );
});

test('on days on which clocks change, the time occurs once', (t) => {
  const next = (schedule: string, zone: string, after: string) =>
    nextInstant(schedule, zone, new Date(after)).toISOString();
  const berlin = 'Europe/Berlin';
  t.is(next('daily 10:30', berlin, '2026-03-28T12:00:00Z'), '2026-03-29T08:30:00.000Z');
  t.is(
    next('daily 02:30', berlin, '2026-03-28T12:00:00Z'),
    '2026-03-29T01:30:00.000Z',
    'at 03:30: there is no 02:30',
  );
  t.is(next('daily 02:30', berlin, '2026-10-24T12:00:00Z'), '2026-10-25T00:30:00.000Z', 'the first of two');
  t.is(next('daily 02:30', berlin, '2026-10-25T00:30:00Z'), '2026-10-26T01:30:00.000Z', 'not the second');
  t.is(next('hourly', berlin, '2026-10-25T00:00:00Z'), '2026-10-25T01:00:00.000Z', 'each of the two hours');
  t.is(next('daily', 'America/Sao_Paulo', '2018-11-03T12:00:00Z'), '2018-11-04T03:00:00.000Z');
  t.is(next('every 30 minutes', 'Asia/Kathmandu', '2026-01-01T00:00:00Z'), '2026-01-01T00:15:00.000Z');
  t.is(next('weekly mon 06:00', 'Asia/Karachi', '2026-11-23T00:59:59Z'), '2026-11-23T01:00:00.000Z');
  t.is(next('weekly mon 06:00', 'Asia/Karachi', '2026-11-23T01:00:00Z'), '2026-11-30T01:00:00.000Z');
  // Friday, 2011-12-30 is left out there: its time is Saturday's, whether asked on Thursday or on Saturday.
  for (const after of ['2011-12-30T09:00:00Z', '2011-12-30T12:00:00Z'])
    t.is(next('weekly fri 20:43', 'Pacific/Apia', after), '2011-12-31T06:43:00.000Z');
});

test('an invalid schedule is refused, with all valid forms', (t) => {
  for (const text of [
    ...[
      '',
      'Daily',
      'daily ',
      'daily 24:00',
      'daily 9:00',
      'daily 10:60',
      'weekly',
      'weekly monday',
      'weekly 06:00',
    ],
    ...['every 7 minutes', 'every 5 minute', 'every minute', 'monthly', 'hourly 10', 'daily 10:30\n'],
  ])
    t.throws(() => nextInstant(text, 'UTC', new Date(0)), {
      message: /must be "every N minutes".*"weekly mon 06:00"/,
    });
});
