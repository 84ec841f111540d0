// Notes each call when it has ended: one line in the log at level `info`, and the metrics.
// No line holds a key, a token or a query: that is the client's business, and a mistyped parameter may hold a key.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../kernel/log.ts';
import { enterStage, type Call } from './call.ts';
import type { GatewayMap } from './map.ts';
import type { Metrics } from './metrics.ts';

/** Watches a call from its first policy to the end of its answer. */
export type AccessLog = (request: IncomingMessage, response: ServerResponse, call: Call) => void;

export function createAccessLog(options: { log: Log; metrics: Metrics; map: () => GatewayMap }): AccessLog {
  const { metrics, map } = options;
  // The fields are these and no others: to look for secrets in each would take longer than to write them.
  const log = options.log.child({}, { redact: [] });

  function note(request: IncomingMessage, response: ServerResponse, call: Call, bytes: number): void {
    const route = map().routeOf(call.path);
    log.info(
      {
        request_id: call.requestId,
        ip: call.clientAddress,
        account_id: call.caller?.accountId,
        key_id: call.caller?.keyId ?? undefined,
        method: request.method,
        route,
        path: route === undefined ? undefined : call.path,
        status: statusOf(response),
        code: call.failureCode,
        bytes,
        complete: response.writableFinished,
        credential_ms: thousandths(call.stageMs.credential),
        rate_ms: thousandths(call.stageMs.rate),
        quota_ms: thousandths(call.stageMs.quota),
        upstream_ms: thousandths(call.stageMs.upstream),
        answer_ms: thousandths(call.stageMs.answer),
        total_ms: thousandths(call.stageSinceMs - call.arrivedAtMs),
      },
      'call',
    );
  }

  return (request, response, call) => {
    const { socket } = request;
    const isLogged = log.isLevelEnabled('info');
    const bytesBefore = isLogged ? socket.bytesWritten : 0;
    metrics.began();
    response.on('close', () => {
      enterStage(call, undefined);
      metrics.ended({
        group: map().groupOf(call.path),
        status: statusOf(response),
        complete: response.writableFinished,
        totalMs: call.stageSinceMs - call.arrivedAtMs,
        stageMs: call.stageMs,
        failureCode: call.failureCode,
      });
      if (isLogged) note(request, response, call, socket.bytesWritten - bytesBefore);
    });
  };
}

// As nginx logs a client that left before its answer began.
const clientLeft = 499;

function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : clientLeft;
}

/** Zero is left out of the line: the call did not come so far. */
function thousandths(ms: number): number | undefined {
  return ms === 0 ? undefined : Math.round(ms * 1000) / 1000;
}
