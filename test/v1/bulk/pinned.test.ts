// Bulk files for keys that are pinned to a day: which days have files, who can read them, and what happens to them when the past changes. Their
// content is tested in test/as-of/bulk-oracle.test.ts.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import test from 'ava';
import { parquetReadObjects } from 'hyparquet';
import { writeBulk } from '../../../ingest/bulk/write-bulk.ts';
import { retract } from '../../../ingest/history/retract/retract.ts';
import { openDatabase } from '../../../kernel/database.ts';
import { loadCsv } from '../../ingest/loading.ts';
import { fakeClock, silentLog } from '../../services/harness.ts';
import { proAccount, startDataService } from '../../services/data-service.ts';
import { addPinnedKey } from './pinned-keys.ts';

const clock = fakeClock('2026-06-15T12:00:00Z');
const place = { directory: mkdtempSync(path.join(tmpdir(), 'almanac-bulk-')) };
const service = await startDataService('2026-06-15T12:00:00Z', 'UTC', { bulkPlace: place });
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

const write = (daysMax = 10) =>
  writeBulk(database, { place, keepDays: 7, daysMax, seriesTimeZone: 'UTC' }, clock);
const load = (row: string, vintage: string) =>
  loadCsv(database, ['series_id,date,value', row], {
    ...{ create: true, set: { frequency: 'daily', unit: 'Index', source: 'Bank' }, vintage, clock },
  });
const pinnedTo = (day: string) => ({ ...proAccount, asOf: day });
const listed = (identity = proAccount) => service.call('/v1/bulk?kind=current&fields=name', { identity });
const namesOf = (answer: Awaited<ReturnType<typeof listed>>) =>
  (answer.json as { data: { name: string }[] }).data.map(({ name }) => name);

async function valuesOf(name: string, identity = proAccount): Promise<unknown[] | number> {
  const target = `/v1/bulk/${name}`;
  const response = await fetch(service.url + target, { headers: service.headers(target, identity) });
  if (response.status !== 200) return response.status;
  const compressors = { ZSTD: (input: Uint8Array) => zlib.zstdDecompressSync(input) };
  const rows = await parquetReadObjects({ file: await response.arrayBuffer(), compressors });
  return rows.map(({ value }) => value);
}

const accounts = ['a', 'b', 'c'];

test.serial(
  'every account gets its first day before any gets its second; ended and unused keys get none',
  async (t) => {
    await addPinnedKey(service.pool, { account: 'a', day: '2026-03-01', at: '3 days' });
    await addPinnedKey(service.pool, { account: 'a', day: '2026-03-02', at: '2 days' });
    await addPinnedKey(service.pool, { account: 'b', day: '2026-03-03', at: '1 day' });
    await addPinnedKey(service.pool, { account: 'b', day: '2026-03-01', at: '1 hour' });
    const old = await addPinnedKey(service.pool, { account: 'c', day: '2026-03-04', at: '31 days' });
    const days = async () => {
      const { rows } = await service.pool.query<{ day: string }>(
        'select day::text from data.pinned_days order by place',
      );
      return rows.map(({ day }) => day);
    };
    t.deepEqual(await days(), ['2026-03-01', '2026-03-03', '2026-03-02']);
    await service.pool.query('update accounts.api_keys set last_used_at = now() where id = $1', [old]);
    t.deepEqual(await days(), ['2026-03-04', '2026-03-01', '2026-03-03', '2026-03-02']);
    await service.pool.query(
      `update accounts.api_keys set revoked_at = now(), slot = null where as_of = '2026-03-01'`,
    );
    t.deepEqual(await days(), ['2026-03-04', '2026-03-02', '2026-03-03']);
    await service.pool.query('delete from accounts.accounts');
    t.deepEqual(await days(), []);
  },
);

test.serial('a key reads only the files of its day', async (t) => {
  for (const account of accounts) await addPinnedKey(service.pool, { account, day: '2026-02-01' });
  await load('RATES,2026-01-01,1', '2026-02-01');
  await load('RATES,2026-01-01,2', '2026-02-02');
  t.is(await write(), 8);
  const [ofBank = '', ofAll = ''] = namesOf(await listed());
  const [bankThen = '', allThen = ''] = namesOf(await listed(pinnedTo('2026-02-01')));
  t.notDeepEqual([ofBank, ofAll], [bankThen, allThen]);
  t.deepEqual(await valuesOf(ofAll), [2]);
  t.deepEqual(await valuesOf(allThen, pinnedTo('2026-02-01')), [1]);
  t.is(await valuesOf(allThen), 404);
  t.is(await valuesOf(ofAll, pinnedTo('2026-02-01')), 404);
});

test.serial('a load after the day does not change its files, and one before it replaces them', async (t) => {
  await load('RATES,2026-01-02,3', '2026-02-03');
  t.is(await write(), 4, 'those of now');
  const [, before = ''] = namesOf(await listed(pinnedTo('2026-02-01')));
  await load('RATES,2026-01-03,4', '2026-01-31');
  t.is(await write(), 8);
  const [, after = ''] = namesOf(await listed(pinnedTo('2026-02-01')));
  t.deepEqual(await valuesOf(after, pinnedTo('2026-02-01')), [1, 4]);
  t.deepEqual(await valuesOf(before, pinnedTo('2026-02-01')), [1], 'it is kept for readers');
});

test.serial(
  'a day without files is 503 until they are written, and 403 beyond BULK_PINNED_DAYS',
  async (t) => {
    await addPinnedKey(service.pool, { account: 'a', day: '2026-02-02' });
    const soon = await listed(pinnedTo('2026-02-02'));
    t.deepEqual([soon.status, soon.headers.get('retry-after')], [503, '60']);
    t.regex(soon.text, /The bulk files of 2026-02-02 are being written/);
    t.is(await write(1), 0);
    const never = await listed(pinnedTo('2026-02-02'));
    t.is(never.status, 403);
    t.regex(never.text, /has bulk files for 1 day that keys are pinned to, and 2026-02-02 is not among them/);
    t.is(await write(2), 4);
    t.is((await listed(pinnedTo('2026-02-02'))).status, 200);
    await service.pool.query(`delete from accounts.api_keys where as_of = '2026-02-02'`);
    t.is(await write(2), 0);
    t.is((await listed(pinnedTo('2026-02-02'))).status, 503);
  },
);

test.serial('erased data is removed from the files of all days', async (t) => {
  const [row] = await database.query<{ load: number }>('select max(load_no) as load from data.loads');
  const [, before = ''] = namesOf(await listed(pinnedTo('2026-02-01')));
  await retract(database, {
    ...{ loadNo: row?.load ?? 0, erase: true, seriesTimeZone: 'UTC', noGateway: true, clock },
  });
  t.is((await listed(pinnedTo('2026-02-01'))).status, 503);
  t.is(await valuesOf(before, pinnedTo('2026-02-01')), 503);
  t.is(await write(), 8);
  const [, after = ''] = namesOf(await listed(pinnedTo('2026-02-01')));
  t.deepEqual(await valuesOf(after, pinnedTo('2026-02-01')), [1]);
  t.is(await valuesOf(before, pinnedTo('2026-02-01')), 404);
});
