// The fan: every vintage up to the one shown as a grey line, the one shown in the accent, first prints as open dots.
// Hides that past vintages stand on a canvas, to which a step of play adds one line; only what changes is drawn again.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Fan } from '../../../domain/chart/revisions/fan.ts';
import { valueAt, type RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { dayText } from '../../text/times.ts';
import { coloursOf, prepared, useTheme } from './drawing.ts';
import type { Words } from './words.ts';

interface FanChartProps {
  fan: Fan;
  table: RevisionTable;
  words: Words;
  width: number;
  height: number;
  vintageNo: number;
  dateNo: number;
  onDate: (dateNo: number) => void;
  /** The first line of text. */
  title: string;
  shows: 'values' | 'distance';
  /** The finding, for screen readers. */
  label: string;
}

export function FanChart(props: FanChartProps) {
  const { fan, table, words, width, height, vintageNo, dateNo, onDate, shows } = props;
  const [near, setNear] = useState<Near>();
  const hovered = near !== undefined && near.vintageNo <= vintageNo ? near : undefined;
  // The same element is not compared again at every step of play.
  const axes = useMemo(() => <Axes fan={fan} width={width} title={props.title} />, [fan, width, props.title]);
  const size = { width: `${width}`, height: `${height}`, viewBox: `0 0 ${width} ${height}` };
  return (
    <div
      class="fan"
      tabIndex={0}
      role="application"
      aria-roledescription="chart"
      aria-label={props.label}
      onKeyDown={(event) => {
        const to = { ArrowLeft: dateNo - 1, ArrowRight: dateNo + 1, Home: 0, End: table.dates.length - 1 }[
          event.key
        ];
        if (to === undefined || to < 0 || to >= table.dates.length) return;
        event.preventDefault();
        onDate(to);
      }}
      onPointerMove={(event) => setNear(nearest(props, event))}
      onPointerLeave={() => setNear(undefined)}
      onClick={(event) => onDate(nearestDate(props, event.offsetX))}
    >
      <Ghosts {...{ fan, width, height, vintageNo }} framesLater={shows === 'values' ? 1 : 2} />
      <svg class="chart" {...size} aria-hidden="true">
        {axes}
        <path
          class="cur"
          d={`M${Math.round(fan.xOf(dateNo)) + 0.5},${fan.frame.top - 12}V${fan.frame.bottom}`}
        />
        {hovered && <path class="v hover" d={fan.paths[hovered.vintageNo]} />}
        <path class="v now" d={fan.paths[vintageNo]} />
        <FirstPrints fan={fan} vintageNo={vintageNo} />
        <EndLabel {...props} />
        {shows === 'values' ? <Notes {...props} /> : <DistanceNote {...props} />}
        {hovered && (
          <text
            class="halo t1 b"
            x={clamped(hovered.x, fan)}
            y={Math.max(12, hovered.y - 10)}
            text-anchor="middle"
          >
            {`${dayText(table.vintages[hovered.vintageNo] ?? '')}: ${words.value(valueAt(table, hovered.dateNo, hovered.vintageNo) ?? 0)}`}
          </text>
        )}
      </svg>
    </div>
  );
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

/** A line farther from the pointer is not meant. */
const nearPixels = 14;

function nearestDate({ fan, table }: FanChartProps, x: number): number {
  let [found, distance] = [0, Infinity];
  for (let dateNo = 0; dateNo < table.dates.length; dateNo += 1) {
    const away = Math.abs(fan.xOf(dateNo) - x);
    if (away < distance) [found, distance] = [dateNo, away];
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
    const away = Math.abs(y - offsetY);
    if (away < distance) [found, distance] = [{ vintageNo, dateNo, x: fan.xOf(dateNo), y }, away];
  }
  return found;
}

interface GhostsProps {
  fan: Fan;
  width: number;
  height: number;
  vintageNo: number;
  framesLater: number;
}

const oldestOpacity = 0.35;
const newestOpacity = 0.95;

/** The vintages before the one shown. */
function Ghosts({ fan, width, height, vintageNo, framesLater }: GhostsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn>();
  const theme = useTheme();
  useEffect(() => {
    const draw = () => {
      if (canvas.current === null) return;
      let now = drawn.current;
      if (now === undefined || now.fan !== fan || now.theme !== theme || now.count > vintageNo) {
        const context = prepared(canvas.current, width, height);
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
  }, [fan, width, height, vintageNo, theme, framesLater]);
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

/** Runs the work some frames from now, so that no frame has all the drawing of a step. @returns cancels it. */
function afterFrames(count: number, work: () => void): () => void {
  let left = count;
  let frame = requestAnimationFrame(function next() {
    left -= 1;
    if (left > 0) frame = requestAnimationFrame(next);
    else work();
  });
  return () => cancelAnimationFrame(frame);
}

function Axes({ fan, width, title }: { fan: Fan; width: number; title: string }) {
  const { frame, valueTicks, dateTicks, x, y } = fan;
  return (
    <>
      <text class="t2" x={0} y={12}>
        {title}
      </text>
      {valueTicks.map(({ value, label }) => (
        <g key={value}>
          <path
            class={value === 0 ? 'ax' : 'g'}
            d={`M${frame.left},${Math.round(y(value))}H${frame.right}`}
          />
          <text x={frame.left - 10} y={y(value) + 4} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      <path class="ax" d={`M${frame.left},${frame.bottom}H${frame.right}`} />
      {dateTicks.map(({ day, label }) => (
        <g key={day}>
          <path class="ax" d={`M${Math.round(x(day))},${frame.bottom}v5`} />
          <text x={Math.min(x(day), width - label.length * 3.5)} y={frame.bottom + 19} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
    </>
  );
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
          <circle key={dot.dateNo} class="fp" cx={dot.x} cy={dot.y} r={radius} />
        ),
      )}
    </>
  );
}

/** On narrower charts the end of the line has its value alone. */
const labelledFrom = 420;

function EndLabel({ fan, table, words, width, vintageNo, shows }: FanChartProps) {
  const end = fan.endOf(vintageNo);
  if (end === undefined) return null;
  const isNarrow = width < labelledFrom;
  const value = valueAt(table, end.dateNo, vintageNo);
  const isAtEdge = end.x > fan.frame.right - 4;
  return (
    <>
      <circle class="end" cx={end.x} cy={end.y} r={4} />
      {shows === 'values' && value !== null && isAtEdge && (
        <>
          <text class="acc b" x={end.x + 10} y={end.y + (isNarrow ? 4 : -2)}>
            {words.value(value)}
          </text>
          {!isNarrow && (
            <text x={end.x + 10} y={end.y + 13}>
              {words.period(table.dates[end.dateNo] ?? '')}
            </text>
          )}
        </>
      )}
    </>
  );
}

/** The selected period: its first print, and what it is now. */
function Notes({ fan, table, words, vintageNo, dateNo }: FanChartProps) {
  const value = valueAt(table, dateNo, vintageNo);
  const print = fan.dots.find(
    (dot) => dot.dateNo === dateNo && dot.vintageNo <= vintageNo && dot.value !== value,
  );
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
      {print && <circle class="fp sel" cx={x} cy={print.y} r={4} />}
      <circle class="end" cx={x} cy={y} r={4} />
      {print && (
        <text
          class="halo t2"
          x={x + side.dx}
          y={isNear ? print.y + (isBelow ? -8 : 16) : print.y + 4}
          text-anchor={side.anchor}
        >
          {`first print ${words.value(print.value)}`}
        </text>
      )}
      <text class="halo t1 b" x={x + side.dx} y={nowY} text-anchor={side.anchor}>
        {`${isLatest ? 'now' : 'then'} ${words.value(value)}`}
      </text>
    </>
  );
}

/** How far the first print of the selected period was off. */
function DistanceNote({ fan, words, vintageNo, dateNo }: FanChartProps) {
  const print = fan.dots.find((dot) => dot.dateNo === dateNo && dot.vintageNo <= vintageNo);
  const distance = print === undefined ? null : fan.shownAt(dateNo, print.vintageNo);
  if (print === undefined || distance === null || distance === 0) return null;
  const isLeft = print.x > fan.frame.left + 80;
  return (
    <>
      <circle class="fp sel" cx={print.x} cy={print.y} r={4} />
      <text
        class="halo t1 b"
        x={print.x + (isLeft ? -8 : 8)}
        y={print.y + 4}
        text-anchor={isLeft ? 'end' : 'start'}
      >
        {words.change(distance)}
      </text>
    </>
  );
}
