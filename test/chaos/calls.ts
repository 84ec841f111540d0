// The clients of the chaos run: they call gateways, check every answer, and record what they saw.
import { isDeepStrictEqual } from 'node:util';
import { Pool } from 'undici';
import { errorTable } from '../../kernel/errors.ts';
import type { Service } from './units.ts';

/** One request that clients make, and its right answer. */
export interface Question {
  path: string;
  method?: 'GET' | 'HEAD' | 'DELETE' | 'POST';
  /** The body of a POST. */
  sent?: string;
  headers?: Record<string, string>;
  /** Of the answers that are the service's own. */
  status: number;
  /** The expected body; undefined: an envelope with an error, or no body if the status has none. */
  body?: Buffer;
  /** Instead of `body`: returns the fault of a whole answer below 400, or null. */
  judge?: (answer: Answer) => string | null;
  /** The number of calls that it counts as if answered 2xx or 304. */
  calls: number;
  /** Whether such an answer reports a failure, and counts as nothing. */
  isFailure?: (body: Buffer) => boolean;
}

/** A whole answer. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  /** When the call began. */
  startedAtMs: number;
  /** From the memory of the gateway. */
  isHit: boolean;
}

/** The outcome of one request. Times are `performance.now()`. */
export interface Seen {
  accountId: string;
  path: string;
  gateway: string;
  startedAtMs: number;
  endedAtMs: number;
  /** Null: no whole answer came. */
  status: number | null;
  /** The number of calls that it counts as, if it counts. */
  calls: number;
  /** It was answered from the memory of the gateway. */
  isHit: boolean;
}

export interface Clients {
  /** All that was seen. */
  readonly seen: readonly Seen[];
  /** Wrong answers, as sentences. */
  readonly faults: readonly string[];
  /** Requests that reached no gateway, because it was not running. */
  readonly unreached: number;
  /** Asks a gateway. @param allowed statuses that are right besides the question's own and those of a service in trouble. */
  ask(gateway: Service, who: Caller, question: Question, allowed?: readonly number[]): Promise<Seen | null>;
  close(): Promise<void>;
}

export interface Caller {
  accountId: string;
  /** '': calls without. */
  key: string;
}

// Longer than any stall here: a call that is not answered within this time would never be.
const patienceMs = 40_000;
/** The codes of a connection that ended before its answer did. */
const cleanCut = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/;
/** The error of undici 8 where that answer had `Connection: close` and came in chunks. It has no code. */
const cutLastAnswer = /\(Invalid EOF state\)$/;
const outageStatuses = [502, 503, 504];

export function createClients(gateways: readonly Service[]): Clients {
  const pools = new Map(
    gateways.map(({ url }) => [
      url,
      new Pool(url, { connections: 256, headersTimeout: patienceMs, bodyTimeout: patienceMs }),
    ]),
  );
  const seen: Seen[] = [];
  const faults: string[] = [];
  let unreached = 0;

  async function ask(
    gateway: Service,
    { accountId, key }: Caller,
    question: Question,
    allowed: readonly number[] = [],
  ): Promise<Seen | null> {
    const { path, method = 'GET', headers = {}, calls } = question;
    const startedAtMs = performance.now();
    const remember = (status: number | null, isHit = false, counted = calls): Seen => {
      const one = {
        accountId,
        path,
        gateway: gateway.name,
        startedAtMs,
        endedAtMs: performance.now(),
        status,
        calls: counted,
        isHit,
      };
      seen.push(one);
      return one;
    };
    try {
      const pool = pools.get(gateway.url) as Pool;
      const response = await pool.request({
        path,
        method,
        headers: { ...(key !== '' && { 'x-api-key': key }), ...headers },
        body: question.sent ?? null,
      });
      const { statusCode: status } = response;
      const body = Buffer.from(await response.body.arrayBuffer());
      const isHit = String(response.headers['server-timing']).includes('cache;desc=hit');
      const answer = { status, headers: response.headers, body, startedAtMs, isHit };
      const fault = faultOf(question, allowed, answer);
      if (fault !== null) faults.push(`${method} ${path} at ${gateway.name}: ${fault}`);
      return remember(status, isHit, question.isFailure?.(body) === true ? 0 : calls);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code === 'ECONNREFUSED') {
        unreached += 1;
        return null;
      }
      if (/TIMEOUT/.test(code))
        faults.push(`${method} ${path} at ${gateway.name}: no answer for ${patienceMs} ms`);
      else if (!cleanCut.test(code) && !cutLastAnswer.test(String(error))) {
        faults.push(`${method} ${path} at ${gateway.name}: not a clean cut: ${String(error)}`);
      }
      return remember(null);
    }
  }

  return {
    seen,
    faults,
    get unreached() {
      return unreached;
    },
    ask,
    async close() {
      for (const pool of pools.values()) await pool.destroy();
    },
  };
}

/** @returns the fault of a whole answer, or null. */
function faultOf(question: Question, allowed: readonly number[], answer: Answer): string | null {
  const { status, body } = answer;
  if (![question.status, ...outageStatuses, ...allowed].includes(status)) {
    return `${status} was answered, not ${question.status}: ${body.toString().slice(0, 300)}`;
  }
  if (status < 400 && question.judge !== undefined) return question.judge(answer);
  if (question.method === 'HEAD') return null;
  if (status < 400) {
    const right = question.body ?? Buffer.alloc(0);
    if (status === question.status && !body.equals(right))
      return `the body of ${body.length} bytes is not the right one`;
    return null;
  }
  return faultOfEnvelope(status, body);
}

function faultOfEnvelope(status: number, body: Buffer): string | null {
  const text = body.toString();
  let envelope: unknown;
  try {
    envelope = JSON.parse(text);
  } catch {
    return `${status} without an envelope: ${text.slice(0, 300)}`;
  }
  const { success, error } = envelope as { success?: unknown; error?: { code?: string; message?: string } };
  const known = errorTable[error?.code as keyof typeof errorTable];
  const isRight = success === false && isDeepStrictEqual(known?.status, status) && Boolean(error?.message);
  return isRight ? null : `${status} with a wrong envelope: ${text.slice(0, 300)}`;
}
