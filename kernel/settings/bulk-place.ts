// The settings of the storage for bulk files: which bucket settings belong together, and what follows from the endpoint.
import type { z } from 'zod';
import type { variables } from './variables.ts';

/** A bucket of an S3-compatible store, with its credentials. */
export interface BucketSettings {
  /** The store's URL, without a final slash. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Prefixes the names of all objects; empty, or ends in a slash. */
  prefix: string;
  /** Whether the bucket is in the path of a URL instead of its host. */
  isPathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
}

/** A folder by its absolute path, or a bucket. */
export type BulkPlace = { directory: string } | BucketSettings;

/** Faults in the combination of settings. The names of the credentials are those of all S3 tools, so they may be set for another tool. */
export function bucketFaults(given: Readonly<Record<string, string>>): string[] {
  const isSet = (name: string) => given[name] !== undefined;
  if (!isSet('BULK_S3_BUCKET'))
    return ['BULK_S3_ENDPOINT', 'BULK_S3_PREFIX', 'BULK_S3_PATH_STYLE']
      .filter(isSet)
      .map((name) => `${name} must be set together with BULK_S3_BUCKET`);
  return [
    ...(isSet('BULK_DIR') ? ['BULK_DIR and BULK_S3_BUCKET must not both be set'] : []),
    ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
      .filter((name) => !isSet(name))
      .map((name) => `${name} must be set together with BULK_S3_BUCKET`),
  ];
}

/** Undefined without a bucket. */
export function bucketOf(s: z.output<typeof variables>): BucketSettings | undefined {
  const { BULK_S3_BUCKET: bucket, BULK_S3_ENDPOINT: given, BULK_S3_REGION: region } = s;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = s;
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return {
    endpoint: (given ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ''),
    ...{ region, bucket, accessKeyId, secretAccessKey },
    prefix: s.BULK_S3_PREFIX === undefined ? '' : `${s.BULK_S3_PREFIX.replace(/\/$/, '')}/`,
    // Amazon has buckets in the host. Most other stores support both, but need certificates for all host names.
    isPathStyle: s.BULK_S3_PATH_STYLE === undefined ? given !== undefined : s.BULK_S3_PATH_STYLE === 'true',
  };
}
