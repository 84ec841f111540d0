// Traces for OpenTelemetry: spans that are begun and ended explicitly, sent by OTLP over HTTP. Only `openTracing` loads OpenTelemetry's packages:
// while tracing is off, a caller has no Tracing, and checks for that.
import type { Context, Span as OpenTelemetrySpan, SpanKind } from '@opentelemetry/api';
import type { Log } from '../log/log.ts';
import { programVersion } from '../project.ts';

type Attributes = Readonly<Record<string, string | number>>;

/** The kind of a span: a received request, a sent request, or work within the process. */
type Kind = 'server' | 'client' | 'internal';

export interface SpanAbout {
  name: string;
  kind: Kind;
  /** By `performance.now()`; now by default. */
  startMs?: number;
  /** Contains nothing that a client sends except the path's pattern: values may be secrets. */
  attributes?: Attributes;
}

export interface Span {
  /** The value of the header `traceparent` for requests made within the span. */
  readonly traceparent: string;
  child(about: SpanAbout): Span;
  /** @param end `failed`: whether it counts as an error. `endMs` by `performance.now()`; now by default. */
  end(end?: { endMs?: number; failed?: boolean; attributes?: Attributes }): void;
}

export interface Tracing {
  /** Begins a trace, or continues that of a well-formed header `traceparent` and follows its sampling decision. */
  begin(traceparent: string | undefined, about: SpanAbout): Span;
  /** Sends the remaining spans, for a few seconds at most. */
  close(): Promise<void>;
}

export interface TracingSettings {
  /** OTEL_EXPORTER_OTLP_ENDPOINT, without a final slash. */
  endpoint: string;
  /** The sampled fraction of the traces begun here, from 0 to 1. */
  ratio: number;
}

const sendWithinMs = 3_000;
const wellFormed = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** @param service its name in the traces, such as `almanac-gateway`. */
export async function openTracing(
  { endpoint, ratio }: TracingSettings,
  service: string,
  log: Log,
): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const warn = (message: string) => log.warn({ message }, 'traces could not be sent');
  const nothing = () => undefined;
  const diagnosis = { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
  api.diag.setLogger(diagnosis, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: sendWithinMs });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': programVersion }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('almanac', programVersion);
  const kinds: Record<Kind, SpanKind> = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };

  function beginIn(parent: Context, { name, kind, startMs, attributes = {} }: SpanAbout): Span {
    const startTime = startMs === undefined ? undefined : instantOf(startMs);
    const span = tracer.startSpan(
      name,
      { kind: kinds[kind], attributes, ...(startTime === undefined ? {} : { startTime }) },
      parent,
    );
    return {
      traceparent: traceparentOf(span),
      child: (about) => beginIn(api.trace.setSpan(api.ROOT_CONTEXT, span), about),
      end({ endMs, failed = false, attributes: more } = {}) {
        if (more !== undefined) span.setAttributes(more);
        if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end(endMs === undefined ? undefined : instantOf(endMs));
      },
    };
  }

  return {
    begin(traceparent, about) {
      const [, version, traceId = '', spanId = '', flags = ''] = wellFormed.exec(traceparent ?? '') ?? [];
      const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
      const isKnown = version !== undefined && version !== 'ff' && api.isSpanContextValid(remote);
      const parent = isKnown ? api.trace.setSpanContext(api.ROOT_CONTEXT, remote) : api.ROOT_CONTEXT;
      return beginIn(parent, about);
    },
    async close() {
      await provider
        .shutdown()
        .catch((error: unknown) => log.warn({ err: error }, 'the last traces could not be sent'));
    },
  };
}

function traceparentOf(span: OpenTelemetrySpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** An instant of `performance.now()`, as a date: OpenTelemetry guesses the meaning of a plain number from its size. */
function instantOf(ms: number): Date {
  return new Date(performance.timeOrigin + ms);
}
