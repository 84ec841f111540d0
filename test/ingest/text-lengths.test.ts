// What ingest and the schema say of the length of a text is one and the same: nothing that ingest takes is refused by the table
// with an error of PostgreSQL's own, and nothing that the table would keep is refused for its length.
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

/** Per table and column, how long a text its checks let it be. */
async function lengthsOfSchema(): Promise<Map<string, number>> {
  const { rows } = await client.query<{ table_name: string; check: string }>(
    `select conrelid::regclass::text as table_name, pg_get_constraintdef(oid) as check
     from pg_constraint where contype = 'c' and connamespace = 'data'::regnamespace`,
  );
  const bounds = rows.flatMap(({ table_name, check }) =>
    [...check.matchAll(/length\((\w+)\) <= (\d+)/g)].map(
      ([, column, most]) => [`${table_name}.${column}`, Number(most)] as const,
    ),
  );
  return new Map(bounds);
}

test('a text may be as long for ingest as for the table that it goes to', async (t) => {
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
