// Page cursors: opaque text that says where the next page begins and of which version of the data.
// Hides the seal: it covers the query too, so a cursor that is damaged, or sent with other parameters, does not open.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { fail } from '../errors.ts';

/** What a cursor carries: texts, numbers and nulls that the endpoint chooses. */
export type CursorContent = readonly (string | number | null)[];

export interface Cursors {
  /** @param query what the pages are of, in one spelling; a cursor opens only with the same. */
  seal(content: CursorContent, query: string): string;
  /** @throws Failure `invalid_cursor` where the cursor was not sealed here for this query. */
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
      // base64url decoding skips what it does not know: only the one spelling of the bytes is a cursor.
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
