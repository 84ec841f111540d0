// Records the results of attempts in their log, at their messages and at their endpoints, many in one transaction.
import type { Transaction } from 'sequelize';
import { audit } from '../../audit.ts';
import type { Deps } from '../../database.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import {
  allowAsyncCommit,
  lockWebhooks,
  recordAttempts,
  updateHealth,
  type EndpointState,
} from './delivery.sql.ts';
import { healthAfter, outcomeOf } from './health.ts';
import { originOf, type Sent } from './send.ts';
import type { Message } from './endpoint-queue.ts';

/** A worker's counts since it started. */
export interface DeliveryCounts {
  attempts: Record<'delivered' | 'refused' | 'unanswered', number>;
  /** Messages that have used up their schedule, or were answered 410. */
  failed: number;
  disabled: number;
}

export interface RecordDeps extends Deps {
  jobs: Jobs;
  counts: DeliveryCounts;
}

export interface Attempted {
  webhookId: string;
  message: Message;
  /** When it ended. */
  at: Date;
  latencyMs: number;
  sent: Sent;
}

/** Records attempts and the resulting state of their messages and endpoints, all or nothing. */
export async function record(
  deps: RecordDeps,
  attempts: readonly Attempted[],
  random: () => number,
): Promise<void> {
  const { db, counts } = deps;
  const results = attempts.map((attempt) => ({
    ...attempt,
    outcome: outcomeOf({ ...attempt, failures: attempt.message.failures }, random()),
  }));
  const disabled = await db.inLedgerTransaction(async (transaction) => {
    await allowAsyncCommit(db, transaction, true);
    const states = await lockWebhooks(db, transaction, [
      ...new Set(attempts.map(({ webhookId }) => webhookId)),
    ]);
    await recordAttempts(
      db,
      transaction,
      results.map(({ message, at, latencyMs, sent, outcome }) => ({
        message: message.id,
        attempts: message.attempts,
        at: new Date(at.getTime() - latencyMs),
        latency_ms: latencyMs,
        http_status: sent.status,
        error: sent.error,
        response: sent.status === null ? null : sent.response,
        status: outcome.status,
        due_at: outcome.dueAt,
        failures: message.failures + (outcome.status === 'delivered' ? 0 : 1),
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
  deps: RecordDeps,
  transaction: Transaction,
  states: readonly EndpointState[],
  attempts: readonly Attempted[],
): Promise<number> {
  const inOrder = attempts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const byWebhook = Map.groupBy(inOrder, ({ webhookId }) => webhookId);
  const changes = states.flatMap((state) => {
    let disable: 'failing' | 'gone' | null = null;
    let { health } = state;
    for (const { at, sent } of byWebhook.get(state.id) ?? []) {
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
  if (disabled.length > 0) await allowAsyncCommit(deps.db, transaction, false);
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
