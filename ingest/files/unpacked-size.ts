// How large a workbook is once it is unpacked, from what its zip archive states of its parts: whoever reads it makes room for that much first.
// Hides where an archive states it; the reader (@e965/xlsx) reads no part beyond the size that is counted here.

const endSignature = Buffer.from('PK\x05\x06', 'latin1');
const centralLength = 46;
const localLength = 30;
const deflated = 8;
/** Sizes stand behind the part, and in the directory alone. */
const sizesFollow = 8;
/** What nothing is when it is deflated. */
const emptyDeflatedLength = 2;

/** @returns the bytes; 0 if it is no archive; null if its directory is damaged, or a part does not state its size. */
export function unpackedSize(archive: Buffer): number | null {
  if (archive.toString('latin1', 0, 2) !== 'PK') return 0;
  const end = archive.lastIndexOf(endSignature);
  if (end < 0 || end + 20 > archive.length) return null;
  const parts = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  let sum = 0;
  for (let part = 0; part < parts; part++) {
    if (at + centralLength > archive.length) return null;
    const size = sizeOfPart(archive, at);
    if (size === null) return null;
    sum += size;
    const lengths = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset));
    at += centralLength + lengths.reduce((total, length) => total + length, 0);
  }
  return sum;
}

function sizeOfPart(archive: Buffer, central: number): number | null {
  const local = archive.readUInt32LE(central + 42);
  if (local + localLength > archive.length) return null;
  const isBehind = (archive.readUInt16LE(local + 6) & sizesFollow) !== 0;
  const [packed, size] = isBehind
    ? [archive.readUInt32LE(central + 20), archive.readUInt32LE(central + 24)]
    : [archive.readUInt32LE(local + 18), archive.readUInt32LE(local + 22)];
  const isStated = size > 0 || packed <= emptyDeflatedLength || archive.readUInt16LE(local + 8) !== deflated;
  return isStated ? size : null;
}
