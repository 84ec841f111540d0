// The long rows of described tables: which series each value belongs to, and its facts.
import test from 'ava';
import type { LoadableTable } from '../entry/entry-schema.ts';
import { IngestFailure } from '../failure.ts';
import { reshape } from './reshape.ts';

const of = { fileName: 'table.csv', where: 'almanac.yml, table.csv' };

/** The long rows of a table whose first line is its header. */
async function longRowsOf(rows: string[][], entry: Partial<LoadableTable>): Promise<string[][]> {
  // oxlint-disable-next-line require-yield -- a list of one batch
  async function* open() {
    yield { rows, lines: rows.map((_, at) => at + 1) };
  }
  const table = {
    file: 'table.csv',
    header: 1,
    first: 2,
    date: { column: 'date' },
    values: 'value',
    ...entry,
  };
  const long: string[][] = [];
  for await (const batch of reshape(table as LoadableTable, of, open).rows()) long.push(...batch.rows);
  return long;
}

test('texts that name members of JavaScript objects are no frequencies, scales or statuses', async (t) => {
  for (const word of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const [header, row] = await longRowsOf(
      [
        ['date', 'value', 'freq', 'scale'],
        ['2024-01-31', word, word, word],
      ],
      {
        flags: { p: 'P' },
        series: { id: 'A', frequency: '{freq}', unit_multiplier: '{scale}' },
      } as Partial<LoadableTable>,
    );
    t.deepEqual(header, ['series_id', 'date', 'value', 'status', 'frequency', 'unit_multiplier']);
    t.deepEqual(row, ['A', '2024-01-31', word, '', word, '']);
  }
});

test('two series whose parts join to one id are refused, wherever the dot between the parts is', async (t) => {
  const error = await t.throwsAsync(
    longRowsOf(
      [
        ['date', 'area', 'item', 'value'],
        ['2024-01-31', 'a.b', 'c', '1'],
        ['2024-02-29', 'a', 'b.c', '2'],
      ],
      { series: { id: '{area}.{item}', frequency: 'monthly' } },
    ),
    { instanceOf: IngestFailure },
  );
  t.regex(error.message, /"a\.b\.c" and "a\.b\.c" \(line 3\) both give the series id a\.b\.c/);
});
