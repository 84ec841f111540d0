// The worker's webhook tasks: turns events into messages, sends them, deletes old ones, and re-encrypts secrets.
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../kernel/log/log.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import { repeat } from '../../kernel/time/repeat.ts';
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { startDelivery, type DeliveryTiming } from './delivery.ts';
import { pruneWebhooks, removeMessagesOfDeleted } from './retention.ts';
import { selectBacklog, type Backlog } from './sending/delivery.sql.ts';
import { fanOut, plansWithWebhooks } from './fan-out.ts';
import type { DeliveryCounts } from './sending/record.ts';
import { renewAuthenticators } from '../sessions/renew-authenticators.ts';
import { countUnreadableAuthenticators } from '../sessions/second-factor.sql.ts';
import { openWebhookTools, type WebhookSettings, type WebhookTools } from './webhook-tools.ts';
import { countWebhooks, deletePreviousSecrets, selectOutdatedSecrets } from './webhooks.sql.ts';

const pruneEveryMs = 60 * 60_000;
const renewBatch = 200;
const removeEveryMs = 60_000;
const countEveryMs = 10_000;

export interface WebhookWorker {
  gauges: readonly Metric[];
  close(): Promise<void>;
}

export function startWebhooks(
  deps: Deps & { jobs: Jobs; log: Log },
  settings: WebhookSettings,
  timing: DeliveryTiming = {},
): WebhookWorker {
  const { log } = deps;
  const webhooks = openWebhookTools(settings);
  const counts: DeliveryCounts = {
    attempts: { delivered: 0, refused: 0, unanswered: 0 },
    failed: 0,
    disabled: 0,
  };
  const delivery = startDelivery({ ...deps, webhooks, counts }, timing);
  const closing = new AbortController();
  const { pollMs = 500 } = timing;

  async function makeMessages(): Promise<void> {
    while (!closing.signal.aborted) {
      const events = await fanOut(deps).catch((error: unknown) => {
        log.warn({ err: error }, 'events could not be turned into webhook messages; will retry');
        return 0;
      });
      if (events > 0) delivery.wake();
      else await pause(pollMs, undefined, { signal: closing.signal }).catch(() => undefined); // aborted by close()
    }
  }
  const making = makeMessages();
  const every = (everyMs: number, work: () => Promise<void>, fault: string) =>
    repeat(work, { everyMs, atOnce: true, onError: (error) => log.warn({ err: error }, fault) });
  let backlog: Backlog = { outbox: 0, outboxSeconds: 0, pending: 0, overdueSeconds: 0 };
  const timers = [
    every(pruneEveryMs, () => pruneWebhooks(deps), 'old webhook messages could not be deleted'),
    every(
      removeEveryMs,
      () => removeMessagesOfDeleted(deps),
      'messages of deleted webhooks could not be deleted',
    ),
    every(
      pruneEveryMs,
      async () => {
        await renewSecrets(deps, webhooks);
        await renewAuthenticators(deps, webhooks.secrets);
      },
      'webhook secrets could not be re-encrypted',
    ),
    every(
      countEveryMs,
      async () => {
        const now = deps.clock.now();
        backlog = await selectBacklog(deps.db, { now, plans: plansWithWebhooks(deps.plans) });
      },
      'the backlog of webhooks could not be counted',
    ),
  ];
  return {
    gauges: gaugesOf(counts, () => backlog),
    async close() {
      closing.abort();
      await Promise.all(timers.map((timer) => timer.close()));
      await making;
      await delivery.close();
    },
  };
}

/**
 * Re-encrypts secrets that were encrypted with a previous key, so that the previous key can be removed. Deletes previous secrets whose overlap is
 * over. A secret that cannot be decrypted stays unchanged: its key may still be set.
 */
