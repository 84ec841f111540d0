// Opens the store of the bulk files. The S3 client is loaded only if it is used.
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import type { BulkStore } from './store.ts';

/** Connects to nothing yet. */
export async function openBulkStore(place: BulkPlace): Promise<BulkStore> {
  if ('directory' in place) return (await import('./folder.ts')).folderStore(place.directory);
  return (await import('./bucket.ts')).bucketStore(place);
}
