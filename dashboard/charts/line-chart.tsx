// A line chart of domain/chart for the width at hand, drawn again when that changes.
import { useEffect, useRef, useState } from 'preact/hooks';
import { chartSvg } from '../../domain/chart/chart.ts';
import type { Chart } from '../../domain/chart/layout.ts';

type LineChartProps = Omit<Chart, 'width' | 'theme' | 'isLog' | 'base'> & {
  /** On a phone; by default as on a desk. */
  narrowHeight?: number;
};

/** Its colours are those of the page: the style sheet overrides the literal ones by the classes of the SVG. */
export function LineChart({ narrowHeight, ...chart }: LineChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = width > 0 && width < 480 ? (narrowHeight ?? chart.height) : chart.height;
  const svg =
    width === 0 ? '' : chartSvg({ ...chart, height, width, theme: 'light', isLog: false, base: null });
  return <div ref={frame} class={`line-chart h${chart.height}`} dangerouslySetInnerHTML={{ __html: svg }} />;
}

/** 0 until it is known. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observed = element.current;
    if (observed === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(observed);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
