// Opens the call: an id of our own, the client's address, nothing left of what only the gateway may say.
// Hides which inbound headers are ours, and what every response carries.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { anonymous } from '../../kernel/identity.ts';
import type { Log } from '../../kernel/log.ts';
import { openCall, type Call } from '../call.ts';
import { clientAddress } from '../client-address.ts';
import type { Policy } from '../policy.ts';
import { keepAliveTimeoutMs } from '../server.ts';

// Compared in lower case with `_` as `-`: servers that map headers to variables cannot tell `X_Almanac_Identity` from ours.
const ours = /^(?:x-almanac-.*|x-forwarded-.*|forwarded|x-real-ip|x-request-id|x-api-key|x-session-token)$/;

export function requestId(options: {
  trustedProxyHops: number;
  isDraining: () => boolean;
  log: Log;
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
      upstreamMs: 0,
    };
    openCall(request, call);
    const clientKeeps = response.shouldKeepAlive; // as Node read it from the request's version and headers
    finishHead(response, call, () => clientKeeps && !options.isDraining());
    response.once('close', () => logCall(options.log, request.method ?? '', response, call));
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
    const ownMs = performance.now() - call.arrivedAtMs - call.upstreamMs;
    const timings = [response.getHeader('server-timing'), `gateway;dur=${ownMs.toFixed(2)}`];
    response.setHeader('server-timing', timings.filter((part) => part !== undefined).join(', '));
    if (keeps() && response.getHeader('connection') !== 'close') {
      response.setHeader('connection', 'keep-alive');
      response.setHeader('keep-alive', `timeout=${keepAliveTimeoutMs / 1000}`);
    } else {
      response.setHeader('connection', 'close');
    }
    return writeHead(...args);
  };
}

/** One line a call. The query is left out: it is the client's business, and a mistyped parameter may hold a key. */
function logCall(log: Log, method: string, response: ServerResponse, call: Call): void {
  log.info(
    {
      request_id: call.requestId,
      method,
      path: call.path.replace(/pk_live_\w+/g, 'pk_live_…'),
      status: response.statusCode,
      complete: response.writableFinished,
      duration_ms: Math.round(performance.now() - call.arrivedAtMs),
      account_id: call.caller?.accountId,
      key_id: call.caller?.keyId,
    },
    'call',
  );
}
