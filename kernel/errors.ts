// The table of errors: every code that a client can see, with its HTTP status and meaning; and how a thrown value becomes the envelope. Anything not
// thrown by `fail` is `internal`, and its cause is never sent.

/** code → HTTP status and the sentence shown in docs/errors.md. A code is never reused with another meaning. */
export const errorTable = {
  invalid_parameter: {
    status: 400,
    meaning: 'A parameter is unknown, or its value is not allowed.',
  },
  invalid_cursor: { status: 400, meaning: 'The cursor is malformed, or it belongs to a different request.' },
  invalid_body: {
    status: 400,
    meaning: 'The body is not valid JSON, one of its fields is not allowed, or its file cannot be used.',
  },
  invalid_request: {
    status: 400,
    meaning: 'The request is malformed: its path, its headers or its framing.',
  },
  transform_not_applicable: {
    status: 400,
    meaning: 'The transform does not apply to a series of this frequency.',
  },
  unknown_dimension: { status: 400, meaning: 'The series has no dimension with this name.' },
  unauthorized: { status: 401, meaning: 'The API key or the session is missing or invalid.' },
  invalid_credentials: {
    status: 401,
    meaning: 'Incorrect e-mail address or password.',
  },
  reauthentication_required: {
    status: 401,
    meaning: 'The session is too old for this request. Sign in again.',
  },
  quota_exceeded: { status: 402, meaning: 'The monthly quota of the plan is used up.' },
  subscription_inactive: { status: 402, meaning: 'The subscription of the account is not active.' },
  payment_required: { status: 402, meaning: 'The purchase is not paid.' },
  plan_required: { status: 403, meaning: 'The feature requires a higher plan.' },
  forbidden: { status: 403, meaning: 'The credential is valid, but does not allow this request.' },
  not_available_as_of: {
    status: 403,
    meaning: 'The key is pinned to a day for which this installation has no bulk files.',
  },
  not_found: { status: 404, meaning: 'The endpoint or the resource does not exist.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support this method. The Allow header lists those it supports.',
  },
  not_acceptable: { status: 406, meaning: 'The requested format is not available.' },
  request_timeout: { status: 408, meaning: 'The request did not arrive completely in time.' },
  conflict: { status: 409, meaning: 'The request conflicts with the current state of the resource.' },
  key_limit_reached: { status: 409, meaning: 'The account has the maximum number of active keys.' },
  email_taken: { status: 409, meaning: 'The e-mail address belongs to another account.' },
  already_subscribed: { status: 409, meaning: 'The account already has a subscription.' },
  idempotency_in_progress: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still running.',
  },
  gone: { status: 410, meaning: 'The resource was used or deleted.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than allowed.' },
  uri_too_long: { status: 414, meaning: 'The URL is longer than allowed.' },
  unsupported_media_type: { status: 415, meaning: 'The body must be application/json.' },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The file does not have the bytes requested in the Range header.',
  },
  idempotency_mismatch: { status: 422, meaning: 'The Idempotency-Key was used for another request.' },
  rate_limited: {
    status: 429,
    meaning: 'Too many requests. Retry after the number of seconds in Retry-After.',
  },
  header_fields_too_large: { status: 431, meaning: 'The headers are longer than allowed.' },
  internal: { status: 500, meaning: 'Internal error. Quote the request id when you report it.' },
  upstream_error: { status: 502, meaning: 'A service behind the gateway failed.' },
  unavailable: { status: 503, meaning: 'The service is temporarily unavailable. Try again.' },
  billing_not_configured: { status: 503, meaning: 'Billing is not configured on this installation.' },
  upstream_timeout: { status: 504, meaning: 'A service behind the gateway did not answer in time.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorTable;

export interface FailureOptions {
  /** The parameter or field at fault, for `error.param`. */
  param?: string | undefined;
  /** Headers of the answer, such as Retry-After or Allow. */
  headers?: Record<string, string>;
  /** For the log only; never sent. */
  detail?: unknown;
}

/** A failure that the client may see. `message` is public; `detail` is logged once and never sent. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly headers: Record<string, string>;
  readonly detail: unknown;

  constructor(code: ErrorCode, message: string, options: FailureOptions = {}) {
    super(message, options.detail instanceof Error ? { cause: options.detail } : undefined);
    this.name = 'Failure';
    this.code = code;
    this.param = options.param;
    this.headers = options.headers ?? {};
    this.detail = options.detail;
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** Throws a Failure. @throws Failure always. */
export function fail(code: ErrorCode, message: string, options: FailureOptions = {}): never {
  throw new Failure(code, message, options);
}

/** Refuses a parameter of the URL. @throws Failure `invalid_parameter`. */
export function refuseParam(param: string, message: string): never {
  fail('invalid_parameter', message, { param });
}

/** Refuses a field of the body. @throws Failure `invalid_body`. */
export function refuseField(param: string, message: string): never {
  fail('invalid_body', message, { param });
}

/** The page that explains each error code. */
export const docsPath = '/docs/errors';

export interface ErrorEnvelope {
  success: false;
  error: { code: ErrorCode; message: string; param?: string; docs_url: string; request_id?: string };
}

/** The error envelope of a failure, with the request id if known. @param publicUrl of the gateway, whose pages explain the codes. */
export function toEnvelope(failure: Failure, publicUrl: string, requestId?: string): ErrorEnvelope {
  return {
    success: false,
    error: {
      code: failure.code,
      message: failure.message,
      ...(failure.param === undefined ? {} : { param: failure.param }),
      docs_url: `${publicUrl}${docsPath}#${failure.code}`,
      ...(requestId === undefined ? {} : { request_id: requestId }),
    },
  };
}

/**
 * Converts any thrown value to a Failure. A lost database connection becomes `unavailable`; anything else not thrown by `fail` becomes `internal`,
 * with the cause as `detail` for the log.
 */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (isConnectionFault(thrown)) {
    return new Failure('unavailable', 'The service cannot reach its database at the moment. Try again.', {
      detail: thrown,
      headers: { 'retry-after': '2' },
    });
  }
  return new Failure('internal', 'Internal error. Quote the request id when you report it.', {
    detail: thrown,
  });
}

// SQLSTATE 08 is a connection exception, 57P01 to 57P03 a server that stops or starts, 53300 too many connections. The names are the network errors
// for an unreachable or unknown host.
const connectionCodes =
  /^(?:08\w{3}|57P0[123]|53300|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN))$/;
// Messages of pg errors without a code, and Sequelize's names for the same errors.
const connectionPattern =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Sequelize(?:Connection|HostNot))/;

function isConnectionFault(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const code = 'code' in thrown ? String(thrown.code) : '';
  return (
    connectionCodes.test(code) ||
    connectionPattern.test(thrown.message) ||
    connectionPattern.test(thrown.name) ||
    ('parent' in thrown && isConnectionFault(thrown.parent)) // where Sequelize stores the driver's error
  );
}
