import test from 'ava';
import { noteOfZero, whyAboveZero } from './legends.ts';

test('a note that says that a dash is zero is found, and other notes are not', (t) => {
  const note = (text: string, mark = '-') => noteOfZero([['2020', '5'], [text]], [1], [mark])?.mark;
  for (const text of [
    '- Nil or rounded to zero',
    '– = nichts vorhanden (genau null); . = unbekannt',
    '.. not available, - : zero',
    '"-" Zero absoluto',
    '(– nil)',
  ])
    t.is(note(text), '-', text);
  for (const text of ['- not available', 'Zero-rated goods - see note 2', 'Covid-19: no zero', '. = zero'])
    t.is(note(text), undefined, text);
  t.is(note('. = zero', '.'), '.');
  t.is(note('null: zero', 'null'), undefined, 'a word');
  t.is(noteOfZero([['Jan', '-', 'null']], [1, 2], ['-']), undefined, 'a row of marks');
});

test('numbers in parentheses may be above zero if a note explains them otherwise, or if they are as large as the others', (t) => {
  const why = (numbers: string[], note = '') =>
    whyAboveZero(
      [...numbers.map((text) => ['2020', text]), [note]],
      numbers.map((text) => ['2020', text]),
      [1],
    );
  t.regex(why(['125', '(127)', '131', '128']) ?? '', /from 125 to 131/);
  t.regex(why(['2', '(1)', '9'], '() = Aussagewert eingeschränkt') ?? '', /eingeschränkt/);
  t.regex(why(['2', '(1)', '9'], 'Figures in brackets are percentages') ?? '', /percentages/);
  t.is(why(['2', '(1)', '9'], 'Figures in brackets are negative'), undefined);
  t.is(why(['12.5', '(3.4)', '5.6', '(7.8)', '2.1']), undefined);
  t.is(why(['(3.4)', '(7.8)']), undefined);
});
