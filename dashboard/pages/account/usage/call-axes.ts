// The value axis of the charts of calls: from zero, with whole numbers. Pure.
import { scaleLinear } from 'd3-scale';
import type { Axes } from '../../../../domain/chart/axes.ts';
import { widthOf } from '../../../../domain/chart/text.ts';
import { linearExtent, linearTicks } from '../../../../domain/chart/ticks.ts';

interface Place {
  width: number;
  height: number;
  /** The margins above the frame, and beside it. */
  top: number;
  right: number;
}

/** The axes without the dates. @param most the largest value. */
export function callAxes(most: number, { width, height, top, right }: Place): Omit<Axes, 'dateTicks' | 'x'> {
  const extent = linearExtent({ low: 0, high: Math.max(1, most) }, null);
  const valueTicks = linearTicks(extent)
    .filter(({ value }) => Number.isInteger(value))
    .map(({ value, label }) => ({ value, label: label.replace(/\.0+$/, '') }));
  const labelWidth = Math.max(...valueTicks.map(({ label }) => widthOf(label)));
  const frame = {
    top,
    bottom: height - 28,
    left: Math.max(46, Math.ceil(labelWidth) + 14),
    right: width - right,
  };
  return {
    frame,
    width,
    valueTicks,
    y: scaleLinear().domain([extent.low, extent.high]).range([frame.bottom, frame.top]),
  };
}
