// Every trigger of the schema, tested on a real database: the effect of a statement with it, and that it is absent
// without it. The cases are compared with the catalogue of PostgreSQL.
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import pg from 'pg';
import { createTestDatabase } from '../services/harness.ts';
import { createBench, type Bench } from './bench.ts';
import { accountsTriggers } from './triggers/accounts.ts';
import { fundTriggers } from './triggers/funds.ts';
import { marketTriggers } from './triggers/markets.ts';
import { searchTriggers } from './triggers/search.ts';
import { seriesTriggers } from './triggers/series.ts';
import { stampTriggers } from './triggers/stamps.ts';

let database: { url: string; drop(): Promise<void> };
let client: pg.Client;
let db: Bench;
test.before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  db = createBench(client);
});
test.after.always(async () => {
  await client?.end();
  await database?.drop();
});

const cases = [
  ...stampTriggers,
  ...searchTriggers,
  ...seriesTriggers,
  ...marketTriggers,
  ...fundTriggers,
  ...accountsTriggers,
];

for (const [i, { trigger, seen, expected }] of cases.entries()) {
  const again = cases.slice(0, i).some((each) => each.trigger === trigger) ? ', once more' : '';
  test.serial(`the effect of ${trigger} comes from it, and from nothing else${again}`, async (t) => {
    const name = trigger.split('.').at(-1) ?? '';
    t.deepEqual(await db.undone(() => seen(db)), expected);
    const without = await db
      .undone(async () => {
        await db.run(`alter table ${trigger.slice(0, -name.length - 1)} disable trigger ${name}`);
        return seen(db);
      })
      .catch((error: unknown) => error);
    t.false(isDeepStrictEqual(without, expected), 'without it');
  });
}

test.serial('every trigger of the schema has a case', async (t) => {
  const there = await db.values(
    `select format('%s.%s.%s', n.nspname, c.relname, tgname)
     from pg_trigger join pg_class c on c.oid = tgrelid join pg_namespace n on n.oid = c.relnamespace
     where not tgisinternal and tgenabled = 'O' and n.nspname in ('data', 'accounts', 'events', 'embargo')`,
  );
  t.deepEqual([...new Set(cases.map(({ trigger }) => trigger))].toSorted(), there.map(String).toSorted());
});

test.serial('the generated columns of trade are derived from its codes and its period', async (t) => {
  const rows = [
    [{ period: '2024', commodity_code: 'TOTAL' }, ['A', '2024-12-31', true, 0]],
    [{ period: '2024-02', partner_code: 'WLD' }, ['M', '2024-02-29', true, 4]],
    [{ period: '2023-12', commodity_code: '0101.21' }, ['M', '2023-12-31', false, 6]],
    [{ commodity_code: '01', classification: 'sitc' }, ['M', '2025-01-31', false, 2]],
    [{ commodity_code: '01', classification: 'bec' }, ['M', '2025-01-31', false, null]],
  ] as const;
  for (const [change, expected] of rows) {
    const seen = await db.undone(async () => {
      await db.insert('data.trade', change);
      return db.values('select frequency, date::text, is_aggregate, level from data.trade');
    });
    t.deepEqual(seen, [[...expected]], JSON.stringify(change));
  }
});
