// What a call throws: the error of the API, or that no answer came.

/** The fields of `error` in an answer. */
interface ErrorBody {
  code: string;
  message: string;
  param: string | undefined;
  docsUrl: string | undefined;
  requestId: string | undefined;
}

/** A call that failed. `code` is that of the API, or `unreachable` if no answer came; then `status` is 0. */
export class AlmanacError extends Error {
  override readonly name = 'AlmanacError';
  readonly status: number;
  /** Such as `not_found`; the API lists them at /docs/errors. */
  readonly code: string;
  /** Quote it when you ask about the failure. */
  readonly requestId: string | undefined;
  /** The parameter or field that is wrong. */
  readonly param: string | undefined;
  readonly docsUrl: string | undefined;
  /** How long to wait before the call is repeated. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    fields: ErrorBody & { status: number; retryAfterSeconds: number | undefined },
    options?: ErrorOptions,
  ) {
    super(fields.message, options);
    this.status = fields.status;
    this.code = fields.code;
    this.requestId = fields.requestId;
    this.param = fields.param;
    this.docsUrl = fields.docsUrl;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** The error of an answer that is not 2xx. An answer without our envelope comes from something before Almanac, such as a proxy. */
export function errorOf(response: Response, text: string): AlmanacError {
  const { code, message, param, docsUrl, requestId } = bodyOf(text) ?? {
    code: 'unexpected_answer',
    message: `${`The server answered ${response.status} ${response.statusText}`.trimEnd()}, but not as Almanac does. Check the address, and any proxy in between.`,
    param: undefined,
    docsUrl: undefined,
    requestId: undefined,
  };
  return new AlmanacError({
    status: response.status,
    code,
    message,
    param,
    docsUrl,
    requestId: requestId ?? response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterOf(response.headers.get('retry-after')),
  });
}

/** That no whole answer came. */
export function unreachable(cause: unknown): AlmanacError {
  return new AlmanacError(
    {
      status: 0,
      code: 'unreachable',
      message: 'No answer came from the server. Check the network and the address.',
      param: undefined,
      docsUrl: undefined,
      requestId: undefined,
      retryAfterSeconds: undefined,
    },
    { cause },
  );
}

function bodyOf(text: string): ErrorBody | undefined {
  const body = parsed(text);
  if (!isRecord(body) || !isRecord(body['error'])) return undefined;
  const { code, message, param, docs_url: docsUrl, request_id: requestId } = body['error'];
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { code, message, param: textIn(param), docsUrl: textIn(docsUrl), requestId: textIn(requestId) };
}

/** @returns undefined if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The header is a number of seconds or, from a proxy, a date. */
function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
}
