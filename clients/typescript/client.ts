// Calls of the API, typed by path and method: `client.get('/v1/series/{id}', { path: { id: 'GDP' }, query: { from: '2020' } })`.
// Hides how paths, queries and bodies are written, pages, repetitions, and that every failure becomes an AlmanacError.
import { errorOf, unreachable } from './errors.ts';
import type { Paths } from './paths.gen.ts';
import { isSafe, repeated, type RetryOptions } from './retries.ts';

export interface ClientOptions {
  /** Such as `https://api.example.org`; in a browser, by default that of the page. */
  baseUrl?: string;
  /** Sent as X-API-Key. */
  apiKey?: string;
  /** The token of the signed-in user, asked at each call; sent as X-Session-Token. */
  session?: () => string | undefined;
  fetch?: typeof globalThis.fetch;
  /**
   * Reads, and writes with an Idempotency-Key, are repeated after 429, 502, 503, 504 and lost connections: after the seconds of
   * Retry-After, or after about 0.5, 1 and 2 s.
   */
  retry?: RetryOptions;
}

type Method = 'get' | 'post' | 'patch' | 'delete';

/** The paths that take the method. */
export type PathsWith<M extends Method> = {
  [P in keyof Paths]: M extends keyof Paths[P] ? P : never;
}[keyof Paths];

type Operation<M extends Method, P extends PathsWith<M>> = M extends keyof Paths[P] ? Paths[P][M] : never;
type DataOf<O> = O extends { data: infer Data } ? Data : never;

/** The parsed body of the answer. With `fields`, its rows have those fields alone. */
export type AnswerOf<M extends Method, P extends PathsWith<M>> =
  Operation<M, P> extends { response: infer Response } ? Response : never;

/** What a call sends, and how it is cancelled. */
export type CallOptions<M extends Method, P extends PathsWith<M>> = Pick<
  DataOf<Operation<M, P>>,
  keyof DataOf<Operation<M, P>> & ('path' | 'query' | 'body')
> &
  SendOptions;

export interface SendOptions {
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

/** The options may be left out if none is required. */
type Arguments<M extends Method, P extends PathsWith<M>> =
  object extends CallOptions<M, P> ? [options?: CallOptions<M, P>] : [options: CallOptions<M, P>];

type Call<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...options: Arguments<M, P>
) => Promise<AnswerOf<M, P>>;

/** A list, or a series: its answers name the cursor of the next page. */
export type PathsOfRows = {
  [P in PathsWith<'get'>]: 'cursor' extends keyof NonNullable<QueryOf<P>>
    ? AnswerOf<'get', P> extends { data: readonly unknown[] }
      ? P
      : never
    : never;
}[PathsWith<'get'>];

type QueryOf<P extends PathsWith<'get'>> =
  DataOf<Operation<'get', P>> extends { query?: infer Query } ? Query : never;

/** A row of a list, or a point of a series. */
export type RowOf<P extends PathsOfRows> =
  AnswerOf<'get', P> extends { data: readonly (infer Row)[] } ? Row : never;

/** Each call resolves to the parsed body. @throws AlmanacError, or the reason of `signal` if it was aborted. */
export interface Client {
  get: Call<'get'>;
  post: Call<'post'>;
  patch: Call<'patch'>;
  delete: Call<'delete'>;
  /** The answer as it was sent, such as CSV with `format: 'csv'`. */
  getText<P extends PathsWith<'get'>>(path: P, ...options: Arguments<'get', P>): Promise<string>;
  /** All rows of a list, or points of a series, page by page; `query.limit` is the size of a page, 1000 by default. */
  rows<P extends PathsOfRows>(path: P, ...options: Arguments<'get', P>): AsyncGenerator<RowOf<P>, void>;
}

interface PageOf<Row> {
  data: Row[];
  pagination: { next_cursor: string | null };
}

interface Sent extends SendOptions {
  path?: object;
  query?: object;
  body?: unknown;
}

interface Answered {
  response: Response;
  text: string;
}

