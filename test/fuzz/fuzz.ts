// Sends random requests to running services and judges each answer: no server error, nothing that the OpenAPI document does not declare,
// every refusal in the envelope. Hides the clients: each draws its own requests from the seed, one after the other.
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { setRole } from '../../accounts-api/operator/account-access.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorTable } from '../../kernel/errors.ts';
import { isFredPath } from '../../kernel/wire/error-form.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { peopleOf } from '../auth/people.ts';
import { assertDocumented } from '../openapi/check-answers.ts';
import { loadCsv } from '../ingest/loading.ts';
import { initialLoads, loadInto } from '../v1/every-dataset.ts';
import { startPaying } from '../billing/paying.ts';
import { fakeClock } from '../services/harness.ts';
import type { Services } from '../services/services.ts';
import { drawRequest, type Actor, type FuzzRequest } from './requests.ts';

export interface FuzzResult {
  /** The faults, each with its request. */
  faults: string[];
  /** Answers by status. */
  statuses: Map<number, number>;
  /** The slowest answer. */
  slowest: { ms: number; request: string };
}

export interface FuzzOptions {
  seed: number;
  count: number;
  /** Called with each fault as it is found. */
  report?: (fault: string) => void;
  /** Called when so many requests have been answered, at most once at a time; all clients wait. */
  every?: { requests: number; pause: (answered: number) => Promise<void> | void };
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const clients = 4;
const requestsOfActor = 100;
/** One of so many actors is an operator. */
const operatorOfActors = 3;
const answerWithinMs = 30_000;
const answerHeadBytesMax = 128 * 1024;

/** All services, with rows for every endpoint, and the fake of Stripe; a client's IP address is what its X-Forwarded-For says. */
export async function startFuzzed(): Promise<Services> {
  const { services, close } = await startPaying({
    fake: { clock: fakeClock(new Date().toISOString()) },
    services: { clock: systemClock, publisher: true },
  });
  const loaded = {
    load: (dataset: string, lines: readonly string[], options = {}) =>
      loadCsv(services.database, lines, { dataset, ...options }).then(() => undefined),
  };
  for (const load of initialLoads) await loadInto(loaded, load);
  return { ...services, close };
}

/** Sends so many requests. The same seed and count draw the same requests, as far as answers are the same. */
export async function fuzz(
  services: Services,
  { seed, count, report, every }: FuzzOptions,
): Promise<FuzzResult> {
  const random = createRandom(seed);
  const agent = new Agent({ keepAlive: true });
  const result: FuzzResult = { faults: [], statuses: new Map(), slowest: { ms: 0, request: '' } };
  const note = (fault: string) => {
    result.faults.push(fault);
    report?.(fault);
  };
  const stopping = new AbortController();
  const client = { services, agent, result, note, stop: stopping.signal };
  const parts =
    every === undefined
      ? [count]
      : Array.from({ length: Math.ceil(count / every.requests) }, () => every.requests);
  const sources = Array.from({ length: clients }, () => random.fork());
  let answered = 0;
  for (const part of parts) {
    const asking = sources.map((source) =>
      askAll(client, source, Math.ceil(part / clients)).catch((error: unknown) => {
        stopping.abort(); // the others would go on asking services that are closed
        throw error;
      }),
    );
    await Promise.allSettled(asking);
    await Promise.all(asking);
    answered += part;
    await every?.pause(answered);
  }
  agent.destroy();
  return result;
}

interface Client {
  services: Services;
  agent: Agent;
  result: FuzzResult;
  note: (fault: string) => void;
  stop: AbortSignal;
}

/** Sends the requests of one client, one after the other. */
async function askAll(
  { services, agent, result, note, stop }: Client,
  random: Random,
  count: number,
): Promise<void> {
  let actor: Actor | undefined;
  for (let i = 0; i < count && !stop.aborted; i += 1) {
    // Requests end sessions, revoke keys and close accounts.
    if (actor === undefined || i % requestsOfActor === 0) actor = await newActor(services, random);
    const request = drawRequest(random, actor);
    const startedAtMs = performance.now();
    const answer = await ask(services.url, agent, request).catch((error: unknown) => String(error));
    const ms = performance.now() - startedAtMs;
    // The file of an upload is read in a process of its own, one after the other.
    const isUpload = request.target.startsWith('/v1/operator/uploads');
    if (ms > result.slowest.ms && !isUpload) result.slowest = { ms, request: described(request) };
    if (typeof answer === 'string') {
      note(`${answer}: ${described(request)}`);
      continue;
    }
    result.statuses.set(answer.status, (result.statuses.get(answer.status) ?? 0) + 1);
    const fault = faultOf(request, answer);
    if (fault !== undefined)
      note(`${answer.status} ${fault}: ${described(request)}\n  ${answer.body.slice(0, 400)}`);
    actor.etag = answer.headers.etag ?? actor.etag;
    actor.id = /"id":"([^"]+)"/.exec(answer.body)?.[1] ?? actor.id;
    actor.cursor = /"next_cursor":"([^"]+)"/.exec(answer.body)?.[1] ?? actor.cursor;
  }
}

