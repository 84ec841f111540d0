// Checks the schema `data` against the rules of Citus for distributed and reference tables. docs/scaling.md lists where each table would be
// and which of its constraints and triggers prevent it; the test compares that with the catalogues of PostgreSQL.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { projectRoot } from '../../kernel/project.ts';
import { createTestDatabase } from '../services/harness.ts';

/** The column by which a table is distributed; or a copy on every node, or on the coordinator alone. */
type Placement = { by: string } | 'reference' | 'local';

const placements: Readonly<Record<string, Placement>> = {
  ...{ observations: { by: 'line_no' }, confirmations: { by: 'line_no' }, statements: { by: 'line_no' } },
  ...{ vintages: { by: 'series_no' }, series: 'reference', series_dims: 'reference', loads: 'reference' },
  ...{ navs: { by: 'fund_no' }, payouts: { by: 'fund_no' }, expenses: { by: 'fund_no' } },
  ...{ portfolio_lines: { by: 'fund_no' }, security_prices: { by: 'code' }, security_trades: { by: 'code' } },
  trade: { by: 'commodity_code' },
};
const placementOf = (table: string): Placement => placements[table] ?? 'local';

interface Table {
  name: string;
  triggers: string[];
  /** Unique indexes and exclusion constraints, with their columns. */
  keys: { name: string; columns: string[] }[];
  foreignKeys: { name: string; columns: string[]; target: string; targetColumns: string[] }[];
}

const catalogue = `
select c.relname as name,
  array(select tgname::text from pg_trigger where tgrelid = c.oid and not tgisinternal order by 1) as triggers,
  coalesce((select jsonb_agg(jsonb_build_object('name', k.relname, 'columns', array(
      select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum = any (i.indkey[0:i.indnkeyatts - 1]))) order by k.relname)
    from pg_index i join pg_class k on k.oid = i.indexrelid
    where i.indrelid = c.oid and (i.indisunique or i.indisexclusion)), '[]') as keys,
  coalesce((select jsonb_agg(jsonb_build_object('name', f.conname, 'target', t.relname,
      'columns', array(select a.attname from unnest(f.conkey) with ordinality as u(no, at)
        join pg_attribute a on a.attrelid = f.conrelid and a.attnum = u.no order by at),
      'targetColumns', array(select a.attname from unnest(f.confkey) with ordinality as u(no, at)
        join pg_attribute a on a.attrelid = f.confrelid and a.attnum = u.no order by at)) order by f.conname)
    from pg_constraint f join pg_class t on t.oid = f.confrelid
    where f.conrelid = c.oid and f.contype = 'f'), '[]') as "foreignKeys"
from pg_class c where c.relnamespace = 'data'::regnamespace and c.relkind in ('r', 'p') order by 1`;

function violationsOf(table: Table): string[] {
  const placement = placementOf(table.name);
  const { triggers } = table;
  const violations =
    placement === 'local' || triggers.length === 0 ? [] : [`triggers: ${triggers.join(', ')}`];
  for (const { name, columns } of table.keys)
    if (isDistributed(placement) && !columns.includes(placement.by))
      violations.push(`${name} lacks ${placement.by}`);
  for (const key of table.foreignKeys)
    if (!isAllowed(placement, key)) violations.push(`${key.name} must not refer to ${key.target}`);
  return violations;
}

const isDistributed = (placement: Placement): placement is { by: string } => typeof placement === 'object';

/** From a distributed table to a reference table, or to a co-located one by the distribution column; between tables that are not distributed. */
function isAllowed(
  from: Placement,
  { columns, target, targetColumns }: Table['foreignKeys'][number],
): boolean {
  const to = placementOf(target);
  if (!isDistributed(from)) return !isDistributed(to);
  if (to === 'reference') return true;
  const at = columns.indexOf(from.by);
  return isDistributed(to) && to.by === from.by && at >= 0 && targetColumns[at] === to.by;
}

test('docs/scaling.md lists where Citus would place each table, and all that prevents it', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Table>(catalogue).finally(() => client.end());
  const found = rows
    .filter(({ name }) => placementOf(name) !== 'local')
    .map((table) => {
      const placement = placementOf(table.name);
      const where = isDistributed(placement) ? `by \`${placement.by}\`` : placement;
      return `| \`${table.name}\` | ${where} | ${violationsOf(table).join('; ') || 'nothing'} |`;
    });
  const documented = readFileSync(path.join(projectRoot, 'docs/scaling.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| `\w+` \| (?:by|reference)/.test(line));
  t.deepEqual(documented, found);
  const local = rows.filter(({ name }) => placementOf(name) === 'local');
  t.deepEqual(local.flatMap(violationsOf), []);
  t.true(rows.length > local.length);
});

test('no table that grows with the series has a trigger', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client
    .query<{ name: string; triggers: string[] }>(
      `select c.name, c.triggers from (${catalogue}) c
       where c.name like 'search%' or exists (select from information_schema.columns i
         where i.table_schema = 'data' and i.table_name = c.name and i.column_name in ('series_no', 'line_no'))`,
    )
    .finally(() => client.end());
  // An item has one series, and there are hundreds of items.
  const growing = rows.filter(({ name }) => name !== 'commodity_items');
  for (const name of [
    'series',
    'series_dims',
    'observations',
    'dimension_labels',
    'footnotes',
    'search_entries',
  ])
    t.true(
      growing.some((table) => table.name === name),
      name,
    );
  t.deepEqual(
    growing.filter(({ triggers }) => triggers.length > 0),
    [],
  );
});

test('a key without the distribution column and a foreign key to another group are violations', (t) => {
  const table = { name: 'vintages', triggers: [], keys: [], foreignKeys: [] };
  t.deepEqual(violationsOf({ ...table, keys: [{ name: 'k', columns: ['load_no'] }] }), ['k lacks series_no']);
  const to = (target: string, columns: string[], targetColumns = columns) =>
    violationsOf({ ...table, foreignKeys: [{ name: 'f', columns, target, targetColumns }] }).length;
  t.is(to('series_dims', ['line_no']), 0);
  t.is(to('observations', ['line_no', 'series_no']), 1);
  t.is(to('loads', ['load_no']), 0);
  t.is(to('navs', ['series_no'], ['fund_no']), 1);
  t.is(to('funds', ['fund_no']), 1, 'which is on the coordinator alone');
});
