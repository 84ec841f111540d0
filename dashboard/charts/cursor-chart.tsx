// A line chart with a cursor: the pointer or the arrow keys move it to the nearest observation, and a box shows all values there.
// Hides that the picture is text made by domain/chart, and that the cursor is drawn above it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { layoutSvg } from '../../domain/chart/chart.ts';
import { findingOf } from '../../domain/chart/finding.ts';
import { nearestDate, type ChartLayout } from '../../domain/chart/layout.ts';
import { placeOf } from '../../domain/chart/line-points.ts';
import { formatNumber, periodName } from '../../domain/chart/text.ts';

interface CursorChartProps {
  layout: ChartLayout;
  decimals: number;
}

const boxWidthMax = 260;
/** A screen reader is told of the cursor at most twice a second. */
const toldEveryMs = 500;

export function CursorChart({ layout, decimals }: CursorChartProps) {
  const { chart, frame } = layout;
  const [date, setDate] = useState<string>();
  const svg = useMemo(() => layoutSvg(layout), [layout]);
  const dates = useMemo(() => datesOf(layout), [layout]);
  const at = date === undefined ? -1 : dates.indexOf(date);
  const shown = at < 0 ? undefined : date;

  function onPointerMove(event: PointerEvent & { currentTarget: HTMLElement }) {
    const position = event.clientX - event.currentTarget.getBoundingClientRect().left;
    setDate(nearestDate(layout, position) ?? undefined);
  }
  function onKeyDown(event: KeyboardEvent) {
    const last = dates.length - 1;
    const from = at < 0 ? last + 1 : at;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') setDate(undefined);
    else if (to !== undefined) setDate(dates[Math.max(0, Math.min(last, to))]);
    else return;
    event.preventDefault();
  }
  return (
    <div
      class="chart-area"
      tabIndex={0}
      role="group"
      aria-label={`Chart. ${chart.title}. ${findingOf(chart)} Arrow keys read the values.`}
      onPointerMove={onPointerMove}
      onPointerLeave={() => setDate(undefined)}
      onBlur={() => setDate(undefined)}
      onKeyDown={onKeyDown}
    >
      {/* Made of numbers and escaped names by domain/chart. */}
      <div aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />
      {shown !== undefined && <Cursor layout={layout} date={shown} decimals={decimals} />}
      <Told text={shown === undefined ? '' : toldOf(layout, shown, decimals)} />
      <div class="chart-cover" style={{ left: `${frame.left}px`, right: 0, top: 0, bottom: 0 }} />
    </div>
  );
}

/** All dates with a value, in order. */
function datesOf({ lines, chart }: ChartLayout): string[] {
  const dates = lines.flatMap(({ line }) =>
    line.points.filter(({ value }) => value !== null && (!chart.isLog || value > 0)).map(({ date }) => date),
  );
  return [...new Set(dates)].sort();
}

interface ValueAt {
  name: string;
  colourNo: number;
  value: number | null;
}

function valuesAt({ lines }: ChartLayout, date: string): ValueAt[] {
  return lines.map(({ line, colourNo }) => ({
    name: line.name,
    colourNo,
    value: line.points.find((point) => point.date === date)?.value ?? null,
  }));
}

function Cursor({ layout, date, decimals }: CursorChartProps & { date: string }) {
  const { frame, chart, x, y } = layout;
  const values = valuesAt(layout, date);
  const left = x(placeOf(date, chart.frequency));
  const isRightHalf = left > (frame.left + frame.right) / 2;
  const room = isRightHalf ? left - frame.left : frame.right - left;
  const box = {
    left: `${left + (isRightHalf ? -14 : 14)}px`,
    top: `${frame.top + 4}px`,
    maxWidth: `${Math.min(boxWidthMax, Math.max(120, room - 14))}px`,
  };
  return (
    <div aria-hidden="true">
      <div
        class="chart-cursor"
        style={{ left: `${left}px`, top: `${frame.top}px`, height: `${frame.bottom - frame.top}px` }}
      />
      {values.map(
        ({ value, colourNo }, i) =>
          value !== null &&
          (!chart.isLog || value > 0) && (
            <i
              key={i}
              class={`chart-at s${colourNo + 1}`}
              style={{ left: `${left}px`, top: `${y(value)}px` }}
            />
          ),
      )}
      <div class={isRightHalf ? 'chart-values before' : 'chart-values'} style={box}>
        <b>{periodName(date, chart.frequency)}</b>
        <table>
          <tbody>
            {values.map(({ name, value, colourNo }, i) => (
              <tr key={i}>
                <td>
                  <i class={`swatch s${colourNo + 1}`} />
                  <span>{name === '' ? chart.unit : name}</span>
                </td>
                <td>{value === null ? '–' : formatNumber(value, decimals)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function toldOf(layout: ChartLayout, date: string, decimals: number): string {
  const values = valuesAt(layout, date).map(({ name, value }) =>
    `${name} ${value === null ? 'no value' : formatNumber(value, decimals)}`.trim(),
  );
  return `${periodName(date, layout.chart.frequency)}: ${values.join(', ')}`;
}

/** A text for screen readers; one that follows too soon replaces the one that waits. */
function Told({ text }: { text: string }) {
  const [told, setTold] = useState('');
  const lastAt = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, lastAt.current + toldEveryMs - performance.now());
    const timer = setTimeout(() => {
      lastAt.current = performance.now();
      setTold(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="vh" aria-live="polite">
      {told}
    </p>
  );
}
