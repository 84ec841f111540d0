// The changes of SQL, in templates and in migrations, and their extent.
import test from 'ava';
import { applied } from './candidate.ts';
import { candidatesOf } from './draw.ts';

/** The statement after each change of a kind. */
function changed(statement: string, operator?: string): string[] {
  const source = `const x = \`${statement}\`;`;
  return candidatesOf('data-api/some.sql.ts', source)
    .filter((candidate) => operator === undefined || candidate.operator === operator)
    .map((candidate) => applied(source, candidate).slice('const x = `'.length, -2));
}

function migrated(source: string, operator: string): string[] {
  return candidatesOf('migrations/000001_some.sql', source)
    .filter((candidate) => candidate.operator === operator)
    .map((candidate) => applied(source, candidate));
}

test('a term is dropped as a whole, with everything in its parentheses', (t) => {
  t.deepEqual(
    changed(
      "select a from b where (c = 'x' or (d and e)) and f in (select g from h) order by i",
      'SQL term dropped',
    ),
    [
      "select a from b where (c = 'x' or (d )) and f in (select g from h) order by i",
      "select a from b where (c = 'x' or ( e)) and f in (select g from h) order by i",
      "select a from b where (c = 'x' or (d and e))  order by i",
      'select a from b where  f in (select g from h) order by i',
    ],
  );
});

test('the and of a between belongs to its term', (t) => {
  t.deepEqual(changed('select a from b where c between 2 and 3 and d', 'SQL term dropped'), [
    'select a from b where c between 2 and 3 ',
    'select a from b where  d',
  ]);
});

test('a term ends where the next clause, the next join or a comma begins', (t) => {
  const terms = (statement: string) => changed(statement, 'SQL term dropped')[0];
  t.is(
    terms('select a from b join c on d and e left join f on g'),
    'select a from b join c on d  left join f on g',
  );
  t.is(terms('select case when a and b then c end from d'), 'select case when a  then c end from d');
  t.is(terms('select a and b is distinct from c, d from e'), 'select a , d from e');
});

test('a parameter that no other term uses stays in a condition that is always true', (t) => {
  t.deepEqual(changed('select a from b where c = $1 and d = $2 and e = $1', 'SQL term dropped'), [
    'select a from b where c = $1 and ($2::text is null or true) and e = $1',
    'select a from b where  d = $2 and e = $1',
    'select a from b where c = $1 and d = $2 ',
  ]);
  t.deepEqual(changed('select a from b where c = $${d.length}', 'SQL term dropped'), [
    'select a from b where ($${d.length}::text is null or true)',
  ]);
});

test('= is negated where it compares, not where it assigns', (t) => {
  t.deepEqual(changed('update a set b = c where d = e', 'SQL comparison'), [
    'update a set b = c where d <> e',
  ]);
});

test('orders, nulls, locks, unions, numbers and intervals are changed', (t) => {
  t.deepEqual(changed('select a from b order by c, d desc', 'SQL order'), [
    'select a from b order by c desc, d desc',
    'select a from b order by c, d asc',
  ]);
  t.deepEqual(changed('select a is not null, b is distinct from c from d', 'SQL null'), [
    'select a is null, b is distinct from c from d',
    'select a is not null, b is not distinct from c from d',
  ]);
  t.deepEqual(changed('select a from b for no key update of b skip locked', 'SQL lock dropped'), [
    'select a from b ',
  ]);
  t.deepEqual(changed('select a union all select b', 'SQL union'), ['select a union select b']);
  t.deepEqual(changed("select a::numeric(9) + interval '5 days' from b", 'SQL number'), [
    "select a::numeric(9) + interval '6 days' from b",
    "select a::numeric(9) + interval '50 days' from b",
  ]);
});

test('a large number is missed by one where it bounds, by a digit elsewhere', (t) => {
  const made = (statement: string) => changed(statement, 'SQL number');
  const bound = 'select a from b where c < 500 and 500 >= d and e between 600 and 700 limit 800';
  t.deepEqual(
    made(bound),
    ['< 500', '500 >=', '600', '700', '800'].flatMap((text) => {
      const number = /\d+/.exec(text)?.[0] ?? '';
      return [Number(number) + 1, `${number}0`].map((other) =>
        bound.replace(text, text.replace(number, String(other))),
      );
    }),
  );
  t.deepEqual(made('select a from b where c * 100 >= d'), [
    'select a from b where c * 10 >= d',
    'select a from b where c * 1000 >= d',
  ]);
  t.deepEqual(made("select a * 3600 from b where c = 500 and d > e - interval '365 days'"), [
    "select a * 360 from b where c = 500 and d > e - interval '365 days'",
    "select a * 36000 from b where c = 500 and d > e - interval '365 days'",
    "select a * 3600 from b where c = 50 and d > e - interval '365 days'",
    "select a * 3600 from b where c = 5000 and d > e - interval '365 days'",
    "select a * 3600 from b where c = 500 and d > e - interval '36 days'",
    "select a * 3600 from b where c = 500 and d > e - interval '3650 days'",
  ]);
});

test('a condition passed on is SQL, wherever it is written', (t) => {
  const source = 'const where = begin.and(to, (p) => `a.date <= ${p}`);';
  const made = candidatesOf('data-api/some.ts', source).map((candidate) => applied(source, candidate));
  t.deepEqual(made, [source.replace('<=', '<')]);
});

test('comments in SQL are left as they are', (t) => {
  t.deepEqual(changed('select a from b -- where c and d < 5\n'), []);
});

test('in a script of Redis conditions are changed, assignments are not', (t) => {
  const script = "local a = redis.call('get', KEYS) if a == b and c < d then return e end";
  t.deepEqual(changed(script, 'SQL comparison'), [script.replace('==', '~='), script.replace('<', '<=')]);
  t.deepEqual(changed(script, 'SQL term dropped'), [
    script.replace('and c < d', ''),
    script.replace('a == b and', ''),
  ]);
});

test('a constraint of a column is removed alone, one of the table with its comma, an added one with its statement', (t) => {
  const table = `create table a (
  b int not null check (b > 0 and (b < 9)),
  c text references d (e) on delete cascade unique,
  constraint f check (b is not null)
);
alter table a add constraint g check (b <> 5);`;
  t.deepEqual(migrated(table, 'SQL constraint dropped'), [
    table.replace('not null check', ' check'),
    table.replace('check (b > 0 and (b < 9))', ''),
    table.replace('references d (e) on delete cascade', ''),
    table.replace('unique', ''),
    table.replace(',\n  constraint f check (b is not null)', ''),
    table.replace('alter table a add constraint g check (b <> 5);', ''),
  ]);
});

test('a trigger is removed whole; an index that only affects speed is never changed', (t) => {
  const trigger = 'create trigger a before insert or update on b for each row execute function c();';
  t.deepEqual(migrated(trigger, 'SQL trigger dropped'), ['']);
  t.deepEqual(candidatesOf('migrations/000001_a.sql', 'create index a on b (c) where d and e = 5;'), []);
  t.deepEqual(migrated('create unique index a on b (c) where d;', 'SQL constraint dropped'), [
    'create  index a on b (c) where d;',
  ]);
  t.deepEqual(migrated('create unique index a on b (c) where d;', 'SQL term dropped'), [
    'create unique index a on b (c) ;',
  ]);
});
