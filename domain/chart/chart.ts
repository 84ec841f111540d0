// Writes a line chart as SVG text: the one drawing for pages, files, embeds and PNG. The same chart always gives the same text. Colours are
// attributes, for files; a page overrides them by class. No style attribute: a strict CSP forbids it.
import { line as lineOf } from 'd3-shape';
import { axesSvg, rounded, svgText } from './axes.ts';
import { findingOf } from './finding.ts';
import { layOut, type Chart, type ChartLayout, type LaidOutLine } from './layout.ts';
import type { PlacedPoint } from './line-points.ts';
import { dashes, palettes, type Palette } from './palette.ts';
import { escapeXml, fitted, formatNumber } from './text.ts';
import { nounOf } from '../../kernel/text/counted.ts';

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', 'DejaVu Sans', Arial, sans-serif"; // prettier-ignore

/** The chart as SVG text. */
export function chartSvg(chart: Chart): string {
  return layoutSvg(layOut(chart));
}

/** A chart that is laid out already, as SVG text. */
export function layoutSvg(layout: ChartLayout): string {
  const { chart } = layout;
  const { width, height, title } = chart;
  const palette = palettes[chart.theme];
  const hidden = hiddenNote(layout);
  const finding = `${findingOf(chart)}${hidden === '' ? '' : ` ${hidden}`}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${escapeXml(fonts)}" font-size="12">`,
    `<title>${escapeXml(title)}</title><desc>${escapeXml(finding)}</desc>`,
    chart.standalone === undefined ? '' : surroundings(layout, palette, chart.standalone.caption, hidden),
    svgText(
      { x: chart.standalone === undefined ? 0 : 16, y: layout.unitY, of: 'unit', fill: palette.ink2 },
      unitText(chart),
    ),
    legend(layout, palette),
    axesSvg({ ...layout, width, base: chart.base }, palette),
    breakMarks(layout, palette),
    ...layout.lines.map((line) => linePath(layout, line, palette)),
    ...layout.lines.map((line) => endDot(layout, line, palette)),
    endLabels(layout, palette),
    layout.lines.every(({ last }) => last === undefined) ? emptyNote(layout, palette) : '',
    '</svg>',
  ].join('');
}

function unitText({ unit, isLog, width }: Chart): string {
  const shown = isLog ? [unit, 'log scale'].filter((part) => part !== '').join(', ') : unit;
  return fitted(shown, width - 32);
}

function hiddenNote({ hiddenCount }: ChartLayout): string {
  if (hiddenCount === 0) return '';
  const values = `${formatNumber(hiddenCount, 0)} ${nounOf(hiddenCount, 'value')}`;
  return `A log scale has no place for ${values} at or below zero.`;
}

function surroundings({ chart }: ChartLayout, palette: Palette, caption: string, hidden: string): string {
  const { width, height, title } = chart;
  const below = [caption, hidden].filter((part) => part !== '').join(' ');
  return (
    `<rect class="chart-paper" width="${width}" height="${height}" fill="${palette.paper}"/>` +
    `<text class="chart-title" x="16" y="30" font-size="15" font-weight="600" fill="${palette.ink}">${escapeXml(fitted(title, (width - 32) / 1.3))}</text>` +
    svgText({ x: 16, y: height - 14, of: 'caption', fill: palette.ink3 }, fitted(below, width - 32))
  );
}

function legend({ legend: entries, lines }: ChartLayout, palette: Palette): string {
  return entries
    .map(({ lineNo, text: name, x, y }) => {
      return (
        swatch(lines[lineNo], { x, y }, palette) +
        svgText({ x: x + 15, y, of: 'legend', fill: palette.ink2 }, name)
      );
    })
    .join('');
}

