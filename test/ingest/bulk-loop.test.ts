// The publisher's loop that keeps the bulk files up to date. The test sets the time; the writes are real.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parquetReadObjects } from 'hyparquet';
import pg from 'pg';
import zlib from 'node:zlib';
import { buffer } from 'node:stream/consumers';
import { startBulk, type BulkJobDeps } from '../../ingest/publisher/bulk/bulk-job.ts';
import { dueMetrics } from '../../ingest/publisher/metrics.ts';
import { writeBulk, type BulkSettings } from '../../ingest/bulk/write-bulk.ts';
import { createLog } from '../../kernel/log/log.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { within } from '../run/until.ts';
import { addPinnedKey } from '../v1/bulk/pinned-keys.ts';
import { daily, loadCsv } from './loading.ts';
import { startReleasing } from './releasing.ts';

const noon = '2026-06-15T12:00:00Z';
const testDatabase = await createTestDatabase();
const releasing = startReleasing(test, testDatabase.url, noon);
test.after.always(() => testDatabase.drop());
const { database, deps, clock } = releasing;
const writeClock = { now: () => new Date(noon) };

const load = (series: string, value: number, vintage: string) =>
  loadCsv(database, ['series_id,date,value', `${series},2026-01-01,${value}`], {
    ...{ create: true, set: daily, vintage, clock: writeClock },
  });

/** A loop whose checks and time the test controls. Each write takes ten seconds of that time. */
async function startLoop(t: ExecutionContext, log = silentLog) {
  const settings: BulkSettings = {
    place: { directory: mkdtempSync(path.join(tmpdir(), 'almanac-bulk-')) },
    keepDays: 7,
    daysMax: 2,
    seriesTimeZone: 'UTC',
  };
  let nowMs = 0;
  const writes: { startedAtMs: number }[] = [];
  let meanwhile: () => Promise<unknown> = () => Promise.resolve();
  let next = Promise.withResolvers<void>();
  let idle = Promise.withResolvers<void>();
  const children: BulkJobDeps['children'] = {
    async run() {
      writes.push({ startedAtMs: nowMs });
      const files = await writeBulk(deps.database, settings, writeClock);
      nowMs += 10_000;
      await meanwhile();
      return files;
    },
  };
  const pause = async (_ms: number, signal: AbortSignal) => {
    idle.resolve();
    signal.addEventListener('abort', () => next.resolve(), { once: true });
    await next.promise;
  };
  const bulk = await startBulk(
    { database: deps.database, clock: { pause }, log, children, nowMs: () => nowMs },
    settings,
  );
  t.teardown(() => bulk.close());
  await idle.promise;
  return {
    bulk,
    writes,
    settings,
    /** The actions during the next writes. */
    during(work: () => Promise<unknown>) {
      meanwhile = work;
    },
    /** One check, this many seconds later; resolves after the write that it may start. */
    async look(seconds: number) {
      nowMs += seconds * 1_000;
      idle = Promise.withResolvers();
      const waiting = next;
      next = Promise.withResolvers();
      waiting.resolve();
      await within('the look ends', idle.promise);
    },
    /** The values of all series in the file with the newest values. */
    async values() {
      const manifest = await bulk.store.readManifest();
      const file = manifest?.files.find(({ source, kind }) => source === null && kind === 'current');
      if (file === undefined) return [];
      const bytes = await bulk.store.read(file, { from: 0, to: file.bytes - 1 });
      if (bytes === undefined) throw new Error(`${file.name} is not there.`);
      const rows = (await parquetReadObjects({
        file: new Uint8Array(await buffer(bytes)).buffer,
        compressors: { ZSTD: (input: Uint8Array) => zlib.zstdDecompressSync(input) },
      })) as { value_text: string }[];
      return rows.map(({ value_text: text }) => text);
    },
  };
}

test.serial(
  'the files follow five seconds after the last load, or a minute after the first of many',
  async (t) => {
    const { look, writes, values } = await startLoop(t);
    await load('A', 1, '2026-02-01');
    await look(1);
    await look(4);
    t.is(writes.length, 0);
    await look(1);
    t.is(writes.length, 1);
    t.deepEqual(await values(), ['1']);
    await look(60);
    t.is(writes.length, 1, 'nothing has changed');
    for (let second = 0; second < 60; second += 4) {
      await load('A', second + 2, '2026-02-01');
      await look(4);
    }
    t.is(writes.length, 1);
    await load('A', 99, '2026-02-01');
    await look(4);
    t.is(writes.length, 2);
    t.deepEqual(await values(), ['99']);
  },
);

