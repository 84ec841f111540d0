// Ingest and the schema have the same bounds for the length of texts and the size of numbers: the table accepts everything that ingest accepts, and
// ingest refuses nothing for its size that the table would accept.
import test from 'ava';
import pg from 'pg';
import { datasets } from '../../ingest/datasets/datasets.ts';
import { createTestDatabase } from '../services/harness.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
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

/** The check constraints of the tables of schema `data`, as PostgreSQL prints them. */
async function checksOfSchema(): Promise<{ table_name: string; check: string }[]> {
  const { rows } = await client.query<{ table_name: string; check: string }>(
    `select conrelid::regclass::text as table_name, pg_get_constraintdef(oid) as check
     from pg_constraint where contype = 'c' and connamespace = 'data'::regnamespace`,
  );
  return rows;
}

/** By table and column: the maximum length of a text according to its checks. */
async function lengthsOfSchema(): Promise<Map<string, number>> {
  const rows = await checksOfSchema();
  const bounds = rows.flatMap(({ table_name, check }) =>
    [...check.matchAll(/length\((\w+)\) <= (\d+)/g)].map(
      ([, column, most]) => [`${table_name}.${column}`, Number(most)] as const,
    ),
  );
  return new Map(bounds);
}

test('the maximum length of a text is the same for ingest and for its table', async (t) => {
  const schema = await lengthsOfSchema();
  const compared = datasets.flatMap(({ target, columns }) =>
    columns.flatMap((column) => {
      const most = schema.get(`${target}.${column.name}`);
      if (most === undefined || !('lengthMax' in column)) return [];
      return [{ column: `${target}.${column.name}`, ingest: column.lengthMax, table: most }];
    }),
  );
  t.deepEqual(
    compared.filter(({ ingest, table }) => ingest !== table),
    [],
  );
  t.true(compared.length > 40, `${compared.length} columns`);
});

/** By table and column: the minimum and maximum of a number, inclusive, according to checks of only that column. */
async function rangesOfSchema(): Promise<Map<string, { least?: number; most?: number }>> {
  const ranges = new Map<string, { least?: number; most?: number }>();
  for (const { table_name, check } of await checksOfSchema()) {
    for (const [, column = '', sign, bound] of check.matchAll(/\((\w+) ([<>])= \(?'?(-?\d+)'?/g)) {
      const name = `${table_name}.${column}`;
      ranges.set(name, { ...ranges.get(name), [sign === '>' ? 'least' : 'most']: Number(bound) });
    }
  }
  return ranges;
}

// The tables allow a yield down to -1,000 %, but no publisher's file has a real yield below -100.
const narrower = /^data\.auctions\.(?:\w+_yield_pct|coupon_pct) least$/;

test('the minimum and maximum of a number are the same for ingest and for its table', async (t) => {
  const schema = await rangesOfSchema();
  const compared = datasets.flatMap(({ target, columns }) =>
    columns.flatMap((column) => {
      const { least, most } = schema.get(`${target}.${column.name}`) ?? {};
      if (!('range' in column) || column.range === undefined) return [];
      const [from, to] = column.range;
      return [
        { bound: `${target}.${column.name} least`, ingest: from, table: least },
        { bound: `${target}.${column.name} most`, ingest: to, table: most },
      ].filter(({ bound, table }) => table !== undefined && !narrower.test(bound));
    }),
  );
  t.deepEqual(
    compared.filter(({ ingest, table }) => ingest !== table),
    [],
  );
  t.true(compared.length > 100, `${compared.length} bounds`);
});
