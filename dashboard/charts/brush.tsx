// The window of a chart, chosen on a small chart of all points: drag a handle or the window, or move a handle with the keyboard. The window is a
// pair of positions in the list of dates.
import { useMemo, useRef } from 'preact/hooks';
import { overviewOf } from '../../domain/chart/overview.ts';
import { placeOf, type ChartPoint } from '../../domain/chart/line-points.ts';
import { periodName } from '../../domain/chart/text.ts';
import { ChartFrame } from './chart-frame.tsx';
import { Slider } from './slider.tsx';
import type { Window } from './window.ts';
import type { Chart } from '../../domain/chart/layout.ts';

interface BrushProps {
  lines: readonly (readonly ChartPoint[])[];
  breaks: readonly string[] | undefined;
  dates: readonly string[];
  frequency: Chart['frequency'];
  isLog: boolean;
  width: number;
  left: number;
  right: number;
  window: Window;
  /** Called while it moves, and once more with `isDone` when it is released. */
  onChange: (window: Window, isDone: boolean) => void;
}

const height = 38;
type Part = 'first' | 'last' | 'both';

export function Brush({
  lines,
  breaks,
  dates,
  frequency,
  isLog,
  width,
  left,
  right,
  window,
  onChange,
}: BrushProps) {
  const box = useRef<HTMLDivElement>(null);
  const overview = useMemo(
    () => overviewOf(lines, { frequency, isLog, breaks }, { left, right, width, height }),
    [lines, breaks, frequency, isLog, left, right, width],
  );
  const places = useMemo(() => dates.map((date) => overview.x(placeOf(date, frequency))), [overview, dates]);
  const dragged = useRef<{ part: Part; from: number; window: Window } | undefined>(undefined);
  const end = dates.length - 1;

  function moved(part: Part, from: Window, steps: number): Window {
    if (part === 'first') return { ...from, first: clamp(from.first + steps, 0, from.last - 1) };
    if (part === 'last') return { ...from, last: clamp(from.last + steps, from.first + 1, end) };
    const by = clamp(steps, -from.first, end - from.last);
    return { first: from.first + by, last: from.last + by };
  }
  function positionOf(event: PointerEvent): number {
    return nearest(places, event.clientX - (box.current?.getBoundingClientRect().left ?? 0));
  }
  function grab(part: Part, event: PointerEvent & { currentTarget: HTMLElement }) {
    event.currentTarget.setPointerCapture(event.pointerId);
    dragged.current = { part, from: positionOf(event), window };
  }
  function drag(event: PointerEvent) {
    if (dragged.current === undefined) return;
    const { part, from, window: before } = dragged.current;
    onChange(moved(part, before, positionOf(event) - from), false);
  }
  function drop(event: PointerEvent) {
    if (dragged.current === undefined) return;
    const { part, from, window: before } = dragged.current;
    dragged.current = undefined;
    onChange(moved(part, before, positionOf(event) - from), true);
  }

  if (end < 1) return null;
  const [x0 = left, x1 = right] = [places[window.first], places[window.last]];
  const handle = (part: 'first' | 'last', label: string) => (
    <Slider
      class="brush-handle"
      label={label}
      at={window[part]}
      last={end}
      valueText={periodName(dates[window[part]] ?? '', frequency)}
      onAt={(to) => onChange(moved(part, window, to - window[part]), true)}
      style={{ left: `${part === 'first' ? x0 : x1}px` }}
      onPointerDown={(event) => grab(part, event)}
      onPointerMove={drag}
      onPointerUp={drop}
    />
  );
  return (
    <div class="brush" ref={box} onDblClick={() => onChange({ first: 0, last: end }, true)}>
      <ChartFrame height={height + 24} axes={overview}>
        {overview.paths.map((d, i) => (
          <path key={i} class="chart-past" d={d} />
        ))}
      </ChartFrame>
      <div
        class="brush-window"
        style={{ left: `${x0}px`, width: `${x1 - x0}px` }}
        onPointerDown={(event) => grab('both', event)}
        onPointerMove={drag}
        onPointerUp={drop}
      />
      {handle('first', 'First period shown')}
      {handle('last', 'Last period shown')}
    </div>
  );
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

/** The position of the nearest place in an ascending list. */
function nearest(places: readonly number[], x: number): number {
  let [low, high] = [0, places.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < x) low = middle;
    else high = middle;
  }
  return x - (places[low] ?? 0) < (places[high] ?? 0) - x ? low : high;
}
