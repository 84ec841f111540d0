// Compares ETags, RFC 9110 section 13.1.2.

/** Whether an If-None-Match names the ETag. It compares weakly: a proxy may have marked our strong tag with W/. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
