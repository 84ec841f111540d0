// The bulk files as they may be served now. Hides the folder in which the publisher keeps them, and that none is served from the moment at which
// data are taken back until the publisher has removed what may have them.
import path from 'node:path';
import { readManifest, type KeptFile, type Manifest } from '../../domain/bulk/manifest.ts';
import { readNewestWithdrawal } from '../../domain/bulk/withdrawals.sql.ts';
import { fail } from '../../kernel/errors.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';

export interface BulkFiles extends Pick<Manifest, 'files' | 'retired'> {
  /** Absolute. */
  directory: string;
}

/**
 * What may be served; no files before the publisher has written the first ones.
 * @throws Failure `plan_required`; `not_found` if this installation has no bulk files; `unavailable` for as long as data are being taken back.
 */
export async function readBulkFiles(
  { bulkDirectory, database }: Pick<Dependencies, 'bulkDirectory' | 'database'>,
  call: ServiceCall,
): Promise<BulkFiles> {
  // Checked here again, without trusting the gateway's check.
  if (!call.identity.features.includes('bulk'))
    fail('plan_required', 'Bulk files require a higher plan. See GET /v1/plans.');
  if (bulkDirectory === undefined) fail('not_found', 'This installation has no bulk files.');
  const manifest = await readManifest(bulkDirectory);
  if (manifest === undefined) return { directory: bulkDirectory, files: [], retired: [] };
  if ((await readNewestWithdrawal(database)) > manifest.load)
    fail(
      'unavailable',
      'Data were taken back, and the bulk files are being written again. Try again in a minute.',
      {
        headers: { 'retry-after': '60' },
      },
    );
  return { directory: bulkDirectory, files: manifest.files, retired: manifest.retired };
}

/** The file of a name, current or replaced, and where it is. @throws Failure `not_found`. */
export function requireFile(
  { directory, files, retired }: BulkFiles,
  name: string,
): { file: KeptFile; path: string } {
  const file = [...files, ...retired].find((each) => each.name === name);
  if (file === undefined)
    return fail('not_found', 'There is no bulk file of this name, or none any longer. See GET /v1/bulk.');
  return { file, path: path.join(directory, file.name) };
}
