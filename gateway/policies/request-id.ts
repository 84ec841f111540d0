// Opens the call: an id of our own, the client's address, nothing left of what only the gateway may say.
// Hides which inbound headers are ours, and what every response carries.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { anonymous } from '../../kernel/identity.ts';
import type { AccessLog } from '../access-log.ts';
import { enterStage, openCall, type Call } from '../call.ts';
import { clientAddress } from '../client-address.ts';
import type { Policy } from '../policy.ts';
import { keepAliveTimeoutMs } from '../server.ts';

// Compared in lower case with `_` as `-`: servers that map headers to variables cannot tell `X_Almanac_Identity` from ours.
const ours = /^(?:x-almanac-.*|x-forwarded-.*|forwarded|x-real-ip|x-request-id|x-api-key|x-session-token)$/;

const timedStages = ['credential', 'rate', 'quota', 'upstream'] as const;

export function requestId(options: {
  trustedProxyHops: number;
  isDraining: () => boolean;
  accessLog: AccessLog;
}): Policy {
  return (request, response, next) => {
    const taken = takeOurHeaders(request);
    const call: Call = {
      requestId: randomUUID(),
      arrivedAtMs: performance.now(),
      clientAddress: clientAddress(
        request.socket.remoteAddress ?? '',
        taken.get('x-forwarded-for') ?? [],
        options.trustedProxyHops,
      ),
      secure: options.trustedProxyHops > 0 && taken.get('x-forwarded-proto')?.at(-1) === 'https',
      presented: {
        keyHeaders: taken.get('x-api-key') ?? [],
        keyParameters: [],
        sessionHeaders: taken.get('x-session-token') ?? [],
      },
      path: '',
      query: '',
      identity: anonymous,
      caller: undefined,
      charge: undefined,
      stageMs: { credential: 0, rate: 0, quota: 0, upstream: 0, answer: 0 },
      stage: undefined,
      stageSinceMs: 0,
      failureCode: undefined,
    };
    openCall(request, call);
    const clientKeeps = response.shouldKeepAlive; // as Node read it from the request's version and headers
    finishHead(response, call, () => clientKeeps && !options.isDraining());
    options.accessLog(request, response, call);
    next();
  };
}

/** Removes every header that only the gateway may set, from both of Node's views of them. Exact spellings are kept for the call. */
function takeOurHeaders(request: IncomingMessage): Map<string, string[]> {
  const taken = new Map<string, string[]>();
  const raw = request.rawHeaders;
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]];
    const exact = name.toLowerCase();
    if (!ours.test(exact.replaceAll('_', '-'))) {
      kept.push(name, value);
      continue;
    }
    taken.set(exact, [...(taken.get(exact) ?? []), value]);
    delete request.headers[exact];
  }
  request.rawHeaders = kept;
  return taken;
}

/** The last word on the response's head, whoever answers: a room, a policy, or a failure. */
function finishHead(response: ServerResponse, call: Call, keeps: () => boolean): void {
  response.setHeader('x-request-id', call.requestId);
  response.setHeader('x-content-type-options', 'nosniff');
  // Said only to clients that came over TLS: on plain HTTP it would be ignored, and a local start must stay reachable.
  if (call.secure) response.setHeader('strict-transport-security', 'max-age=31536000');
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    enterStage(call, 'answer');
    response.setHeader('server-timing', timingOf(call, response.getHeader('server-timing')));
    if (keeps() && response.getHeader('connection') !== 'close') {
      response.setHeader('connection', 'keep-alive');
      response.setHeader('keep-alive', `timeout=${keepAliveTimeoutMs / 1000}`);
    } else {
      response.setHeader('connection', 'close');
    }
    return writeHead(...args);
  };
}

/** What the room said of its own stages, then ours; `gateway` is all the time spent here, without the wait for the room. */
function timingOf({ arrivedAtMs, stageSinceMs, stageMs }: Call, ofRoom: unknown): string {
  let text = typeof ofRoom === 'string' ? `${ofRoom}, ` : '';
  for (const stage of timedStages)
    if (stageMs[stage] > 0) text += `${stage};dur=${hundredths(stageMs[stage])}, `;
  return `${text}gateway;dur=${hundredths(stageSinceMs - arrivedAtMs - stageMs.upstream)}`;
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
