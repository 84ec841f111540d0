// Every constraint of the schema, tested on a real database: it alone refuses the invalid rows, under its name,
// and it accepts the values at its limits. The cases are compared with the catalogue of PostgreSQL.
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { createTestDatabase } from '../services/harness.ts';
import { tables } from './bench.ts';
import type { Row, TableCases } from './tables.ts';

let database: { url: string; drop(): Promise<void> };
let client: pg.Client;
test.before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
test.after.always(async () => {
  await client?.end();
  await database?.drop();
});

/** PostgreSQL's error for a statement, which is rolled back; null if it accepts the statement. */
async function tried(work: () => Promise<unknown>): Promise<pg.DatabaseError | null> {
  await client.query('savepoint tried');
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error;
    throw error;
  } finally {
    await client.query('rollback to tried');
  }
}

function insert(table: string, row: Row): Promise<unknown> {
  const columns = Object.keys(row);
  if (columns.length === 0) return client.query(`insert into ${table} default values`);
  const places = columns.map((_column, i) => `$${i + 1}`).join(', ');
  return client.query(
    `insert into ${table} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})
     overriding system value values (${places})`,
    Object.values(row),
  );
}

/** Runs work in a transaction with the rows that the table's row refers to, and rolls it back. */
async function on({ before = [] }: TableCases, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await client.query('set constraints all immediate');
    for (const statement of before) await client.query(statement);
    await work();
  } finally {
    await client.query('rollback');
  }
}

const resultText = (error: pg.DatabaseError | null) =>
  error === null ? 'accepted' : (error.constraint ?? error.column ?? error.message);
const shown = (row: Row) => JSON.stringify(row).slice(0, 120);

async function isConstraint(table: string, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from pg_constraint where conrelid = $1::regclass and conname = $2',
    [table, name],
  );
  return rowCount === 1;
}

/** Drops a constraint or a unique index, with everything that depends on it. */
async function drop(table: string, name: string): Promise<void> {
  if (await isConstraint(table, name))
    await client.query(`alter table ${table} drop constraint ${name} cascade`);
  else await client.query(`drop index ${table.split('.')[0]}.${name}`);
}

async function tryCases(t: ExecutionContext, { table, row, needs, cases }: TableCases): Promise<void> {
  for (const { constraint, existing, meanwhile, refused, accepted } of cases) {
    const attempt = (change: Row) => tried(() => insert(table, { ...row, ...needs, ...change }));
    await client.query('savepoint one_case');
    if (existing !== undefined) await insert(table, { ...row, ...needs, ...existing });
    if (meanwhile !== undefined) await client.query(meanwhile);
    for (const change of refused) t.is(resultText(await attempt(change)), constraint, shown(change));
    for (const change of accepted)
      t.is(resultText(await attempt(change)), 'accepted', `${constraint}: ${shown(change)}`);
    await drop(table, constraint);
    for (const change of refused) {
      t.is(resultText(await attempt(change)), 'accepted', `without ${constraint}: ${shown(change)}`);
    }
    await client.query('rollback to one_case');
  }
}

async function tryReferences(t: ExecutionContext, cases: TableCases): Promise<void> {
  const { table, row, needs, references = [] } = cases;
  for (const { constraint, refused, accepted = {}, deleteParent, outcome } of references) {
    if (Object.keys(refused).length > 0) {
      const error = await tried(() => insert(table, { ...row, ...needs, ...refused }));
      t.is(`${error?.code} ${resultText(error)}`, `23503 ${constraint}`);
    }
    await client.query('savepoint one_case');
    await insert(table, { ...row, ...needs, ...accepted });
    const error = await tried(async () => {
      await client.query(deleteParent);
      t.is((await client.query(`select from ${table} where not ${isOther(cases)}`)).rowCount, 0, constraint);
    });
    t.is(resultText(error), outcome === 'it is refused' ? constraint : 'accepted', deleteParent);
    await client.query('rollback to one_case');
  }
}

/** Rows that are in the table before its row is tried. */
function isOther({ table }: TableCases): string {
  return table === 'data.funds' ? `fund_id = 'one'` : 'false';
}

