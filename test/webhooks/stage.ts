// The stage of the tests of delivery: an account with one endpoint, a receiver behind it, and a worker.
import type { ExecutionContext } from 'ava';
import { until } from '../run/until.ts';
import { silentLog } from '../services/harness.ts';
import {
  dataOf,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';
import { newWebhook, type NewWebhook } from './endpoints.ts';
import { emit, keyEvent, messagesTo } from './events.ts';
import { startReceiver, startWebhookWorker, type Receiver, type Request } from './receiver.ts';
import { localWebhooks } from './settings.ts';

export interface Stage {
  service: AccountsService;
  client: Client;
  receiver: Receiver;
  webhook: NewWebhook;
  /** Writes an event of the account, which the endpoint hears of. @returns the name in it. */
  report(): Promise<string>;
}

/** An account with one endpoint, on its own database. The clock shows the real time, because the libraries compare it with their own. */
export async function stage(t: ExecutionContext): Promise<Stage> {
  const service = await startAccountsService(new Date().toISOString(), silentLog, {
    webhooks: localWebhooks,
  });
  t.teardown(() => service.close());
  const receiver = await startReceiver(t);
  const client = await service.newClient('pro');
  const webhook = await newWebhook(service, client, {
    url: receiver.url,
    events: ['key.revoked', 'series.updated'],
  });
  return {
    ...{ service, client, receiver, webhook },
    async report() {
      const { event, name } = keyEvent(service, client.accountId);
      await emit(service, event);
      return name;
    },
  };
}

/** A worker that ends with the test. */
export async function work(
  t: ExecutionContext,
  { service }: Stage,
  options: Parameters<typeof startWebhookWorker>[1] = {},
) {
  const worker = await startWebhookWorker(service, options);
  t.teardown(() => worker.close());
  return worker;
}

/** Resolves once a message to the endpoint has this status. */
export const untilStatus = ({ service, webhook }: Stage, status: string) =>
  until(`a message is ${status}`, async () =>
    (await messagesTo(service, webhook.id)).some((message) => message.status === status),
  );
/** The headers that the libraries verify. */
export const signatureHeaders = ({ headers }: Request) => ({
  'webhook-id': headers['webhook-id'] ?? '',
  'webhook-timestamp': headers['webhook-timestamp'] ?? '',
  'webhook-signature': headers['webhook-signature'] ?? '',
});

export interface Delivery {
  id: string;
  status: string;
  body: string;
  log: {
    at: string;
    latency_ms: number;
    status: number | null;
    error: string | null;
    response: string | null;
  }[];
}
/** A delivery as its holder reads it. */
export async function logOf(
  t: ExecutionContext,
  { service, client, webhook }: Stage,
  id: string,
): Promise<Delivery> {
  return dataOf(t, await service.as(client, `/v1/webhooks/${webhook.id}/deliveries/${id}`)) as Delivery;
}
