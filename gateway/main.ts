// Starts the gateway: builds the policies, has the engine run them by the routes, and stops without losing a call.
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { closeServer, listen, type RunningService } from '../kernel/http/server.ts';
import { credentialLeaseMs } from '../kernel/credentials/cache.ts';
import type { Log } from '../kernel/log/log.ts';
import { serveMetrics } from '../kernel/metrics/server.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import { openRedis } from '../kernel/redis.ts';
import type { Tracing } from '../kernel/tracing/tracing.ts';
import type { Plans } from '../kernel/plans.ts';
import { createByteBudget } from '../kernel/bodies/byte-budget.ts';
import { createAccounts } from './accounts.ts';
import { stripeEvents } from './bodies/stripe-events.ts';
import { createClients } from './client-ip.ts';
import { createAdmissions } from './quota/admission.ts';
import { createAccessLog } from './observability/access-log.ts';
import { createCredentialFailures } from './limits/failures.ts';
import { createDataLease } from './response-cache/data-lease.ts';
import { createKeptAnswers } from './response-cache/kept-answers.ts';
import { createLease } from './lease.ts';
import { createProcessCache } from './credentials/process-cache.ts';
import { createRedisCache } from './credentials/redis-cache.ts';
import { runEngine } from './engine.ts';
import { answerFailure } from './failure.ts';
import { compilePipelines } from './compiled.ts';
import { Answers } from './limits/answers.ts';
import { createJournal } from './quota/journal.ts';
import { claimDirectory, type ClaimedDirectory } from './quota/journal-lock.ts';
import { Seconds } from './limits/seconds.ts';
import { loadRoutes, type GatewayRoutes } from './routes.ts';
import { gaugesOf } from './observability/gauges.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { createReadiness } from './observability/readiness.ts';
import { createTraces } from './observability/traces.ts';
import { createMonth, type QuotaOutage } from './quota/month.ts';
import { admission } from './policies/admission.ts';
import { concurrency } from './policies/concurrency.ts';
import { cors } from './policies/cors.ts';
import { createDashboard, dashboardAction } from './pages/dashboard.ts';
import { createCallerContexts, credential, credentialAction } from './policies/credential.ts';
import { createForwarder, notSetUp } from './policies/forward.ts';
import { framing, framingAction } from './policies/framing.ts';
import { health } from './policies/health.ts';
import { notFound } from './policies/not-found.ts';
import { page, pageNames } from './pages/page.ts';
import { pathCheck } from './policies/path-check.ts';
import { plan, planAction } from './policies/plan.ts';
import { quota } from './policies/quota.ts';
import { rate, rateAction } from './policies/rate.ts';
import { requestId } from './policies/request-id.ts';
import { responseCache } from './policies/response-cache.ts';
import { session } from './policies/session.ts';
import { usage } from './policies/usage.ts';
import { withAction, withoutAction, type BuildPolicy } from './policy.ts';
import type { Prepared } from './plugin.ts';
import { createAllotments } from './quota/allotments.ts';
import { leaseClock } from './quota/hold.ts';
import { createProcessAllotments } from './quota/process-allotments.ts';
import { createRedisAllotments } from './quota/redis-allotments.ts';
import { createGatewayServer, type Pipelines } from './server.ts';
import { createUpstreams } from './upstream/upstreams.ts';

