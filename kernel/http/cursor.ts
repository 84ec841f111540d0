// Page cursors: opaque text that encodes where the next page begins, and in which version of the data. A cursor is signed together with its query, so
// one that is damaged, or sent with other parameters, is refused.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { fail } from '../errors.ts';

/** The content of a cursor: texts, numbers and nulls chosen by the endpoint. */
export type CursorContent = readonly (string | number | null)[];

export interface Cursors {
  /** @param query the canonical paged request; a cursor opens only with the same one. */
  seal(content: CursorContent, query: string): string;
  /** @throws Failure `invalid_cursor` if the cursor was not made here for this query. */
  open(cursor: string, query: string): CursorContent;
}

const sealBytes = 12;

export function createCursors(secret: string): Cursors {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'almanac page cursors', 32));
  const sealOf = (content: Buffer, query: string): Buffer =>
    createHmac('sha256', key).update(query).update('\0').update(content).digest().subarray(0, sealBytes);
  return {
    seal(content, query) {
      const bytes = Buffer.from(JSON.stringify(content));
      return Buffer.concat([sealOf(bytes, query), bytes]).toString('base64url');
    },
    open(cursor, query) {
      const bytes = Buffer.from(cursor, 'base64url');
      const content = bytes.subarray(sealBytes);
      // base64url decoding ignores unknown characters; accept only the canonical encoding of the bytes.
      const isSealed =
        bytes.length > sealBytes &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, sealBytes), sealOf(content, query));
      if (!isSealed) {
        fail(
          'invalid_cursor',
          'The cursor is malformed, or it belongs to a request with different parameters.',
          {
            param: 'cursor',
          },
        );
      }
      return JSON.parse(content.toString()) as CursorContent;
    },
  };
}
