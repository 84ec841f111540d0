// The errors and headers that each policy of the gateway adds to the answers of the endpoints behind it.
// Hides nothing: every answer in the tests is checked against the resulting document.
import type { ErrorCode } from '../kernel/errors.ts';

interface PolicyAnswers {
  errors?: readonly ErrorCode[];
  /** Headers of every answer that passes the policy. */
  headers?: readonly string[];
}

export const policyAnswers: Readonly<Record<string, PolicyAnswers>> = {
  'request-id': { headers: ['X-Request-Id', 'Server-Timing', 'Content-Security-Policy'] },
  framing: { errors: ['invalid_request'] },
  'path-check': { errors: ['invalid_request'] },
  cors: { headers: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] },
  pin: { errors: ['forbidden', 'plan_required', 'rate_limited', 'unavailable'], headers: ['X-As-Of'] },
  admission: { errors: ['unauthorized', 'rate_limited', 'unavailable'] },
  'stripe-events': { errors: ['not_found', 'invalid_request', 'rate_limited', 'unavailable'] },
  credential: { errors: ['unauthorized', 'forbidden', 'invalid_parameter', 'rate_limited', 'unavailable'] },
  session: { errors: ['unauthorized', 'forbidden', 'unavailable'] },
  usage: {},
  mcp: {
    errors: ['invalid_request', 'invalid_body', 'forbidden', 'rate_limited', 'unavailable', 'internal'],
    headers: [
      'RateLimit',
      'RateLimit-Policy',
      'X-Quota-Limit',
      'X-Quota-Remaining',
      'X-Quota-Reset',
      'Vary',
      'X-As-Of',
    ],
  },
  page: {},
  dashboard: {},
  health: {},
  'not-found': {},
  plan: { errors: ['plan_required', 'subscription_inactive'] },
  rate: { errors: ['rate_limited'], headers: ['RateLimit', 'RateLimit-Policy'] },
  concurrency: { errors: ['rate_limited', 'upstream_timeout'] },
  'query-body': { errors: ['invalid_body', 'unsupported_media_type', 'payload_too_large'] },
  quota: {
    errors: ['quota_exceeded', 'unavailable'],
    headers: ['X-Quota-Limit', 'X-Quota-Remaining', 'X-Quota-Reset'],
  },
  'response-cache': {},
  forward: {
    errors: [
      'internal',
      'upstream_error',
      'unavailable',
      'upstream_timeout',
      'not_acceptable',
      'invalid_parameter',
    ],
    headers: ['Vary', 'X-As-Of'],
  },
};

/** Headers of the answers with these codes. */
export const errorHeaders: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  quota_exceeded: ['Retry-After'],
  rate_limited: ['Retry-After'],
  unavailable: ['Retry-After'],
  unauthorized: ['WWW-Authenticate'],
  range_not_satisfiable: ['Content-Range'],
  idempotency_in_progress: ['Retry-After'],
};

/** The description of each response header. */
export const headerDescriptions: Readonly<Record<string, string>> = {
  'X-Request-Id': 'The id of the call; quote it when something went wrong.',
  'Server-Timing': 'The stages of the call and their milliseconds.',
  'Cache-Control': 'How long the answer may be kept.',
  'Content-Security-Policy': 'A page that is made of the answer loads nothing, and cannot be framed.',
  Vary: 'The request headers that decide the answer.',
  ETag: 'Another one for each query, format and compression; send it as If-None-Match.',
  'Last-Modified': 'When the data behind the answer last changed.',
  'Accept-Ranges': '`bytes`: ranges of the file can be read.',
  'Content-Range': 'Which bytes of the file the answer has, and how many the file has.',
  Link: 'With `rel="next"`: the next page.',
  'Content-Disposition': 'The name to save the file under.',
  'X-As-Of': 'The day that the key is pinned to: nothing published later is in the answer.',
  'Content-Location': 'The permanent URL of this past state of the data.',
  RateLimit: 'What is left of the limits (draft-ietf-httpapi-ratelimit-headers).',
  'RateLimit-Policy': 'The limits: calls a second, calls a month.',
  'X-Quota-Limit': 'Calls a month, or `unlimited`.',
  'X-Quota-Remaining': 'Calls left this month.',
  'X-Quota-Reset': 'When the next month begins.',
  'Retry-After': 'Seconds to wait.',
  'WWW-Authenticate': 'Which credentials are taken.',
  Location: 'Where the browser is sent.',
  'Set-Cookie': 'Binds the sign-in to the browser.',
  'Clear-Site-Data': 'What the browser is to forget.',
  'Referrer-Policy': 'The URL is not sent to the next page.',
  'Idempotent-Replayed': '`true`: the answer to an earlier request with the same Idempotency-Key.',
  'Access-Control-Allow-Origin': 'Whose pages may read the answer.',
  'Access-Control-Expose-Headers': 'The headers that such a page may read.',
};