export interface GatewayOptions {
  dataApiUrls: readonly string[];
  accountsApiUrls: readonly string[];
  /** Of the publisher, for the calls of operators about data; undefined: they are answered 404. */
  publisherUrls?: readonly string[] | undefined;
  identitySecret: string;
  plans: Plans;
  /** Undefined: credentials, quota allotments and rate limits are kept in this process. */
  redisUrl: string | undefined;
  trustedProxyHops: number;
  publicCallsPerSecond: number;
  /** With one key or session, for calls that manage the account. */
  managementCallsPerSecond: number;
  /** The public URL of the gateway; if it is https, browsers are told to use nothing else. */
  publicUrl?: string;
  /** Origins whose pages may call account and sign-in endpoints, besides the gateway's own; none by default. */
  dashboardOrigins?: readonly string[];
  /** The directory of the built dashboard, once it is built; by default none is served. Calls of the API do not wait for it. */
  dashboard?: Promise<string>;
  /** How long close() continues to serve after /readyz has turned to 503. */
  drainDelayMs: number;
  host: string;
  port: number;
  log: Log;
  clock: Clock;
  /** The directory of gateway.config.yml, system.config.yml and models/; by default the project's config/. */
  configDirectory?: string;
  /** How long a service may be silent; 30 s by default. */
  upstreamTimeoutMs?: number;
  /** How long the whole answer to a data call may take; 5 minutes by default. */
  answerWithinMs?: number;
  /** How much memory answers of data-api may take, in MB; 64 by default, 0: none are kept. */
  responseCacheMb?: number;
  /** How long the body of an upload may be, in MB; 64 by default. */
  uploadMb?: number;
  /** How much memory the bodies of clients' requests may take, all together, in MB; 32 by default. */
  bodiesMb?: number;
  /** What is served if the remaining quota of a month is unknown; `bounded` by default. */
  quotaOutage?: QuotaOutage;
  /** How often usage is reported to accounts-api; 250 ms by default. */
  settleEveryMs?: number;
  /** Unreported usage is stored in it, in a subdirectory of this gateway; by default only in memory. */
  journalDirectory?: string;
  /** How long a client may take to send a request, a third of it for the headers; 30 s by default. */
  requestWithinMs?: number;
  /** Rejects while calls cannot be served, for a reason that no service behind knows; /readyz then answers 503. */
  requireReady?: () => Promise<void>;
  /** Where /metrics is served; not served by default. */
  metrics?: { host: string; port: number };
  /** Served there too: those of other services in this process. */
  moreMetrics?: readonly Metric[];
  /** By default calls are not traced. */
  tracing?: Tracing | undefined;
}

export interface RunningGateway extends RunningService {
  /** `http://host:port` of /metrics; undefined if it is not served. */
  metricsUrl: string | undefined;
  /**
   * Reads gateway.config.yml again and builds new pipelines from it. Calls under way end with the old ones.
   * @returns applies all of it at once. @throws Error that says what is wrong with the file.
   */
  prepareReload(): Promise<() => void>;
}

const upstreamTimeoutMs = 30_000;
const requestWithinMs = 30_000;
const closeJournalWithinMs = 10_000;
/**
 * A change of a credential waits for leases on process caches, so these are short, and lapse without calls. If Redis cannot be written,
 * it waits until each gateway with Redis has renewed its lease.
 */
const leaseRenewal = {
  redis: { renewEveryMs: 300, idleAfterMs: Infinity },
  process: { renewEveryMs: 100, idleAfterMs: 1_000 },
} as const;
const redisAnswersWithinMs = 2_000;
const answerWithinMs = 300_000;
const responseCacheMb = 64;
const uploadMb = 64;
const bodiesMb = 32;

/** @throws Error if gateway.config.yml is invalid, one of its policies does not exist, the port is taken, or the journal cannot be kept. */
export async function start(options: GatewayOptions): Promise<RunningGateway> {
  const { log } = options;
  const configDirectory = options.configDirectory ?? path.resolve(import.meta.dirname, '../config');
  const metrics = createMetrics();
  let inForce: (Pipelines & { routes: GatewayRoutes }) | undefined;
  const current = () => {
    if (inForce === undefined) throw new Error('The gateway takes no calls before its pipelines are built.');
    return inForce;
  };
  const gateway = assemble(options, metrics, () => current().routes);
  let scraped: RunningService | undefined;
  let journal: ClaimedDirectory | undefined;
  try {
    const build = () => buildPipelines(configDirectory, gateway.policies, log);
    inForce = await build();
    const timeoutMs = options.upstreamTimeoutMs ?? upstreamTimeoutMs;
    const requestMs = options.requestWithinMs ?? requestWithinMs;
    const server = createGatewayServer({
      pipelines: current,
      requestWithinMs: requestMs,
      isPublicOnTls: isPublicOnTls(options),
      stalledAfterMs: 2 * timeoutMs + requestMs, // a service may be silent twice, as reads are repeated
      metrics,
      log,
    });
    await gateway.open();
    scraped =
      options.metrics &&
      (await serveMetrics(
        [...metrics.metrics, ...gateway.gauges, ...(options.moreMetrics ?? [])],
        options.metrics,
        async () => void (await gateway.readiness()),
      ));
    const url = await listen(server, options.host, options.port);
    if (options.journalDirectory !== undefined) {
      try {
        journal = claimDirectory(options.journalDirectory, log);
        gateway.keepJournalIn(journal.path);
      } catch (error) {
        await closeServer(server);
        throw error;
      }
    }
    return {
      url,
      metricsUrl: scraped?.url,
      async prepareReload() {
        const next = await build();
        return () => void (inForce = next);
      },
      async close() {
        gateway.beginDrain();
        await pause(options.drainDelayMs);
        await closeServer(server);
        await gateway.close();
        journal?.release();
        await scraped?.close();
      },
    };
  } catch (error) {
    await gateway.close();
    journal?.release();
    await scraped?.close();
    throw error;
  }
}

