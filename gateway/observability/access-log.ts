// Records each call when it has ended: one log line at level `info`, and the metrics.
// No line contains a key, a token or a query: a query is private to the client, and a mistyped parameter may contain a key.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { lineWriter, withoutSecrets, type Log } from '../../kernel/log/log.ts';
import { enterStage, stages, whenClosed, type Call } from '../call.ts';
import type { GatewayRoutes, Place } from '../routes.ts';
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
    // An IP address, and a method that Node's parser accepts, need no JSON escapes.
    let line = `,"request_id":"${call.requestId}","ip":"${call.clientIp}"`;
    if (caller !== undefined) line += `,"account_id":${JSON.stringify(caller.accountId)}`;
    if (caller?.keyId) line += `,"key_id":${JSON.stringify(caller.keyId)}`;
    line += `,"method":"${request.method ?? ''}"`;
    if (place.route !== undefined)
      line += `,"route":"${place.route}","path":${JSON.stringify(withoutSecrets(call.path))}`;
    line += `,"status":${statusOf(response)}`;
    if (call.cache !== undefined) line += `,"cache":"${call.cache}"`;
    if (call.failureCode !== undefined) line += `,"code":"${call.failureCode}"`;
    line += `,"bytes":${bytes},"complete":${response.writableFinished}`;
    for (const { stage, begin } of stageFields) {
      if (stageMs[stage] > 0) line += begin + rounded(stageMs[stage]); // otherwise the call did not reach it
    }
    write(`${line},"total_ms":${rounded(call.stageSinceMs - call.arrivedAtMs)}`);
  }

  return (request, response, call) => {
    const { socket } = request;
    const bytesBefore = log.isLevelEnabled('info') ? socket.bytesWritten : undefined;
    metrics.started();
    whenClosed(call, response, () => {
      enterStage(call, undefined);
      const place = routes().placeOf(call.path);
      const ending = { status: statusOf(response), complete: response.writableFinished };
      metrics.ended(call, place.group, ending);
      traces?.ended(request, call, ending);
      if (bytesBefore === undefined) return;
      note(request, response, call, { place, bytes: socket.bytesWritten - bytesBefore });
    });
  };
}

/** In ms, to the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

// The status that nginx logs for a client that left before its answer began.
const clientLeft = 499;

function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : clientLeft;
}
