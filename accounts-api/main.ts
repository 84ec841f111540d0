// Starts accounts-api: the service that owns accounts, sign-in, sessions, API keys, quota and the usage ledger.
import type { Clock } from '../kernel/clock.ts';
import { createCursors } from '../kernel/http/cursor.ts';
import type { ServiceCertificate } from '../kernel/http/certificate.ts';
import { startService, type RunningService } from '../kernel/http/server.ts';
import { createOpener } from '../kernel/identity.ts';
import { serverMetrics } from '../kernel/metrics/database.ts';
import { redisMetrics } from '../kernel/metrics/redis.ts';
import { createServiceMetrics } from '../kernel/metrics/service.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { Tracing } from '../kernel/tracing/tracing.ts';
import type { Log } from '../kernel/log/log.ts';
import type { Plans } from '../kernel/plans.ts';
import { openRedis } from '../kernel/redis.ts';
import type { StripeSettings } from '../kernel/settings/settings.ts';
import { requireSchema, type Migration } from '../kernel/schema.sql.ts';
import { openServiceClock } from '../kernel/time/database-clock.ts';
import { repeat } from '../kernel/time/repeat.ts';
import { createBilling, createClaimTokens } from './billing/connection.ts';
import { connect } from './database.ts';
import type { SignInSettings } from './deps.ts';
import { createUnsubscribeTokens } from './follows/unsubscribe-tokens.ts';
import { prune } from './housekeeping.sql.ts';
import { closeLives } from './heartbeat/blocks.ts';
import { openJobs } from './jobs/jobs.ts';
import { createOpenId } from './auth/google-openid.ts';
import { createPasswords, type HashCost } from './auth/passwords.ts';
import { toRoutes } from './routes.ts';
import { createThrottle } from './auth/throttle.ts';
import { openWebhookTools, type WebhookSettings } from './webhooks/webhook-tools.ts';

export interface AccountsApiOptions {
  databaseUrl: string;
  /** The migrations that the database must have for readiness. Undefined: it need only answer. */
  schema?: readonly Migration[] | undefined;
  identitySecret: string;
  /** The previous secret, which gateways may still use while the secret is being replaced. */
  previousIdentitySecret?: string | undefined;
  plans: Plans;
  signIn: SignInSettings;
  /** Undefined: secrets are encrypted with a key derived from identitySecret, and only public addresses are allowed. */
  webhooks?: WebhookSettings | undefined;
  /** The cost of new password hashes; tests use less than the default. */
  passwordCost?: HashCost | undefined;
  /** Undefined: no plan can be bought. */
  stripe?: StripeSettings | undefined;
  /** Undefined: sign-in attempts are counted in this process. */
  redisUrl: string | undefined;
  host: string;
  port: number;
  /** How long close() keeps serving after /readyz has changed to 503; 0 by default. */
  drainDelayMs?: number | undefined;
  /** The certificate for TLS. Undefined: plain HTTP, for the gateway only. */
  certificate?: ServiceCertificate | undefined;
  /** Logs each statement that takes longer; 0, the default, logs none. */
  slowStatementMs?: number | undefined;
  /** Continues the traces of gateways; without it calls are not traced. */
  tracing?: Tracing | undefined;
  log: Log;
  /** Default: PostgreSQL's, which all instances share. */
  clock?: Clock;
}

const pruneEveryMs = 60 * 60_000;
const closeEveryMs = 1_000;

/** Starts the service. `close()` finishes the running calls, then closes the connections. */
export async function start(
  options: AccountsApiOptions,
): Promise<RunningService & { metrics: readonly Metric[] }> {
  const { plans, log, slowStatementMs } = options;
  const { google, ...settings } = options.signIn;
  const redis = options.redisUrl === undefined ? undefined : openRedis(options.redisUrl, log);
  const db = connect(options.databaseUrl, { log, failsWhenStalled: true, slowStatementMs });
  const ownClock = await openServiceClock(options.clock, db.read, log);
  const { clock } = ownClock;
  const jobs = openJobs(db.sequelize, options.databaseUrl, log);
  const webhookSettings = options.webhooks ?? { secretKeys: [options.identitySecret] };
  const webhooks = openWebhookTools(webhookSettings);
  const throttle = createThrottle({ redis, secret: options.identitySecret, clock });
  const close = async () => {
    await ownClock.close();
    await jobs.close();
    await db.close();
    redis?.close();
  };
  const metrics = createServiceMetrics('accounts-api');
  const service = await startService({
    log,
    metrics,
    tracing: options.tracing,
    publicUrl: settings.publicUrl,
    routes: toRoutes({
      db,
      plans,
      clock,
      log,
      jobs,
      throttle,
      passwords: createPasswords(options.passwordCost),
      openId:
        google === undefined
          ? null
          : createOpenId(google, `${settings.publicUrl}/auth/google/callback`, clock),
      billing: options.stripe === undefined ? null : createBilling(options.stripe),
      claimTokenOf: createClaimTokens(options.identitySecret),
      settings,
      cursors: createCursors(options.identitySecret),
      webhooks,
      unsubscribeTokens: createUnsubscribeTokens(webhookSettings.secretKeys),
      secrets: webhooks.secrets,
    }),
    openIdentity: createOpener(options.identitySecret, 'accounts-api', options.previousIdentitySecret),
    async ready() {
      ownClock.requireSynchronised();
      await requireSchema(db.read, options.schema ?? []);
    },
    host: options.host,
    port: options.port,
    portSetting: 'ACCOUNTS_API_PORT',
    drainDelayMs: options.drainDelayMs,
    certificate: options.certificate,
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const warn = (fault: string) => (error: unknown) => log.warn({ err: error }, fault);
  const repeated = [
    repeat(() => prune(db, clock.now()), { everyMs: pruneEveryMs, onError: warn('pruning failed') }),
    repeat(() => closeLives({ db, plans, clock }), {
      everyMs: closeEveryMs,
      onError: warn('closing silent gateways failed'),
    }),
  ];
  jobs.warmUp();
  return {
    url: service.url,
    metrics: [
      ...metrics.metrics,
      ...db.metrics,
      ...serverMetrics({ service: 'accounts-api', server: 'primary' }, db.read, log),
      ...(redis === undefined ? [] : redisMetrics('accounts-api', redis, log)),
    ],
    async close() {
      await service.close();
      await Promise.all(repeated.map((each) => each.close()));
      await close();
    },
  };
}
