// The fan: every vintage up to the one shown as a grey line, the one shown in the accent, first prints as open dots. Past vintages are on a
// canvas, to which a step of play adds one line; only the changed part is redrawn.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Fan } from '../../../domain/chart/revisions/fan.ts';
import { valueAt, type RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { boldWidthOf } from '../../../domain/chart/text.ts';
import { ChartFrame } from '../../charts/chart-frame.tsx';
import { Slider } from '../../charts/slider.tsx';
import { dayText } from '../../text/times.ts';
import { coloursOf, prepared, useTheme } from './drawing.ts';
import type { Formats } from './formats.ts';

interface FanChartProps {
  fan: Fan;
  table: RevisionTable;
  formats: Formats;
  height: number;
  vintageNo: number;
  dateNo: number;
  /** Absent: no other period can be chosen. */
  onDate?: (dateNo: number) => void;
  /** The first line of text. */
  title: string;
  shows: 'values' | 'distance';
  /** The name of the chart, for screen readers. */
  label: string;
}

export function FanChart(props: FanChartProps) {
  const { fan, table, formats, height, vintageNo, dateNo, onDate, shows, label } = props;
  const [near, setNear] = useState<Near>();
  const hovered = near !== undefined && near.vintageNo <= vintageNo ? near : undefined;
  const pointing = {
    class: 'fan',
    onPointerMove: (event: PointerEvent) => setNear(nearest(props, event)),
    onPointerLeave: () => setNear(undefined),
  };
  const drawn = (
    <>
      <Ghosts {...{ fan, height, vintageNo }} framesLater={shows === 'values' ? 1 : 2} />
      <ChartFrame height={height} axes={fan} unit={props.title}>
        <path
          class="chart-period"
          d={`M${Math.round(fan.xOf(dateNo)) + 0.5},${fan.frame.top - 12}V${fan.frame.bottom}`}
        />
        {hovered && <path class="chart-current-line pointed" d={fan.paths[hovered.vintageNo]} />}
        <path class="chart-current-line" d={fan.paths[vintageNo]} />
        <FirstPrints fan={fan} vintageNo={vintageNo} />
        <EndLabel {...props} />
        {shows === 'values' ? <Notes {...props} /> : <DistanceNote {...props} />}
        {hovered && (
          <text
            class="chart-note"
            x={clamped(hovered.x, fan)}
            y={Math.max(12, hovered.y - 10)}
            text-anchor="middle"
          >
            {`${dayText(table.vintages[hovered.vintageNo] ?? '')}: ${formats.value(valueAt(table, hovered.dateNo, hovered.vintageNo) ?? 0)}`}
          </text>
        )}
      </ChartFrame>
    </>
  );
  if (onDate === undefined)
    return (
      <div role="img" aria-label={label} {...pointing}>
        {drawn}
      </div>
    );
  return (
    <Slider
      label={label}
      at={dateNo}
      last={table.dates.length - 1}
      valueText={periodText(props)}
      onAt={onDate}
      onClick={(event) => onDate(nearestDate(props, event.offsetX))}
      {...pointing}
    >
      {drawn}
    </Slider>
  );
}

/** The selected period in words, as the chart shows it. */
function periodText({ fan, table, formats, vintageNo, dateNo, shows }: FanChartProps): string {
  const print = shows === 'distance' ? printOf(fan, vintageNo, dateNo) : undefined;
  const value = fan.shownAt(dateNo, print?.vintageNo ?? vintageNo);
  const shownText =
    value === null ? 'not published' : shows === 'values' ? formats.value(value) : formats.change(value);
  return `${formats.period(table.dates[dateNo] ?? '')}: ${shownText}`;
}

/** The first print of a period, if the vintage shown has it. */
function printOf({ dots }: Fan, vintageNo: number, dateNo: number) {
  return dots.find((dot) => dot.dateNo === dateNo && dot.vintageNo <= vintageNo);
}

function clamped(x: number, { frame }: Fan): number {
  return Math.min(frame.right - 50, Math.max(frame.left + 60, x));
}

interface Near {
  vintageNo: number;
  dateNo: number;
  x: number;
  y: number;
}

/** A line farther from the pointer is not selected. */
const nearPixels = 14;

/** The period at a position, from the first one shown on. */
export function nearestDate(
  { fan, table, fromNo = 0 }: { fan: Fan; table: RevisionTable; fromNo?: number },
  x: number,
): number {
  let [found, distance] = [fromNo, Infinity];
  for (let dateNo = fromNo; dateNo < table.dates.length; dateNo += 1) {
    const offset = Math.abs(fan.xOf(dateNo) - x);
    if (offset < distance) [found, distance] = [dateNo, offset];
  }
  return found;
}

function nearest(props: FanChartProps, { offsetX, offsetY }: PointerEvent): Near | undefined {
  const { fan, vintageNo: shown } = props;
  const dateNo = nearestDate(props, offsetX);
  let [found, distance]: [Near | undefined, number] = [undefined, nearPixels];
  for (let vintageNo = shown; vintageNo >= 0; vintageNo -= 1) {
    const value = fan.shownAt(dateNo, vintageNo);
    if (value === null) continue;
    const y = fan.y(value);
    const offset = Math.abs(y - offsetY);
    if (offset < distance) [found, distance] = [{ vintageNo, dateNo, x: fan.xOf(dateNo), y }, offset];
  }
  return found;
}

interface GhostsProps {
  fan: Fan;
  height: number;
  vintageNo: number;
  framesLater: number;
}

const oldestOpacity = 0.35;
const newestOpacity = 0.95;

/** The vintages before the one shown. */
function Ghosts({ fan, height, vintageNo, framesLater }: GhostsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn>();
  const theme = useTheme();
  useEffect(() => {
    const draw = () => {
      if (canvas.current === null) return;
      let now = drawn.current;
      if (now === undefined || now.fan !== fan || now.theme !== theme || now.count > vintageNo) {
        const context = prepared(canvas.current, fan.width, height);
        drawn.current = now = { fan, theme, count: 0, context };
        Object.assign(context, styleOf(fan));
      }
      for (; now.count < vintageNo; now.count += 1) {
        const age = fan.paths.length < 2 ? 1 : now.count / (fan.paths.length - 1);
        now.context.globalAlpha = oldestOpacity + (newestOpacity - oldestOpacity) * age;
        now.context.stroke(new Path2D(fan.paths[now.count]));
      }
    };
    return afterFrames(framesLater, draw);
  }, [fan, height, vintageNo, theme, framesLater]);
  return <canvas ref={canvas} aria-hidden="true" />;
}

interface Drawn {
  fan: Fan;
  theme: number;
  /** Vintages on the canvas. */
  count: number;
  context: CanvasRenderingContext2D;
}

/** Browsers draw lines of one pixel several times as fast. */
const thinFromLength = 200_000;

function styleOf({ paths }: Fan) {
  const { '--ghost': strokeStyle } = coloursOf(document.body, ['--ghost']);
  const length = paths.reduce((sum, path) => sum + path.length, 0);
  return { strokeStyle, lineWidth: length < thinFromLength ? 1.25 : 1, lineJoin: 'round' };
}

/** Runs the work some frames later, so that the drawing of a step is spread over several frames. @returns cancels it. */
function afterFrames(count: number, work: () => void): () => void {
  let left = count;
  let frame = requestAnimationFrame(function next() {
    left -= 1;
    if (left > 0) frame = requestAnimationFrame(next);
    else work();
  });
  return () => cancelAnimationFrame(frame);
}

/** Closer dots would hide the lines. */
const dotSpacingLeast = 7;

function FirstPrints({ fan, vintageNo }: { fan: Fan; vintageNo: number }) {
  const { dots, frame } = fan;
  const radius = (frame.right - frame.left) / Math.max(1, dots.length) < dotSpacingLeast ? 1.25 : 2.75;
  return (
    <>
      {dots.map((dot) =>
        dot.vintageNo > vintageNo ? null : (
          <circle key={dot.dateNo} class="first-print" cx={dot.x} cy={dot.y} r={radius} />
        ),
      )}
    </>
  );
}

/** On narrower charts, only the value is shown at the end of the line. */
const labelledFrom = 420;

/** The room beside the frame for the newest value, in pixels. */
export function endRoom(table: RevisionTable, formats: Formats): number {
  return boldWidthOf(formats.value(table.rows.at(-1)?.at(-1) ?? 0)) + 12;
}

function EndLabel({ fan, table, formats, vintageNo, shows }: FanChartProps) {
  const end = fan.endOf(vintageNo);
  if (end === undefined) return null;
  const isNarrow = fan.width < labelledFrom;
  const value = valueAt(table, end.dateNo, vintageNo);
  const isAtEdge = end.x > fan.frame.right - 4;
  return (
    <>
      <circle class="chart-current" cx={end.x} cy={end.y} r={4} />
      {shows === 'values' && value !== null && isAtEdge && (
        <>
          <text class="chart-note current" x={end.x + 10} y={end.y + (isNarrow ? 4 : -2)}>
            {formats.value(value)}
          </text>
          {!isNarrow && (
            <text class="chart-tick" x={end.x + 10} y={end.y + 13}>
              {formats.period(table.dates[end.dateNo] ?? '')}
            </text>
          )}
        </>
      )}
    </>
  );
}

/** The selected period: its first print and its present value. */
function Notes({ fan, table, formats, vintageNo, dateNo }: FanChartProps) {
  const value = valueAt(table, dateNo, vintageNo);
  const first = printOf(fan, vintageNo, dateNo);
  const print = first?.value === value ? undefined : first;
  if (value === null || dateNo === fan.endOf(vintageNo)?.dateNo) return null;
  const [x, y] = [fan.xOf(dateNo), fan.y(value)];
  const isLatest = vintageNo === table.vintages.length - 1;
  const isNear = print !== undefined && Math.abs(print.y - y) < 18;
  const isBelow = print !== undefined && print.y < y;
  const side =
    x < fan.frame.left + 120 ? ({ dx: 8, anchor: 'start' } as const) : ({ dx: -8, anchor: 'end' } as const);
  const nowY = isNear ? y + (isBelow ? 16 : -8) : y + 4;
  return (
    <>
      {print && <circle class="first-print selected" cx={x} cy={print.y} r={4} />}
      <circle class="chart-current" cx={x} cy={y} r={4} />
      {print && (
        <text
          class="chart-note quiet"
          x={x + side.dx}
          y={isNear ? print.y + (isBelow ? -8 : 16) : print.y + 4}
          text-anchor={side.anchor}
        >
          {`first print ${formats.value(print.value)}`}
        </text>
      )}
      <text class="chart-note" x={x + side.dx} y={nowY} text-anchor={side.anchor}>
        {`${isLatest ? 'now' : 'then'} ${formats.value(value)}`}
      </text>
    </>
  );
}

/** The revision of the selected period's first print. */
function DistanceNote({ fan, formats, vintageNo, dateNo }: FanChartProps) {
  const print = printOf(fan, vintageNo, dateNo);
  const distance = print === undefined ? null : fan.shownAt(dateNo, print.vintageNo);
  if (print === undefined || distance === null || distance === 0) return null;
  const isLeft = print.x > fan.frame.left + 80;
  return (
    <>
      <circle class="first-print selected" cx={print.x} cy={print.y} r={4} />
      <text
        class="chart-note"
        x={print.x + (isLeft ? -8 : 8)}
        y={print.y + 4}
        text-anchor={isLeft ? 'end' : 'start'}
      >
        {formats.change(distance)}
      </text>
    </>
  );
}
