import { Resvg } from '@resvg/resvg-js';
import test from 'ava';
import fc from 'fast-check';
import { addDays } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { anyChart, chartOf, dateOf, months } from '../../test/charts/charts.ts';
import { frequencies } from '../periods.ts';
import { unitAt, unitBreaks } from './captions.ts';
import { chartSvg, layoutSvg } from './chart.ts';
import { labelGap } from './end-labels.ts';
import { findingOf } from './finding.ts';
import { layOut, linesMax, nearestDate } from './layout.ts';
import { overviewOf } from './overview.ts';
import { runsOf, sampled, type ChartPoint } from './line-points.ts';
import { decimalsOf, escapeXml, formatNumber, periodName } from './text.ts';

test('every point that a chart draws, its ticks and its dots are inside the frame', (t) => {
  const tolerance = 1e-6;
  fc.assert(
    fc.property(anyChart, (chart) => {
      const layout = layOut(chart);
      const { frame, x, y } = layout;
      const isInside = (at: number, low: number, high: number): boolean =>
        at >= low - tolerance && at <= high + tolerance;
      const points = layout.lines.flatMap(({ runs }) => runs.flat());
      return (
        frame.left < frame.right &&
        frame.top < frame.bottom &&
        points.every(({ day }) => isInside(x(day), frame.left, frame.right)) &&
        points.every(({ value }) => isInside(y(value), frame.top, frame.bottom)) &&
        layout.dateTicks.every(({ day }) => isInside(x(day), frame.left, frame.right)) &&
        layout.valueTicks.every(({ value }) => isInside(y(value), frame.top, frame.bottom))
      );
    }),
    { numRuns: 400 },
  );
  t.pass();
});

test('a linear chart draws every value, and one with a logarithmic scale every value above zero', (t) => {
  fc.assert(
    fc.property(anyChart, (chart) => {
      const wide = { ...chart, width: 1600 }; // wide enough for every column of pixels to hold its points
      const drawn = layOut(wide).lines.map(({ runs }) =>
        runs.flat().map(({ date, value }) => ({ date, value })),
      );
      const given = chart.lines.map(({ points }) =>
        points.filter(({ value }) => value !== null && (!chart.isLog || value > 1e-100)),
      );
      t.deepEqual(drawn, given as typeof drawn);
    }),
  );
});

test('names at the ends of lines are at least 16 pixels apart, and stay beside the frame', (t) => {
  fc.assert(
    fc.property(anyChart, (chart) => {
      const { labels, frame } = layOut(chart);
      for (const [i, { y }] of labels.entries()) {
        t.true(y >= frame.top && y <= frame.bottom);
        if (i > 0) t.true(y - entryAt(labels, i - 1).y >= labelGap - 1e-9);
      }
    }),
  );
});

