// Parses the URL once, for matching, logging and forwarding, and refuses a URL that two servers could read differently. Removes every `api_key`
// parameter before the URL is logged or forwarded.
import type { IncomingMessage } from 'node:http';
import { fail } from '../../kernel/errors.ts';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';

/** Most paths are plainly normal: letters, digits and -._~, with no segment empty or beginning with a dot. */
export const plainPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;
// The only path with an encoded slash: codes of debt securities contain slashes.
const securityCode = /^(\/v1\/securities\/)([^/]+)(\/prices)$/;

export function pathCheck(): Policy {
  return (request, _response, next) => {
    const target = request.url ?? '';
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    if (!isNormalPath(path)) {
      fail(
        'invalid_request',
        'The URL path must be in normal form: UTF-8, without control characters, empty or dot segments, and encoded dots or slashes.',
      );
    }
    const call = callOf(request);
    const { query, keys, misspelled } = extractKeys(mark < 0 ? '' : target.slice(mark + 1));
    call.path = path;
    call.query = query;
    call.presented.keyParameters = keys;
    setUrl(request, query === '' ? path : `${path}?${query}`);
    if (misspelled !== undefined) {
      fail(
        'invalid_parameter',
        `There is no parameter "${misspelled}"; parameter names are case-sensitive. Did you mean "api_key"?`,
        { param: misspelled },
      );
    }
    next();
  };
}

/** Whether all servers parse the path alike: no dot segments, empty segments or alternative separators, and valid escapes. */
export function isNormalPath(path: string): boolean {
  if (plainPath.test(path)) return true;
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#]/.test(path)) return false;
  // Check the path with decoded slashes: a server that decodes `%2F` must not resolve it to another path.
  const read = path.replace(
    securityCode,
    (_whole, before: string, code: string, after: string) => before + code.replace(/%2f/gi, '/') + after,
  );
  if (read.includes('//') || /%(?:2e|2f|5c)/i.test(read)) return false;
  if (new URL(read, 'http://gateway').pathname !== read) return false;
  try {
    // oxlint-disable-next-line no-control-regex
    return !/[\u0000-\u001f\u007f]/.test(decodeURIComponent(path));
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/**
 * Removes the keys from the query. Names are compared decoded and case-insensitively, so that no spelling of a key is logged. Only `api_key` is
 * accepted as a key; another case is `misspelled`.
 */
export function extractKeys(rawQuery: string): {
  query: string;
  keys: string[];
  misspelled: string | undefined;
} {
  const keys: string[] = [];
  let misspelled: string | undefined;
  if (rawQuery === '') return { query: '', keys, misspelled };
  const remaining = rawQuery.split('&').filter((pair) => {
    if (!/[a%?+]/i.test(pair[0] ?? '')) return true; // query parsers ignore a `?` at the beginning
    const [[name = '', value = ''] = []] = new URLSearchParams(pair);
    if (trimmed(name).toLowerCase() !== 'api_key') return true;
    if (name === 'api_key') keys.push(trimmed(value));
    else misspelled ??= name;
    return false;
  });
  return { query: remaining.join('&'), keys, misspelled };
}

/** Trims like an HTTP header: a key copied from a file or a cell may have blanks and line ends around it. */
const trimmed = (key: string) => key.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');

/** Express stores a second copy of the URL for error pages and loggers; it must not contain the key either. */
function setUrl(request: IncomingMessage & { originalUrl?: string }, url: string): void {
  request.url = url;
  if (request.originalUrl !== undefined) request.originalUrl = url;
}
