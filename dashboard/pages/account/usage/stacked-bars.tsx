// Bars of calls, a part for each group: pointer or ← → choose one, whose numbers are written above and read out. The table below has all.
import { useState } from 'preact/hooks';
import { useWidth } from '../../../charts/use-width.ts';
import { numberText } from '../../../text/numbers.ts';
import { dayText, monthText, shortDayText } from '../../../text/times.ts';
import { stepsTo } from './axis.ts';
import type { Bar } from './history.ts';
import { ValueGrid } from './value-grid.tsx';

interface StackedBarsProps {
  /** The finding, as a sentence. */
  label: string;
  bars: readonly Bar[];
  groups: readonly { name: string; colour: string }[];
  interval: 'day' | 'month';
}

const height = 280;
const plot = { top: 16, bottom: 28, left: 56, right: 2 };

export function StackedBars({ label, bars, groups, interval }: StackedBarsProps) {
  const [ref, width] = useWidth<HTMLDivElement>(720);
  const [at, setAt] = useState<number>();
  const steps = stepsTo(Math.max(0, ...bars.map(({ total }) => total)));
  const top = steps.at(-1) ?? 1;
  const y = (value: number) => height - plot.bottom - (value / top) * (height - plot.top - plot.bottom);
  const slot = (width - plot.left - plot.right) / Math.max(1, bars.length);
  const nameOf = (date: string) => (interval === 'day' ? dayText(date) : monthText(date));
  const chosen = at === undefined ? undefined : bars[at];

  function onKeyDown(event: KeyboardEvent) {
    const last = bars.length - 1;
    const from = at ?? bars.length;
    const to = { ArrowLeft: from - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') return setAt(undefined);
    if (to === undefined) return;
    event.preventDefault();
    setAt(Math.min(last, Math.max(0, to)));
  }
  return (
    <div ref={ref} class="bars">
      <p class="bars-now" aria-live="polite">
        {chosen === undefined ? (
          <span class="dim">Choose a bar to read its numbers.</span>
        ) : (
          <>
            <b>{nameOf(chosen.date)}</b> {numberText(chosen.total)} calls
            {groups.map(({ name }, i) => {
              const calls = chosen.calls[i] ?? 0;
              return calls === 0 ? '' : ` · ${name}: ${numberText(calls)}`;
            })}
          </>
        )}
      </p>
      <div
        role="application"
        aria-roledescription="chart"
        aria-label={`${label} Left and right arrows choose a bar.`}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          aria-hidden="true"
        >
          <ValueGrid steps={steps} from={plot.left} to={width - plot.right} y={y} />
          {bars.map((bar, i) => (
            <g key={bar.date} onPointerEnter={() => setAt(i)} onClick={() => setAt(i)}>
              <rect
                x={plot.left + i * slot}
                y={plot.top}
                width={slot}
                height={height - plot.top - plot.bottom}
                class={i === at ? 'slot on' : 'slot'}
              />
              {partsOf(bar).map((part) => (
                <rect
                  key={part.group}
                  x={plot.left + (i + 0.15) * slot}
                  width={slot * 0.7}
                  y={y(part.to)}
                  height={Math.max(0.5, y(part.from) - y(part.to) - (part.from === 0 ? 0 : 0.75))}
                  class={`f-${groups[part.group]?.colour ?? 's8'}`}
                />
              ))}
            </g>
          ))}
          {labelled(bars, slot).map((i) => (
            <text key={i} {...placeOf(plot.left + (i + 0.5) * slot, width)} y={height - 8}>
              {interval === 'day'
                ? shortDayText(bars[i]?.date ?? '')
                : monthText(bars[i]?.date ?? '').slice(0, 3)}
            </text>
          ))}
        </svg>
      </div>
    </div>
  );
}

const halfLabel = 22;

/** A label stands below the middle of its bar, and ends with the chart where it would go beyond it. */
function placeOf(middle: number, width: number) {
  return middle + halfLabel > width
    ? ({ x: width, 'text-anchor': 'end' } as const)
    : ({ x: middle, 'text-anchor': 'middle' } as const);
}

function partsOf({ calls }: Bar): { group: number; from: number; to: number }[] {
  let from = 0;
  return calls.flatMap((value, group) => {
    const part = { group, from, to: from + value };
    from = part.to;
    return value === 0 ? [] : [part];
  });
}

/** The bars that are named: the last, and back from it as many as have room. */
function labelled(bars: readonly Bar[], slot: number): number[] {
  const every = [1, 2, 5, 7, 14].find((each) => each * slot >= 52) ?? 28;
  return bars.map((_bar, i) => i).filter((i) => (bars.length - 1 - i) % every === 0);
}
