// Stacked bars of calls, one part per group. The pointer or ← → selects a bar, whose numbers are shown above and announced. The table below has all
// of them.
import { useState } from 'preact/hooks';
import { Legend } from '../../../charts/legend.tsx';
import { ChartFrame } from '../../../charts/chart-frame.tsx';
import { Slider } from '../../../charts/slider.tsx';
import { useWidth } from '../../../charts/use-width.ts';
import { countText, numberText } from '../../../text/numbers.ts';
import { dayText, monthText, shortDayText, dayMs } from '../../../text/times.ts';
import { callAxes } from './call-axes.ts';
import type { Bar } from './history.ts';

interface StackedBarsProps {
  /** The finding, as a sentence. */
  label: string;
  bars: readonly Bar[];
  groups: readonly { name: string; colour: string }[];
  interval: 'day' | 'month';
}

const height = 280;

export function StackedBars({ label, bars, groups, interval }: StackedBarsProps) {
  const [ref, width] = useWidth<HTMLDivElement>(720);
  const [at, setAt] = useState<number>();
  const callsMost = Math.max(0, ...bars.map(({ total }) => total));
  const { frame, y, ...axes } = callAxes(callsMost, { width, height, top: 16, right: 2 });
  const slot = (frame.right - frame.left) / Math.max(1, bars.length);
  const nameOf = (date: string) => (interval === 'day' ? dayText(date) : monthText(date));
  const chosen = at === undefined ? undefined : bars[at];

  const numbersOf = ({ total, calls }: Bar) =>
    [
      countText(total, 'call'),
      ...groups.flatMap(({ name }, i) => (calls[i] ? [`${name}: ${numberText(calls[i])}`] : [])),
    ].join(' · ');
  const ticks = labelled(bars, slot).map(({ date }) => ({
    day: dayOf(date),
    label: interval === 'day' ? shortDayText(date) : monthText(date).slice(0, 3),
  }));
  const placeOf = (day: number) =>
    frame.left + (bars.findIndex(({ date }) => dayOf(date) === day) + 0.5) * slot;
  return (
    <div ref={ref} class="calls-by-period">
      <p class="chosen-bar">
        {chosen === undefined ? (
          <span class="dim">Choose a bar to read its numbers.</span>
        ) : (
          <>
            <b>{nameOf(chosen.date)}</b> {numbersOf(chosen)}
          </>
        )}
      </p>
      <Slider
        label={`${label} A bar for each ${interval}`}
        at={at ?? bars.length}
        last={bars.length - 1}
        valueText={chosen === undefined ? 'none chosen' : `${nameOf(chosen.date)}: ${numbersOf(chosen)}`}
        onAt={setAt}
        onClear={() => setAt(undefined)}
      >
        <ChartFrame height={height} axes={{ ...axes, frame, y, dateTicks: ticks, x: placeOf }}>
          {bars.map((bar, i) => (
            <g key={bar.date} onPointerEnter={() => setAt(i)} onClick={() => setAt(i)}>
              <rect
                x={frame.left + i * slot}
                y={frame.top}
                width={slot}
                height={frame.bottom - frame.top}
                class={i === at ? 'bar-slot selected' : 'bar-slot'}
              />
              {partsOf(bar).map((part) => (
                <rect
                  key={part.group}
                  x={frame.left + (i + 0.15) * slot}
                  width={slot * 0.7}
                  y={y(part.to)}
                  height={Math.max(0.5, y(part.from) - y(part.to) - (part.from === 0 ? 0 : 0.75))}
                  fill={groups[part.group]?.colour}
                />
              ))}
            </g>
          ))}
        </ChartFrame>
      </Slider>
      <Legend entries={groups} />
    </div>
  );
}

const dayOf = (date: string): number => Date.parse(date) / dayMs;

function partsOf({ calls }: Bar): { group: number; from: number; to: number }[] {
  let from = 0;
  return calls.flatMap((value, group) => {
    const part = { group, from, to: from + value };
    from = part.to;
    return value === 0 ? [] : [part];
  });
}

/** The bars with a label: the last one, and as many before it as have room. */
function labelled(bars: readonly Bar[], slot: number): Bar[] {
  const every = [1, 2, 5, 7, 14].find((each) => each * slot >= 52) ?? 28;
  return bars.filter((_bar, i) => (bars.length - 1 - i) % every === 0);
}
