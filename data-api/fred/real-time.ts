// The real-time period of a request: the days as of which the data are shown.
import { addDays } from '../../kernel/dates.ts';
import { dateIn, nextDayIn } from '../../kernel/clock.ts';
import { refuseParam } from '../../kernel/errors.ts';
import { dateParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { requireByPin } from '../pin.ts';
import type { Dependencies } from '../dependencies.ts';

export const firstDay = '1776-07-04';
export const lastDay = '9999-12-31';

export const realtimeParams = {
  realtime_start: dateParam.optional().describe('The first day of the real-time period.'),
  realtime_end: dateParam.optional().describe('Its last day; `9999-12-31` has no end.'),
};

/** The days of a real-time period, both inclusive. */
export interface Realtime {
  start: string;
  end: string;
  today: string;
}

/**
 * The real-time period of a request. Without parameters it is today, or all days. With one parameter the other is today, but an end in the
 * past means that one day, and `realtime_end=9999-12-31` begins with the first day.
 * @throws Failure `invalid_parameter` if it begins in the future or after its end, or is after the day that the key is pinned to.
 */
export function realtimeOf(
  {
    realtime_start,
    realtime_end,
  }: { realtime_start?: string | undefined; realtime_end?: string | undefined },
  { clock, seriesTimeZone, asOf }: Pick<Dependencies, 'clock' | 'seriesTimeZone' | 'asOf'>,
  call: Pick<ServiceCall, 'changesAt'>,
  byDefault: 'today' | 'all' = 'today',
): Realtime {
  requireByPin(asOf, realtime_start, 'realtime_start');
  if (realtime_end !== lastDay) requireByPin(asOf, realtime_end, 'realtime_end');
  const now = clock.now();
  const today = dateIn(seriesTimeZone, now);
  call.changesAt(nextDayIn(seriesTimeZone, now).getTime());
  if (realtime_start === undefined && realtime_end === undefined)
    return byDefault === 'all'
      ? { start: firstDay, end: lastDay, today }
      : { start: today, end: today, today };
  const end = realtime_end ?? today;
  const alone = end === lastDay ? firstDay : end < today ? end : today;
  const start = realtime_start ?? alone;
  const refuse = (rule: string) => refuseParam('realtime_start', `"realtime_start" must not be ${rule}.`);
  if (start > today) refuse(`in the future; today is ${today} (${seriesTimeZone})`);
  if (start > end) refuse('after "realtime_end"');
  return { start, end, today };
}

/** As attributes. */
export const realtimeFacts = ({ start, end }: Realtime) => ({ realtime_start: start, realtime_end: end });

/** The day before. */
export const dayBefore = (day: string): string => addDays(day, -1);