test('a period without a value is a gap that no line crosses', (t) => {
  const full = months(5).map((date, i) => ({ date, value: i }));
  const gapsOf = (points: ChartPoint[]): number => runsOf(points, 'monthly', () => true).length - 1;
  t.is(gapsOf(full), 0);
  t.is(
    gapsOf(full.map((point, i) => (i === 2 ? { ...point, value: null } : point))),
    1,
    'published as missing',
  );
  t.is(gapsOf(full.toSpliced(2, 1)), 1, 'never published');
  const svg = chartSvg(chartOf([{ name: 'A', points: full.toSpliced(2, 1) }]));
  t.is(/class="chart-line[^>]* d="([^"]*)"/.exec(svg)?.[1]?.match(/M/g)?.length, 2);
});

const linesIn = (svg: string): string[] =>
  [...svg.matchAll(/class="chart-line[^>]* d="([^"]*)"/g)].flatMap(([, d = '']) =>
    d.split(/(?=M)/).filter((part) => part !== ''),
  );

test('no line crosses a break, which is marked where the new unit begins', (t) => {
  const points = months(5).map((date, i) => ({ date, value: i < 2 ? 100 + i : i }));
  const shown = (breaks: string[], some = points) =>
    chartSvg(chartOf([{ name: 'A', points: some, breaks }, { name: 'B', points: some, breaks }])); // prettier-ignore
  const svg = shown(['2024-03-01']);
  t.is(linesIn(svg).length, 4, 'two of each');
  const marks = (text: string) =>
    [...text.matchAll(/class="chart-break" d="M([\d.]+),/g)].map(([, x]) => Number(x));
  const { x } = layOut(chartOf([{ name: 'A', points }]));
  t.is(marks(svg).length, 1, 'once for all lines');
  t.is(marks(chartSvg(chartOf([{ name: 'A', points, breaks: ['2024-03-15'] }])))[0], Math.round(x(Date.UTC(2024, 2) / 86_400_000) * 10) / 10); // prettier-ignore
  t.deepEqual(marks(shown(['2024-01-01', '2024-07-01'])), [], 'before the first point, and after the last');
  t.is(linesIn(shown(['2024-02-01', '2024-05-01'])).length, 2, 'single points are dots');

  const days = Array.from({ length: 8_000 }, (_, i) => ({ date: addDays('2000-01-01', i), value: (i < 4_007 ? 1e6 : 0) + (i % 9) * 1e4 })); // prettier-ignore
  const crowded = chartOf([{ name: 'A', points: days, breaks: [days[4_007]?.date ?? ''] }], {
    frequency: 'daily',
  });
  const [before = '', after = ''] = linesIn(chartSvg(crowded));
  const heights = (d: string) => [...d.matchAll(/,([\d.]+)/g)].map(([, y]) => Number(y));
  t.true(Math.max(...heights(before)) < Math.min(...heights(after)), 'not within a pixel either');
  const place = { left: 0, right: 600, width: 600, height: 40 };
  const { paths } = overviewOf(
    [points],
    { frequency: 'monthly', isLog: false, breaks: ['2024-03-01'] },
    place,
  );
  t.is(paths.join('').match(/M/g)?.length, 2);
});

test('the finding names breaks, compares no values across one, and the unit is that of the newest point shown', (t) => {
  const points = [100, 101, 102, 5, 6].map((value, i) => ({ date: entryAt(months(5), i), value }));
  const breaks = ['2024-01-01', '2024-04-01'];
  t.is(
    findingOf(chartOf([{ name: 'A', points, breaks }])),
    'Per cent, January 2024 to May 2024. In another unit since April 2024. Latest: 6 in May 2024, up from 5 before.',
  );
  const meta = {
    ...{ unit: 'Index 2020=100', unit_multiplier: 3, transform: null },
    breaks: [{ date: '2024-04-01', from: { unit: 'Index 2015=100', unit_multiplier: null } }],
  };
  const now = { unit: 'Index 2020=100', unitMultiplier: 3 };
  t.deepEqual(unitAt(meta, '2024-03-31'), { unit: 'Index 2015=100', unitMultiplier: null });
  t.deepEqual(unitAt(meta, '2024-04-30'), now);
  const continuedBreak = { date: '2024-07-01', continued_by: 'B' };
  t.deepEqual(unitAt({ ...meta, breaks: [...meta.breaks, continuedBreak] }, '2024-04-30'), now);
  t.deepEqual(unitBreaks([...meta.breaks, continuedBreak]), meta.breaks);
  t.deepEqual(unitAt({ ...meta, transform: 'yoy' }, '2024-03-31'), now, 'a percentage is one of both');
});

test('neighbouring points of each frequency are connected, points further apart are not', (t) => {
  for (const frequency of frequencies) {
    const points = [0, 1, 2, 14, 15].map((i) => ({ date: dateOf(frequency, '2023-01-02', i), value: 1 }));
    t.is(runsOf(points, frequency, () => true).length, frequency === 'irregular' ? 1 : 2, frequency);
  }
});

test('a point between two gaps is drawn as a dot', (t) => {
  const points = ['2023-01-31', '2024-01-31', '2024-02-29'].map((date) => ({ date, value: 1 }));
  t.is(chartSvg(chartOf([{ name: 'A', points }])).match(/class="chart-point/g)?.length, 1);
});

test('many points become at most four per column of pixels, and keep every peak, every trough and both ends', (t) => {
  const run = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), {
    minLength: 1,
    maxLength: 3_000,
    size: 'max',
  });
  fc.assert(
    fc.property(run, fc.integer({ min: 1, max: 300 }), (values, width) => {
      const placed = values.map((value, day) => ({ day, value, date: '' }));
      const column = (day: number): number => Math.floor((day / values.length) * width);
      const sampledPoints = sampled([placed], column).flat();
      const byColumn = Map.groupBy(sampledPoints, ({ day }) => column(day));
      const columns = Map.groupBy(placed, ({ day }) => column(day));
      t.is(byColumn.size, columns.size);
      for (const [at, points] of columns) {
        const seen = byColumn.get(at) ?? [];
        t.true(seen.length <= 4);
        t.is(seen[0], points[0]);
        t.is(seen.at(-1), points.at(-1));
        for (const pick of [Math.min, Math.max])
          t.is(pick(...seen.map(({ value }) => value)), pick(...points.map(({ value }) => value)));
      }
    }),
    { numRuns: 50 },
  );
});

test('the text of a chart does not grow with its points beyond four per column of pixels', (t) => {
  const points = Array.from({ length: 100_000 }, (_, i) => ({ date: addDays('1700-01-01', i), value: Math.sin(i) * i })); // prettier-ignore
  t.true(chartSvg(chartOf([{ name: 'A', points }], { frequency: 'daily' })).length < 60_000);
});

test('a chart is well-formed XML without style attributes, whatever its names', (t) => {
  fc.assert(
    fc.property(anyChart, (chart) => {
      const svg = chartSvg(chart);
      t.notThrows(() => new Resvg(svg, { font: { loadSystemFonts: false } }));
      t.notRegex(svg, / style=|NaN|Infinity|undefined/);
    }),
    { numRuns: 150 },
  );
  const hostile = chartOf([{ name: 'A', points: [] }], { title: `</title><script>"'&\u0000\ud800` });
  t.regex(chartSvg(hostile), /<title>&#60;\/title&#62;&#60;script&#62;&#34;&#39;&#38;\ufffd\ufffd<\/title>/);
  t.is(escapeXml('a < b'), 'a &#60; b');
});

test('the same chart always gives the same text, also from its layout', (t) => {
  fc.assert(
    fc.property(anyChart, (chart) => {
      const svg = chartSvg(chart);
      t.is(chartSvg(structuredClone(chart)), svg);
      t.is(layoutSvg(layOut(chart)), svg);
    }),
    { numRuns: 50 },
  );
});

test('a file has a background, a title and a caption; the chart of a page has none of them', (t) => {
  const line = { name: 'A', points: [{ date: '2024-01-31', value: 1 }] };
  const file = chartSvg(
    chartOf([line], { title: 'CPI', theme: 'dark', standalone: { caption: 'Source: Bureau' } }),
  );
  t.regex(file, /<rect class="chart-paper"[^>]* fill="#101316"/);
  t.regex(file, /class="chart-title"[^>]*>CPI</);
  t.regex(file, /Source: Bureau/);
  t.notRegex(chartSvg(chartOf([line], { title: 'CPI' })), /chart-paper|chart-title/);
});

test('a narrow file names its lines above the frame, a wide one at their ends', (t) => {
  const lines = ['Buy', 'Sell'].map((name, i) => ({ name, points: [{ date: '2024-01-31', value: i }] }));
  const standalone = { caption: '' };
  const wide = layOut(chartOf(lines, { standalone }));
  t.deepEqual([wide.labels.length, wide.legend.length], [2, 0]);
  const narrow = layOut(chartOf(lines, { standalone, width: 400 }));
  t.deepEqual([narrow.labels.length, narrow.legend.length], [0, 2]);
});

test('each of sixteen lines has its own style: from the ninth on the colours repeat, dashed', (t) => {
  const lines = Array.from({ length: linesMax }, (_, i) => ({
    name: `L${i}`,
    points: [1, 2].map((value, month) => ({ date: entryAt(months(2), month), value: value + i })),
  }));
  t.is(linesMax, 16);
  const styleOf = (line: string) =>
    [/stroke="([^"]*)"/, /stroke-dasharray="([^"]*)"/].map((style) => style.exec(line)?.[1]).join();
  const svg = chartSvg(chartOf(lines));
  const styles = [...svg.matchAll(/<path class="chart-line[^>]*>/g)].map(([line]) => styleOf(line));
  t.is(new Set(styles).size, linesMax);
  t.deepEqual(
    styles.map((style) => style.endsWith(',')),
    lines.map((_, i) => i < 8),
  );
  const swatches = chartSvg(chartOf(lines, { standalone: { caption: '' }, width: 400 })).match(
    /<(?:rect|path) class="chart-swatch[^>]*>/g,
  );
  t.deepEqual(
    swatches?.map((swatch) => swatch.startsWith('<path')),
    lines.slice(0, swatches?.length ?? 0).map((_, i) => i >= 8),
  );
  t.true((swatches?.length ?? 0) > 8);
});

test('omitting a line does not change the styles of the others', (t) => {
  const points = [{ date: '2024-01-31', value: 1 }];
  const { lines } = layOut(chartOf([9, 3].map((styleNo) => ({ name: `L${styleNo}`, points, styleNo }))));
  t.deepEqual(
    lines.map(({ colourNo, dashNo }) => [colourNo, dashNo]),
    [
      [1, 1],
      [3, 0],
    ],
  );
});

test('a chart with a logarithmic scale states how many values it cannot show', (t) => {
  const points = [1, 0, -2, 8].map((value, i) => ({ date: `2024-0${i + 1}-28`, value }));
  const svg = chartSvg(chartOf([{ name: 'A', points }], { isLog: true }));
  t.regex(svg, /A log scale has no place for 2 values at or below zero\./);
  t.regex(svg, /Per cent, log scale/);
  t.notRegex(chartSvg(chartOf([{ name: 'A', points }])), /log scale/);
});

test('a chart without values shows a note, no ticks of values, and the days of its window only', (t) => {
  t.regex(chartSvg(chartOf([])), />No values in this window</);
  t.deepEqual([layOut(chartOf([])).valueTicks, layOut(chartOf([])).dateTicks], [[], []]);
  const { valueTicks, dateTicks: ticks } = layOut(
    chartOf([], { window: { from: '2024-01-31', to: '2024-12-31' } }),
  );
  t.deepEqual(valueTicks, []);
  t.true(ticks.length > 2);
});

test('names that would be cut to the same label are cut at their beginnings', (t) => {
  const points = [{ date: '2024-01-31', value: 1 }];
  const labelsOf = (...names: string[]) =>
    layOut(
      chartOf(
        names.map((name) => ({ name, points })),
        { width: 900 },
      ),
    )
      .labels.toSorted((a, b) => a.lineNo - b.lineNo)
      .map(({ text }) => text);
  const long = 'Unemployment of all persons by district, ';
  const [north = '', south = '', other] = labelsOf(`${long}North`, `${long}South`, 'Prices');
  t.regex(north, /^….*district, North$/);
  t.regex(south, /^….*district, South$/);
  t.is(other, 'Prices');
  t.regex(labelsOf(`${long}North`, 'Prices')[0] ?? '', /^Unemployment.*…$/);
});

test('the finding states the span, the latest value and its change, the highest and the lowest', (t) => {
  const points = [3.5, 14.8, 6.7].map((value, i) => ({ date: entryAt(['2020-02-29', '2020-04-30', '2020-11-30'], i), value })); // prettier-ignore
  t.is(
    findingOf(chartOf([{ name: 'A', points }])),
    'Per cent, February 2020 to November 2020. Latest: 6.7 in November 2020, down from 14.8 before. Highest: 14.8 in April 2020; lowest: 3.5 in February 2020.',
  );
  const two = [points, points.slice(0, 2)].map((some, i) => ({ name: `L${i}`, points: some }));
  t.is(
    findingOf(chartOf(two)),
    'Per cent, February 2020 to November 2020. Latest: L0 6.7 in November 2020; L1 14.8 in April 2020.',
  );
});

test('numbers and periods are written as people read them', (t) => {
  t.is(formatNumber(-1234567.5, 1), '\u{2212}1,234,567.5');
  t.is(formatNumber(-0.0001, 2), '0.00');
  t.is(decimalsOf([1, 2.25, 1e-3]), 3);
  t.is(decimalsOf([1, 1e-12]), 6);
  t.is(decimalsOf([0, -2.5e-7]), 8);
  t.is(decimalsOf([0.1 + 0.2]), 6);
  t.is(decimalsOf([1e-300]), 20);
  t.is(periodName('2020-09-30', 'quarterly'), 'Q3 2020');
  t.is(periodName('2020-12-15', 'daily', true), '15 Dec 2020');
  t.is(periodName('2020-06-30', 'annual'), '2020');
});

test('the nearest observation to a position is found among all lines', (t) => {
  const points = ['2024-01-31', '2024-02-29', '2024-03-31'].map((date, i) => ({ date, value: i }));
  const layout = layOut(chartOf([{ name: 'A', points }]));
  t.is(nearestDate(layout, layout.frame.left - 50), '2024-01-31');
  t.is(nearestDate(layout, (layout.frame.left + layout.frame.right) / 2), '2024-02-29');
  t.is(nearestDate(layOut(chartOf([])), 10), null);
});
