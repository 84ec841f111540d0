// Creates the call, with our own request id and the client's IP address, and removes the inbound headers that only the gateway may set.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyBytesMax } from '../../kernel/bodies/service-bodies.ts';
import { anonymous } from '../../kernel/identity.ts';
import type { AccessLog } from '../observability/access-log.ts';
import { callOf, openCall, parentOf, type Call } from '../call.ts';
import type { Clients } from '../client-ip.ts';
import type { Policy } from '../policy.ts';
import { keysInAuthorization } from './credential.ts';

// Compared in lower case, with `_` as `-`: servers that map headers to variables cannot distinguish `X_Almanac_Identity` from ours.
const beginsLikeOurs = /^[xfa]/i;
const ours =
  /^(?:x-almanac-.*|x-forwarded-.*|forwarded|x-real-ip|x-request-id|x-api-key|x-session-token|authorization)$/;

export function requestId(options: {
  clients: Clients;
  /** Whether PUBLIC_URL is https. */
  isPublicOnTls: boolean;
  isDraining: () => boolean;
  accessLog: AccessLog;
}): Policy {
  return (request, response, next) => {
    const received = extractReservedHeaders(request);
    const { call: parent, asOf } = parentOf(request) ?? {};
    const call: Call = {
      requestId: parent?.requestId ?? randomUUID(),
      arrivedAtMs: performance.now(),
      clientIp:
        parent?.clientIp ?? options.clients.ipOf(request.socket.remoteAddress ?? '', received.forwardedFor),
      secure: parent?.secure ?? (options.isPublicOnTls || options.clients.isOnTls(received.forwardedProto)),
      clientKeepsAlive: response.shouldKeepAlive,
      isDraining: options.isDraining,
      presented: parent === undefined ? received.presented : { ...parent.presented },
      path: '',
      query: '',
      bodyBytesMax,
      body: undefined,
      isUpload: false,
      asOf,
      identity: anonymous,
      caller: undefined,
      charge: undefined,
      range: undefined,
      chargedMonth: undefined,
      capture: undefined,
      cache: undefined,
      isOriginChecked: false,
      head: [],
      contentSecurityPolicy: undefined,
      limitPolicies: '',
      limitStates: '',
      serviceTiming: undefined,
      stageMs: { credential: 0, rate: 0, quota: 0, upstream: 0, answer: 0 },
      stage: undefined,
      stageSinceMs: 0,
      closing: [],
      failureCode: undefined,
    };
    openCall(request, call);
    response.on('close', onClose);
    options.accessLog(request, response, call);
    next();
  };
}

/** One listener runs all the work, as each listener has a cost of its own. Node emits `close` once. */
function onClose(this: ServerResponse): void {
  for (const work of callOf(this.req).closing) work();
}

/** The removed headers that the gateway reads: credentials from the client, and `X-Forwarded-*` from a trusted proxy. */
interface ReceivedHeaders {
  presented: Call['presented'];
  forwardedFor: readonly string[];
  forwardedProto: readonly string[];
}

const none: readonly string[] = [];

/** Removes every header that only the gateway may set from both header lists of Node. */
function extractReservedHeaders(request: IncomingMessage): ReceivedHeaders {
  const presented = { keyHeaders: none, authorizations: none, keyParameters: none, sessionHeaders: none };
  const received: ReceivedHeaders = { presented, forwardedFor: none, forwardedProto: none };
  const raw = request.rawHeaders;
  const remaining: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    const exact = beginsLikeOurs.test(name) ? name.toLowerCase() : '';
    if (exact === '' || !ours.test(exact.replaceAll('_', '-'))) {
      remaining.push(name, value);
      continue;
    }
    if (exact === 'x-api-key') presented.keyHeaders = [...presented.keyHeaders, value];
    else if (exact === 'authorization') {
      presented.authorizations = [...presented.authorizations, ...keysInAuthorization(value)];
    } else if (exact === 'x-session-token') presented.sessionHeaders = [...presented.sessionHeaders, value];
    else if (exact === 'x-forwarded-for') received.forwardedFor = [...received.forwardedFor, value];
    else if (exact === 'x-forwarded-proto') received.forwardedProto = [...received.forwardedProto, value];
    request.headers[exact] = undefined; // `delete` would slow down reading all other headers
  }
  request.rawHeaders = remaining;
  return received;
}
