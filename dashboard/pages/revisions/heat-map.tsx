// The triangle as a heat map: a column per period, a row per vintage, the colour is the change. Arrow keys move between cells. The cells
// are drawn on a canvas, whatever their number; frames and labels are SVG above it, and only the chosen cell is an element, which has the
// focus.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Axes } from '../../../domain/chart/axes.ts';
import type { Fan } from '../../../domain/chart/revisions/fan.ts';
import { changeAt, stepOf, type ChangeSince } from '../../../domain/chart/revisions/heat-map.ts';
import { firstVintageOf, valueAt, type RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { ChartFrame } from '../../charts/chart-frame.tsx';
import { dayText } from '../../text/times.ts';
import { coloursOf, prepared, useTheme } from './drawing.ts';
import { nearestDate } from './fan-chart.tsx';
import type { Formats } from './formats.ts';

interface HeatMapProps {
  /** Receives the positions of the periods, so that columns are below their points. */
  fan: Fan;
  table: RevisionTable;
  formats: Formats;
  fromNo: number;
  vintageNo: number;
  dateNo: number;
  since: ChangeSince;
  borders: readonly number[];
  onCell: (dateNo: number, vintageNo: number) => void;
}

export const stepTokens = ['--d4', '--d3', '--d2', '--d1', '--z0', '--u1', '--u2', '--u3', '--u4'] as const;

const rowMost = 17;
const rowLeast = 2;
/** With many vintages the rows are lower, so that the map fits on one screen. */
const heightWanted = 520;
const labelSpacing = 34;
const top = 4;

interface Grid {
  row: number;
  /** The width of a column. */
  slot: number;
  gap: number;
  left: number;
  right: number;
  bottom: number;
}

export function HeatMap(props: HeatMapProps) {
  const { fan, table, fromNo, vintageNo, dateNo, onCell } = props;
  const cell = useRef<HTMLDivElement>(null);
  const grid = useMemo(() => gridOf(props), [fan, table, fromNo]);
  const axes = useMemo(() => axesOf(fan, grid), [fan, grid]);
  const height = grid.bottom + 30;
  const select = (date: number, vintage: number) =>
    onCell(
      Math.min(table.dates.length - 1, Math.max(fromNo, date)),
      Math.min(table.vintages.length - 1, Math.max(0, vintage)),
    );
  return (
    <div
      class="heat-map"
      onClick={({ offsetX, offsetY }) => {
        if (offsetX < grid.left || offsetX > grid.right || offsetY > grid.bottom) return;
        const date = nearestDate(props, offsetX);
        const vintage = Math.floor((offsetY - top) / grid.row);
        // A cell without a published value selects its period.
        const isEmpty = valueAt(table, date, vintage) === null;
        select(date, isEmpty ? vintageNo : vintage);
        cell.current?.focus({ preventScroll: true });
      }}
    >
      <Cells {...props} grid={grid} height={height} />
      <ChartFrame height={height} axes={axes}>
        <RowLabels table={table} grid={grid} width={fan.width} vintageNo={vintageNo} />
        <ColumnFrame {...props} grid={grid} />
        <rect
          class="shown-vintage"
          x={grid.left - 1}
          y={top + vintageNo * grid.row - 1}
          width={grid.right - grid.left + 2}
          height={grid.row + 1}
        />
      </ChartFrame>
      <div
        role="grid"
        aria-label="Every value ever published. Arrow keys move between cells."
        aria-rowcount={table.vintages.length}
        aria-colcount={table.dates.length - fromNo}
      >
        <div role="row" aria-rowindex={vintageNo + 1}>
          <div
            ref={cell}
            class="chosen-cell"
            role="gridcell"
            tabIndex={0}
            aria-colindex={Math.max(0, dateNo - fromNo) + 1}
            aria-label={cellText(props)}
            style={{
              left: `${fan.xOf(Math.max(fromNo, dateNo)) - grid.slot / 2}px`,
              top: `${top + vintageNo * grid.row}px`,
              width: `${grid.slot}px`,
              height: `${grid.row}px`,
            }}
            onKeyDown={(event) => {
              const move = moves[event.key];
              if (move === undefined) return;
              event.preventDefault();
              select(dateNo + move[0], vintageNo + move[1]);
            }}
          />
        </div>
      </div>
      {/* The cell with the focus stays the same element, whose name alone changes. */}
      <p class="vh" aria-live="polite">
        {cellText(props)}
      </p>
    </div>
  );
}

const moves: Readonly<Record<string, readonly [dates: number, vintages: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [-1e6, 0],
  End: [1e6, 0],
};

function gridOf({ fan, table, fromNo }: HeatMapProps): Grid {
  const count = table.dates.length - fromNo;
  const slot = count < 2 ? 40 : (fan.xOf(table.dates.length - 1) - fan.xOf(fromNo)) / (count - 1);
  const row = Math.min(rowMost, Math.max(rowLeast, Math.floor(heightWanted / table.vintages.length)));
  return {
    row,
    slot,
    gap: row >= 6 && slot >= 4 ? 1 : 0,
    left: fan.xOf(fromNo) - slot / 2,
    right: fan.xOf(table.dates.length - 1) + slot / 2,
    bottom: top + row * table.vintages.length,
  };
}

/** Its columns have the ticks of the fan above, its rows labels of their own. */
function axesOf(fan: Fan, { left, right, bottom }: Grid): Axes {
  return { ...fan, frame: { left, right, top, bottom }, valueTicks: [] };
}

function Cells(props: HeatMapProps & { grid: Grid; height: number }) {
  const { fan, table, fromNo, since, borders, grid, height } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  useEffect(() => {
    if (canvas.current === null) return;
    const context = prepared(canvas.current, fan.width, height);
    const colours = coloursOf(document.body, [...stepTokens, '--ink-3']);
    // Whole pixels are sharp; columns of few pixels need their fractions.
    const placed = (x: number) => (grid.slot >= 6 ? Math.round(x) : x);
    for (let dateNo = fromNo; dateNo < table.dates.length; dateNo += 1) {
      const left = placed(fan.xOf(dateNo) - grid.slot / 2);
      const right = placed(fan.xOf(dateNo) + grid.slot / 2);
      const first = firstVintageOf(table, dateNo);
      for (let vintageNo = 0; vintageNo < table.vintages.length; vintageNo += 1) {
        const change = changeAt(table, dateNo, vintageNo, since);
        if (change === null) continue;
        context.fillStyle = colours[stepTokens[stepOf(change, borders) + 4] ?? '--z0'];
        const y = top + vintageNo * grid.row;
        context.fillRect(left, y, Math.max(0.5, right - left - grid.gap), grid.row - grid.gap);
        const hasDot =
          vintageNo === first && grid.row >= 8 && grid.slot >= 8 && isFirstPrint(table, dateNo, first);
        if (!hasDot) continue;
        context.fillStyle = colours['--ink-3'];
        context.beginPath();
        context.arc((left + right - grid.gap) / 2, y + (grid.row - grid.gap) / 2, 1.75, 0, 2 * Math.PI);
        context.fill();
      }
    }
  }, [fan, table, fromNo, since, borders, height, theme]);
  return <canvas ref={canvas} aria-hidden="true" />;
}

function isFirstPrint(table: RevisionTable, dateNo: number, first: number): boolean {
  return first > 0 || valueAt(table, dateNo + 1, 0) === null;
}

interface RowLabelsProps {
  table: RevisionTable;
  grid: Grid;
  width: number;
  vintageNo: number;
}

function RowLabels({ table, grid, width, vintageNo }: RowLabelsProps) {
  const every = Math.ceil(labelSpacing / grid.row);
  const isNarrow = width < 560;
  const last = table.vintages.length - 1;
  const text = (vintage: string): string => {
    const day = dayText(vintage);
    return isNarrow ? day.replace(/^\d+ (\w+) \d\d(\d\d)$/, '$1 ’$2') : day;
  };
  return (
    <>
      {table.vintages.map((vintage, no) => {
        const isShown = no === vintageNo;
        const isFree = Math.abs(no - vintageNo) * grid.row >= 16;
        if (!isShown && !(isFree && (last - no) % every === 0)) return null;
        return (
          <text
            key={vintage}
            class={isShown ? 'chart-note' : 'chart-tick'}
            x={grid.left - 8}
            y={top + no * grid.row + grid.row / 2 + 4}
            text-anchor="end"
          >
            {text(vintage)}
          </text>
        );
      })}
    </>
  );
}

function ColumnFrame({ fan, table, fromNo, dateNo, grid }: HeatMapProps & { grid: Grid }) {
  const first = firstVintageOf(table, dateNo);
  if (dateNo < fromNo || first < 0) return null;
  const y = top + first * grid.row;
  return (
    <rect
      class="chosen-period"
      x={fan.xOf(dateNo) - grid.slot / 2 - 0.5}
      y={y - 0.5}
      width={grid.slot}
      height={grid.bottom - y}
    />
  );
}

/** The selected cell in words. */
function cellText({ table, formats, vintageNo, dateNo, since }: HeatMapProps): string {
  const [date, vintage] = [table.dates[dateNo] ?? '', table.vintages[vintageNo] ?? ''];
  const value = valueAt(table, dateNo, vintageNo);
  const at = `${formats.period(date)} as of ${dayText(vintage)}`;
  if (value === null) return `${at}: not published.`;
  if (firstVintageOf(table, dateNo) === vintageNo)
    return `${at}: ${formats.value(value)}, first in these vintages.`;
  const change = changeAt(table, dateNo, vintageNo, since) ?? 0;
  const against = since === 'first' ? 'since the first print' : 'since the previous vintage';
  return `${at}: ${formats.value(value)}, ${change === 0 ? 'unchanged' : formats.change(change)} ${against}.`;
}
