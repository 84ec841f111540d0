// Sends due messages. Any number of workers can run: one at a time sends to an endpoint, under a lease that lasts longer than an attempt; what a
// killed worker had not recorded is sent again by another. Each endpoint has few messages in flight, and a worker leases only as many endpoints as it
// has slots for, so a slow endpoint delays no other.
import { setTimeout as pause } from 'node:timers/promises';
import type { Transaction } from 'sequelize';
import { randomBase32 } from '../../kernel/credentials/base32.ts';
import type { Log } from '../../kernel/log/log.ts';
import {
  allowAsyncCommit,
  leaseWebhooks,
  putOffMessages,
  selectBodies,
  selectDueMessages,
  selectLeased,
  setLeases,
} from './sending/delivery.sql.ts';
import { plansWithWebhooks } from './fan-out.ts';
import { isSuccess } from './sending/health.ts';
import { SecretUnreadable, signatureOf } from '../secrets.ts';
import { attemptTimeoutMs, send } from './sending/send.ts';
import { openConnections } from './sending/connections.ts';
import { concurrencyOfWebhook, EndpointQueue, type Message } from './sending/endpoint-queue.ts';
import { record, type Attempted, type RecordDeps } from './sending/record.ts';
import type { WebhookTools } from './webhook-tools.ts';

/** Longer than an attempt and the recording of its result. */
const leaseMs = 30_000;
const extendBeforeMs = 20_000;
/** The maximum number of concurrent attempts, which limits a worker's memory. */
const placesMax = 512;
/** The maximum number of those to endpoints whose last attempt failed; the other slots remain for working endpoints. */
const failingMax = 256;
/** A small number, so that workers that start together share the endpoints. */
const endpointsOfTurn = 25;
/** The maximum size of bodies read ahead; at least one message is read in a turn. */
const waitingBytesMax = 16 * 2 ** 20;
/** How long results are gathered, so that one transaction records many. */
const gatherMs = 10;
const unreadableRetryMs = 5 * 60_000;

export interface DeliveryDeps extends RecordDeps {
  log: Log;
  webhooks: WebhookTools;
}

/** For tests: delays and randomness. */
export interface DeliveryTiming {
  pollMs?: number;
  attemptTimeoutMs?: number;
  /** A number from 0 to 1. */
  random?: () => number;
}

export interface Delivery {
  /** Checks at once for due messages. */
  wake(): void;
  /** Reads no further messages, and records the running attempts, which last 15 s at most. */
  close(): Promise<void>;
}

