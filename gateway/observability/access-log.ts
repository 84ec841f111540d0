// Records each call when it ends: one log line at level `info`, and the metrics.
// No line holds a key, a token or a query: a query is the client's business, and a mistyped parameter may hold a key.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { lineWriter, withoutSecrets, type Log } from '../../kernel/log.ts';
import { enterStage, stages, whenClosed, type Call, type Caller } from '../call.ts';
import type { GatewayRoutes } from '../routes.ts';
import { thousandths } from './durations.ts';
import type { Metrics } from './metrics.ts';

/** Observes a call from its first policy to the end of its answer. */
export type AccessLog = (request: IncomingMessage, response: ServerResponse, call: Call) => void;

export function createAccessLog(options: {
  log: Log;
  metrics: Metrics;
  routes: () => GatewayRoutes;
}): AccessLog {
  const { log, metrics, routes } = options;
  const write = lineWriter(log, 'call');

  function note(request: IncomingMessage, response: ServerResponse, call: Call, bytes: number): void {
    const { caller, stageMs } = call;
    const { route } = routes().placeOf(call.path);
    let line = `,"request_id":"${call.requestId}","ip":${JSON.stringify(call.clientIp)}`;
    if (caller !== undefined) line += textOf(caller);
    line += `,"method":${JSON.stringify(request.method ?? '')}`;
    if (route !== undefined)
      line += `,"route":"${route}","path":${JSON.stringify(withoutSecrets(call.path))}`;
    line += `,"status":${statusOf(response)}`;
    if (call.cache !== undefined) line += `,"cache":"${call.cache}"`;
    if (call.failureCode !== undefined) line += `,"code":"${call.failureCode}"`;
    line += `,"bytes":${bytes},"complete":${response.writableFinished}`;
    for (const stage of stages) {
      if (stageMs[stage] > 0) line += `,"${stage}_ms":${thousandths(stageMs[stage])}`; // otherwise the call did not reach it
    }
    write(`${line},"total_ms":${thousandths(call.stageSinceMs - call.arrivedAtMs)}`);
  }

  return (request, response, call) => {
    const { socket } = request;
    const isLogged = log.isLevelEnabled('info');
    const bytesBefore = isLogged ? socket.bytesWritten : 0;
    metrics.began();
    whenClosed(call, response, () => {
      enterStage(call, undefined);
      metrics.ended({
        group: routes().placeOf(call.path).group,
        status: statusOf(response),
        complete: response.writableFinished,
        totalMs: call.stageSinceMs - call.arrivedAtMs,
        stageMs: call.stageMs,
        failureCode: call.failureCode,
        cache: call.cache,
      });
      if (isLogged) note(request, response, call, socket.bytesWritten - bytesBefore);
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

// As nginx logs a client that left before its answer began.
const clientLeft = 499;

function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : clientLeft;
}
