// The SVG of a chart that a page draws itself: the axes of domain/chart, the unit above them, and the page's own marks.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { axesSvg, type Axes } from '../../domain/chart/axes.ts';
import { palettes } from '../../domain/chart/palette.ts';

interface PictureProps {
  height: number;
  /** The same object is not drawn again. */
  axes: Axes;
  /** The unit of the values, shown above them. */
  unit?: string;
  /** The finding, for screen readers; by default the text around the picture has it. */
  label?: string;
  children: ComponentChildren;
}

export function ChartFrame({ height, axes, unit, label, children }: PictureProps) {
  const { width } = axes;
  const svg = useMemo(() => axesSvg(axes, palettes.page), [axes]);
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {unit !== undefined && (
        <text class="chart-unit" y="12">
          {unit}
        </text>
      )}
      {/* Made of numbers and escaped names by domain/chart. */}
      <g dangerouslySetInnerHTML={{ __html: svg }} />
      {children}
    </svg>
  );
}
