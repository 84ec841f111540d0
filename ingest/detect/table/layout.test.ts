// Where tables of offices have their dates.
import test from 'ava';
import { propose } from '../propose.ts';

function proposed(rows: string[][]) {
  return propose(
    { rows, lines: rows.map((_, at) => at + 1), isWhole: true, continued: new Set(), delimiter: ',' },
    { stem: 'table', dateInName: null, sheet: undefined, folder: 'folder', facts: {}, today: '2026-11-23' },
  );
}

const years = [2019, 2020, 2021];

test('a column of the FAO for each year has its flag beside it, and a note', (t) => {
  const named = (ends: readonly string[]) => years.flatMap((year) => ends.map((end) => `Y${year}${end}`));
  const rows = (cells: readonly string[]) =>
    ['Kenya', 'Peru'].map((area, at) => [
      area,
      'Wheat',
      'Production',
      't',
      ...years.flatMap((year) => [String(year * 10 + at), ...cells]),
    ]);
  const titles = ['Area', 'Item', 'Element', 'Unit'];
  for (const [ends, cells] of [
    [['', 'F'], ['A']],
    [
      ['', 'F', 'N'],
      ['A', 'Unofficial figure'],
    ],
    [
      ['', 'F', 'N'],
      ['E', ''],
    ],
  ] as const) {
    const { entry } = proposed([[...titles, ...named(ends)], ...rows(cells)]);
    t.deepEqual(entry.date, { across: 'columns' });
    t.deepEqual(entry.status, { beside: 'values' });
    t.deepEqual(entry.dimensions, { area: 'Area' });
    t.is(entry.series?.frequency, 'annual');
    t.is(entry.guessed?.includes('ignore') ?? false, false);
  }
  const bare = proposed([[...titles, ...named([''])], ...rows([])]);
  t.deepEqual([bare.entry.date, bare.entry.status], [{ across: 'columns' }, undefined]);
});
