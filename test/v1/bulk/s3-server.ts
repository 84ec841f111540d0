// A server of S3 for tests, which checks signatures, behind a proxy that can break its connections.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';
import type { TestFn } from 'ava';
import type { BucketSettings } from '../../../kernel/settings/bulk-place.ts';
import { startProxy, type Proxy } from '../../services/proxy.ts';

export interface S3Server {
  /** Its bucket, by the way of the proxy. */
  bucket: BucketSettings;
  proxy: Proxy;
}

export async function startS3(test: TestFn): Promise<S3Server> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-s3-'));
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory },
    configureBuckets: [{ name: 'statistics', configs: [] }],
  });
  const { port } = await server.run();
  const proxy = await startProxy(port);
  test.after.always(async () => {
    await proxy.close();
    await server.close();
    rmSync(directory, { recursive: true });
  });
  return {
    proxy,
    bucket: {
      ...{ endpoint: `http://127.0.0.1:${proxy.port}`, region: 'eu-central-1', bucket: 'statistics' },
      // The only key that it knows.
      ...{ prefix: 'almanac/bulk/', isPathStyle: true, accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
  };
}
