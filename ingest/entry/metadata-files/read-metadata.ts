// Reads a file of metadata beside the data. It comes from outside, so its size is limited.
import { readFileSync, statSync } from 'node:fs';
import { IngestFailure } from '../../failure.ts';

/** Metadata of thousands of columns have some hundred kilobytes. */
const bytesMax = 4_000_000;

/** @throws IngestFailure if the file is too large, or cannot be read. */
export function metadataText(file: string): string {
  try {
    if (statSync(file).size > bytesMax) fault(file, `it is larger than ${bytesMax / 1_000_000} MB`);
    return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof IngestFailure) throw error;
    return fault(file, 'the file cannot be read', error);
  }
}

/** @throws IngestFailure if the file is not JSON. */
export function metadataJson(file: string): unknown {
  const text = metadataText(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    return fault(file, `it is not valid JSON (${error instanceof Error ? error.message : ''})`, error);
  }
}

/** @throws IngestFailure that names the file and a remedy. */
export function fault(file: string, reason: string, cause?: unknown): never {
  throw new IngestFailure(
    'invalid_file',
    `The metadata beside the data cannot be used: ${file}: ${reason}. Correct the file, or take it out of the folder.`,
    { cause },
  );
}
