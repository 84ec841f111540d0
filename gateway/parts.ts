// Builds what the policies use, once for the life of the gateway, and closes it in an order that loses no call.
import { openRedis } from '../kernel/redis.ts';
import { createByteBudget } from '../kernel/bodies/byte-budget.ts';
import { createAccounts } from './accounts-client.ts';
import { createClients } from './client-ip.ts';
import { createFileCharges } from './heartbeat/file-charges.ts';
import { createLeasedState } from './heartbeat/leased-state.ts';
import { ConcurrencyLimiter } from './limits/concurrent-answers.ts';
import { createCredentialFailures } from './limits/failed-credentials.ts';
import { RateLimiter } from './limits/calls-per-second.ts';
import { createAccessLog } from './observability/access-log.ts';
import { gaugesOf } from './observability/gauges.ts';
import type { Metrics } from './observability/metrics.ts';
import { createReadiness } from './observability/readiness.ts';
import { createTraces } from './observability/traces.ts';
import { isPublicOnTls, type SetOptions } from './options.ts';
import { createDashboard } from './pages/dashboard.ts';
import { createForwarder } from './policies/forward.ts';
import { createDataLease, leaseSource } from './response-cache/lease.ts';
import { createAnswerCache } from './response-cache/answer-cache.ts';
import type { GatewayRoutes } from './routes.ts';
import { createUpstreams } from './upstream/upstreams.ts';

export type Parts = ReturnType<typeof createParts>;

/** @param routes the active routes. @param isDraining whether the gateway is stopping. */
export function createParts(
  options: SetOptions,
  metrics: Metrics,
  routes: () => GatewayRoutes,
  isDraining: () => boolean,
) {
  const { clock, log, identitySecret, requestWithinMs, upstreamTimeoutMs: timeoutMs } = options;
  const dataApi = createUpstreams('data-api', options.dataApiUrls);
  const accountsApi = createUpstreams('accounts-api', options.accountsApiUrls);
  const publisher = options.publisherUrls && createUpstreams('publisher', options.publisherUrls);
  const accounts = createAccounts(accountsApi, identitySecret);
  const { quotaOutage: outage, reportUsageEveryMs: flushEveryMs, closeWithinMs, leaseNowMs } = options;
  const leasedState = createLeasedState(
    { send: accounts.heartbeat, outage, flushEveryMs, closeWithinMs, clock, log },
    leaseNowMs,
  );
  const { heartbeat, journal, credentials, month } = leasedState;
  const redis = options.redisUrl === undefined ? undefined : openRedis(options.redisUrl, log);
  const rateLimiter = new RateLimiter({ redis, gateways: heartbeat.gateways, log });
  const concurrencyLimiter = new ConcurrencyLimiter({ redis, withinMs: options.answerWithinMs, log });
  const traces = options.tracing === undefined ? null : createTraces(options.tracing, routes);
  const bodies = createByteBudget(options.bodiesMb * 1024 * 1024);
  const shared = { identitySecret, traces, requestWithinMs, bodies };
  const forwarders = {
    'data-api': createForwarder({ ...shared, upstreams: dataApi, timeoutMs }),
    'accounts-api': createForwarder({ ...shared, upstreams: accountsApi, timeoutMs }),
    // Loads take longer than other calls and are not retried.
    ...(publisher && {
      publisher: createForwarder({ ...shared, upstreams: publisher, timeoutMs: 2 * timeoutMs }),
    }),
  };
  const dataLease = createDataLease(leaseSource(dataApi, identitySecret), log);
  const answerCache = createAnswerCache(Math.max(1, options.responseCacheMb * 1024 * 1024));
  return {
    ...{
      options,
      routes,
      accounts,
      credentials,
      month,
      journal,
      rateLimiter,
      concurrencyLimiter,
      forwarders,
      bodies,
    },
    fileCharges: createFileCharges(month),
    failures: createCredentialFailures({ rateLimiter, perSecond: options.publicCallsPerSecond, clock }),
    dashboardFor: createDashboard(options.dashboard, log),
    readiness: createReadiness({
      ...{ services: [dataApi, accountsApi], identitySecret, isDraining, log },
      requireReady: options.requireReady,
    }),
    /** The options of `request-id`, which opens a call. */
    opening: {
      clients: createClients(options.trustedProxyHops, log),
      isPublicOnTls: isPublicOnTls(options),
      isDraining,
      accessLog: createAccessLog({ log, metrics, routes, traces }),
    },
    /** The options of the response cache; undefined: it is disabled. */
    responses: options.responseCacheMb === 0 ? undefined : { lease: dataLease, answers: answerCache, clock },
    gauges: gaugesOf({
      services: [dataApi, accountsApi, ...(publisher ? [publisher] : [])],
      ...{ redis, journal, answers: answerCache },
    }),
    /** Loaded at the start, as accounts-api may be unavailable at the first call. */
    async open(): Promise<void> {
      await Promise.all([redis?.opened(), heartbeat.open()]);
    },
    /** Call this when no call is running. */
    async close(): Promise<void> {
      await Promise.all([concurrencyLimiter.close(), rateLimiter.close()]).finally(() => leasedState.close());
      dataLease.close();
      accounts.close();
      redis?.close();
      for (const forwarder of Object.values(forwarders)) forwarder?.close();
    },
  };
}
