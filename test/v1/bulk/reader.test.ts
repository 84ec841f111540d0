// A bulk file is read by a Parquet reader over HTTP through the gateway, like DuckDB and others do: HEAD, the footer, then ranges of bytes. However
// many ranges it requests, the key is charged one call.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import test from 'ava';
import { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { writeBulk } from '../../../ingest/bulk/write-bulk.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { until } from '../../run/until.ts';
import { startServices } from '../../services/services.ts';

const place = { directory: mkdtempSync(path.join(tmpdir(), 'almanac-bulk-')) };
const services = await startServices({ bulkPlace: place });
test.after.always(() => services.close());

const rowsAtOnce = 100;
const rows = 40 * rowsAtOnce;
const points = Array.from({ length: rows }, (_, i) => ({
  date: new Date(Date.UTC(2000, 0, 1 + i)).toISOString().slice(0, 10),
  value: (100 + ((i * 7) % 997) / 100).toFixed(2),
}));

interface Asked {
  method: string;
  range: string | null;
  status: number;
}

/** A `fetch` for the reader that records each request. */
function recordingFetch(asked: Asked[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const range = new Headers(init?.headers).get('range');
    asked.push({ method: init?.method ?? 'GET', range, status: response.status });
    return response;
  };
}

test('a Parquet reader gets every value by more than 200 ranges, and they are one call', async (t) => {
  const lines = points.map(({ date, value }) => `DAILY,${date},${value}`);
  await services.ingest(['series_id,date,value', ...lines].join('\n'), { set: { frequency: 'daily' } });
  t.is(
    await writeBulk(
      services.database,
      { place, keepDays: 7, daysMax: 10, seriesTimeZone: 'UTC' },
      systemClock,
    ),
    4,
  );
  const { key } = await services.accountWithKey('pro');
  const { json: list } = await services.call('/v1/bulk?kind=current', {
    key: (await services.accountWithKey('pro')).key,
  });
  const named = (list as { data: { name: string; source: string | null }[] }).data;
  const { name = '' } = named.find(({ source }) => source === null) ?? {};

  const asked: Asked[] = [];
  const file = await asyncBufferFromUrl({
    url: `${services.url}/v1/bulk/${name}`,
    requestInit: { headers: { 'x-api-key': key } },
    fetch: recordingFetch(asked),
  });
  const metadata = await parquetMetadataAsync(file, { initialFetchSize: 4_096 });
  const compressors = { ZSTD: (input: Uint8Array) => zlib.zstdDecompressSync(input) };
  const columns = metadata.schema.slice(1).map((column) => column.name);
  const read: Record<string, unknown>[] = points.map(() => ({}));
  for (let rowStart = 0; rowStart < rows; rowStart += rowsAtOnce)
    await Promise.all(
      columns.map(async (column) => {
        const window = { rowStart, rowEnd: rowStart + rowsAtOnce, columns: [column] };
        const found = await parquetReadObjects({ file, metadata, compressors, ...window });
        for (const [i, row] of found.entries()) Object.assign(read[rowStart + i] ?? {}, row);
      }),
    );

  t.deepEqual(
    read.map((row) => [
      row['series'],
      (row['date'] as Date).toISOString().slice(0, 10),
      row['value'],
      row['value_text'],
    ]),
    points.map(({ date, value }) => ['DAILY', date, Number(value), value]),
  );
  t.is(asked.filter(({ method, status }) => method === 'HEAD' && status === 200).length, 1);
  const ranges = asked.filter(({ status }) => status === 206);
  t.is(ranges.length, asked.length - 1);
  t.true(ranges.length > 200 && new Set(ranges.map(({ range }) => range)).size > columns.length);

  const usage = async () => {
    const { json } = await services.call('/v1/usage', { key });
    return (json as { data: { used: number; by_endpoint: { calls: number }[] } }).data;
  };
  await until('all calls are counted', async () => (await usage()).by_endpoint[0]?.calls === asked.length);
  const { used, by_endpoint } = await usage();
  t.is(used, 1);
  t.like(by_endpoint, [{ endpoint: 'bulk', calls: asked.length, billed: 1 }]);
});
