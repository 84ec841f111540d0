// One call is one trace: gateway, service and statements, as a receiver of OTLP over HTTP gets them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { openTracing, type Tracing } from '../../kernel/tracing/tracing.ts';
import { exempt } from '../openapi/check-answers.ts';
import { silentLog } from '../services/harness.ts';
import { startServices } from '../services/services.ts';

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status?: { code?: number };
}
type ReceivedSpan = OtlpSpan & { service: string | undefined };

interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: OtlpSpan['attributes'] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

/** A receiver of OTLP in JSON. */
async function startReceiver(t: ExecutionContext) {
  const spans: ReceivedSpan[] = [];
  let text = '';
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => void (body += chunk.toString()));
    request.on('end', () => {
      text += body;
      if (request.url === '/collector/v1/traces') {
        for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpRequest).resourceSpans) {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
          spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))));
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  exempt(url);
  return { spans, text: () => text, endpoint: `${url}/collector` };
}

const services = ['gateway', 'data-api', 'accounts-api'] as const;

async function startTraced(t: ExecutionContext, ratio = 1) {
  const receiver = await startReceiver(t);
  const opened = await Promise.all(
    services.map((name) => openTracing({ endpoint: receiver.endpoint, ratio }, `almanac-${name}`, silentLog)),
  );
  const tracing = Object.fromEntries(services.map((name, i) => [name, opened[i]])) as Record<
    (typeof services)[number],
    Tracing
  >;
  const running = await startServices({ tracing });
  let isClosed = false;
  /** Ends all, so that every span has been sent. */
  const end = async () => {
    if (isClosed) return;
    isClosed = true;
    await running.close();
    await Promise.all(opened.map((each) => each.close()));
  };
  t.teardown(end);
  return { ...running, receiver, end };
}

const textOf = (span: OtlpSpan | undefined, name: string) =>
  span?.attributes.find(({ key }) => key === name)?.value;

test('a call is one trace from the gateway to the statements of data-api, each span below the one that caused it', async (t) => {
  const { ingest, accountWithKey, call, receiver, end } = await startTraced(t);
  await ingest('series_id,date,value\nSECRET.SERIES,2024-01-31,1\n');
  const { key, accountId, keyId } = await accountWithKey();
  const answer = await call('/v1/series/SECRET.SERIES?limit=7', { key });
  t.is(answer.status, 200);
  await end();
  const { spans } = receiver;
  const root = spans.find(({ name }) => name === 'GET /v1/series/:id' || name === 'GET /v1/series/{id}');
  t.truthy(root, spans.map(({ name }) => name).join());
  t.is(root?.service, 'almanac-gateway');
  t.falsy(root?.parentSpanId);
  const trace = spans.filter(({ traceId }) => traceId === root?.traceId);
  const below = (parent: OtlpSpan | undefined) =>
    trace.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
  const stages = below(root);
  for (const stage of ['credential', 'quota', 'upstream']) {
    t.is(
      stages.filter(({ name, service }) => name === stage && service === 'almanac-gateway').length,
      1,
      stage,
    );
  }
  const upstream = stages.find(({ name }) => name === 'upstream');
  const [request, ...others] = below(upstream);
  t.deepEqual(others, []);
  t.is(request?.service, 'almanac-data-api');
  t.is(request?.name, 'GET /v1/series/:id');
  const statements = below(request);
  t.true(statements.length > 0);
  for (const statement of statements) {
    t.is(textOf(statement, 'db.system.name')?.stringValue, 'postgresql');
    t.is(statement.service, 'almanac-data-api');
    t.regex(statement.name, /^[a-z_ ]+$/);
  }
  for (const span of trace) {
    t.true(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name);
  }
  t.is(Number(textOf(root, 'http.response.status_code')?.intValue), 200);
  t.is(textOf(root, 'almanac.request_id')?.stringValue, answer.headers.get('x-request-id') ?? '-');
  t.is(textOf(request, 'almanac.request_id')?.stringValue, answer.headers.get('x-request-id') ?? '-');
  for (const secret of [key, accountId, keyId, 'SECRET', 'limit=7']) {
    t.false(receiver.text().includes(secret), secret);
  }
});

test('the trace of a client is continued, an unsampled one is not sent, and a malformed one is ignored', async (t) => {
  const { call, accountWithKey, receiver, end } = await startTraced(t, 0);
  const { key } = await accountWithKey();
  const [sampled, unsampled] = ['a'.repeat(32), 'b'.repeat(32)];
  const parent = 'c'.repeat(16);
  const traced = (traceparent: string) => call('/v1/account', { key, headers: { traceparent } });
  await traced(`00-${sampled}-${parent}-01`);
  await traced(`00-${unsampled}-${parent}-00`);
  await traced(`00-${'0'.repeat(32)}-${parent}-01`);
  await traced(`ff-${'d'.repeat(32)}-${parent}-01`);
  await end();
  const { spans } = receiver;
  t.deepEqual([...new Set(spans.map(({ traceId }) => traceId))], [sampled]);
  const root = spans.find(({ parentSpanId }) => parentSpanId === parent);
  t.is(root?.service, 'almanac-gateway');
  t.true(spans.some(({ service }) => service === 'almanac-accounts-api'));
  t.true(
    spans.some(
      ({ service, attributes }) =>
        service === 'almanac-accounts-api' && attributes.some(({ key: name }) => name === 'db.system.name'),
    ),
    'Sequelize’s statements too',
  );
});

test('a refused call has its code, and a failed one counts as an error', async (t) => {
  const { call, receiver, end } = await startTraced(t);
  t.is((await call('/v1/series/A')).status, 401);
  await end();
  const root = receiver.spans.find(({ parentSpanId }) => parentSpanId === undefined || parentSpanId === '');
  t.is(textOf(root, 'error.type')?.stringValue, 'unauthorized');
  t.is(Number(textOf(root, 'http.response.status_code')?.intValue), 401);
  t.not(root?.status?.code, 2);
  t.is(receiver.spans.filter(({ service }) => service === 'almanac-data-api').length, 0);
});

test('a receiver that is away delays no call and no end', async (t) => {
  const tracing = await openTracing({ endpoint: 'http://127.0.0.1:1', ratio: 1 }, 'almanac-test', silentLog);
  const span = tracing.begin(undefined, { name: 'work', kind: 'internal' });
  span.end();
  await t.notThrowsAsync(tracing.close());
});