export function startDelivery(
  deps: DeliveryDeps,
  { pollMs = 500, attemptTimeoutMs: timeoutMs = attemptTimeoutMs, random = Math.random }: DeliveryTiming,
): Delivery {
  const { db, log, clock, webhooks } = deps;
  const sender = randomBase32(20);
  const outlet = { guard: webhooks.guard, connections: openConnections() };
  /** The endpoints that this worker has leased. */
  const queues = new Map<string, EndpointQueue>();
  const inFlight = new Set<Promise<void>>();
  let ended: Attempted[] = [];
  let after = '';
  const closing = new AbortController();
  let woken = Promise.withResolvers<void>();

  function wake(): void {
    woken.resolve();
  }

  /** @returns whether the attempt failed. */
  async function attempt(queue: EndpointQueue, message: Message): Promise<boolean> {
    const headers = signedHeaders(webhooks, queue, message, clock.now());
    if (headers === null) {
      await putOffUnreadable(deps, queue.id, message);
      queue.markRecorded(message.id);
      return true;
    }
    const startedAtMs = performance.now();
    const { url } = queue.webhook;
    const sent = await send(outlet, { endpoint: queue.id, url, headers, body: message.body }, timeoutMs);
    const latencyMs = Math.round(performance.now() - startedAtMs);
    ended.push({ webhookId: queue.id, message, at: clock.now(), latencyMs, sent });
    return !isSuccess(sent);
  }

  /** Begins all attempts to an endpoint that its slots allow; when one ends, the next takes its slot. */
  function advance(queue: EndpointQueue): void {
    if (closing.signal.aborted) return;
    for (let message = queue.claimNext(); message !== undefined; message = queue.claimNext()) {
      const { id } = message;
      const run = attempt(queue, message)
        .catch((error: unknown) => {
          log.error({ err: error, message: id }, 'a webhook could not be sent');
          queue.markRecorded(id);
          return true;
        })
        .then((hasFailed) => {
          inFlight.delete(run);
          queue.end(id, hasFailed);
          advance(queue);
          wake();
        });
      inFlight.add(run);
    }
  }

  /** Results that cannot be recorded are retried in the next turn. Until then their messages are not read again. */
  async function recordEnded(): Promise<void> {
    const batch = ended;
    ended = [];
    if (batch.length === 0) return;
    try {
      await record(deps, batch, random);
    } catch (error) {
      ended = [...batch, ...ended];
      throw error;
    }
    for (const { webhookId, message } of batch) queues.get(webhookId)?.markRecorded(message.id);
  }

  /** Leases endpoints, and reads the due messages of those with free slots. @returns whether more endpoints might be leased at once. */
  async function claim(): Promise<boolean> {
    const now = clock.now();
    const leaseOwner = {
      sender,
      now,
      until: new Date(now.getTime() + leaseMs),
      plans: plansWithWebhooks(deps.plans),
    };
    const all = [...queues.values()];
    const soon = now.getTime() + extendBeforeMs;
    const ending = all.filter(({ until }) => until.getTime() < soon);
    const asked = all.filter((queue) => queue.wish > 0 || ending.includes(queue));
    const turn = turnOf(all);
    const { leased, messages, idle } = await db.inLedgerTransaction(async (transaction) => {
      await allowAsyncCommit(db, transaction, true);
      const ids = idsOf(asked);
      const still = ids.length === 0 ? [] : await selectLeased(db, transaction, leaseOwner, ids);
      if (ending.length > 0) await setLeases(db, transaction, leaseOwner, idsOf(ending));
      const added = turn.most < 1 ? [] : await leaseWebhooks(db, transaction, leaseOwner, { ...turn, after });
      for (const queue of asked) if (!still.some(({ id }) => id === queue.id)) queue.forget();
      for (const webhook of still) queues.get(webhook.id)?.renew(webhook);
      for (const webhook of added) queues.set(webhook.id, new EndpointQueue(webhook, leaseOwner.until));
      const open = [...still, ...added].flatMap(({ id }) => queues.get(id) ?? []);
      const read = await readMessages(deps, transaction, { open, all: queues.values() }, now);
      const done = [...queues.values()].filter((queue) => queue.isIdle && !read.has(queue.id));
      if (done.length > 0) await setLeases(db, transaction, { sender, until: null }, idsOf(done));
      return { leased: added, messages: read, idle: done };
    });
    for (const queue of ending) queue.until = leaseOwner.until;
    for (const { id } of idle) queues.delete(id);
    const ids = idsOf(leased).toSorted();
    after = ids.findLast((id) => id <= after) ?? ids.at(-1) ?? '';
    for (const [id, those] of messages) queues.get(id)?.add(those);
    for (const queue of queues.values()) advance(queue);
    return turn.most > 0 && leased.length === turn.most;
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      let hasMore = false;
      woken = Promise.withResolvers();
      try {
        await recordEnded();
        hasMore = await claim();
      } catch (error) {
        log.warn({ err: error }, 'webhooks could not be read or recorded; will retry');
        await pause(pollMs);
      }
      if (hasMore || closing.signal.aborted) continue;
      await Promise.race([woken.promise, pause(pollMs)]);
      if (inFlight.size > 0) await pause(gatherMs);
    }
  }
  const running = run();

  return {
    wake,
    async close() {
      closing.abort();
      wake();
      await running;
      await Promise.all(inFlight);
      outlet.connections.close();
      try {
        await recordEnded();
        await setLeases(db, null, { sender, until: null }, null);
      } catch (error) {
        log.warn(
          { err: error },
          'the results of the last webhooks could not be recorded; they will be sent again',
        );
      }
    },
  };
}

