// A line chart of domain/chart at the available width; redrawn when the width changes.
import { chartSvg } from '../../domain/chart/chart.ts';
import type { Chart } from '../../domain/chart/layout.ts';
import { useWidth } from './use-width.ts';

type LineChartProps = Omit<Chart, 'width' | 'theme' | 'isLog' | 'base'> & {
  /** On a phone; by default as on a desktop. */
  narrowHeight?: number;
};

export function LineChart({ narrowHeight, ...chart }: LineChartProps) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const height = width > 0 && width < 480 ? (narrowHeight ?? chart.height) : chart.height;
  const svg =
    width === 0 ? '' : chartSvg({ ...chart, height, width, theme: 'page', isLog: false, base: null });
  return <div ref={frame} dangerouslySetInnerHTML={{ __html: svg }} />;
}
