// The chart of a series at the width of the page, and the small chart in which its window is chosen.
import { useMemo } from 'preact/hooks';
import { layOut } from '../../../domain/chart/layout.ts';
import { palettes } from '../../../domain/chart/palette.ts';
import { Brush } from '../../charts/brush.tsx';
import type { Window } from '../../charts/window.ts';
import { CursorChart } from '../../charts/cursor-chart.tsx';
import { Legend } from '../../charts/legend.tsx';
import { useWidth } from '../../charts/use-width.ts';
import type { Shown } from './shown.ts';

interface ChartPanelProps {
  shown: Shown;
  onWindow: (window: Window, isDone: boolean) => void;
  /** Whether no chip has the colour of a line. */
  isLegendNeeded: boolean;
}

/** Below it a chart has no names at the ends of its lines. */
const narrow = 560;

export function ChartPanel({ shown, onWindow, isLegendNeeded }: ChartPanelProps) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const { chart, all, dates, window, decimals } = shown;
  const layout = useMemo(
    () =>
      width === 0
        ? undefined
        : layOut({ ...chart, width, height: width < narrow ? 300 : 420, theme: 'page' }),
    [chart, width],
  );
  return (
    <div ref={holder} class="chart-holder">
      {layout !== undefined && (
        <>
          {width < narrow && isLegendNeeded && chart.lines.length > 1 && (
            <Legend
              entries={chart.lines.map(({ name, colourNo = 0 }) => ({
                name,
                colour: palettes.page.series[colourNo] ?? palettes.page.ink,
              }))}
            />
          )}
          <CursorChart layout={layout} decimals={decimals} />
          <Brush
            lines={all}
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
