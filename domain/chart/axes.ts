// The axes under every chart, as SVG text: a line and a label for each tick of the values, a mark and a label for each tick of the dates. A
// label at the right edge ends there. Colours are attributes; no style attribute: a strict CSP forbids it.
import type { Frame } from './layout.ts';
import type { Palette } from './palette.ts';
import { escapeXml } from './text.ts';
import type { DateTick, ValueTick } from './ticks.ts';

/** The input for axes; positions are in pixels. */
export interface Axes {
  frame: Frame;
  /** The size of the whole picture: no label extends beyond it. */
  width: number;
  valueTicks: readonly ValueTick[];
  dateTicks: readonly DateTick[];
  /** A value drawn as an axis, as zero is. */
  base?: number | null;
  x(day: number): number;
  y(value: number): number;
}

export function axesSvg(axes: Axes, palette: Palette): string {
  return valueAxis(axes, palette) + dateAxis(axes, palette);
}

function valueAxis({ frame, valueTicks, y, base = null }: Axes, palette: Palette): string {
  const ticks = valueTicks.map(({ value, label }) => {
    const at = rounded(y(value));
    const isAxis = value === base || value === 0;
    const tick = { x: frame.left - 10, y: at + 4, of: 'tick', anchor: 'end', fill: palette.ink3 } as const;
    return (
      horizontal(frame, at, isAxis ? 'axis' : 'grid', isAxis ? palette.axis : palette.grid) +
      svgText(tick, label)
    );
  });
  const isBaseDrawn = base === null || valueTicks.some(({ value }) => value === base);
  return ticks.join('') + (isBaseDrawn ? '' : horizontal(frame, rounded(y(base)), 'axis', palette.axis));
}

function horizontal({ left, right }: Frame, y: number, of: string, stroke: string): string {
  return `<path class="chart-${of}" d="M${left},${y}H${right}" stroke="${stroke}" fill="none"/>`;
}

function dateAxis({ frame, dateTicks, x, width }: Axes, palette: Palette): string {
  const ticks = dateTicks.map(({ day, label }) => {
    const at = rounded(x(day));
    const isAtEdge = at > width - 22;
    return (
      `<path class="chart-axis" d="M${at},${frame.bottom}v5" stroke="${palette.axis}" fill="none"/>` +
      svgText(
        {
          x: isAtEdge ? width - 1 : at,
          y: frame.bottom + 19,
          of: 'tick',
          anchor: isAtEdge ? 'end' : 'middle',
          fill: palette.ink3,
        },
        label,
      )
    );
  });
  return horizontal(frame, frame.bottom, 'axis', palette.axis) + ticks.join('');
}

export interface TextPlace {
  x: number;
  y: number;
  /** The kind, for the class name. */
  of: string;
  fill: string;
  anchor?: 'start' | 'middle' | 'end';
}

/** A line of text in a chart. @param content is escaped here. */
export function svgText({ x, y, of, fill, anchor = 'start' }: TextPlace, content: string): string {
  const anchored = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text class="chart-${of}" x="${rounded(x)}" y="${rounded(y)}"${anchored} fill="${fill}">${escapeXml(content)}</text>`;
}

/** To a tenth of a pixel; never -0. */
export function rounded(pixels: number): number {
  return Math.round(pixels * 10) / 10 + 0;
}
