// The trace of a call: a span of the whole call, with one child span per stage that it reached. The stages' spans are made when the call has ended,
// from times that are recorded anyway. Only the span of the wait for a service begins with its stage, because its id is sent to the service.
import type { IncomingMessage } from 'node:http';
import type { Span, Tracing } from '../../kernel/tracing/tracing.ts';
import { stages, type Call } from '../call.ts';
import type { GatewayRoutes } from '../routes.ts';
import type { Ending } from './metrics.ts';

export type Traces = ReturnType<typeof createTraces>;

interface Traced {
  whole: Span;
  upstream: Span | undefined;
}

export function createTraces(tracing: Tracing, routes: () => GatewayRoutes) {
  const traced = new WeakMap<Call, Traced>();

  function tracedOf(request: IncomingMessage, call: Call): Traced {
    const known = traced.get(call);
    if (known !== undefined) return known;
    const { traceparent } = request.headers;
    const whole = tracing.begin(typeof traceparent === 'string' ? traceparent : undefined, {
      name: `${request.method} ${routes().placeOf(call.path).route ?? 'other'}`,
      kind: 'server',
      startMs: call.arrivedAtMs,
      attributes: { 'http.request.method': request.method ?? '', 'almanac.request_id': call.requestId },
    });
    const entry: Traced = { whole, upstream: undefined };
    traced.set(call, entry);
    return entry;
  }

  return {
    /** The value of the header `traceparent` for the request to a service. */
    forwarded(request: IncomingMessage, call: Call): string {
      const entry = tracedOf(request, call);
      entry.upstream ??= entry.whole.child({ name: 'upstream', kind: 'client', startMs: call.stageSinceMs });
      return entry.upstream.traceparent;
    },
    /** Call this once all stages have ended. */
    ended(request: IncomingMessage, call: Call, { status, complete }: Ending): void {
      const { whole, upstream } = tracedOf(request, call);
      const endMs = call.stageSinceMs;
      // Stages follow each other without a gap, up to the end of the call.
      let startMs = endMs - stages.reduce((sum, stage) => sum + call.stageMs[stage], 0);
      for (const stage of stages) {
        const stageMs = call.stageMs[stage];
        const end = { endMs: startMs + stageMs };
        if (stage === 'upstream' && upstream !== undefined) upstream.end(end);
        else if (stageMs > 0) whole.child({ name: stage, kind: 'internal', startMs }).end(end);
        startMs = end.endMs;
      }
      const attributes = {
        'http.response.status_code': status,
        ...(call.cache === undefined ? {} : { 'almanac.cache': call.cache }),
        ...(call.failureCode === undefined ? {} : { 'error.type': call.failureCode }),
      };
      whole.end({ endMs, attributes, failed: status >= 500 || !complete });
    },
  };
}