/** A square; a piece of the line if it is dashed. */
function swatch(
  line: LaidOutLine | undefined,
  { x, y }: { x: number; y: number },
  { series, ink }: Palette,
): string {
  const { colourNo = 0, dashNo = 0 } = line ?? {};
  const [of, colour] = [`class="chart-swatch s${colourNo + 1}"`, series[colourNo] ?? ink];
  const dash = dashes[dashNo] ?? null;
  if (dash === null)
    return `<rect ${of} x="${x}" y="${y - 9}" width="9" height="9" rx="2" fill="${colour}"/>`;
  return `<path ${of} d="M${x},${y - 4}h10" stroke="${colour}" stroke-width="2" stroke-dasharray="4 2" fill="none"/>`;
}

/** A vertical line where the unit of the values changes. */
function breakMarks({ breaks, frame: { top, bottom }, x }: ChartLayout, { ink3 }: Palette): string {
  return breaks
    .map(
      (day) =>
        `<path class="chart-break" d="M${rounded(x(day))},${top}V${bottom}" stroke="${ink3}" stroke-dasharray="3 3" fill="none"/>`,
    ) // prettier-ignore
    .join('');
}

/** Straight from point to point; a point alone between two gaps becomes a dot. */
function linePath(
  { x, y }: ChartLayout,
  { line, colourNo, dashNo, runs }: LaidOutLine,
  palette: Palette,
): string {
  const path = lineOf<PlacedPoint>(
    ({ day }) => x(day),
    ({ value }) => y(value),
  ).digits(1);
  const d = runs.map((run) => (run.length > 1 ? path(run) : null) ?? '').join('');
  const colour = palette.series[colourNo] ?? palette.ink;
  const dots = runs
    .flatMap((run) => (run.length === 1 ? run : []))
    .map(
      ({ day, value }) =>
        `<circle class="chart-point s${colourNo + 1}" cx="${rounded(x(day))}" cy="${rounded(y(value))}" r="1.5" fill="${colour}"/>`,
    );
  const dash = line.isDotted === true ? '2 4' : (dashes[dashNo] ?? null);
  const dashed = dash === null ? '' : ` stroke-dasharray="${dash}"`;
  const stroked = d === '' ? '' : `<path class="chart-line s${colourNo + 1}" d="${d}" stroke="${colour}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round" fill="none"${dashed}/>`; // prettier-ignore
  return stroked + dots.join('');
}

function endDot({ x, y }: ChartLayout, { line, colourNo, last }: LaidOutLine, palette: Palette): string {
  if (last === undefined) return '';
  const colour = palette.series[colourNo] ?? palette.ink;
  const [fill, stroke] = line.isDotted === true ? [palette.paper, colour] : [colour, palette.paper];
  const open = line.isDotted === true ? ' chart-open' : '';
  return `<circle class="chart-dot s${colourNo + 1}${open}" cx="${rounded(x(last.day))}" cy="${rounded(y(last.value))}" r="4" fill="${fill}" stroke="${stroke}" stroke-width="2"/>`;
}

/** The names of the lines; a thin line leads from the end of a line to a name that had to move. */
function endLabels({ labels, lines, frame }: ChartLayout, palette: Palette): string {
  return labels
    .map(({ lineNo, text: name, dotX, dotY, y }) => {
      const colourNo = lines[lineNo]?.colourNo ?? 0;
      const from = rounded(Math.max(dotX + 6, frame.right + 5));
      const isMoved = Math.abs(y - dotY) > 3;
      const leader = isMoved
        ? `<path class="chart-leader" d="M${from},${rounded(dotY)}L${frame.right + 12},${rounded(y)}" stroke="${palette.axis}" fill="none"/>`
        : '';
      const colour = palette.series[colourNo] ?? palette.ink;
      return `${leader}<text class="chart-label s${colourNo + 1}" x="${frame.right + 15}" y="${rounded(y + 4)}" font-weight="600" fill="${colour}">${escapeXml(name)}</text>`;
    })
    .join('');
}

function emptyNote({ frame }: ChartLayout, palette: Palette): string {
  const x = rounded((frame.left + frame.right) / 2);
  const y = rounded((frame.top + frame.bottom) / 2);
  return svgText({ x, y, of: 'note', anchor: 'middle', fill: palette.ink3 }, 'No values in this window');
}
