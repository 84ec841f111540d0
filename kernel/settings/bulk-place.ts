// The settings of where bulk files are kept. Hides which of those of a bucket belong together, and what follows from its endpoint.
import type { z } from 'zod';
import type { variables } from './variables.ts';

/** A bucket of an S3-compatible store, and who may use it. */
export interface BucketSettings {
  /** Of the store; no slash at the end. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Before the names of all objects; empty, or it ends in a slash. */
  prefix: string;
  /** The bucket is in the path of a URL, not in its host. */
  isPathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
}

/** A folder by its absolute path, or a bucket. */
export type BulkPlace = { directory: string } | BucketSettings;

/** What is wrong with them together. The names of credentials are those of every tool for S3, so they may be set for another one. */
export function bucketFaults(given: Readonly<Record<string, string>>): string[] {
  const isSet = (name: string) => given[name] !== undefined;
  if (!isSet('BULK_S3_BUCKET'))
    return ['BULK_S3_ENDPOINT', 'BULK_S3_PREFIX', 'BULK_S3_PATH_STYLE']
      .filter(isSet)
      .map((name) => `${name} must be given with BULK_S3_BUCKET`);
  return [
    ...(isSet('BULK_DIR') ? ['BULK_DIR and BULK_S3_BUCKET must not both be given'] : []),
    ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
      .filter((name) => !isSet(name))
      .map((name) => `${name} must be given with BULK_S3_BUCKET`),
  ];
}

/** Undefined: there is no bucket. */
export function bucketOf(s: z.output<typeof variables>): BucketSettings | undefined {
  const { BULK_S3_BUCKET: bucket, BULK_S3_ENDPOINT: given, BULK_S3_REGION: region } = s;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = s;
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return {
    endpoint: (given ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ''),
    ...{ region, bucket, accessKeyId, secretAccessKey },
    prefix: s.BULK_S3_PREFIX === undefined ? '' : `${s.BULK_S3_PREFIX.replace(/\/$/, '')}/`,
    // Amazon has buckets in the host; most others take both, and need certificates for all of their names for that.
    isPathStyle: s.BULK_S3_PATH_STYLE === undefined ? given !== undefined : s.BULK_S3_PATH_STYLE === 'true',
  };
}
