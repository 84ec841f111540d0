// The format of an error, by the request's URL: the envelope, or FRED's format for FRED clients, which parse their errors.
import { toEnvelope, type Failure } from '../errors.ts';
import { xmlAttributes, xmlHead } from './xml.ts';

export interface ErrorAnswer {
  type: string;
  body: string;
}

/** Whether FRED clients call the path. */
export const isFredPath = (path: string): boolean =>
  path.startsWith('/fred/') || path.startsWith('/graph/') || path === '/fred' || path === '/graph';

/**
 * The body of a failure and its media type.
 * @param target the request's path and query. @param publicUrl of the gateway, whose pages explain the codes.
 */
export function errorAnswer(
  target: string,
  failure: Failure,
  { publicUrl, requestId }: { publicUrl: string; requestId?: string | undefined },
): ErrorAnswer {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const json = 'application/json; charset=utf-8';
  if (!isFredPath(path))
    return { type: json, body: JSON.stringify(toEnvelope(failure, publicUrl, requestId)) };
  const { status, message } = failure;
  const wanted = new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)).get('file_type');
  if (wanted === 'json' || path.startsWith('/fred/v2/'))
    return { type: json, body: JSON.stringify({ error_code: status, error_message: message }) };
  return {
    type: 'text/xml; charset=utf-8',
    body: `${xmlHead}<error${xmlAttributes({ code: status, message })}/>\n`,
  };
}
