// CSV that the browser writes: of a view of a series, and of a comparison.
import { parse } from 'csv-parse/sync';
import test from 'ava';
import fc from 'fast-check';
import { comparisonCsv } from '../../dashboard/pages/compare/comparison-chart.ts';
import { csvOf } from '../../dashboard/pages/series/exports.ts';
import { stateOf } from '../../dashboard/pages/series/series-state.ts';
import { shownOf } from '../../dashboard/pages/series/shown.ts';
import { digits } from '../../kernel/digits.ts';
import { listCsv } from '../../kernel/http/list.ts';

type Shown = Parameters<typeof csvOf>[0];

const signs = [
  '=',
  '+',
  '-',
  '@',
  '\t',
  '\r',
  '\n',
  '＝',
  '＋',
  '－',
  '＠',
  '﹦',
  '−',
  '⁼',
  '₊',
  '\u200b=',
  ' =',
];
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.tuple(fc.constantFrom(...signs, "'", '"', ','), fc.string()).map((parts) => parts.join('')),
);

/** One line of one point. */
function csvOfPoint(dimension: string, value: number, text: string): string {
  const date = '2024-01-31';
  const lines = [Object.fromEntries([[dimension, text]])];
  const shown = { dates: [date], window: { first: 0, last: 0 }, lines, all: [[{ date, value }]] };
  return csvOf(shown as unknown as Shown, [dimension]);
}

test('the CSV of a view equals the API’s for any dimensions: no text runs as a formula', (t) => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(
      anyText.filter((name) => !['date', 'value', '__proto__'].includes(name)),
      number,
      anyText,
      (name, value, text) => {
        const row = { date: '2024-01-31', value: digits(String(value)), text };
        const head = { date: 'date', value: 'value', text: name };
        const lines = listCsv([head, row], ['date', 'value', 'text']).slice('date,value,text\r\n'.length);
        t.is(csvOfPoint(name, value, text), lines);
      },
    ),
  );
});

test('the CSV of a view has the chosen lines and the window only', (t) => {
  const side = { name: 'side', values: ['buy', 'sell'], labels: {} };
  const entry = { name: 'Rate', dims: [side], newest_combinations: [] };
  const dates = ['2024-01-31', '2024-02-29', '2024-03-31'];
  const points = {
    lines: side.values.map((value) => ({
      dims: { side: value },
      points: dates.map((date, at) => ({ date, value: at })),
    })),
    meta: {
      transform: null,
      vintage: null,
      frequency: 'monthly',
      unit: null,
      unit_multiplier: null,
      breaks: [],
    },
    previewPoints: 3,
  } as unknown as Parameters<typeof shownOf>[2];
  const state = stateOf(new URLSearchParams('dims=side:sell&from=2024-02-01'), entry, 'monthly');
  const shown = shownOf(entry as unknown as Parameters<typeof shownOf>[0], state, points, undefined, null);
  t.is(csvOf(shown, ['side']), 'date,value,side\r\n2024-02-29,1,sell\r\n2024-03-31,2,sell\r\n');
});

test('the CSV of a comparison has no cell that runs as a formula', (t) => {
  for (const sign of signs) {
    const id = `${sign}1+1`;
    const row = {
      loaded: { compared: { id, dims: null, vintage: null } },
      line: { points: [{ date: '2024-01-31', value: -1 }] },
    };
    const comparison = { rows: [row], dates: ['2024-01-31'] };
    const csv = comparisonCsv(comparison as unknown as Parameters<typeof comparisonCsv>[0]);
    t.deepEqual(parse(csv, { record_delimiter: ['\r\n'] }), [
      ['date', `'${id}`],
      ['2024-01-31', '-1'],
    ]);
  }
});
