// All services, connected as by `almanac start`, on free ports and with their own database, for tests of the whole system.
import type { SignInSettings } from '../../accounts-api/deps.ts';
import type { MailSettings } from '../../accounts-api/mail/send-mail.ts';
import type { DeliveryTiming } from '../../accounts-api/webhooks/delivery.ts';
import type { WebhookSettings } from '../../accounts-api/webhooks/webhook-tools.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import type { Deps } from '../../accounts-api/database.ts';
import { fileOf } from '../ingest/loading.ts';
import { load } from '../../ingest/load/load.ts';
import path from 'node:path';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import type { Tracing } from '../../kernel/tracing/tracing.ts';
import { loadPlans, type Plans } from '../../kernel/plans.ts';
import { projectRoot } from '../../kernel/project.ts';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import { type StripeSettings } from '../../kernel/settings/settings.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { accountsOf, startAccountsApi } from './accounts-service.ts';
import { createTestDatabase, silentLog, testIdentitySecret, testReplica } from './harness.ts';
import { canBeProcesses, startProductionServices } from './production.ts';
import { testMail, testSignIn } from './sign-in.ts';

export interface Services {
  /** The gateway's URL. */
  url: string;
  /** The services behind it, for tests that bypass the gateway. */
  dataApiUrl: string;
  accountsApiUrl: string;
  /** The URL of the publisher for operators; undefined: no publisher runs. */
  publisherUrl: string | undefined;
  /** The URL of /metrics for all services; undefined: not served. */
  metricsUrl: string | undefined;
  accounts: Deps;
  databaseUrl: string;
  database: Database;
  /** A new account with one key. */
  accountWithKey(plan?: string): Promise<{ accountId: string; keyId: string; key: string }>;
  setPlan(accountId: string, plan: string): Promise<void>;
  /** Loads observations from CSV text; creates the series. */
  ingest(csv: string, options?: { vintage?: string; set?: Record<string, string> }): Promise<void>;
  /** A call through the gateway, with the body of its answer. */
  call(
    path: string,
    init?: RequestInit & { key?: string },
  ): Promise<{ status: number; headers: Headers; text: string; json: unknown }>;
  close(): Promise<void>;
}

export interface ServicesOptions {
  clock?: Clock;
  log?: Log;
  redisUrl?: string;
  plans?: Plans;
  publicCallsPerSecond?: number;
  managementCallsPerSecond?: number;
  /** Default 1: a test that sends its own client address has its own limits, even in a shared Redis. */
  trustedProxyHops?: number;
  signIn?: Partial<SignInSettings>;
  /** If given, a worker runs next to the services and sends mail this way. */
  mail?: Partial<MailSettings>;
  /** If given, plans can be bought. Without a worker, tests fetch customers themselves. */
  stripe?: StripeSettings | undefined;
  /** If given, the worker sends webhooks. */
  webhooks?: WebhookSettings & DeliveryTiming;
  /** Whether a publisher runs next to the services and serves operators. */
  publisher?: boolean;
  /** The folder that it watches. */
  inboxDirectory?: string;
  /** The place where the publisher writes bulk files and data-api reads them; none by default. */
  bulkPlace?: BulkPlace;
  /** The port of the gateway; any free one by default. */
  port?: number;
  /** The series whose revisions are open to visitors; none by default. */
  openRevisionsSeries?: string;
  /** The directory of the built dashboard; by default none is served. */
  dashboard?: Promise<string>;
  /** If given, the gateway serves the metrics of all services. */
  metrics?: { host: string; port: number };
  moreMetrics?: readonly Metric[];
  /** If given, calls are traced, by service. */
  tracing?: Readonly<Record<'gateway' | 'data-api' | 'accounts-api', Tracing>>;
}

/** The plans of the project's own file. */
export function projectPlans(): Plans {
  return loadPlans(path.join(projectRoot, 'config/plans.yml'));
}

/** The same plans with a rate limit that no test reaches; tests of the limits use their own plans. */
export function unhurried(plans: Plans): Plans {
  const all = plans.all.map((plan) => ({ ...plan, calls_second: 100_000, concurrency: 100_000 }));
  return { ...plans, all, get: (id) => all.find((plan) => plan.id === id) };
}

/** The same plans without a limit of concurrent answers, so that every 429 is due to the limit per second. */
export function limitedBySecond(plans: Plans): Plans {
  const all = plans.all.map((plan) => ({ ...plan, concurrency: 100_000 }));
  return { ...plans, all, get: (id) => all.find((plan) => plan.id === id) };
}

