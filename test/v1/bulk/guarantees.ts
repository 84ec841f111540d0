// The bulk files by the API, in any store: they equal the answers of /v1, contain nothing that is not public and nothing that was retracted, and
// ranges are parts of the file.
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import test from 'ava';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import type { BulkFile } from '../../../domain/bulk/manifest.ts';
import { openBulkStore } from '../../../domain/bulk/open-store.ts';
import { createChildRunner } from '../../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../../ingest/publisher/child-process-tasks.ts';
import { writeBulk } from '../../../ingest/bulk/write-bulk.ts';
import { retract } from '../../../ingest/history/retract/retract.ts';
import { deleteSeries } from '../../../ingest/history/series/delete.ts';
import { serviceUrl } from '../../../migrations/roles.ts';
import { startReleasing } from '../../ingest/releasing.ts';
import { loadCsv } from '../../ingest/loading.ts';
import { until } from '../../run/until.ts';
import { silentLog } from '../../services/harness.ts';
import { freeAccount, startDataService } from '../../services/data-service.ts';
import { openPlace } from './place.ts';

const today = '2026-06-15';
export const { place, drafts, server } = await openPlace(test.meta.file);
export const store = await openBulkStore(place);
export const service = await startDataService(`${today}T12:00:00Z`, 'UTC', { bulkPlace: place });
test.after.always(async () => {
  await service.close();
  await server?.close();
});
const releasing = startReleasing(test, service.databaseUrl, `${today}T12:00:00Z`);
const { deps, clock } = releasing;
export const { database } = releasing;

const write = (keepDays = 7) =>
  writeBulk(
    deps.database,
    { place, keepDays, daysMax: 10, seriesTimeZone: 'UTC' },
    { now: () => new Date(`${today}T12:00:00Z`) },
  );

/** Loads points. @returns the number of the load. */
async function loaded(
  csv: readonly string[],
  vintage: string,
  source: string,
  full = false,
): Promise<number> {
  await loadCsv(database, csv, {
    ...{ create: true, set: { frequency: 'daily', unit: 'Index', source }, vintage, full },
    clock: { now: () => new Date(`${today}T12:00:00Z`) },
  });
  const [row] = await database.query<{ load: number }>('select max(load_no) as load from data.loads');
  return row?.load ?? 0;
}

async function listed(query = ''): Promise<(BulkFile & { url: string })[]> {
  const { status, json } = await service.call(`/v1/bulk${query}`);
  if (status !== 200) throw new Error(`The list was answered with ${status}.`);
  return (json as { data: (BulkFile & { url: string })[] }).data;
}

