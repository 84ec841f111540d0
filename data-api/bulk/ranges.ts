// Decides which bytes of a file a request gets, by the headers Range and If-Range of RFC 9110. A malformed header, or one with several
// ranges, gets the whole file.

/** Inclusive; `whole` if the request has no range, or one that may be ignored. */
export type Asked = { from: number; to: number } | 'whole' | 'unsatisfiable';

/** The bytes that a GET requests. @param size of the file, at least 1. */
export function askedRange(range: string | undefined, size: number): Asked {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range ?? '') ?? [];
  if (first === '') {
    if (last === '') return 'whole';
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size - 1 };
  }
  const from = Number(first);
  const to = last === '' ? size - 1 : Number(last);
  if (to < from) return last === '' ? 'unsatisfiable' : 'whole';
  return from >= size ? 'unsatisfiable' : { from, to: Math.min(to, size - 1) };
}

/** Whether a range may be answered with 206: without If-Range, or if it matches this file. */
export function isSameFile(
  ifRange: string | undefined,
  { etag, lastModified }: { etag: string; lastModified: string },
): boolean {
  return ifRange === undefined || ifRange.trim() === etag || ifRange.trim() === lastModified;
}