const idsOf = (those: readonly { id: string }[]) => those.map(({ id }) => id);

/** How many more endpoints can be leased, given the slots of the leased ones, and whether failing ones are included. */
function turnOf(queues: readonly EndpointQueue[]): { leased: string[]; most: number; failing: boolean } {
  const used = queues.reduce((sum, { places }) => sum + places, 0);
  return {
    leased: idsOf(queues),
    most: Math.min(endpointsOfTurn, Math.floor((placesMax - used) / concurrencyOfWebhook)),
    failing: queues.filter(({ isFailing }) => isFailing).length < failingMax,
  };
}

/** The messages that these endpoints can send now, by endpoint. */
async function readMessages(
  { db }: DeliveryDeps,
  transaction: Transaction,
  { open: queues, all }: { open: readonly EndpointQueue[]; all: Iterable<EndpointQueue> },
  now: Date,
): Promise<Map<string, Message[]>> {
  const wishes = queues.flatMap(({ id, wish }) => (wish > 0 ? [{ id, most: wish }] : []));
  if (wishes.length === 0) return new Map();
  const excludedIds = queues.flatMap((queue) => queue.claimedIds);
  const bytesMax = [...all].reduce((left, { waitingBytes }) => left - waitingBytes, waitingBytesMax);
  const rows = await selectDueMessages(db, transaction, { now, wishes, excludedIds, bytesMax });
  const eventIds = new Set(rows.flatMap(({ body, event_id: id }) => (body === null ? [id] : [])));
  const bodies = await selectBodies(db, transaction, [...eventIds]);
  // Endpoints that receive the same event share its bytes.
  const sharedBodies = new Map([...bodies].map(([id, body]) => [id, Buffer.from(body)]));
  const messages = rows.flatMap(
    ({ id, webhook_id: webhookId, event_id: eventId, attempts, failures, ...row }) => {
      const body = row.body === null ? sharedBodies.get(eventId) : Buffer.from(row.body);
      return body === undefined ? [] : [{ webhookId, message: { id, attempts, failures, body } }]; // it was just deleted
    },
  );
  const byWebhook = Map.groupBy(messages, ({ webhookId }) => webhookId);
  return new Map([...byWebhook].map(([id, those]) => [id, those.map(({ message }) => message)]));
}

/** The headers of Standard Webhooks; null if the secret cannot be decrypted. An undecryptable previous secret is ignored. */
function signedHeaders(
  { secrets }: WebhookTools,
  queue: EndpointQueue,
  { id, body }: Message,
  now: Date,
): Record<string, string> | null {
  try {
    const opened = queue.secretsBy(({ id: webhookId, secret, previous_secret: previous }) =>
      [secret, ...(previous !== null && secrets.knows(previous) ? [previous] : [])].map((each) =>
        secrets.open(webhookId, each),
      ),
    );
    const timestamp = Math.floor(now.getTime() / 1000);
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf(opened, { id, timestamp, body }),
    };
  } catch (error) {
    if (error instanceof SecretUnreadable) return null;
    throw error;
  }
}

/** Postpones messages whose secret cannot be decrypted: the operator's fault, so it does not count as a failure of the endpoint. */
async function putOffUnreadable(
  { db, clock, log }: DeliveryDeps,
  webhookId: string,
  message: Message,
): Promise<void> {
  log.error(
    { webhook: webhookId },
    'the secret of a webhook was encrypted with an unknown key; set WEBHOOK_SECRET_KEY_PREVIOUS',
  );
  await putOffMessages(db, [message.id], new Date(clock.now().getTime() + unreadableRetryMs));
}
