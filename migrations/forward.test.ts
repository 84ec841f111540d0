// New migrations leave the previous version running: a rolling update migrates first, and old instances serve until they are replaced.
import test from 'ava';
import { baselineEnd } from './baseline.ts';
import { knownMigrations } from './run.ts';

/** A statement may break a rule if the lines above it say why that is safe: `-- safe: the table is empty until …`. */
const excuse = /--[ \t]*safe:[ \t]*\S/;

const rules: readonly [what: string, matches: RegExp, unless?: RegExp][] = [
  ['drops what old code uses', /\bdrop\s+(?:table|column|schema|view|type|function|sequence|materialized)\b/],
  [
    'drops a column',
    /\balter\s+table\b[^;]*\bdrop\s+(?!constraint\b|not\b|default\b|expression\b|identity\b)/,
  ],
  ['renames what old code uses', /\balter\b[^;]*\brename\b/],
  ['moves what old code uses', /\balter\b[^;]*\bset\s+schema\b/],
  [
    'changes a type: rewrites the table under a lock',
    /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/,
  ],
  ['forbids nulls that old code writes', /\bset\s+not\s+null\b/],
  [
    'adds a column that old code does not fill',
    /\badd\s+column\b[^,;]*\bnot\s+null\b/,
    /\badd\s+column\b[^,;]*\bdefault\b/,
  ],
  [
    'adds a column that rewrites the table',
    /\badd\s+column\b[^;]*\b(?:generated\s+always|generated\s+by\s+default)\b/,
  ],
  [
    'adds a constraint that old code may violate, and checks all rows under a lock',
    /\balter\s+table\b[^;]*\badd\s+(?:constraint|check|unique|primary|foreign|exclude)\b/,
    /\bnot\s+valid\b/,
  ],
  ['empties a table', /\btruncate\b/],
];

const indexOn =
  /\bcreate\s+(?:unique\s+)?index\s+(?<again>if\s+not\s+exists\s+)?[^;]*?\bon\s+(?:only\s+)?(?<table>[\w.]+)/;
const tableMade = /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(?<table>[\w.]+)/g;

/** The statements of a migration, each with the comments above it. Bodies of functions are left out; those of `do` are not. */
function statementsOf(sql: string): { text: string; isExcused: boolean }[] {
  const withoutBodies = sql.replace(/\bas\s+(\$\w*\$)[\s\S]*?\1/gi, 'as body');
  return withoutBodies.split(';').map((statement) => ({
    text: statement
      .replace(/--.*$/gm, '')
      .replace(/'(?:[^']|'')*'/g, "''")
      .toLowerCase(),
    isExcused: excuse.test(statement),
  }));
}

/** What in a migration could break the version before it, or stop its calls. */
function hazardsOf(sql: string): string[] {
  const made = new Set([...sql.toLowerCase().matchAll(tableMade)].map(({ groups }) => groups?.['table']));
  return statementsOf(sql).flatMap(({ text, isExcused }) => {
    if (isExcused) return [];
    const altered = /\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(?<table>[\w.]+)/.exec(text)?.groups?.[
      'table'
    ];
    if (made.has(altered)) return []; // a table that no old code knows
    const found = rules.filter(([, matches, unless]) => matches.test(text) && unless?.test(text) !== true);
    const index = indexOn.exec(text)?.groups;
    const isSlow = index !== undefined && !made.has(index['table']) && index['again'] === undefined;
    return [
      ...found.map(([what]) => what),
      // CONCURRENTLY cannot be run in the transaction of a migration.
      ...(isSlow ? ['builds an index under a lock, which an operator cannot have built before'] : []),
    ];
  });
}

test('a new migration breaks nothing that the version before it needs, or says why it is safe', (t) => {
  const known = knownMigrations();
  t.true(known.some(({ name }) => name === baselineEnd));
  for (const { name, sql } of known.filter((migration) => migration.name > baselineEnd))
    t.deepEqual(hazardsOf(sql), [], `${name}: see docs/operations.md, "Migrations"`);
});

test('what could break the version before is found', (t) => {
  for (const sql of [
    'drop table data.series',
    'alter table data.series drop column name',
    'alter table data.series drop name',
    'ALTER TABLE data.series\n  RENAME COLUMN name TO title',
    'alter table data.series rename to serieses',
    'alter table data.series set schema accounts',
    'alter table data.series alter column id type text',
    'alter table data.series alter id set data type text',
    'alter table data.series alter column name set not null',
    'alter table data.series add column a text not null',
    'alter table data.series add column a bigint generated always as identity',
    'alter table data.series add constraint c check (a > 0)',
    'alter table data.series add unique (a)',
    'create index on data.series (name)',
    'create unique index by_name on data.series (name)',
    'do $$ begin drop table data.series; end $$',
    'drop function data.f',
    'truncate data.series',
    '-- safe:\ndrop table data.series',
    '-- safe: it is empty\nselect 1; drop table data.series',
  ])
    t.is(hazardsOf(sql).length > 0, true, sql);
});

test('what leaves the version before running is accepted', (t) => {
  for (const sql of [
    'create table data.more (id int not null); create index on data.more (id); alter table data.more add unique (id)',
    'alter table data.series add column a text',
    "alter table data.series add column a text not null default ''",
    'alter table data.series add constraint c check (a > 0) not valid',
    'alter table data.series drop constraint c',
    'alter table data.series alter column a drop not null',
    'alter table data.series alter column a set default 1',
    'create index if not exists by_name on data.series (name)',
    'create or replace function data.f() returns int language sql as $$ select 1; drop table data.series $$',
    "comment on table data.series is 'drop table x'",
    '-- drop table data.series',
    '-- safe: no released version has read it\ndrop table data.series',
  ])
    t.deepEqual(hazardsOf(sql), [], sql);
});
