// The parts of a zip archive, such as a workbook: their names, their stated unpacked sizes, and whether those are true. Libraries allocate
// the stated size before they unpack.
import { inflateRawSync } from 'node:zlib';

const endSignature = Buffer.from('PK\x05\x06', 'latin1');
const centralLength = 46;
const localLength = 30;
const [stored, deflated] = [0, 8];
/** The sizes are after the part and in the directory, not before the part. */
const sizesFollow = 8;
/** Of an empty part. */
const emptyDeflatedLength = 2;

export interface Part {
  name: string;
  /** Unpacked, as the archive states. */
  size: number;
  method: number;
  packed: Buffer;
}

/** @returns an empty list if the content is not an archive; null if its directory is damaged, or a part does not state its size. */
export function partsOf(archive: Buffer): Part[] | null {
  if (archive.toString('latin1', 0, 2) !== 'PK') return [];
  const end = archive.lastIndexOf(endSignature);
  if (end < 0 || end + 20 > archive.length) return null;
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  const parts: Part[] = [];
  for (let number = 0; number < count; number++) {
    if (at + centralLength > archive.length) return null;
    const part = partAt(archive, at);
    if (part === null) return null;
    parts.push(part);
    const lengths = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset));
    at += centralLength + lengths.reduce((total, length) => total + length, 0);
  }
  return parts;
}

export const unpackedSize = (parts: readonly Part[]): number =>
  parts.reduce((sum, { size }) => sum + size, 0);

/** Whether each part has at most its stated size unpacked. Stops unpacking a larger one there. */
export function isAsStated(parts: readonly Part[]): boolean {
  return parts.every(({ method, packed, size }) => {
    if (method === stored) return packed.length <= size;
    if (method !== deflated) return false;
    if (packed.length <= emptyDeflatedLength) return true;
    try {
      inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
      return true;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ERR_BUFFER_TOO_LARGE' || code.startsWith('Z_')) return false;
      throw error;
    }
  });
}

function partAt(archive: Buffer, central: number): Part | null {
  const local = archive.readUInt32LE(central + 42);
  if (local + localLength > archive.length) return null;
  const isBehind = (archive.readUInt16LE(local + 6) & sizesFollow) !== 0;
  const [packedLength, size] = isBehind
    ? [archive.readUInt32LE(central + 20), archive.readUInt32LE(central + 24)]
    : [archive.readUInt32LE(local + 18), archive.readUInt32LE(local + 22)];
  const method = archive.readUInt16LE(local + 8);
  const isStated = size > 0 || packedLength <= emptyDeflatedLength || method !== deflated;
  if (!isStated) return null;
  const nameEnd = local + localLength + archive.readUInt16LE(local + 26);
  const start = nameEnd + archive.readUInt16LE(local + 28);
  return {
    name: archive.toString('latin1', local + localLength, nameEnd),
    ...{ size, method },
    packed: archive.subarray(start, start + packedLength),
  };
}
