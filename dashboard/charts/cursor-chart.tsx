// A line chart with a cursor: the pointer or the arrow keys move it to the nearest observation, and a box shows all values there.
// domain/chart makes the picture as text; the cursor is drawn above it.
import { useMemo, useState } from 'preact/hooks';
import { layoutSvg } from '../../domain/chart/chart.ts';
import { findingOf } from '../../domain/chart/finding.ts';
import { nearestDate, type ChartLayout } from '../../domain/chart/layout.ts';
import { placeOf } from '../../domain/chart/line-points.ts';
import { palettes } from '../../domain/chart/palette.ts';
import { formatNumber, periodName } from '../../domain/chart/text.ts';
import { Slider } from './slider.tsx';
import { Swatch } from './legend.tsx';

interface CursorChartProps {
  layout: ChartLayout;
  decimals: number;
}

const boxWidthMax = 260;

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
  return (
    <Slider
      class="chart-area"
      label={`${chart.title}, chart`}
      at={at < 0 ? dates.length : at}
      last={dates.length - 1}
      valueText={shown === undefined ? findingOf(chart) : textAt(layout, shown, decimals)}
      onAt={(to) => setDate(dates[to])}
      onClear={() => setDate(undefined)}
      onPointerMove={onPointerMove}
      onPointerLeave={() => setDate(undefined)}
      onBlur={() => setDate(undefined)}
    >
      {/* Safe: domain/chart escapes every text in the SVG. */}
      <div aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />
      {shown !== undefined && <Cursor layout={layout} date={shown} decimals={decimals} />}
      <div class="chart-cover" style={{ left: `${frame.left}px`, right: 0, top: 0, bottom: 0 }} />
    </Slider>
  );
}

/** All dates with a value, in order. */
function datesOf({ lines, chart }: ChartLayout): string[] {
  const dates = lines.flatMap(({ line }) =>
    line.points.filter(({ value }) => value !== null && (!chart.isLog || value > 0)).map(({ date }) => date),
  );
  return [...new Set(dates)].sort();
}

function valuesAt({ lines }: ChartLayout, date: string) {
  return lines.map(({ line, colourNo, dashNo }) => ({
    name: line.name,
    dashNo,
    colour: palettes.page.series[colourNo] ?? palettes.page.ink,
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
        ({ value, colour }, i) =>
          value !== null &&
          (!chart.isLog || value > 0) && (
            <i
              key={i}
              class="chart-at"
              style={{ left: `${left}px`, top: `${y(value)}px`, background: colour }}
            />
          ),
      )}
      <div class={isRightHalf ? 'chart-values before' : 'chart-values'} style={box}>
        <b>{periodName(date, chart.frequency)}</b>
        <table>
          <tbody>
            {values.map(({ name, value, colour, dashNo }, i) => (
              <tr key={i}>
                <td>
                  <Swatch colour={colour} dashNo={dashNo} />
                  <span>{name === '' ? chart.unit || 'Value' : name}</span>
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

function textAt(layout: ChartLayout, date: string, decimals: number): string {
  const values = valuesAt(layout, date).map(({ name, value }) =>
    `${name} ${value === null ? 'no value' : formatNumber(value, decimals)}`.trim(),
  );
  return `${periodName(date, layout.chart.frequency)}: ${values.join(', ')}`;
}
