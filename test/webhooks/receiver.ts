// A customer's server that records its requests and answers as a test specifies. Also a worker that sends to it.
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import type { DeliveryTiming } from '../../accounts-api/webhooks/delivery.ts';
import type { WebhookSettings } from '../../accounts-api/webhooks/webhook-tools.ts';
import { startWorker, type RunningWorker } from '../../accounts-api/worker.ts';
import type { Log } from '../../kernel/log/log.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { within } from '../run/until.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { testMail, testSignIn } from '../services/sign-in.ts';
import { localWebhooks } from './settings.ts';

export interface Request {
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** How a receiver handles a request: with a status, or in any other way. */
export type Answer = number | ((request: Request, response: ServerResponse) => void);

export interface Receiver {
  url: string;
  port: number;
  received: Request[];
  /** How it answers from now on; 204 at first. */
  answer(answer: Answer): void;
  /** The next request that was not read yet; waits for it. */
  next(): Promise<Request>;
  close(): Promise<void>;
}

export async function startReceiver(t?: Pick<ExecutionContext, 'teardown'>): Promise<Receiver> {
  const received: Request[] = [];
  const arrivals = new EventEmitter();
  const sockets = new Set<Socket>();
  let answer: Answer = 204;
  let consumed = 0;
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request: Request = {
      path: incoming.url ?? '',
      method: incoming.method ?? '',
      headers: incoming.headers as Record<string, string>,
      body: await text(incoming),
    };
    received.push(request);
    arrivals.emit('request');
    if (typeof answer === 'number') response.writeHead(answer).end();
    else answer(request, response);
  };
  const server: Server = createServer((incoming, response) => {
    respond(incoming, response).catch((error: unknown) => {
      // A sender that was killed has not sent all of it.
      if ((error as { code?: string }).code !== 'ECONNRESET') throw error;
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: (next) => void (answer = next),
    async next() {
      while (received.length <= consumed) await within('a webhook comes', once(arrivals, 'request'));
      consumed += 1;
      return received[consumed - 1] as Request;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  t?.teardown(() => receiver.close());
  return receiver;
}

/** A worker for a service, as quick as a test needs it, without jitter. */
export function startWebhookWorker(
  service: Pick<AccountsService, 'databaseUrl' | 'deps'>,
  options: Partial<WebhookSettings> & DeliveryTiming & { log?: Log; smtpUrl?: string } = {},
): Promise<RunningWorker> {
  const { plans, clock } = service.deps;
  const { log = silentLog, smtpUrl, ...webhooks } = options;
  return startWorker({
    databaseUrl: serviceUrl(service.databaseUrl, 'almanac_accounts_api'),
    ...{ plans, clock, log },
    publicUrl: testSignIn.publicUrl,
    mail: { ...testMail, smtpUrl },
    webhooks: { ...localWebhooks, pollMs: 20, random: () => 0.5, ...webhooks },
  });
}