async function tryNulls(t: ExecutionContext, cases: TableCases): Promise<void> {
  const {
    table,
    row,
    needs,
    defaults = {},
    filled = [],
    connectionDefaults = [],
    generated = {},
    nullsRefusedBy,
  } = cases;
  const { rows } = await client.query<{ now: string; today: string }>(
    `select to_jsonb(now()) #>> '{}' as now, current_date::text as today`,
  );
  const defaultValues: Record<string, unknown> = { 'now()': rows[0]?.now, current_date: rows[0]?.today };
  await client.query('savepoint one_row');
  await insert(table, { ...row, ...needs });
  const made = await client.query<{ row: Record<string, unknown> }>(
    `select jsonb_strip_nulls(to_jsonb(made)) as row from ${table} as made where not ${isOther(cases)}`,
  );
  await client.query('rollback to one_row');
  const given = [...Object.keys({ ...row, ...needs }), ...filled, ...connectionDefaults];
  t.deepEqual(
    Object.fromEntries(Object.entries(made.rows[0]?.row ?? {}).filter(([column]) => !given.includes(column))),
    Object.fromEntries(
      Object.entries({ ...defaults, ...generated }).map(([column, value]) => [
        column,
        defaultValues[String(value)] ?? value,
      ]),
    ),
    `what ${table} fills in`,
  );
  for (const column of [...Object.keys(row), ...Object.keys(defaults)]) {
    const error = await tried(() => insert(table, { ...row, ...needs, [column]: null }));
    t.is(error?.code, '23502', `${table}.${column} may not be null`);
    if (nullsRefusedBy === undefined) t.is(error?.column, column);
    else t.true(nullsRefusedBy.includes(error?.table ?? ''), `${table}.${column}`);
  }
}

for (const cases of tables) {
  test.serial(
    `${cases.table} refuses invalid rows, each by one constraint, and accepts the limits`,
    async (t) => {
      await on(cases, async () => {
        await tryCases(t, cases);
        await tryReferences(t, cases);
      });
    },
  );
  test.serial(
    `${cases.table} asks for just the columns that it must have, and fills in the rest`,
    async (t) => {
      await on(cases, () => tryNulls(t, cases));
    },
  );
}

test.serial('every constraint and every unique index of the schema has a case', async (t) => {
  const { rows } = await client.query<{ name: string }>(
    `select format('%s.%s: %s', n.nspname, c.relname, named.name) as name
     from (select conrelid as relid, conname as name from pg_constraint where contype not in ('n', 't')
           union select indrelid, i.relname from pg_index join pg_class i on i.oid = indexrelid
           where indisunique) named
     join pg_class c on c.oid = named.relid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('data', 'accounts', 'events', 'embargo')`,
  );
  const there = new Set(rows.map(({ name }) => name));
  const tried = new Set(
    tables.flatMap(({ table, cases, references = [] }) =>
      [...cases, ...references].map(({ constraint }) => `${table}: ${constraint}`),
    ),
  );
  t.deepEqual(
    { without: [...there.difference(tried)], gone: [...tried.difference(there)] },
    { without: [], gone: [] },
  );
});

test.serial(
  'every table of the schema, and every column that may not be null or is generated, is in the cases',
  async (t) => {
    const { rows } = await client.query<{ name: string; columns: string[]; generated: string[] }>(
      `select format('%s.%s', n.nspname, c.relname) as name,
            array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and attnotnull
                    and attgenerated = '' order by attname) as columns,
            array(select attname::text from pg_attribute where attrelid = c.oid and attgenerated <> ''
                  order by attname) as generated
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('data', 'accounts', 'events', 'embargo') and c.relkind in ('r', 'p')
     order by 1`,
    );
    const inCases = tables.map(({ table, row, defaults = {}, filled = [], generated = {} }) => ({
      name: table,
      columns: [...Object.keys({ ...row, ...defaults }), ...filled].toSorted(),
      generated: Object.keys(generated).toSorted(),
    }));
    t.deepEqual(
      inCases.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
  },
);
