// Checks the archive of a workbook: only sound ones are passed to the library that reads them.
import { isAsStated, partsOf, unpackedSize } from './zip-parts.ts';

/** A workbook is a zip archive: unpacked it may be a thousand times as large. */
const unpackedBytesMax = 512 * 1024 * 1024;

/** Why the content cannot be read as a workbook and what to do, as the end of a sentence; null if it can, or is not an archive. */
export function archiveFault(content: Buffer): string | null {
  if (!content.subarray(0, 2).equals(Buffer.from('PK'))) return null;
  const parts = partsOf(content);
  if (parts === null) return 'its archive is damaged.';
  const names = new Set(parts.map(({ name }) => name.toLowerCase().replaceAll('\\', '/').replace(/^\//, '')));
  if (names.has('index/document.iwa') || names.has('index.zip'))
    return 'it is a Numbers file. Save it as .xlsx or as CSV.';
  if (!names.has('[content_types].xml') && !names.has('content.xml'))
    return 'it is an archive without a workbook. Save it as .xlsx or as CSV.';
  const unpacked = unpackedSize(parts);
  if (unpacked > unpackedBytesMax)
    return `it has ${Math.ceil(unpacked / 1024 / 1024)} MB unpacked; a workbook may have ${unpackedBytesMax / 1024 / 1024}. Save its sheets as CSV.`;
  return isAsStated(parts) ? null : 'its archive is damaged: a part is not as large as it states.';
}