/** Builds the pipelines of gateway.config.yml, without affecting the running ones. @throws Error if the file is invalid. */
async function buildPipelines(
  configDirectory: string,
  policies: Readonly<Record<string, BuildPolicy>>,
  log: Log,
): Promise<Pipelines & { routes: GatewayRoutes }> {
  const routes = loadRoutes(path.join(configDirectory, 'gateway.config.yml'), Object.keys(policies));
  const answer: Prepared['answerFailure'] = (request, response, thrown) =>
    answerFailure(log, request, response, thrown);
  const runCompiled = compilePipelines(routes, policies, answer);
  const engine = { policies, gatewayConfig: routes.forEngine, answerFailure: answer };
  return { routes, runCompiled, app: await runEngine(configDirectory, engine) };
}

function isPublicOnTls({ publicUrl }: GatewayOptions): boolean {
  return publicUrl !== undefined && new URL(publicUrl).protocol === 'https:';
}

/** Builds all dependencies of the policies, once, and passes them on. */
function assemble(options: GatewayOptions, metrics: Metrics, routes: () => GatewayRoutes) {
  const { plans, clock, log, identitySecret } = options;
  const { publicCallsPerSecond, managementCallsPerSecond } = options;
  const dataApi = createUpstreams('data-api', options.dataApiUrls);
  const accountsApi = createUpstreams('accounts-api', options.accountsApiUrls);
  const publisher = options.publisherUrls && createUpstreams('publisher', options.publisherUrls);
  let draining = false;
  const isDraining = () => draining;
  const journal = createJournal({
    send: (batch) => accounts.settle(batch),
    flushEveryMs: options.settleEveryMs ?? 250,
    closeWithinMs: closeJournalWithinMs,
    clock,
    log,
  });
  const accounts = createAccounts({ upstreams: accountsApi, identitySecret });
  const redis = options.redisUrl === undefined ? undefined : openRedis(options.redisUrl, log);
  const ask = (keyHash: string) => accounts.key(keyHash);
  const cacheIn = redis === undefined ? 'process' : 'redis';
  const lease = createLease<number>({
    on: 'the credential cache',
    ask: (using) => accounts.leaseCredentialCache(cacheIn, using),
    end: () => accounts.endCredentialLease(),
    leaseMs: credentialLeaseMs[cacheIn],
    ...leaseRenewal[cacheIn],
    log,
  });
  const redisCache = redis && createRedisCache({ redis, lease, ask, clock });
  const findKey = redisCache?.find ?? createProcessCache({ lease, ask, clock });
  const seconds = new Seconds({ redis, gateways: () => 1, log });
  const failures = createCredentialFailures({ seconds, perSecond: publicCallsPerSecond, clock });
  const nowMs = leaseClock(clock);
  const redisAllotments = redis && createRedisAllotments({ redis, journal, clock, nowMs });
  const processAllotments = createProcessAllotments({ journal, accounts, nowMs, log });
  const topUps = { accounts, clock, nowMs, log };
  const month = createMonth({
    inRedis: redisAllotments && createAllotments(redisAllotments, topUps),
    inProcess: createAllotments(processAllotments, topUps),
    journal,
    outage: options.quotaOutage ?? 'bounded',
    clock,
  });
  const admissions =
    redis &&
    redisCache &&
    redisAllotments &&
    createAdmissions({ redis, credentials: redisCache, allotments: redisAllotments, month, plans });
  const timeoutMs = options.upstreamTimeoutMs ?? upstreamTimeoutMs;
  const traces = options.tracing === undefined ? null : createTraces(options.tracing, routes);
  const shared = {
    ...{ identitySecret, traces, requestWithinMs: options.requestWithinMs ?? requestWithinMs },
    bodies: createByteBudget((options.bodiesMb ?? bodiesMb) * 1024 * 1024),
  };
  const forwarders = {
    'data-api': createForwarder({ ...shared, upstreams: dataApi, timeoutMs }),
    'accounts-api': createForwarder({ ...shared, upstreams: accountsApi, timeoutMs }),
    ...(publisher && {
      publisher: createForwarder({
        ...{ ...shared, upstreams: publisher },
        timeoutMs: 2 * timeoutMs, // loads take longer than other calls, and are not repeated
      }),
    }),
  };
  const dataLease = createDataLease({ upstreams: dataApi, identitySecret, log });
  const cacheMb = options.responseCacheMb ?? responseCacheMb;
  const keptAnswers = createKeptAnswers(Math.max(1, cacheMb * 1024 * 1024));
  const setCallerContext = createCallerContexts();
  const answers = new Answers({ redis, withinMs: options.answerWithinMs ?? answerWithinMs, log });
  const readiness = createReadiness({
    ...{ services: [dataApi, accountsApi], identitySecret, isDraining, log },
    requireReady: options.requireReady,
  });
  const accessLog = createAccessLog({ log, metrics, routes, traces });
  const dashboardFor = createDashboard(options.dashboard, log);
  const policies: Record<string, BuildPolicy> = {
    'request-id': withoutAction(
      requestId({
        clients: createClients(options.trustedProxyHops, log),
        isPublicOnTls: isPublicOnTls(options),
        isDraining,
        accessLog,
      }),
    ),
    framing: withAction(framingAction, (action) => framing(action, options.uploadMb ?? uploadMb)),
    'path-check': withoutAction(pathCheck()),
    cors: withAction(z.strictObject({ from: z.enum(['any', 'dashboard']) }), ({ from }) =>
      cors(
        { dashboardOrigins: options.dashboardOrigins ?? [], methodsAt: (at) => routes().methodsAt(at) },
        from,
      ),
    ),
    admission: withoutAction(admission({ admissions, failures, month })),
    credential: withAction(credentialAction, (action) =>
      credential({ accounts, findKey, failures, journal, plans, setCallerContext }, action),
    ),
    'stripe-events': withoutAction(stripeEvents({ accounts, clock })),
    session: withoutAction(session({ accounts, plans, setCallerContext })),
    usage: withoutAction(usage({ journal, clock })),
    plan: withAction(planAction, (action) => plan(plans, action)),
    rate: withAction(rateAction, (action) =>
      rate({ seconds, publicCallsPerSecond, managementCallsPerSecond }, action),
    ),
    concurrency: withoutAction(concurrency({ answers, log })),
    quota: withoutAction(quota({ month })),
    'response-cache': withoutAction(
      cacheMb === 0
        ? (_request, _response, next) => next()
        : responseCache({ lease: dataLease, keptAnswers, clock }),
    ),
    forward: withAction(
      z.strictObject({ to: z.enum(['data-api', 'accounts-api', 'publisher']) }),
      ({ to }) => forwarders[to]?.policy ?? notSetUp,
    ),
    page: withAction(z.strictObject({ of: z.enum(pageNames) }), ({ of }) => page(of)),
    dashboard: withAction(dashboardAction, (action) => dashboardFor(action)),
    health: withoutAction(health(readiness)),
    'not-found': withoutAction((request, response, next) => notFound(routes())(request, response, next)),
  };
  return {
    policies,
    readiness,
    gauges: gaugesOf({
      services: [dataApi, accountsApi, ...(publisher ? [publisher] : [])],
      redis,
      journal,
      keptAnswers,
    }),
    keepJournalIn: journal.keepIn,
    /** Later, accounts-api may be away just when the first call needs it. Without Redis a lease is for calls only, and lapses. */
    async open(): Promise<void> {
      if (redis !== undefined) await Promise.all([redis.opened(), lease.open()]);
    },
    beginDrain: () => void (draining = true),
    async close() {
      try {
        // Calls of clients that left early, and of late answers, are still to be put back.
        await Promise.all([answers.close(), seconds.close()]);
        await month.allTaken();
        await redis?.allAnswered(redisAnswersWithinMs);
        redisAllotments?.tell();
        await redis?.allAnswered(redisAnswersWithinMs);
        redisAllotments?.close();
        processAllotments.close();
      } finally {
        await journal.close(); // the usage of the last calls, whatever else fails
      }
      await lease.close();
      await dataLease.close();
      accounts.close();
      redis?.close();
      for (const forwarder of Object.values(forwarders)) forwarder?.close();
    },
  };
}