export async function got(name: string, headers: Record<string, string> = {}, method = 'GET') {
  const target = `/v1/bulk/${name}`;
  const response = await fetch(service.url + target, {
    method,
    headers: { ...service.headers(target, undefined, method), ...headers },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

type Row = Record<string, unknown> & { series: string; value_text: string | null };

async function rowsOf(bytes: Buffer): Promise<Row[]> {
  const file = new Uint8Array(bytes).buffer;
  const compressors = { ZSTD: (input: Uint8Array) => zlib.zstdDecompressSync(input) };
  return (await parquetReadObjects({ file, compressors })) as Row[];
}

const dayOf = (value: unknown) => (value as Date | null)?.toISOString().slice(0, 10) ?? null;

/** The rows of a series as the lines of its CSV. */
function linesOf(rows: readonly Row[], series: string, dimensions: readonly string[]): string[] {
  return rows
    .filter((row) => row.series === series)
    .map((row) => [dayOf(row['date']), row.value_text ?? '', ...dimensions.map((name) => row[name])].join())
    .sort();
}

/** The lines of a series by /v1, without the header. */
async function linesBy(series: string, query = ''): Promise<string[]> {
  const { text } = await service.call(`/v1/series/${series}?format=csv&include_missing=true${query}`);
  return text.trim().split('\r\n').slice(1).sort();
}

const rates = ['series_id,date,value,status,side,Date_2,LOAD,constructor'];
const first = [
  ...rates,
  'RATES,2026-01-01,1.10,P,buy,x,"a,b",k',
  'RATES,2026-01-01,1.20,,sell,x,c,k',
  'RATES,2026-01-02,0.30,,buy,x,c,k',
];
const revised = [
  ...rates,
  'RATES,2026-01-01,1.1,,buy,x,"a,b",k',
  'RATES,2026-01-01,,,sell,x,c,k',
  'RATES,2026-01-03,12345678901234567890.5,,buy,x,c,k',
];

test.serial('every value of the files equals that of /v1, newest and as of each vintage', async (t) => {
  await loaded(first, '2026-02-01', 'Bank');
  await loaded(revised, '2026-02-02', 'Bank', true);
  await loaded(
    ['series_id,date,value', 'CPI,2026-01-01,5', 'CPI,2026-01-02,-0.0'],
    '2026-02-02',
    'Büro für Zahlen',
  );
  t.deepEqual(await listed(), []);
  t.is(await write(), 6);
  t.is(await write(), 0);
  const files = await listed();
  t.deepEqual(
    files.map(({ source, kind, rows }) => [source, kind, rows]),
    [
      ['Bank', 'current', 3],
      ['Bank', 'vintages', 6],
      ['Büro für Zahlen', 'current', 2],
      ['Büro für Zahlen', 'vintages', 2],
      [null, 'current', 5],
      [null, 'vintages', 8],
    ],
  );
  for (const file of files) {
    const { status, headers, bytes } = await got(file.name);
    t.is(status, 200);
    t.is(createHash('sha256').update(bytes).digest('hex'), file.sha256);
    t.is(bytes.length, file.bytes);
    t.is(headers.get('etag'), `"${file.sha256}"`);
    const rows = await rowsOf(bytes);
    t.is(rows.length, file.rows);
    for (const row of rows) t.is(row['value'], row.value_text === null ? null : Number(row.value_text));
    for (const series of ['RATES', 'CPI']) {
      if (!rows.some((row) => row.series === series)) continue;
      const dimensions = series === 'CPI' ? [] : ['side', 'Date_2', 'dim_LOAD', 'constructor'];
      if (file.kind === 'current') {
        t.deepEqual(linesOf(rows, series, dimensions).map(quoted), await linesBy(series), file.name);
        continue;
      }
      for (const day of ['2026-01-31', '2026-02-01', '2026-02-02', today]) {
        const known = rows.filter(
          (row) =>
            String(dayOf(row['published_on'])) <= day &&
            (row['superseded_on'] === null || String(dayOf(row['superseded_on'])) > day),
        );
        const lines = linesOf(known, series, dimensions).map(quoted);
        t.deepEqual(lines, await linesBy(series, `&vintage=${day}`), `${file.name} ${day}`);
      }
    }
  }
  const vintages = await rowsOf((await got(files[1]?.name ?? '')).bytes);
  t.deepEqual(vintages.map((row) => [row['status'], row['load'], row['superseded_load']]).slice(0, 2), [
    ['P', 1n, 2n],
    [null, 2n, null],
  ]);
});

/** A cell with a comma, as in CSV. */
const quoted = (line: string) => line.replace('a,b', '"a,b"');

test.serial('a file names its load, and has row groups with their bounds', async (t) => {
  const [file] = await listed('?kind=current&source=Bank');
  const { bytes } = await got(file?.name ?? '');
  const metadata = parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  t.deepEqual(
    metadata.key_value_metadata?.map(({ key, value }) => [key, value]),
    [
      ['almanac.load', '3'],
      ['almanac.licence', ''],
      ['almanac.source', 'Bank'],
    ],
  );
  const dates = metadata.row_groups[0]?.columns.find(({ meta_data: m }) => m?.path_in_schema[0] === 'date');
  t.is(dayOf(dates?.meta_data?.statistics?.max_value), '2026-01-03');
  t.deepEqual([file?.first_date, file?.last_date], ['2026-01-01', '2026-01-03']);
});

test.serial('ranges are those of the file', async (t) => {
  const [file] = await listed('?kind=vintages&source=Bank');
  const name = file?.name ?? '';
  const whole = (await got(name)).bytes;
  const size = whole.length;
  const etag = `"${file?.sha256}"`;
  const part = (from: number, to: number) => [
    206,
    `bytes ${from}-${to}/${size}`,
    whole.subarray(from, to + 1),
  ];
  const all = [200, null, whole];
  const date = (await got(name)).headers.get('last-modified') ?? '';
  const cases: [Record<string, string>, unknown[]][] = [
    [{ range: 'bytes=0-3' }, part(0, 3)],
    [{ range: 'bytes=5-5' }, part(5, 5)],
    [{ range: 'bytes=4-' }, part(4, size - 1)],
    [{ range: 'bytes=-8' }, part(size - 8, size - 1)],
    [{ range: `bytes=-${size + 9}` }, part(0, size - 1)],
    [{ range: `bytes=${size - 1}-${size + 99}` }, part(size - 1, size - 1)],
    [{ range: 'bytes=0-3', 'if-range': etag }, part(0, 3)],
    [{ range: 'bytes=0-3', 'if-range': date }, part(0, 3)],
    [{ range: 'bytes=0-3', 'if-range': '"other"' }, all],
    [{ range: 'bytes=0-3', 'if-range': `W/${etag}` }, all],
    [{ range: 'bytes=0-3,5-6' }, all],
    [{ range: 'bytes=9-3' }, all],
    [{ range: 'bytes=-' }, all],
    [{ range: 'lines=1-2' }, all],
    [{}, all],
  ];
  for (const [headers, expected] of cases) {
    const answer = await got(name, headers);
    const what = JSON.stringify(headers);
    t.deepEqual([answer.status, answer.headers.get('content-range'), answer.bytes], expected, what);
    t.is(answer.headers.get('content-length'), String(answer.bytes.length), what);
    t.is(answer.headers.get('accept-ranges'), 'bytes', what);
  }
  for (const range of [`bytes=${size}-`, `bytes=${size}-${size + 1}`, 'bytes=-0']) {
    const answer = await got(name, { range });
    t.deepEqual([answer.status, answer.headers.get('content-range')], [416, `bytes */${size}`], range);
  }
  const head = await got(name, { range: 'bytes=0-3' }, 'HEAD');
  t.deepEqual([head.status, head.headers.get('content-length'), head.bytes.length], [200, String(size), 0]);
  t.is((await got(name, { 'if-none-match': etag, range: 'bytes=0-3' })).status, 304);
});

test.serial('the files need the feature of the plan, and names are those of the list', async (t) => {
  const [file] = await listed();
  for (const path of ['/v1/bulk', `/v1/bulk/${file?.name}`])
    t.is((await service.call(path, { identity: freeAccount })).status, 403, path);
  for (const name of ['manifest.json', 'x.current.1.parquet', '..%2Fmanifest.json'])
    t.is((await service.call(`/v1/bulk/${name}`)).status, 404, name);
});

test.serial(
  'a file contains nothing under embargo before its instant, and contains it after the next write',
  async (t) => {
    const release = ['series_id,date,value', 'CPI,2026-01-03,777'];
    await releasing.accept(release, `${today}T13:00:00Z`);
    clock.set(`${today}T12:59:59Z`);
    const { made } = await releasing.prepared();
    t.is(await write(), 0);
    clock.set(`${today}T13:00:00Z`);
    await made;
    t.is(await write(), 4);
    for (const file of await listed()) {
      const rows = await rowsOf((await got(file.name)).bytes);
      t.is(
        rows.some(({ value_text: text }) => text === '777'),
        file.source !== 'Bank',
        file.name,
      );
    }
  },
);

test.serial('a replaced file is served until its time is over', async (t) => {
  const [before] = await listed('?kind=current&source=Bank');
  await loaded([...rates, 'RATES,2026-01-04,9,,buy,x,c,k'], '2026-02-03', 'Bank');
  t.is(await write(), 4);
  const [after] = await listed('?kind=current&source=Bank');
  t.not(after?.name, before?.name);
  t.is((await got(before?.name ?? '')).status, 200);
  t.is(await write(0), 0);
  t.is((await got(before?.name ?? '')).status, 404);
  t.is((await got(after?.name ?? '')).status, 200);
});

test.serial(
  'a write that is killed leaves the files of before, and nothing of its own after the next one',
  async (t) => {
    const before = await listed();
    await loaded([...rates, 'RATES,2026-01-05,10,,buy,x,c,k'], '2026-02-04', 'Bank');
    const children = createChildRunner<Tasks>({
      databaseUrl: serviceUrl(service.databaseUrl, 'almanac_publisher'),
      ...{ applicationName: 'test', log: silentLog },
    });
    const killing = new AbortController();
    await database.transaction(async (on) => {
      await on.query('lock table data.observations in access exclusive mode'); // the write begins its files and then waits
      const writing = children.run(
        'write-bulk',
        { place, keepDays: 7, daysMax: 10, seriesTimeZone: 'UTC' },
        { signal: killing.signal },
      );
      await until('the files are begun', () => drafts().length > 0);
      killing.abort(new Error('killed'));
      await t.throwsAsync(writing, { message: 'killed' });
    });
    await children.close();
    t.deepEqual(await listed(), before);
    for (const { name } of before) t.is((await got(name)).status, 200);
    const orphan = 'orphan.current.9.parquet';
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), orphan);
    writeFileSync(file, 'of a write that was killed before its manifest');
    await store.put(orphan, file);
    t.is((await got(orphan)).status, 404);
    t.is(await write(), 4);
    t.deepEqual(drafts(), []);
    t.false((await store.list()).includes(orphan));
  },
);

test.serial(
  'retracted data is no longer served from that moment on, and is deleted with its old files',
  async (t) => {
    const load = await loaded(
      ['series_id,date,value', 'CPI,2026-01-04,666'],
      '2026-02-05',
      'Büro für Zahlen',
    );
    await write();
    const before = await listed();
    await retract(database, {
      ...{ loadNo: load, erase: true, seriesTimeZone: 'UTC', noGateway: true },
      clock: { now: () => new Date(`${today}T12:00:00Z`) },
    });
    const withdrawn = before.filter(({ source }) => source !== 'Bank');
    for (const { name } of before) t.is((await got(name)).status, 503);
    const { status, headers } = await service.call('/v1/bulk');
    t.deepEqual(
      [status, headers.get('retry-after')],
      [503, '5'],
      'the publisher removes them within seconds',
    );
    t.is(await write(), 4);
    for (const { name } of withdrawn) {
      t.is((await got(name)).status, 404);
      t.false((await store.list()).includes(name));
    }
    for (const file of await listed())
      t.false(
        (await rowsOf((await got(file.name)).bytes)).some(({ value_text: text }) => text === '666'),
        file.name,
      );
  },
);

test.serial('a series that is deleted is in no file, nor is a source without series', async (t) => {
  await deleteSeries(database, {
    ...{ id: 'CPI', seriesTimeZone: 'UTC', clock: { now: () => new Date(`${today}T12:00:00Z`) } },
  });
  t.is((await service.call('/v1/bulk')).status, 503);
  t.is(await write(), 2);
  const files = await listed();
  t.deepEqual(
    files.map(({ source }) => source),
    ['Bank', 'Bank', null, null],
  );
  for (const file of files)
    t.false((await rowsOf((await got(file.name)).bytes)).some(({ series }) => series === 'CPI'));
});