export async function renewSecrets(
  { db, log, clock }: Deps & { log: Log },
  { secrets }: WebhookTools,
): Promise<void> {
  await deletePreviousSecrets(db, clock.now());
  const renewed = (webhook: string, sealed: string) => {
    if (secrets.knows(sealed)) return secrets.renew(webhook, sealed);
    log.error({ webhook }, 'a secret of a webhook cannot be decrypted; set WEBHOOK_SECRET_KEY_PREVIOUS');
    return sealed;
  };
  for (let after = ''; ;) {
    const last = await db.inLedgerTransaction(async (transaction) => {
      const batch = { keyId: secrets.keyId, after, limit: renewBatch };
      const rows = await selectOutdatedSecrets(db, transaction, batch);
      for (const { id, secret, previous_secret: previous } of rows) {
        const previousSecret = previous === null ? null : renewed(id, previous);
        await db.webhooks.update(
          { secret: renewed(id, secret), previousSecret },
          { where: { id }, transaction },
        );
      }
      return rows.length === renewBatch ? rows.at(-1)?.id : undefined;
    });
    if (last === undefined) return;
    after = last;
  }
}

/** Longer than a busy worker needs. */
const lateSeconds = 300;

/**
 * The state of webhooks for the operator, in one sentence. @param isServed whether a worker should be running.
 * @throws Error if secrets cannot be decrypted, or messages have been overdue for minutes.
 */
export async function describeWebhooks(
  { db, plans, clock }: Deps,
  { settings, isServed }: { settings: WebhookSettings; isServed: boolean },
): Promise<string> {
  const { keyIds } = openWebhookTools(settings).secrets;
  const now = clock.now();
  const { all, unreadable } = await countWebhooks(db, { keyIds, now });
  if (unreadable > 0) {
    throw new Error(
      `the secrets of ${unreadable} webhooks were encrypted with an unknown key; set WEBHOOK_SECRET_KEY_PREVIOUS`,
    );
  }
  const apps = await countUnreadableAuthenticators(db, keyIds);
  if (apps > 0) {
    throw new Error(
      `the secrets of ${apps} authenticator apps were encrypted with an unknown key; set WEBHOOK_SECRET_KEY_PREVIOUS`,
    );
  }
  const backlog = await selectBacklog(db, { now, plans: plansWithWebhooks(plans) });
  const { outbox, outboxSeconds, pending, overdueSeconds } = backlog;
  const waited = Math.round(Math.max(outboxSeconds, overdueSeconds));
  const waiting = `${outbox} events and ${pending} messages are waiting`;
  if (isServed && waited > lateSeconds) {
    throw new Error(`${waiting}, some of them for ${waited} s; is a worker running?`);
  }
  const { allowCidrs = [], allowHttp = false } = settings;
  const to = ['public addresses', ...allowCidrs].join(', ');
  return `${all} endpoints, ${waiting}; sent by ${allowHttp ? 'http and https' : 'https'} to ${to}`;
}

function gaugesOf(counts: DeliveryCounts, backlog: () => Backlog): Metric[] {
  const one = (
    name: string,
    help: string,
    read: () => number,
    type: 'gauge' | 'counter' = 'gauge',
  ): Metric => ({
    ...{ name, help, type },
    read: () => [{ value: read() }],
  });
  return [
    {
      name: 'almanac_webhooks_attempts_total',
      help: 'Attempts to send a message, by outcome: delivered (2xx), refused (another answer), unanswered.',
      type: 'counter',
      read: () => Object.entries(counts.attempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    one(
      'almanac_webhooks_failed_total',
      'Messages that have failed permanently.',
      () => counts.failed,
      'counter',
    ),
    one(
      'almanac_webhooks_disabled_total',
      'Endpoints disabled after failures or an answer of 410.',
      () => counts.disabled,
      'counter',
    ),
    one('almanac_webhooks_pending', 'Messages that wait for their next attempt.', () => backlog().pending),
    one(
      'almanac_webhooks_overdue_seconds',
      'How long the oldest due message has been due.',
      () => backlog().overdueSeconds,
    ),
    one(
      'almanac_webhooks_outbox',
      'Events that have not been turned into messages yet.',
      () => backlog().outbox,
    ),
  ];
}
