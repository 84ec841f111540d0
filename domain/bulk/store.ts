// The store of the bulk files: a folder, or a bucket of an S3-compatible store. Writers and readers use only this interface.
import type { Readable } from 'node:stream';
import { storedName, type StoredFile, type Manifest } from './manifest.ts';

/** All methods but `place`: @throws BulkStoreFault if the store does not respond, refuses, or has unexpected content. */
export interface BulkStore {
  /** Its location, for messages; without a secret. */
  readonly place: string;
  /** @returns undefined before the first files are written. */
  readManifest(): Promise<Manifest | undefined>;
  /**
   * Replaces the manifest atomically: a reader sees the old one or the new one, also after a power failure, and every file that was stored
   * before exists.
   */
  replaceManifest(manifest: Manifest): Promise<void>;
  /** Prepares a write; only one runs at a time. @returns an absolute, empty folder for the files that are being written. */
  openWorkshop(): Promise<string>;
  /** Moves a file from the workshop into the store. @param name its `storedName`, which no manifest may have. */
  put(name: string, file: string): Promise<void>;
  /** The `storedName` of all files, including those that no manifest has. */
  list(): Promise<string[]>;
  /** Removes a file, if it exists. @param name its `storedName`. */
  remove(name: string): Promise<void>;
  /** Whether the file exists. @throws BulkStoreFault if it is not complete. */
  head(file: Whole): Promise<boolean>;
  /**
   * Some of its bytes, at the reader's pace. A read that has begun continues to the end, even if the file is removed meanwhile, if the
   * store supports that. @param range inclusive. @returns undefined if the file does not exist. The stream fails with a BulkStoreFault.
   */
  read(file: Whole, range: { from: number; to: number }): Promise<Readable | undefined>;
}

/** A file, as the manifest has it. */
export type Whole = Pick<StoredFile, 'name' | 'as_of' | 'bytes'>;

/** The store of the bulk files, or its settings, are at fault. The message has the place and the reason. */
export class BulkStoreFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BulkStoreFault';
  }
}

/** @throws BulkStoreFault if the size of the file differs from the manifest. */
export function requireWhole(place: string, file: Whole, found: number): void {
  const { bytes } = file;
  if (found !== bytes)
    throw new BulkStoreFault(`${storedName(file)} in ${place} has ${found} bytes instead of ${bytes}.`);
}
