// The gateway under test, and a small HTTP server that records requests. The server replaces data-api, if a test checks what the gateway forwards or
// needs an answer that data-api would not give; or it is in front of accounts-api, to record the requests that reach it.
// Keys, plans, quota and usage are always those of accounts-api (`startAccountsService`).
import { exempt } from '../openapi/check-answers.ts';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { start, type GatewayOptions, type RunningGateway } from '../../gateway/main.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { createOpener, identityHeader, type Identity, type Service } from '../../kernel/identity.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { fakeClock, silentLog, testIdentitySecret } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';

/** The time of the clocks in these tests. */
export const noon = '2026-11-20T12:00:00.000Z';

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  headerNames: string[];
  body: string;
  identity: Identity | null;
  /** Resolves when the gateway cut the call before it was answered. */
  cut: Promise<void>;
}

export type Answer = (request: Received, response: ServerResponse) => void;

export interface Upstream {
  url: string;
  received: Received[];
  /** How client calls are answered. */
  answer: Answer;
  /** If given, how the gateway's own calls are answered. */
  answerOurselves?: Answer | undefined;
  close(): Promise<void>;
}

/** Answers 200 with a small body. */
export const answerPlainly: Answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"success":true}');
};

/**
 * Records every client call, and gives it a simple answer. @param service whose identities it opens.
 * @param before the service that answers instead; it also answers the gateway's own calls, which are not recorded.
 */
export async function startRecordingUpstream(service: Service, before?: string): Promise<Upstream> {
  exempt();
  const open = createOpener(testIdentitySecret, service);
  const upstream: Upstream = {
    url: '',
    received: [],
    answer: before === undefined ? answerPlainly : (request, response) => passOn(before, request, response),
    close: () => closeServer(server),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: target = '' } = request;
    const identity = open(String(request.headers[identityHeader]), method, target);
    const received = describe(request, response, Buffer.concat(chunks).toString(), identity);
    response.setHeader('x-request-id', String(request.headers['x-request-id']));
    const isOfClient = identity?.scope !== 'internal' && request.url !== '/readyz';
    if (isOfClient) {
      upstream.received.push(received);
      upstream.answer(received, response);
    } else if (upstream.answerOurselves !== undefined) upstream.answerOurselves(received, response);
    else if (before === undefined) answerPlainly(received, response);
    else passOn(before, received, response);
  });
  upstream.url = await listen(server, '127.0.0.1', 0);
  return upstream;
}

function describe(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  identity: Identity | null,
): Received {
  const { method = '', url = '', headers } = request;
  const headerNames = request.rawHeaders.filter((_name, i) => i % 2 === 0);
  const cut = new Promise<void>((resolve) => {
    response.once('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
  return { method, url, headers, headerNames, body, identity, cut };
}

/** Answers like the service. */
export function passOn(to: string, { method, url, headers, body }: Received, response: ServerResponse): void {
  const onward = httpRequest(to + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  onward.once('error', () => response.destroy());
  onward.end(body);
}

/** Default options of a gateway: a free port, no other gateway, no Redis. */
export const plainOptions = {
  identitySecret: testIdentitySecret,
  redisUrl: undefined,
  trustedProxyHops: 0,
  publicCallsPerSecond: 10_000,
  managementCallsPerSecond: 10_000,
  drainDelayMs: 0,
  host: '127.0.0.1',
  port: 0,
  log: silentLog,
} satisfies Partial<GatewayOptions>;

export interface TestGateway {
  url: string;
  gateway: RunningGateway;
  /** The replacement of data-api. */
  dataApi: Upstream;
  /** Closes both; a second call has no effect. */
  close(): Promise<void>;
}

/**
 * The real gateway with a recording upstream in place of data-api. @param accounts the real accounts-api; omitted in tests of public paths, where no
 * service is needed.
 */
export async function startTestGateway({
  accounts,
  ...overrides
}: Partial<GatewayOptions> & {
  accounts?: Pick<AccountsService, 'url' | 'clock'>;
} = {}): Promise<TestGateway> {
  const dataApi = await startRecordingUpstream('data-api');
  const started = start({
    ...plainOptions,
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [accounts?.url ?? 'http://127.0.0.1:1'],
    plans: projectPlans(),
    clock: accounts?.clock ?? fakeClock(noon),
    reportUsageEveryMs: 20,
    ...(accounts === undefined && { closeWithinMs: 0 }), // there is no service to receive the last usage
    responseCacheMb: 0, // tests count the requests that reach data-api
    ...overrides,
  });
  const gateway = closedOnce(
    await started.catch(async (error: unknown) => {
      await dataApi.close();
      throw error;
    }),
  );
  return closedOnce({
    url: gateway.url,
    gateway,
    dataApi,
    async close() {
      await gateway.close();
      await dataApi.close();
    },
  });
}

/** The same, but a second `close` waits for the first, as both a test and its teardown may close it. */
export function closedOnce<T extends { close(): Promise<void> }>(running: T): T {
  let closed: Promise<void> | undefined;
  return { ...running, close: () => (closed ??= running.close()) };
}
