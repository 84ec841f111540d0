import test from 'ava';
import { proposed } from '../../test/ingest/proposing.ts';

test('a row with more numbers than the header names columns is refused', (t) => {
  const skip = (...rows: string[][]) => proposed([['Date', 'Value'], ...rows]).entry.skip;
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
