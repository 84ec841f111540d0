// Lets pages of any origin read the data and public endpoints, without credentials of the browser; answers preflights.
import type { Policy } from '../policy.ts';

const exposed = [
  'ETag',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
  'X-Request-Id',
].join(', ');
const preflight = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'X-API-Key, If-None-Match, If-Modified-Since, Traceparent, Tracestate',
  'access-control-max-age': '86400',
};

export function cors(): Policy {
  return (request, response, next) => {
    response.setHeader('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { ...preflight, allow: 'GET, HEAD, OPTIONS' }).end();
      return;
    }
    response.setHeader('access-control-expose-headers', exposed);
    next();
  };
}
