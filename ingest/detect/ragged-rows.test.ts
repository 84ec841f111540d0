import test from 'ava';
import type { Sample } from '../read/table-rows.ts';
import { propose } from './propose.ts';

const about = {
  ...{ stem: 'table', dateInName: null, sheet: undefined },
  ...{ folder: 'folder', facts: {}, today: '2026-11-23' },
};

const sampleOf = (rows: string[][]): Sample => ({
  ...{ rows, lines: rows.map((_, at) => at + 1), isWhole: true },
  ...{ continued: new Set(), delimiter: ',' },
});

test('a row with more numbers than the header names columns is refused', (t) => {
  const skip = (...rows: string[][]) => propose(sampleOf([['Date', 'Value'], ...rows]), about).entry.skip;
  const months = ['2024-01', '2024-02', '2024-03', '2024-04'];
  t.regex(
    skip(...months.map((month, at) => [month, `10${at}`, '5'])) ?? '',
    /^line 2 has 3 cells, and the header names 2 columns: quote each number that has a ","/,
  );
  t.regex(
    skip(...months.map((month, at) => [month, '1', ...(at > 2 ? ['001'] : [])])) ?? '',
    /^line 5 has 3/,
  );
  t.is(skip(...months.map((month, at) => [month, `10${at}`, 'note'])), undefined);
});
