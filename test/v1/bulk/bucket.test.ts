// The guarantees of bulk files in a bucket, and the possible faults of an S3 store.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { Manifest } from '../../../domain/bulk/manifest.ts';
import { writeBulk } from '../../../ingest/bulk/write-bulk.ts';
import type { BucketSettings } from '../../../kernel/settings/bulk-place.ts';
import { within } from '../../run/until.ts';
import { startDataService } from '../../services/data-service.ts';
import { startProxy } from '../../services/proxy.ts';
import { database, got, place, store } from './guarantees.ts';

const bucket = place as BucketSettings;
const clock = { now: () => new Date('2026-06-15T12:00:00Z') };
// In two parts.
const large = randomBytes(20 * 1024 * 1024);
const name = 'observations.current.999.parquet';

/** Replaces the manifest by one of the large file. */
async function putLarge(): Promise<void> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  writeFileSync(file, large);
  await store.put(name, file);
  const manifest: Manifest = {
    ...{ load: 999, created_at: '2026-06-15T12:00:00Z', days_max: 0, retired: [] },
    files: [
      {
        ...{ name, dataset: 'observations', source: null, kind: 'current', load: 999, rows: 1, state: 's' },
        ...{ created_at: '2026-06-15T12:00:00Z', bytes: large.length, columns: [], licences: [] },
        ...{
          as_of: null,
          first_date: null,
          last_date: null,
          sha256: createHash('sha256').update(large).digest('hex'),
        },
      },
    ],
  };
  await store.replaceManifest(manifest);
}

test.serial('a wrong key, secret or bucket is a clear error of the write, without the secret', async (t) => {
  const cases: [Partial<BucketSettings>, RegExp][] = [
    [
      { secretAccessKey: 'hunter2' },
      /bucket statistics of http.* SignatureDoesNotMatch.*AWS_SECRET_ACCESS_KEY/,
    ],
    [{ accessKeyId: 'nobody', secretAccessKey: 'hunter2' }, /InvalidAccessKeyId.*AWS_ACCESS_KEY_ID/],
    [{ bucket: 'elsewhere' }, /NoSuchBucket.*BULK_S3_BUCKET/],
    [{ endpoint: 'http://127.0.0.1:9' }, /http:\/\/127\.0\.0\.1:9 does not answer: /],
  ];
  for (const [wrong, message] of cases) {
    const writing = writeBulk(
      database,
      { place: { ...bucket, ...wrong }, keepDays: 7, daysMax: 10, seriesTimeZone: 'UTC' },
      clock,
    );
    const error = await t.throwsAsync(writing, { name: 'BulkStoreFault', message });
    t.false(error?.message.includes('hunter2'));
  }
});

test.serial('a file of several parts arrives whole, and in ranges', async (t) => {
  await putLarge();
  const whole = await got(name);
  t.is(whole.status, 200);
  t.true(whole.bytes.equals(large));
  const range = await got(name, { range: 'bytes=16777210-16777225' });
  t.is(range.status, 206);
  t.true(range.bytes.equals(large.subarray(16_777_210, 16_777_226)));
});

test.serial('a file that does not match its manifest is 503, and a missing one is 404', async (t) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);
  writeFileSync(file, large.subarray(1));
  await store.put(name, file);
  for (const headers of [{}, { range: 'bytes=0-3' }] as Record<string, string>[])
    for (const method of ['GET', 'HEAD']) t.is((await got(name, headers, method)).status, 503, method);
  await store.remove(name);
  for (const method of ['GET', 'HEAD']) t.is((await got(name, {}, method)).status, 404, method);
  await putLarge();
  t.is((await got(name, {}, 'HEAD')).status, 200);
});

test.serial(
  'a store that becomes unavailable cuts the answer in flight and is 503 until it is back; the next answer is complete',
  async (t) => {
    const proxy = await startProxy(Number(new URL(bucket.endpoint).port));
    t.teardown(() => proxy.close());
    const proxied = { ...bucket, endpoint: `http://127.0.0.1:${proxy.port}` };
    const reader = await startDataService('2026-06-15T12:00:00Z', 'UTC', { bulkPlace: proxied });
    t.teardown(() => reader.close());
    const target = `/v1/bulk/${name}`;
    const ask = () => fetch(reader.url + target, { headers: reader.headers(target) });
    const response = await ask();
    t.is(response.status, 200);
    const reading = (async () => {
      let bytes = 0;
      for await (const chunk of response.body ?? []) {
        bytes += (chunk as Uint8Array).length;
        proxy.cut();
      }
      return bytes;
    })();
    await t.throwsAsync(within('the answer ends', reading));
    for (const path of [target, '/v1/bulk']) {
      const { status, headers, text } = await reader.call(path);
      t.is(status, 503, path);
      t.is(headers.get('retry-after'), '5');
      t.false(text.includes(bucket.bucket), 'clients do not see where the files are');
    }
    proxy.restore();
    t.is((await (await ask()).bytes()).length, large.length);
  },
);
