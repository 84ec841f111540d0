// The example call of an endpoint in the reference, with curl.
import type { Operation } from './openapi-document.ts';

/** A call that works once the key is set. @param id for the first parameter of the path, where the page was reached from a result of the search. */
export function curlOf(
  { method, path, credentials, parameters, body }: Operation,
  id: string | undefined,
): string {
  let isFirst = true;
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole) => {
    const given = isFirst && id !== undefined ? encodeURIComponent(id) : whole;
    isFirst = false;
    return given;
  });
  const required = parameters
    .filter((each) => each.place === 'query' && each.isRequired)
    .map(({ name }) => `${name}=…`)
    .join('&');
  const credential = credentials.includes('ApiKey')
    ? ['-H "X-API-Key: $ALMANAC_KEY"']
    : credentials.includes('Session')
      ? ['-H "X-Session-Token: $ALMANAC_SESSION"']
      : [];
  const fields = body
    .filter(({ depth, isRequired }) => depth === 0 && isRequired)
    .map(({ name }) => `"${name}": "…"`);
  const sent =
    body.length === 0 ? [] : ['-H "Content-Type: application/json"', `-d '{${fields.join(', ')}}'`];
  const words = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...credential,
    ...sent,
    `"${location.origin}${filled}${required === '' ? '' : `?${required}`}"`,
  ];
  return `curl ${words.join(' \\\n  ')}`;
}