async function newActor(services: Services, random: Random): Promise<Actor> {
  const { newPerson } = peopleOf({
    call: (target, init) =>
      services.call(target, {
        ...init,
        headers: {
          ...Object.fromEntries(new Headers(init?.headers)),
          'x-forwarded-for': `11.${random.below(256)}.${random.below(256)}.${random.below(256)}`,
        },
      }),
  });
  const person = await newPerson();
  const keys = [await services.accountWithKey('enterprise'), await services.accountWithKey('free')].map(
    ({ key }) => key,
  );
  if (random.below(operatorOfActors) === 0) await setRole(services.accounts, person.email, 'operator');
  return { ...person, keys, etag: undefined, cursor: undefined, id: undefined };
}

async function ask(url: string, agent: Agent, request: FuzzRequest): Promise<Answer> {
  const { response, bytes } = await send(url, agent, request);
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: plain(bytes, headers) };
}

function send(
  url: string,
  agent: Agent,
  { method, target, headers, body }: FuzzRequest,
): Promise<{ response: IncomingMessage; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = httpRequest(
      {
        ...{ hostname, port, agent, method, path: target, headers: { ...headers, ...length } },
        ...{ maxHeaderSize: answerHeadBytesMax, timeout: answerWithinMs },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => resolve({ response, bytes: Buffer.concat(chunks) }));
      },
    );
    sent.once('timeout', () => sent.destroy(new Error(`no answer within ${answerWithinMs} ms`)));
    sent.once('error', reject);
    sent.end(body);
  });
}

function plain(body: Buffer, headers: IncomingHttpHeaders): string {
  if (body.length === 0) return '';
  const encoding = headers['content-encoding'];
  return (
    encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body
  ).toString();
}

/** The faults of an answer. */
function faultOf({ method, target }: FuzzRequest, { status, headers, body }: Answer): string | undefined {
  // Whether a service is ready within a second, a busy machine decides.
  const isReadiness = status === 503 && target.startsWith('/readyz');
  if (status >= 500 && !isReadiness) return 'is a failure of ours';
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  try {
    assertDocumented({ method, target, status, headers: named, body });
  } catch (error) {
    return String(error);
  }
  if (status < 400 || method === 'HEAD') return undefined;
  const [at = ''] = target.split('?');
  // A request whose head is too long is refused before its path is known.
  if (isFredPath(at) && ![414, 431].includes(status))
    return isFredError(status, body) ? undefined : "is no error in FRED's form";
  if (at === '/mcp' && isProtocolError(body)) return undefined;
  const error = errorIn(body);
  if (error === undefined) return 'is no envelope';
  return Object.hasOwn(errorTable, error.code) && errorTable[error.code].status === status
    ? undefined
    : `has the code ${error.code}`;
}

/** Of JSON-RPC, whose codes are numbers. */
const isProtocolError = (body: string): boolean => /^\{"jsonrpc":"2\.0","error":\{"code":-\d+,/.test(body);

const isFredError = (status: number, body: string): boolean =>
  new RegExp(`<error code="${status}" message="[^"]+"/>|^\\{"error_code":${status},"error_message":"`).test(
    body,
  );

function errorIn(body: string): { code: keyof typeof errorTable } | undefined {
  try {
    return (JSON.parse(body) as { error?: { code: keyof typeof errorTable } }).error;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function described({ method, target, headers, body }: FuzzRequest): string {
  const shown = Object.entries(headers).filter(
    ([name]) => !/key|token|authorization/.test(name) || name === 'idempotency-key',
  );
  return `${method} ${target.replaceAll(/pk_live_\w+/g, '…').slice(0, 600)} ${JSON.stringify(Object.fromEntries(shown)).slice(0, 300)} ${body?.toString('latin1').slice(0, 300) ?? ''}`;
}
