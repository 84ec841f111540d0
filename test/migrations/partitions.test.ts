// almanac migrate --partitions: the observations in partitions are what they were in one table, for a reader, a load and the schema.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { partitionObservations } from '../../migrations/partitions.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { startServices } from '../services/services.ts';

const services = await startServices();
const { key } = await services.accountWithKey('pro');
test.after.always(() => services.close());
const read = services.database.query;

const file = (values: readonly number[]) =>
  ['series_id,date,value', ...values.map((value, i) => `S${i},2024-01-31,${value}`)].join('\n');
async function answers(): Promise<unknown[]> {
  const targets = [
    ...Array.from({ length: 20 }, (_, i) => `/v1/series/S${i}`),
    '/v1/series/S7?vintage=2024-03-01',
    '/v1/series/S7/triangle',
  ];
  return Promise.all(
    targets.map(async (target) => ((await services.call(target, { key })).json as { data: unknown }).data),
  );
}
const declared = () =>
  read(`
    select replace(pg_get_indexdef(indexrelid), ' ONLY ', ' ') as is, obj_description(indexrelid) as comment
    from pg_index where indrelid = 'data.observations'::regclass
    union all
    select conname || ' ' || pg_get_constraintdef(oid), obj_description(oid)
    from pg_constraint where conrelid = 'data.observations'::regclass and contype <> 'n'
    union all
    select concat_ws(' ', attname, atttypid::regtype, attnotnull, attstorage), pg_get_expr(adbin, adrelid)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = 'data.observations'::regclass and attnum > 0
    union all
    select concat_ws(' ', grantee::regrole, privilege_type), null
    from pg_class, aclexplode(relacl) where oid = 'data.observations'::regclass
    union all
    select obj_description('data.observations'::regclass), null
    order by 1`);
const settings = () =>
  read<{ set: string | null }>(
    `select distinct reloptions::text as set from pg_class where relname ~ '^observations(_\\d+)?$' and relkind = 'r'`,
  );

test.serial(
  'partitions have the rows, indexes, checks, settings and rights of the table, and are loaded and read like it',
  async (t) => {
    const values = Array.from({ length: 20 }, (_, i) => i + 0.5);
    await services.ingest(file(values), { vintage: '2024-02-20' });
    await services.ingest(file(values.map((value) => value + 1)), { vintage: '2024-03-20' });
    const before = [await answers(), await declared(), await settings()];
    await partitionObservations(services.databaseUrl, 4);
    t.deepEqual([await answers(), await declared(), await settings()], before);
    const filled = await read('select distinct tableoid from data.observations');
    t.is(filled.length, 4, 'each partition has rows');

    await services.ingest(file(values), { vintage: '2024-04-20' });
    const latest = (await answers())[7] as { value: number }[];
    t.like(latest, [{ value: 7.5 }]);
    const error = await t.throwsAsync(partitionObservations(services.databaseUrl, 8));
    t.regex(error.message, /has 4 partitions already\. .* "almanac backup"/);
    t.is((await read("select from pg_inherits where inhparent = 'data.observations'::regclass")).length, 4);
  },
);

test.serial('a read of one series reads one partition', async (t) => {
  const [plan] = await read<{ 'QUERY PLAN': { Plan: object }[] }>(
    `explain (format json) select value from data.observations where line_no = 1 and superseded_on = 'infinity'`,
  );
  t.is(JSON.stringify(plan).match(/"Relation Name"/g)?.length, 1);
});

test.serial(
  'a backup is restored from partitions into a table, and from a table into partitions',
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
    const [plain, divided] = [await createTestDatabase(), await createTestDatabase()];
    t.teardown(async () => {
      rmSync(folder, { recursive: true });
      await Promise.all([plain.drop(), divided.drop()]);
    });
    const rowsOf = async (url: string) => {
      const database = openDatabase(url, silentLog, { applicationName: 'test' });
      const stored = database.query('select * from data.observations order by line_no, date, load_no');
      return stored.finally(() => database.close());
    };
    const almanac = (url: string, words: string[]) => commandLine(settingsOf(url))(words);
    const { stdout } = await almanac(divided.url, ['migrate', '--partitions', '3']);
    t.regex(stdout, /split the observations into 3 partitions/);
    const rows = await rowsOf(services.databaseUrl);
    t.is(rows.length, 60);
    for (const [from, to] of [
      [services.databaseUrl, plain.url],
      [plain.url, divided.url],
    ] as const) {
      const file = path.join(folder, `${new URL(from).pathname}.gz`);
      t.is((await almanac(from, ['backup', file])).code, 0);
      const { code, stderr } = await almanac(to, ['restore', file]);
      t.is(code, 0, stderr);
      t.deepEqual(await rowsOf(to), rows);
    }
  },
);