/** @throws TypeError if there is neither `baseUrl` nor a page. */
export function createClient(options: ClientOptions = {}): Client {
  const baseUrl = (options.baseUrl ?? originOfPage()).replace(/\/$/, '');

  async function send(method: Method, at: string, sent: Sent = {}): Promise<Answered> {
    const once = () => sendOnce(method, at, sent);
    return isSafe(method, at, sent.headers ?? {}) ? repeated(once, options.retry ?? {}, sent.signal) : once();
  }

  async function sendOnce(method: Method, at: string, sent: Sent): Promise<Answered> {
    const headers: Record<string, string> = { ...sent.headers };
    const session = options.session?.();
    const body = sent.body === undefined ? undefined : written(sent.body);
    if (options.apiKey !== undefined) headers['X-API-Key'] = options.apiKey;
    if (session !== undefined) headers['X-Session-Token'] = session;
    if (body !== undefined) headers['Content-Type'] = body.type;
    const answered = await answerOf(
      (options.fetch ?? globalThis.fetch)(baseUrl + pathOf(at, sent.path) + queryOf(sent.query), {
        method: method.toUpperCase(),
        headers,
        redirect: 'manual', // fetch would send the key wherever a redirect points
        ...(body === undefined ? {} : { body: body.content }),
        ...(sent.signal === undefined ? {} : { signal: sent.signal }),
      }),
      sent.signal,
    );
    if (!answered.response.ok) throw errorOf(answered.response, answered.text);
    return answered;
  }

  function call<M extends Method>(method: M): Call<M> {
    return async (at, ...[sent]) => {
      const answered = await send(method, at, sent);
      // The types are those of the document, to which the tests hold every answer of the server.
      return (answered.text === '' ? undefined : jsonOf(answered)) as AnswerOf<M, typeof at>;
    };
  }

  async function* rows<P extends PathsOfRows>(
    at: P,
    ...[sent]: Arguments<'get', P>
  ): AsyncGenerator<RowOf<P>, void> {
    const { query, ...others }: Sent = sent ?? {};
    for (let cursor: string | undefined; ;) {
      const answered = await send('get', at, { ...others, query: { limit: 1000, ...query, cursor } });
      const page = jsonOf(answered) as PageOf<RowOf<P>>; // as for `call`
      yield* page.data;
      if (page.pagination.next_cursor === null) return;
      cursor = page.pagination.next_cursor;
    }
  }

  return {
    get: call('get'),
    post: call('post'),
    patch: call('patch'),
    delete: call('delete'),
    getText: async (at, ...[sent]) => (await send('get', at, sent)).text,
    rows,
  };
}

/** Bytes are sent as they are, anything else as JSON. */
function written(body: unknown): { type: string; content: Blob | string } {
  if (body instanceof Blob) return { type: 'application/octet-stream', content: body };
  return { type: 'application/json', content: JSON.stringify(body) };
}

/** @throws AlmanacError for another text, such as the page of a proxy. */
function jsonOf({ response, text }: Answered): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw errorOf(response, text);
  }
}

async function answerOf(asked: Promise<Response>, signal: AbortSignal | undefined): Promise<Answered> {
  try {
    const response = await asked;
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw unreachable(error);
  }
}

/** `/v1/series/{id}` with the values of its parameters. */
export function pathOf(at: string, values: object = {}): string {
  const given = new Map(Object.entries(values));
  return at.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value: unknown = given.get(name);
    if (typeof value !== 'string' || value === '') throw new TypeError(`The path ${at} needs "${name}".`);
    return encodeURIComponent(value);
  });
}

/** A value of a list, quoted if a comma or a quote of its own would divide it. */
export const listed = (value: unknown): string =>
  /[",]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** Lists are separated by commas, as every list parameter takes them; `dims` has a notation of its own. What is undefined is left out. */
export function queryOf(values: object = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) query.append(name, value.map(name === 'dims' ? String : listed).join(','));
    else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      query.append(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function originOfPage(): string {
  const { location } = globalThis as { location?: { origin: string } };
  if (location === undefined) throw new TypeError('Outside a browser the client needs a baseUrl.');
  return location.origin;
}
