// Records each call when it has ended: one log line at level `info`, and the metrics.
// No line holds a key, a token or a query: a query is the client's business, and a mistyped parameter may hold a key.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { lineWriter, withoutSecrets, type Log } from '../../kernel/log/log.ts';
import { enterStage, stages, whenClosed, type Call, type Caller } from '../call.ts';
import type { GatewayRoutes, Place } from '../routes.ts';
import { thousandths } from './durations.ts';
import type { Metrics } from './metrics.ts';
import type { Traces } from './traces.ts';

const stageFields = stages.map((stage) => ({ stage, begin: `,"${stage}_ms":` }));

/** Observes a call from its first policy to the end of its answer. */
export type AccessLog = (request: IncomingMessage, response: ServerResponse, call: Call) => void;

export function createAccessLog(options: {
  log: Log;
  metrics: Metrics;
  routes: () => GatewayRoutes;
  /** Null: calls are not traced. */
  traces: Traces | null;
}): AccessLog {
  const { log, metrics, routes, traces } = options;
  const write = lineWriter(log, 'call');

  function note(
    request: IncomingMessage,
    response: ServerResponse,
    call: Call,
    { place, bytes }: { place: Place; bytes: number },
  ): void {
    const { caller, stageMs } = call;
    // An IP address, and a method that Node's parser knows, stand in JSON as they are.
    let line = `,"request_id":"${call.requestId}","ip":"${call.clientIp}"`;
    if (caller !== undefined) line += textOf(caller);
    line += `,"method":"${request.method ?? ''}"${placeText(place, call.path)},"status":${statusOf(response)}`;
    if (call.cache !== undefined) line += `,"cache":"${call.cache}"`;
    if (call.failureCode !== undefined) line += `,"code":"${call.failureCode}"`;
    line += `,"bytes":${bytes},"complete":${response.writableFinished}`;
    for (const { stage, begin } of stageFields) {
      if (stageMs[stage] > 0) line += begin + thousandths(stageMs[stage]); // otherwise the call did not reach it
    }
    write(`${line},"total_ms":${thousandths(call.stageSinceMs - call.arrivedAtMs)}`);
  }

  /** @param bytes sent; undefined: nothing is logged. */
  function record(
    request: IncomingMessage,
    response: ServerResponse,
    call: Call,
    bytes: number | undefined,
  ): void {
    const place = routes().placeOf(call.path);
    metrics.ended({
      group: place.group,
      status: statusOf(response),
      complete: response.writableFinished,
      totalMs: call.stageSinceMs - call.arrivedAtMs,
      stageMs: call.stageMs,
      failureCode: call.failureCode,
      cache: call.cache,
    });
    if (traces !== null) {
      traces.ended(request, call, { status: statusOf(response), complete: response.writableFinished });
    }
    if (bytes !== undefined) note(request, response, call, { place, bytes });
  }

  return (request, response, call) => {
    const { socket } = request;
    const bytesBefore = log.isLevelEnabled('info') ? socket.bytesWritten : undefined;
    metrics.began();
    whenClosed(call, response, () => {
      enterStage(call, undefined);
      const bytes = bytesBefore === undefined ? undefined : socket.bytesWritten - bytesBefore;
      record(request, response, call, bytes);
    });
  };
}

const texts = new WeakMap<Caller, string>();

/** The same object is the caller of many calls. */
function textOf(caller: Caller): string {
  let text = texts.get(caller);
  if (text === undefined) {
    text = `,"account_id":${JSON.stringify(caller.accountId)}`;
    if (caller.keyId !== null) text += `,"key_id":${JSON.stringify(caller.keyId)}`;
    texts.set(caller, text);
  }
  return text;
}

const placeTexts = new WeakMap<Place, string>();

/** The same object is the place of all calls of a path, while it is remembered. */
function placeText(place: Place, path: string): string {
  let text = placeTexts.get(place);
  if (text === undefined) {
    const { route } = place;
    text = route === undefined ? '' : `,"route":"${route}","path":${JSON.stringify(withoutSecrets(path))}`;
    placeTexts.set(place, text);
  }
  return text;
}

// As nginx logs a client that left before its answer began.
const clientLeft = 499;

function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : clientLeft;
}
