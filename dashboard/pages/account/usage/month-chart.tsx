// The cumulative calls of the month, their projection at the present pace, and the limit.
import { callAxes } from './call-axes.ts';
import { dateTicks } from '../../../../domain/chart/ticks.ts';
import { ChartFrame } from '../../../charts/chart-frame.tsx';
import { useWidth } from '../../../charts/use-width.ts';
import { countText, numberText } from '../../../text/numbers.ts';
import { shortDayText, dayMs } from '../../../text/times.ts';
import type { MonthSoFar, Projection } from './projection.ts';

const height = 250;
/** Room for the label of the present point. */
const labelWidth = 100;
/** From the point to the bottom of its label below it. */
const noteHeight = 20;

export function MonthChart({ month, projection }: { month: MonthSoFar; projection: Projection | null }) {
  const [ref, width] = useWidth<HTMLElement>(476);
  const { from, to, now, used, limit, days } = month;
  const end = projection?.expected ?? used;
  const isLimitNear = limit !== null && limit <= Math.max(used, end) * 3;
  const most = Math.max(used, end + (projection?.spread ?? 0), isLimitNear ? limit : 0);
  const { frame, ...axes } = callAxes(most, { width, height, top: 30, right: 14 });
  const [firstDay, lastDay] = [from / dayMs, to / dayMs];
  const dayX = (day: number) =>
    frame.left + ((day - firstDay) / (lastDay - firstDay)) * (frame.right - frame.left);
  const x = (at: number) => dayX(at / dayMs);
  const y = (value: number) => axes.y(Math.max(0, value));
  const line = [...summed(month), { at: now, value: used }];
  const point = ({ at, value }: { at: number; value: number }) =>
    `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
  const isLate = x(now) + labelWidth > width;
  const isLow = y(used) + noteHeight > frame.bottom;
  const isAtLimit = isLimitNear && Math.abs(y(used) + noteHeight - 4 - y(limit)) < noteHeight;
  const exhausted = projection?.exhaustedAt ?? null;
  const ticks = dateTicks({ low: firstDay, high: lastDay - 1 }, frame.right - frame.left, ['daily']);
  return (
    <figure class="fig" ref={ref}>
      <ChartFrame
        height={height}
        axes={{ ...axes, frame, dateTicks: ticks, x: dayX }}
        unit="Cumulative calls this month"
        label={sentence(month, projection)}
      >
        {projection !== null && (
          <>
            <path
              class="projected-range"
              d={`M${point({ at: now, value: used })}L${point({ at: to, value: end + projection.spread })}L${point({ at: to, value: Math.max(used, end - projection.spread) })}Z`}
            />
            <path
              class="chart-current-line projected"
              d={`M${point({ at: now, value: used })}L${point({ at: to, value: end })}`}
            />
          </>
        )}
        {isLimitNear && (
          <>
            <line x1={frame.left} x2={frame.right} y1={y(limit)} y2={y(limit)} class="call-limit" />
            <text x={frame.left + 4} y={y(limit) - 6} class="chart-note">
              Limit {numberText(limit)}
            </text>
          </>
        )}
        <path class="chart-current-line" d={`M${line.map(point).join('L')}`} />
        <circle class="chart-current" cx={x(now)} cy={y(used)} r="4" />
        <text
          x={isLate ? x(now) - 8 : x(now) + 8}
          y={isLow || isAtLimit ? y(used) - 10 : y(used) + noteHeight}
          text-anchor={isLate ? 'end' : 'start'}
          class="chart-note"
        >
          {numberText(used)} now
        </text>
        {exhausted !== null && limit !== null && (
          <>
            <circle class="limit-reached" cx={x(exhausted)} cy={y(limit)} r="4" />
            <text x={x(exhausted)} y={y(limit) - 10} text-anchor="middle" class="chart-note">
              {shortDayText(new Date(exhausted).toISOString())}
            </text>
          </>
        )}
      </ChartFrame>
      <figcaption class="vh">
        Calls of each day: {days.map((calls) => numberText(calls)).join(', ')}.
      </figcaption>
    </figure>
  );
}

/** The sum at the end of each past day. */
function summed({ from, days }: MonthSoFar): { at: number; value: number }[] {
  let value = 0;
  const ends = days.map((calls, i) => ({ at: from + (i + 1) * dayMs, value: (value += calls) }));
  return [{ at: from, value: 0 }, ...ends];
}

function sentence({ used, limit }: MonthSoFar, projection: Projection | null): string {
  const so = `${countText(used, 'call')} so far${limit === null ? '' : `, of ${numberText(limit)}`}.`;
  if (projection === null) return `${so} The projection begins on the third day of the month.`;
  const end = `At this pace ${numberText(Math.round(projection.expected))} at the end of the month.`;
  if (projection.exhaustedAt === null) return `${so} ${end}`;
  return `${so} ${end} The limit is reached on ${shortDayText(new Date(projection.exhaustedAt).toISOString())}.`;
}