test.serial(
  'loads that commit during a write lead to one more write, after a pause four times as long',
  async (t) => {
    const { look, writes, during, values } = await startLoop(t);
    await load('B', 1, '2026-02-01');
    await look(0);
    during(async () => {
      during(() => Promise.resolve());
      await load('B', 2, '2026-02-01');
      await load('B', 3, '2026-02-01');
    });
    await look(5);
    t.is(writes.length, 1);
    t.false((await values()).includes('3'));
    await look(0);
    await look(39);
    t.is(writes.length, 1);
    await look(1);
    t.is(writes.length, 2);
    t.true((await values()).includes('3'));
    for (const seconds of [5, 60, 600]) await look(seconds);
    t.is(writes.length, 2);
  },
);

test.serial('a key that is pinned to a day gets files with the next check, without a load', async (t) => {
  const { bulk, look, writes } = await startLoop(t);
  await look(0);
  await look(5);
  t.is(writes.length, 1);
  const pool = new pg.Pool({ connectionString: testDatabase.url, max: 1 });
  t.teardown(() => pool.end());
  await addPinnedKey(pool, { account: 'a', day: '2026-01-31' });
  await look(40);
  t.is(writes.length, 2);
  const manifest = await bulk.store.readManifest();
  t.deepEqual([...new Set(manifest?.files.map((file) => file.as_of))], [null, '2026-01-31']);
  await look(50);
  t.is(writes.length, 2, 'nothing has changed');
});

test.serial(
  'data that is under embargo is in no file before its instant, and in the file after it',
  async (t) => {
    const { look, writes, values } = await startLoop(t);
    await releasing.accept(['series_id,date,value', 'C,2026-01-03,777'], '2026-06-15T13:00:00Z');
    clock.set('2026-06-15T12:59:59Z');
    const { made } = await releasing.prepared();
    await look(0);
    await look(60);
    t.is(writes.length, 1);
    t.false((await values()).includes('777'));
    clock.set('2026-06-15T13:00:00Z');
    await made;
    await look(40);
    await look(5);
    t.is(writes.length, 2);
    t.true((await values()).includes('777'));
  },
);

test.serial(
  'a failed write is logged and counted, is retried after a minute, and leaves the previous files',
  async (t) => {
    const lines: string[] = [];
    const log = createLog('publisher', 'warn', { write: (line: string) => void lines.push(line) });
    const { bulk, look, writes, settings } = await startLoop(t, log);
    const metrics = dueMetrics(
      { ...deps, log: silentLog },
      {
        ...{ released: {}, fetched: undefined, inbox: undefined, bulk },
      },
    );
    async function figures() {
      const found: Record<string, number> = {};
      for (const { name, refresh, read } of metrics.filter(({ name: each }) =>
        each.startsWith('almanac_bulk_'),
      )) {
        await refresh?.();
        for (const { labels, value } of read())
          found[[name.slice(13), labels?.['outcome']].join(' ').trim()] = value;
      }
      return found;
    }
    await look(0);
    await look(5);
    t.is(writes.length, 1);
    const before = await bulk.store.readManifest();
    t.like(await figures(), {
      ...{ up: 1, behind_seconds: 0, write_seconds: 10 },
      ...{ 'writes_total written': 1, 'writes_total failed': 0 },
    });
    t.is((await figures())['manifest_age_seconds'], 3_600);
    await load('D', 1, '2026-02-01');
    await look(50);
    settings.place = { directory: '/dev/null/nowhere' };
    await look(5);
    t.is(writes.length, 2);
    t.is(lines.filter((line) => line.includes('bulk_fault')).length, 1);
    t.is((await figures())['writes_total failed'], 1);
    clock.set('2100-01-01T00:00:00Z');
    t.true(((await figures())['behind_seconds'] ?? 0) > 0);
    t.deepEqual(await bulk.store.readManifest(), before);
    await look(59);
    t.is(writes.length, 2);
    await look(1);
    t.is(writes.length, 3);
  },
);
