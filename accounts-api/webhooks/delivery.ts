// Sends the messages that are due. Any number of workers may: a message is claimed for longer than an attempt lasts, so that of a
// worker that was killed is sent again by another. Each endpoint has few messages under way, so a slow one delays no other.
import { setTimeout as pause } from 'node:timers/promises';
import type { Transaction } from 'sequelize';
import type { Log } from '../../kernel/log.ts';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs.ts';
import {
  claimMessages,
  commitAtLeisure,
  concurrencyOfWebhook,
  lockDueWebhooks,
  lockWebhooks,
  recordAttempts,
  releaseMessages,
  updateHealth,
  type Claimed,
  type EndpointState,
} from './delivery.sql.ts';
import { plansWithWebhooks } from './fan-out.ts';
import { healthAfter, outcomeOf } from './health.ts';
import { SecretUnreadable, signatureOf } from './secrets.ts';
import { attemptTimeoutMs, send, type Sent } from './send.ts';
import type { WebhookTools } from './settings.ts';
import { originOf } from './webhook-fields.ts';

/** Longer than an attempt and the recording of its result. */
const claimMs = 30_000;
/** Attempts under way at once, so that the memory of a worker is bounded. */
const underWayMax = 512;
/** Of these, to endpoints whose last attempt failed: the others stay for those that work. */
const failingMax = 256;
const endpointsOfTurn = 100;
const unreadableRetryMs = 5 * 60_000;

export interface DeliveryDeps extends Deps {
  jobs: Jobs;
  log: Log;
  webhooks: WebhookTools;
  counts: DeliveryCounts;
}

/** What a worker has done since it was started. */
export interface DeliveryCounts {
  attempts: Record<'delivered' | 'refused' | 'unanswered', number>;
  /** Messages that have used up their schedule, or were answered 410. */
  failed: number;
  disabled: number;
}

/** For tests: waits, and chance. */
export interface DeliveryTiming {
  pollMs?: number;
  attemptTimeoutMs?: number;
  /** From 0 to 1. */
  random?: () => number;
}

export interface Delivery {
  /** Looks at once for messages that are due. */
  wake(): void;
  /** Claims nothing more, and records the attempts under way; they last 15 s at most. */
  close(): Promise<void>;
}

interface Attempted {
  claimed: Claimed;
  at: Date;
  latencyMs: number;
  sent: Sent;
}

export function startDelivery(
  deps: DeliveryDeps,
  { pollMs = 500, attemptTimeoutMs: timeoutMs = attemptTimeoutMs, random = Math.random }: DeliveryTiming,
): Delivery {
  const { log, clock, webhooks } = deps;
  const underWay = new Set<Promise<void>>();
  let failingUnderWay = 0;
  let ended: Attempted[] = [];
  let after = '';
  const closing = new AbortController();
  let woken = Promise.withResolvers<void>();

  function wake(): void {
    woken.resolve();
  }

  async function attempt(claimed: Claimed): Promise<void> {
    const signed = signedHeaders(webhooks, claimed, clock.now());
    if (signed === null) return releaseUnreadable(deps, claimed);
    const startedAtMs = performance.now();
    const sent = await send(webhooks.guard, { ...claimed, headers: signed }, timeoutMs);
    ended.push({ claimed, at: clock.now(), latencyMs: Math.round(performance.now() - startedAtMs), sent });
  }

  function begin(claimed: Claimed): void {
    if (claimed.is_failing) failingUnderWay += 1;
    const run = attempt(claimed)
      .catch((error: unknown) =>
        log.error({ err: error, message: claimed.id }, 'a webhook could not be sent'),
      )
      .finally(() => {
        underWay.delete(run);
        if (claimed.is_failing) failingUnderWay -= 1;
        wake();
      });
    underWay.add(run);
  }

  /** Results that cannot be recorded are, in the next turn. Until then no other messages take their places. */
  async function settle(): Promise<void> {
    const batch = ended;
    ended = [];
    if (batch.length === 0) return;
    try {
      await record(deps, batch, random);
    } catch (error) {
      ended = [...batch, ...ended];
      throw error;
    }
  }

  /** @returns whether there may be more to send at once. */
  async function claim(): Promise<boolean> {
    const room = underWayMax - underWay.size - ended.length;
    const endpointsMax = Math.min(endpointsOfTurn, Math.floor(room / concurrencyOfWebhook));
    if (endpointsMax < 1) return false;
    const now = clock.now();
    const turn = { now, plans: plansWithWebhooks(deps.plans), after, failing: failingUnderWay < failingMax };
    const { ids, claimed } = await deps.db.inLedgerTransaction(async (transaction) => {
      await commitAtLeisure(deps.db, transaction, true);
      const webhookIds = await lockDueWebhooks(deps.db, transaction, { ...turn, endpointsMax });
      const until = new Date(now.getTime() + claimMs);
      if (webhookIds.length === 0) return { ids: webhookIds, claimed: [] };
      return {
        ids: webhookIds,
        claimed: await claimMessages(deps.db, transaction, { webhookIds, now, until }),
      };
    });
    after = ids.at(-1) ?? '';
    for (const each of claimed) begin(each);
    return ids.length === endpointsMax;
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      let hasMore = false;
      woken = Promise.withResolvers();
      try {
        await settle();
        hasMore = await claim();
      } catch (error) {
        log.warn({ err: error }, 'webhooks could not be claimed or recorded; it will be tried again');
        await pause(pollMs);
      }
      if (!hasMore && !closing.signal.aborted) await Promise.race([woken.promise, pause(pollMs)]);
    }
  }
  const running = run();

  return {
    wake,
    async close() {
      closing.abort();
      wake();
      await running;
      await Promise.all(underWay);
      await settle().catch((error: unknown) =>
        log.warn({ err: error }, 'the last webhooks could not be recorded; they will be sent again'),
      );
    },
  };
}

