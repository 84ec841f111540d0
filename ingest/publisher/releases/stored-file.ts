// Stores a file in the database until it is loaded: as a gzip stream in pieces. A file that is gzip already is stored unchanged. One piece
// is in memory at a time.
import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

const pieceBytes = 1024 * 1024;

/** @param insert stores a piece; positions start at 0. @returns the facts of the file. */
export async function storePieces(
  bytes: AsyncIterable<Buffer>,
  insert: (position: number, piece: Buffer) => Promise<void>,
): Promise<{ fileBytes: number; fileSha256: string }> {
  const hash = createHash('sha256');
  let fileBytes = 0;
  async function* noted(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      hash.update(chunk);
      fileBytes += chunk.length;
      yield chunk;
    }
  }
  let position = 0;
  for await (const piece of inPieces(packed(noted()))) {
    await insert(position, piece);
    position += 1;
  }
  return { fileBytes, fileSha256: hash.digest('hex') };
}

async function* packed(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let start = Buffer.alloc(0);
  while (start.length < 2) {
    const next = await bytes.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  async function* whole(): AsyncGenerator<Buffer> {
    if (start.length > 0) yield start;
    yield* bytes;
  }
  if (start[0] === 0x1f && start[1] === 0x8b) {
    yield* whole();
    return;
  }
  const gzip = createGzip();
  // Errors reach the loop below through gzip, which pipeline destroys with them.
  pipeline(Readable.from(whole()), gzip, () => undefined);
  for await (const piece of gzip as AsyncIterable<Buffer>) yield piece;
}

/** The same bytes in pieces of the stored size; the last may be shorter. */
async function* inPieces(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let rest = chunk;
    while (length + rest.length >= pieceBytes) {
      const cut = pieceBytes - length;
      yield Buffer.concat([...gathered, rest.subarray(0, cut)]);
      [gathered, length, rest] = [[], 0, rest.subarray(cut)];
    }
    if (rest.length > 0) gathered.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(gathered);
}
