// The chart of a series at the width of the page, the legend that shows and hides its lines, and the small chart in which its window is chosen.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { layOut, type ChartLine } from '../../../domain/chart/layout.ts';
import { lineStyle, palettes } from '../../../domain/chart/palette.ts';
import { Brush } from '../../charts/brush.tsx';
import type { Window } from '../../charts/window.ts';
import { CursorChart } from '../../charts/cursor-chart.tsx';
import { LegendToggles } from '../../charts/legend.tsx';
import { useWidth } from '../../charts/use-width.ts';
import type { Shown } from './shown.ts';

interface ChartPanelProps {
  shown: Shown;
  lines: ShownLines;
  onWindow: (window: Window, isDone: boolean) => void;
}

/** Narrower charts have no names at the ends of their lines. */
const narrow = 560;

export function ChartPanel({ shown, lines: { visible, isHidden, toggle }, onWindow }: ChartPanelProps) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const { chart, all, dates, window, decimals } = shown;
  const layout = useMemo(() => {
    if (width === 0) return undefined;
    return layOut({ ...chart, lines: visible, width, height: width < narrow ? 300 : 420, theme: 'page' });
  }, [chart, visible, width]);
  const past = useMemo(
    () => all.filter((_points, i) => !isHidden(chart.lines[i])),
    [all, chart.lines, isHidden],
  );
  const drawn = layout?.lines.filter(({ last }) => last !== undefined).length;
  const isNamed = layout?.labels.length === drawn && layout?.lines.length === chart.lines.length;
  return (
    <div ref={holder} class="chart-holder">
      {layout !== undefined && (
        <>
          {chart.lines.length > 1 && !isNamed && (
            <LegendToggles
              entries={chart.lines.map((line, i) => {
                const { colourNo, dashNo } = lineStyle(line.styleNo ?? i);
                const colour = palettes.page.series[colourNo] ?? palettes.page.ink;
                return { name: line.name, colour, dashNo, isShown: !isHidden(line) };
              })}
              onToggle={toggle}
            />
          )}
          <CursorChart layout={layout} decimals={decimals} />
          <Brush
            lines={past}
            breaks={chart.lines[0]?.breaks}
            dates={dates}
            frequency={chart.frequency}
            isLog={chart.isLog}
            width={width}
            left={layout.frame.left}
            right={layout.frame.right}
            window={window}
            onChange={onWindow}
          />
        </>
      )}
    </div>
  );
}

/** The lines of a chart that its legend has not hidden. */
export interface ShownLines {
  visible: ChartLine[];
  isHidden: (line: ChartLine | undefined) => boolean;
  /** Hides the line at a position, or shows it again. */
  toggle: (position: number) => void;
}

/** Lines are hidden by name. All are shown again when the selected lines no longer include one of them. */
export function useShownLines(lines: readonly ChartLine[]): ShownLines {
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const names = lines.map(({ name }) => name);
  useEffect(() => {
    setHidden((before) => (before.every((name) => names.includes(name)) ? before : []));
  }, [names.join('\n')]);
  const isAnyShown = names.some((name) => !hidden.includes(name));
  const isHidden = useMemo(
    () => (line: ChartLine | undefined) => isAnyShown && line !== undefined && hidden.includes(line.name),
    [hidden, isAnyShown],
  );
  // Hiding a line does not change the style of the others.
  const visible = useMemo(
    () => lines.map((line, i) => ({ ...line, styleNo: line.styleNo ?? i })).filter((line) => !isHidden(line)),
    [lines, isHidden],
  );
  function toggle(position: number) {
    const name = names[position] ?? '';
    setHidden((before) =>
      before.includes(name) ? before.filter((each) => each !== name) : [...before, name],
    );
  }
  return { visible, isHidden, toggle };
}
