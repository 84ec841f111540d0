import test from 'ava';
import { detectDialect } from './csv-dialect.ts';

test('the sign around cells, blanks before it and a line that names the delimiter are found', (t) => {
  t.deepEqual(detectDialect("'Date','Rate'\n'2023-01','100.5'\n"), {
    delimiter: ',',
    quote: "'",
    hasBlanks: false,
  });
  t.deepEqual(detectDialect('"a", "b"\n"1", "2"\n'), { delimiter: ',', quote: '"', hasBlanks: true });
  t.is(detectDialect("Date,Name\n2023-01,O'Brien\n").quote, '"');
  t.is(detectDialect('"a"\t"b,c"\n"1,5"\t"2,5"\n').delimiter, '\t', 'all cells are quoted');
  t.is(detectDialect('sep=|\na|b,c\n1|2\n').delimiter, '|');
});
