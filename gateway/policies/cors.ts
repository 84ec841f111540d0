// CORS: pages of any origin may call the data and public endpoints; pages of the dashboard's origins may also call the account and sign-in endpoints.
// Browser credentials are never allowed. Answers preflights.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';

export interface CorsOptions {
  /** Such as `https://dashboard.example`; the gateway's own pages need no permission. */
  dashboardOrigins: readonly string[];
  /** The methods of a path. */
  methodsAt: (path: string) => readonly string[];
}

/** The headers that a page may read, besides those that a browser always exposes. */
const exposed = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Location',
  'Content-Range',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'X-As-Of',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
  'X-Request-Id',
].join(', ');
const readingAllowed =
  'X-API-Key, Authorization, Content-Type, If-None-Match, If-Modified-Since, Range, If-Range, Traceparent, Tracestate';
const dashboardAllowed =
  'Content-Type, X-Session-Token, X-API-Key, Authorization, Idempotency-Key, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Traceparent, Tracestate';
const preflightSeconds = 86_400;

/** The headers of an answer that pages of any origin may read: alternating names and values. */
export const readableByAll = [
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  exposed,
] as const;

/** @param from the origins whose pages may call: any, or those of the dashboard (`dashboardOrigins`). */
export function cors({ dashboardOrigins, methodsAt }: CorsOptions, from: 'any' | 'dashboard'): Policy {
  const varies = from === 'dashboard' ? ['vary', 'Origin'] : [];
  const permissions = new Map(
    (from === 'any' ? ['*'] : dashboardOrigins).map((origin) => {
      const preflight = [...varies, 'access-control-allow-origin', origin];
      return [origin, { preflight, answer: [...preflight, 'access-control-expose-headers', exposed] }];
    }),
  );

  return (request, response, next) => {
    const call = callOf(request);
    const permission = permissions.get(from === 'any' ? '*' : (request.headers.origin ?? ''));
    call.isOriginChecked = true;
    if (request.method === 'OPTIONS') {
      call.head.push(...(permission?.preflight ?? varies));
      return answerPreflight(request, response, { methodsAt, isAllowed: permission !== undefined, from });
    }
    call.head.push(...(permission?.answer ?? varies));
    next();
  };
}

/** Whether the request is a browser's preflight. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && /^[A-Za-z]{1,20}$/.test(headers['access-control-request-method'] ?? '');
}

/** Permits a call to an unknown address, so that the page can read the 404. */
export function permitRefusal({ headers }: IncomingMessage, response: ServerResponse): void {
  const [name, value] = readableByAll;
  response.writeHead(204, {
    [name]: value,
    'access-control-allow-methods': String(headers['access-control-request-method']),
    'access-control-allow-headers': `${readingAllowed}, ${dashboardAllowed}`,
    'access-control-max-age': String(preflightSeconds),
  });
  response.end();
}

/** Other origins also receive the list of methods, but no permission. */
function answerPreflight(
  request: IncomingMessage,
  response: ServerResponse,
  { methodsAt, isAllowed, from }: Pick<CorsOptions, 'methodsAt'> & { isAllowed: boolean; from: string },
): void {
  const methods = methodsAt(callOf(request).path);
  response.writeHead(204, {
    allow: methods.join(', '),
    ...(isAllowed && {
      'access-control-allow-methods': methods.filter((method) => method !== 'OPTIONS').join(', '),
      'access-control-allow-headers': from === 'any' ? readingAllowed : dashboardAllowed,
      'access-control-max-age': String(preflightSeconds),
    }),
  });
  response.end();
}
