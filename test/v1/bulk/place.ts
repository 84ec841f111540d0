// The store of a test's bulk files: a folder or a bucket. Both have the same guarantees.
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BulkPlace } from '../../../kernel/settings/bulk-place.ts';
import { startS3, type S3Server } from './s3-server.ts';

export interface TestPlace {
  place: BulkPlace;
  /** The names of unfinished files, including those left by a killed write. */
  drafts: () => string[];
  /** Undefined: the store is a folder. */
  server: S3Server | undefined;
}

/** @param file the test file: that of the bucket, or another one. */
export async function openPlace(file: string): Promise<TestPlace> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-bulk-'));
  const drafts = () =>
    existsSync(directory)
      ? readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
          .filter((entry) => entry.isFile() && entry.parentPath !== directory)
          .map(({ name }) => name)
      : [];
  if (!file.endsWith('bucket.test.ts')) return { place: { directory }, drafts, server: undefined };
  const server = await startS3();
  // Of this process and its child processes: files are created there before they are sent.
  process.env['TMPDIR'] = directory;
  return { place: server.bucket, drafts, server };
}
