// Which bytes of a file a request asks for: the headers Range and If-Range of RFC 9110. Hides that what is malformed, or names several ranges, is
// answered with the whole file.

/** Inclusive; `whole` if the request asks for no range, or for one that may be ignored. */
export type Asked = { from: number; to: number } | 'whole' | 'unsatisfiable';

/** The bytes that a GET asks for. @param size of the file, at least 1. */
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

/** Whether a range may be answered as such: without If-Range, or if it names this very file. */
export function isSameFile(
  ifRange: string | undefined,
  { etag, lastModified }: { etag: string; lastModified: string },
): boolean {
  return ifRange === undefined || ifRange.trim() === etag || ifRange.trim() === lastModified;
}
