// How a statement becomes one that reads as of a day.
import test from 'ava';
import { asOfStatement } from '../../domain/as-of/statements.ts';

test('a table is replaced by its content of the day, and the day is a parameter after the others', (t) => {
  t.is(
    asOfStatement('select v.load_no from data.vintages v where v.series_no = $1', '$2::date', 'UTC'),
    `with as_of_vintages as not materialized (select * from data.vintages where published_on <= $2::date)
select v.load_no from as_of_vintages v where v.series_no = $1`,
  );
});

test('the expressions of a statement come after those of the tables', (t) => {
  const text = asOfStatement(
    '\n  with recent as (select * from data.loads) select * from recent',
    '$1::date',
    'UTC',
  );
  t.true(
    text.startsWith(
      'with as_of_loads as not materialized (select * from data.loads where vintage <= $1::date),',
    ),
  );
  t.true(text.endsWith('recent as (select * from as_of_loads) select * from recent'));
});

test('tables come after those that they need', (t) => {
  const text = asOfStatement('select * from data.series', '$1::date', `it's`);
  const places = ['loads', 'vintages', 'observations', 'series_dims', 'series'].map((name) =>
    text.indexOf(`as_of_${name} as not materialized`),
  );
  t.true(places.every((place, i) => place >= 0 && place > (places[i - 1] ?? -1)));
  t.true(text.includes(`time zone 'it''s'`));
});

test('a statement without tables of the data is as it was', (t) => {
  t.is(asOfStatement('select $1::int', '$2::date', 'UTC'), 'select $1::int');
});

test('a function that reads no table is as it was', (t) => {
  const text = 'select data.percent_of(1, 2), data.rating_rank($1)';
  t.is(asOfStatement(text, '$2::date', 'UTC'), text);
});

for (const name of ['fund_figures_due', 'audit_events', 'no_such_table'])
  test(`data.${name} has no past, so no statement can read it`, (t) => {
    t.throws(() => asOfStatement(`select from data.loads, data.${name}`, '$1::date', 'UTC'), {
      message: `data.${name} has no form as of a day`,
    });
  });