export async function startServices(options: ServicesOptions = {}): Promise<Services> {
  const { clock = systemClock, log = silentLog, plans = unhurried(projectPlans()) } = options;
  const all = { ...options, clock, log, plans };
  const { url: databaseUrl, drop } = await createTestDatabase();
  const running = canBeProcesses(options)
    ? await startProductionServices(databaseUrl, { ...options, plans })
    : await startInThisProcess(databaseUrl, all);
  const accounts = accountsOf(databaseUrl, plans, clock);
  const database = openDatabase(databaseUrl, log, { applicationName: 'tests' });
  const { url, dataApiUrl, accountsApiUrl, publisherUrl, metricsUrl } = running;
  return {
    ...{ url, dataApiUrl, accountsApiUrl, publisherUrl, metricsUrl, databaseUrl, database },
    accounts: accounts.deps,
    accountWithKey: (plan = 'pro') => accounts.newClient(plan),
    async setPlan(accountId, plan) {
      await setPlan(accounts.deps, accountId, plan);
    },
    async ingest(csv, { vintage, set } = {}) {
      await load(database, {
        dataset: 'observations',
        input: fileOf([csv]), // at midnight it is read again
        create: true,
        set: { unit: 'Index', frequency: 'monthly', source: 'Tests', ...set },
        ...(vintage === undefined ? {} : { vintage }),
        seriesTimeZone: 'UTC',
        clock,
      });
    },
    async call(target, { key, headers, ...init } = {}) {
      const sent = new Headers(headers);
      if (key !== undefined) sent.set('x-api-key', key);
      const response = await fetch(url + target, { ...init, headers: sent });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: text.startsWith('{') ? JSON.parse(text) : undefined,
      };
    },
    async close() {
      await running.close();
      await database.close();
      await accounts.deps.db.close();
      await drop();
    },
  };
}

/** All services in this process, with objects of the test. Their modules are loaded only here, as separate processes do not need them. */
async function startInThisProcess(
  databaseUrl: string,
  options: ServicesOptions & Required<Pick<ServicesOptions, 'clock' | 'log' | 'plans'>>,
) {
  const { clock, log, plans } = options;
  const { start: startDataApi } = await import('../../data-api/main.ts');
  const { start: startGateway } = await import('../../gateway/main.ts');
  const { startWorker } = await import('../../accounts-api/worker.ts');
  const { start: startPublisher } = await import('../../ingest/main.ts');
  const accountsApi = await startAccountsApi(databaseUrl, {
    ...options,
    tracing: options.tracing?.['accounts-api'],
  });
  const shared = {
    identitySecret: testIdentitySecret,
    host: '127.0.0.1',
    port: 0,
    log,
    clock,
  };
  const dataUrl = serviceUrl(databaseUrl, 'almanac_data_api');
  const dataApi = await startDataApi({
    ...shared,
    databaseUrl: dataUrl,
    replica: testReplica(dataUrl),
    seriesTimeZone: 'UTC',
    publicUrl: testSignIn.publicUrl,
    previewPoints: 120,
    tracing: options.tracing?.['data-api'],
    openRevisionsSeries: options.openRevisionsSeries,
    bulkPlace: options.bulkPlace,
  });
  const { publicUrl } = { ...testSignIn, ...options.signIn };
  const worker =
    options.mail &&
    (await startWorker({
      ...shared,
      databaseUrl: serviceUrl(databaseUrl, 'almanac_accounts_api'),
      plans,
      publicUrl,
      mail: { ...testMail, ...options.mail },
      stripe: options.stripe,
      webhooks: options.webhooks,
      unsubscribeSecrets: [testIdentitySecret],
    }));
  const publisher =
    options.publisher === true
      ? await startPublisher({
          databaseUrl: serviceUrl(databaseUrl, 'almanac_publisher'),
          bulk: options.bulkPlace && {
            place: options.bulkPlace,
            keepDays: 7,
            daysMax: 10,
            seriesTimeZone: 'UTC',
          },
          inbox:
            options.inboxDirectory === undefined
              ? undefined
              : { directory: options.inboxDirectory, seriesTimeZone: 'UTC' },
          sources: { allowCidrs: [], allowHttp: false, seriesTimeZone: 'UTC' },
          operators: { ...shared, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7 },
          log,
        })
      : undefined;
  const gateway = await startGateway({
    ...shared,
    leaseNowMs: () => performance.now(), // leases end by PostgreSQL's clock, which does not move with that of a test
    port: options.port ?? 0,
    ...(options.dashboard === undefined ? {} : { dashboard: options.dashboard }),
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
    moreMetrics: [
      ...[...dataApi.metrics, ...accountsApi.metrics, ...(worker?.metrics ?? [])],
      ...(publisher?.metrics ?? []),
      ...(options.moreMetrics ?? []),
    ],
    plans,
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [accountsApi.url],
    publisherUrls: publisher?.url === undefined ? undefined : [publisher.url],
    redisUrl: options.redisUrl,
    tracing: options.tracing?.gateway,
    publicUrl,
    trustedProxyHops: options.trustedProxyHops ?? 1,
    publicCallsPerSecond: options.publicCallsPerSecond ?? 10_000,
    managementCallsPerSecond: options.managementCallsPerSecond ?? 10_000,
    drainDelayMs: 0,
  });
  return {
    ...{ url: gateway.url, metricsUrl: gateway.metricsUrl, publisherUrl: publisher?.url },
    ...{ dataApiUrl: dataApi.url, accountsApiUrl: accountsApi.url },
    async close() {
      await gateway.close();
      await publisher?.close();
      await worker?.close();
      await dataApi.close();
      await accountsApi.close();
    },
  };
}
