// The calls of the month added up, where they lead to at the present pace, and the limit.
import { useWidth } from '../../../charts/use-width.ts';
import { dayMs } from '../../../text/amounts.ts';
import { numberText } from '../../../text/numbers.ts';
import { shortDayText } from '../../../text/times.ts';
import { stepsTo } from './axis.ts';
import type { MonthSoFar, Projection } from './projection.ts';
import { ValueGrid } from './value-grid.tsx';

const height = 250;
/** Room for the label of the present point. */
const labelWidth = 100;
const plot = { top: 30, bottom: 28, left: 56, right: 14 };

interface MonthChartProps {
  month: MonthSoFar;
  projection: Projection | null;
}

export function MonthChart({ month, projection }: MonthChartProps) {
  const [ref, width] = useWidth<HTMLElement>(476);
  const { from, to, now, used, limit, days } = month;
  const end = projection?.expected ?? used;
  const isLimitNear = limit !== null && limit <= Math.max(used, end) * 3;
  const steps = stepsTo(Math.max(used, end + (projection?.spread ?? 0), isLimitNear ? limit : 0) * 1.05);
  const top = steps.at(-1) ?? 1;
  const x = (at: number) => plot.left + ((at - from) / (to - from)) * (width - plot.left - plot.right);
  const y = (value: number) =>
    height - plot.bottom - (Math.max(0, value) / top) * (height - plot.top - plot.bottom);
  const line = [...summed(month), { at: now, value: used }];
  const point = ({ at, value }: { at: number; value: number }) =>
    `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
  const isLate = x(now) + labelWidth > width;
  const exhausted = projection?.exhaustedAt ?? null;
  const marks = [0, 7, 14, 21, 28].map((days) => from + days * dayMs).filter((at) => at < to);
  return (
    <figure class="fig" ref={ref}>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={sentence(month, projection)}
      >
        <text x="0" y="12" class="t2">
          Calls this month, added up
        </text>
        <ValueGrid steps={steps} from={plot.left} to={width - plot.right} y={y} />
        {projection !== null && (
          <>
            <path
              class="band"
              d={`M${point({ at: now, value: used })}L${point({ at: to, value: end + projection.spread })}L${point({ at: to, value: Math.max(used, end - projection.spread) })}Z`}
            />
            <path
              class="ln dotted"
              d={`M${point({ at: now, value: used })}L${point({ at: to, value: end })}`}
            />
          </>
        )}
        {isLimitNear && (
          <>
            <line x1={plot.left} x2={width - plot.right} y1={y(limit)} y2={y(limit)} class="limit" />
            <text x={plot.left + 4} y={y(limit) - 6} class="t1 halo">
              Limit {numberText(limit)}
            </text>
          </>
        )}
        <path class="ln now" d={`M${line.map(point).join('L')}`} />
        <circle class="dot now" cx={x(now)} cy={y(used)} r="4" />
        <text
          x={isLate ? x(now) - 8 : x(now) + 8}
          y={y(used) + 20}
          text-anchor={isLate ? 'end' : 'start'}
          class="t1 b halo"
        >
          {numberText(used)} now
        </text>
        {exhausted !== null && limit !== null && (
          <>
            <circle class="open" cx={x(exhausted)} cy={y(limit)} r="4" />
            <text x={x(exhausted)} y={y(limit) - 10} text-anchor="middle" class="t1 b halo">
              {shortDayText(new Date(exhausted).toISOString())}
            </text>
          </>
        )}
        {marks.map((at) => (
          <text key={at} x={x(at)} y={height - 8} text-anchor={at === from ? 'start' : 'middle'}>
            {shortDayText(new Date(at).toISOString())}
          </text>
        ))}
      </svg>
      <figcaption class="vh">
        Calls of each day: {days.map((calls) => numberText(calls)).join(', ')}.
      </figcaption>
    </figure>
  );
}

/** The sum at the end of each day that is over. */
function summed({ from, days }: MonthSoFar): { at: number; value: number }[] {
  let value = 0;
  const ends = days.map((calls, i) => ({ at: from + (i + 1) * dayMs, value: (value += calls) }));
  return [{ at: from, value: 0 }, ...ends];
}

function sentence({ used, limit }: MonthSoFar, projection: Projection | null): string {
  const so = `${numberText(used)} calls so far${limit === null ? '' : `, of ${numberText(limit)}`}.`;
  if (projection === null) return `${so} Nothing is foretold before the third day of the month.`;
  const end = `At this pace ${numberText(Math.round(projection.expected))} at the end of the month.`;
  if (projection.exhaustedAt === null) return `${so} ${end}`;
  return `${so} ${end} The limit is reached on ${shortDayText(new Date(projection.exhaustedAt).toISOString())}.`;
}
