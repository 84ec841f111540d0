import test from 'ava';
import { detectDialect } from './csv-dialect.ts';

test('the quote character, blanks before it and a line that names the delimiter are detected', (t) => {
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

test('the delimiter is the one that splits the lines alike, whatever titles and numbers contain', (t) => {
  t.is(detectDialect('Report, made today\n\na;b\n2024;1,5\n2025;2,5\n').delimiter, ';');
  t.is(detectDialect('a,b\n1,"x;y;z"\n2,"p;q;r"\n').delimiter, ',');
  t.is(detectDialect('a\tb\n1\t2\n').delimiter, '\t');
  t.is(detectDialect('only\n1\n').delimiter, ',');
});