/** The headers of Standard Webhooks; null if a secret cannot be decrypted. */
function signedHeaders(
  { secrets }: WebhookTools,
  claimed: Claimed,
  now: Date,
): Record<string, string> | null {
  const { id, body, webhook_id: webhookId, previous_secret: previous } = claimed;
  const isOverlapping = claimed.previous_secret_until !== null && claimed.previous_secret_until > now;
  const sealed = previous !== null && isOverlapping ? [claimed.secret, previous] : [claimed.secret];
  try {
    const opened = sealed.map((each) => secrets.open(webhookId, each));
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

/** The operator's fault, not the endpoint's: it is not counted as a failure, and the message waits. */
async function releaseUnreadable({ db, clock, log }: DeliveryDeps, claimed: Claimed): Promise<void> {
  log.error(
    { webhook: claimed.webhook_id },
    'the secret of a webhook was encrypted with an unknown key; set WEBHOOK_SECRET_KEY_PREVIOUS',
  );
  await releaseMessages(db, [claimed.id], new Date(clock.now().getTime() + unreadableRetryMs));
}

/** Records attempts, and what becomes of their messages and endpoints, all or nothing. */
async function record(
  deps: DeliveryDeps,
  attempts: readonly Attempted[],
  random: () => number,
): Promise<void> {
  const { db, counts } = deps;
  const results = attempts.map((attempt) => ({
    ...attempt,
    outcome: outcomeOf({ ...attempt, failures: attempt.claimed.failures }, random()),
  }));
  const disabled = await db.inLedgerTransaction(async (transaction) => {
    await commitAtLeisure(db, transaction, true);
    const states = await lockWebhooks(db, transaction, [
      ...new Set(attempts.map(({ claimed }) => claimed.webhook_id)),
    ]);
    await recordAttempts(
      db,
      transaction,
      results.map(({ claimed, at, latencyMs, sent, outcome }) => ({
        message: claimed.id,
        attempt: claimed.attempt,
        at: new Date(at.getTime() - latencyMs),
        latency_ms: latencyMs,
        http_status: sent.status,
        error: sent.error,
        response: sent.status === null ? null : sent.response,
        status: outcome.status,
        due_at: outcome.dueAt,
        failures: claimed.failures + (outcome.status === 'delivered' ? 0 : 1),
      })),
    );
    return recordHealth(deps, transaction, states, attempts);
  });
  for (const { sent, outcome } of results) {
    const kind =
      outcome.status === 'delivered' ? 'delivered' : sent.status === null ? 'unanswered' : 'refused';
    counts.attempts[kind] += 1;
    if (outcome.status === 'failed') counts.failed += 1;
  }
  counts.disabled += disabled;
}

/** @returns how many endpoints were disabled. */
async function recordHealth(
  deps: DeliveryDeps,
  transaction: Transaction,
  states: readonly EndpointState[],
  attempts: readonly Attempted[],
): Promise<number> {
  const inOrder = attempts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const changes = states.flatMap((state) => {
    let disable: 'failing' | 'gone' | null = null;
    let { health } = state;
    for (const { claimed, at, sent } of inOrder) {
      if (claimed.webhook_id !== state.id) continue;
      const next = healthAfter(health, { at, sent });
      health = next;
      if (next.disable !== null && !state.isDisabled) disable ??= next.disable;
    }
    const isSame =
      health.failingSince === state.health.failingSince &&
      health.lastFailedAt === state.health.lastFailedAt &&
      health.throttledUntil === state.health.throttledUntil;
    return isSame ? [] : [{ state, health, disable }];
  });
  if (changes.length === 0) return 0;
  const now = deps.clock.now();
  await updateHealth(
    deps.db,
    transaction,
    changes.map(({ state, health, disable }) => ({
      ...health,
      id: state.id,
      disabledAt: disable === null ? null : now,
      because: disable,
    })),
  );
  const disabled = changes.filter(({ disable }) => disable !== null);
  if (disabled.length > 0) await commitAtLeisure(deps.db, transaction, false);
  for (const { state, disable } of disabled) {
    const { accountId, id, url } = state;
    await audit(deps, transaction, {
      ...{ accountId, subject: id, action: 'webhook.disabled' },
      actor: { actorKind: 'system', actorId: null },
      detail: { because: disable, host: originOf(url) },
    });
    await deps.jobs.enqueue(transaction, { mail: 'webhook_disabled', webhookId: id });
  }
  return disabled.length;
}
