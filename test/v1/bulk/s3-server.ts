// An S3 server for tests that checks signatures.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';
import type { BucketSettings } from '../../../kernel/settings/bulk-place.ts';

export interface S3Server {
  port: number;
  bucket: BucketSettings;
  close(): Promise<void>;
}

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-s3-'));
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory },
    configureBuckets: [{ name: 'statistics', configs: [] }],
  });
  // For the signature of a list it expects the path without its slash, unlike S3, which uses the path as sent. It also serves unsigned requests.
  server.middleware.unshift(async (context, next) => {
    if (context.path === '/statistics/') delete context.headers['authorization'];
    await next();
  });
  const { port } = await server.run();
  return {
    port,
    async close() {
      await server.close();
      rmSync(directory, { recursive: true });
    },
    bucket: {
      ...{ endpoint: `http://127.0.0.1:${port}`, region: 'eu-central-1', bucket: 'statistics' },
      // Its only key.
      ...{ prefix: 'almanac/bulk/', isPathStyle: true, accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
  };
}
