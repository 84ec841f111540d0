// almanac start: runs all services in this process, or only the named one. Defines the order of starting and of draining: services first,
// then the database.
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountsApiOptions } from '../../accounts-api/main.ts';
import type { WorkerOptions } from '../../accounts-api/worker.ts';
import type { DataApiOptions } from '../../data-api/main.ts';
import type { GatewayOptions, RunningGateway } from '../../gateway/main.ts';
import type { PublisherOptions } from '../../ingest/main.ts';
import { requireSpace } from '../../embedded/disk.ts';
import { hasEmbeddedDatabase } from '../../embedded/postgres.ts';
import { systemClock } from '../../kernel/clock.ts';
import { SteadyClient } from '../../kernel/database-circuit.ts';
import { openCertificate, type ServiceCertificate } from '../../kernel/http/certificate.ts';
import { requireFreePort, type RunningService } from '../../kernel/http/server.ts';
import { createLog, standardOutput, type Log } from '../../kernel/log/log.ts';
import { diskMetrics } from '../../kernel/metrics/disk.ts';
import type { Plans } from '../../kernel/plans.ts';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import { readSettings, type Settings } from '../../kernel/settings/settings.ts';
import { knownMigrations } from '../../migrations/run.ts';
import { examples, type DeclareCommand, type Terminal } from '../command.ts';
import { builtDashboard } from '../dashboard.ts';
import { createFirstStart, greet } from '../start/greeting.ts';
import {
  openInstallation,
  readConfiguration,
  webhookSettings,
  type Environment,
  type Installation,
} from '../installation.ts';
import { watchedDirectories, withMetrics } from '../start/metrics.ts';
import { noteServing, servingOf } from '../start/serving.ts';
import { startTraced } from '../start/traced.ts';
import { withSignals, type ServiceSignals } from '../start/signals.ts';

const serviceNames = ['gateway', 'data-api', 'accounts-api', 'worker', 'publisher'] as const;
type ServiceName = (typeof serviceNames)[number];

// Imported when started: a process that runs one service does not hold the modules of the others.
const imports = {
  dataApi: () => import('../../data-api/main.ts'),
  accountsApi: () => import('../../accounts-api/main.ts'),
  worker: () => import('../../accounts-api/worker.ts'),
  publisher: () => import('../../ingest/main.ts'),
  gateway: () => import('../../gateway/main.ts'),
  seed: () => import('./seed.ts'),
};
const startGateway = async (options: GatewayOptions) => (await imports.gateway()).start(options);
const startDataApi = async (options: DataApiOptions) => (await imports.dataApi()).start(options);
const startAccountsApi = async (options: AccountsApiOptions) => (await imports.accountsApi()).start(options);
const startWorker = async (options: WorkerOptions) => (await imports.worker()).startWorker(options);
const startPublisher = async (options: PublisherOptions) => (await imports.publisher()).start(options);

const serviceLog = (service: string, { logLevel }: Settings): Log =>
  createLog(service, logLevel, standardOutput());

// Arbitrary constants; the lock means that a process serves all services from this database.
const serveLock = [4_115_202, 1];

export const start: DeclareCommand = (command, terminal) => {
  command
    .description(
      `Without a service: everything in this process, on PORT (8080), with the embedded PostgreSQL unless DATABASE_URL is set.
With one: that service alone, to scale services separately. It needs IDENTITY_SECRET, the same for all services; data-api, accounts-api, worker and publisher need DATABASE_URL, the gateway DATA_API_URL and ACCOUNTS_API_URL. The worker sends mail and webhooks. The publisher makes loads under embargo visible at their instants, fetches sources that have a schedule, loads what is put into INBOX_DIR, writes the files of BULK_DIR or BULK_S3_BUCKET and, with IDENTITY_SECRET, serves what operators do with loads, for which the gateway needs PUBLISHER_URL.`,
    )
    .addArgument(
      command.createArgument('[service]', 'the only service of this process').choices(serviceNames),
    )
    .addHelpText('after', examples('almanac start', 'almanac start gateway'))
    .action((service) =>
      // From here on, Ctrl-C during the start also stops in order.
      withSignals((signals) =>
        service === undefined ? serveEverything(terminal, signals) : serveService(service, terminal, signals),
      ),
    );
};

async function serveEverything({ env, stdout, started }: Terminal, signals: ServiceSignals): Promise<void> {
  const { settings, plans } = readConfiguration(env);
  await requireUnserved(settings);
  await requireFreePort(settings.host, settings.port);
  if (settings.metrics !== undefined)
    await requireFreePort(settings.metrics.host, settings.metrics.port, 'METRICS_PORT');
  const steps = createFirstStart(stdout);
  if (settings.databaseUrl === undefined && !hasEmbeddedDatabase(settings.dataDir))
    steps.database(settings.dataDir);
  const installation = await openInstallation(settings, { create: true, meanwhile: importAll });
  const { databaseDirectory } = installation;
  const bulkPlace = settings.bulkPlace ?? { directory: path.join(settings.dataDir, 'bulk') };
  const lock = await acquireServeLock(installation);
  const services: Pick<RunningService, 'close'>[] = [];
  let removeNote: () => void = nothing;
  const stopping = new AbortController();
  const greeted = Promise.withResolvers<void>();
  // PostgreSQL does most of the work, so the services start meanwhile.
  const demo =
    databaseDirectory === undefined
      ? Promise.resolve(false)
      : imports.seed().then(({ loadDemoData }) => loadDemoData(installation, steps.demo));
  const demoEnded = demo.then(nothing, nothing);
  try {
    const log = serviceLog('services', settings);
    const dataApi = await startTraced('data-api', settings.tracing, startDataApi, {
      ...{ ...dataApiOptions(installation, plans), ...loopback, bulkPlace },
    });
    services.unshift(dataApi);
    const accountsApi = await startTraced('accounts-api', settings.tracing, startAccountsApi, {
      ...{ ...accountsOptions(installation, plans), ...loopback },
    });
    services.unshift(accountsApi);
    const worker = await startWorker(workerOptions(installation, plans));
    services.unshift(worker);
    const publisher = await startTraced('publisher', settings.tracing, startPublisher, {
      ...publisherOptions(installation),
      bulk: bulkSettings(settings, bulkPlace),
      env,
      operators: { ...operatorOptions(installation, installation.identitySecret), ...loopback },
    });
    services.unshift(publisher);
    const gateway = await startTraced('gateway', settings.tracing, startGateway, {
      ...gatewayOptions(installation.settings, plans, stopping.signal, greeted.promise),
      identitySecret: installation.identitySecret,
      moreMetrics: [
        ...dataApi.metrics,
        ...accountsApi.metrics,
        ...worker.metrics,
        ...publisher.metrics,
        ...diskMetrics(watchedDirectories(installation.settings, databaseDirectory), log),
      ],
      ...(databaseDirectory === undefined ? {} : { requireReady: () => requireSpace(databaseDirectory) }),
      dataApiUrls: [dataApi.url],
      accountsApiUrls: [accountsApi.url],
      publisherUrls: publisher.url === undefined ? undefined : [publisher.url],
    });
    signals.reloadOnHangUp([plans.prepareReload, gateway.prepareReload], log);
    services.unshift(gateway); // closed first: it drains while the services behind it still answer
    const demoKey = (await demo) ? await (await imports.seed()).makeDemoAccount(installation) : undefined;
    removeNote = noteServing(settings.dataDir, { url: gateway.url, pid: process.pid });
    greet(stdout, gateway.url, { demoKey, dashboard: installation.settings.dashboard });
    greeted.resolve();
    started?.();
    await signals.stopped;
    stdout.write('\nStopping …\n');
  } finally {
    removeNote();
    stopping.abort();
    await demoEnded;
    for (const service of services) await service.close();
    await lock.end();
    await installation.stop();
  }
}

/** Imports all services, yielding to the rest of the process between any two. */
function importAll(): void {
  const inTurn = async () => {
    for (const load of Object.values(imports)) {
      await load();
      await nextTurn();
    }
  };
  inTurn().catch(nothing); // the start of the service fails by it, too
}

const nothing = () => undefined;

async function serveService(
  name: ServiceName,
  { env, stdout, started }: Terminal,
  signals: ServiceSignals,
): Promise<void> {
  const stopping = new AbortController();
  const service =
    name === 'gateway'
      ? await serveGateway(env, signals, stopping.signal)
      : name === 'publisher'
        ? await servePublisher(env, signals)
        : await serveDatabaseService(name, env, signals);
  started?.();
  stdout.write(`${name} is running${service.url === undefined ? '' : `: ${service.url}`}\n`);
  await signals.stopped;
  stopping.abort();
  await service.close();
}

async function serveGateway(
  env: Environment,
  signals: ServiceSignals,
  stopping: AbortSignal,
): Promise<RunningGateway> {
  const { settings, plans } = readConfiguration(env, {
    service: 'gateway',
    settings: ['DATA_API_URL', 'ACCOUNTS_API_URL', 'IDENTITY_SECRET'],
  });
  const { options, tracing } = ownGatewayOptions(settings, plans, stopping);
  const gateway = await startTraced('gateway', tracing, startGateway, options);
  signals.reloadOnHangUp([plans.prepareReload, gateway.prepareReload], options.log);
  return gateway;
}

async function serveDatabaseService(
  name: 'data-api' | 'accounts-api' | 'worker',
  env: Environment,
  signals: ServiceSignals,
): Promise<Pick<RunningService, 'close'> & { url?: string }> {
  const needs = { service: name, settings: ['DATABASE_URL', 'IDENTITY_SECRET'] } as const;
  const { settings, plans } = readConfiguration(env, needs);
  const installation = await openInstallation(settings);
  const log = serviceLog('services', settings);
  const reload = (certificate?: ServiceCertificate) => {
    const renew = () => certificate?.prepareRenewal(readSettings(env).serviceTls) ?? (() => undefined);
    signals.reloadOnHangUp([plans.prepareReload, renew], log);
  };
  if (name === 'worker') {
    const { options, metrics } = ownWorkerOptions(installation, plans);
    reload();
    return withMetrics(await startWorker(options), metrics);
  }
  if (name === 'accounts-api') {
    const { options, metrics, tracing } = ownAccountsOptions(installation, plans);
    reload(options.certificate);
    return withMetrics(await startTraced(name, tracing, startAccountsApi, options), metrics);
  }
  const { options, metrics, tracing } = ownDataApiOptions(installation, plans);
  reload(options.certificate);
  return withMetrics(await startTraced(name, tracing, startDataApi, options), metrics);
}

async function servePublisher(
  env: Environment,
  signals: ServiceSignals,
): Promise<Pick<RunningService, 'close'> & { url?: string }> {
  const { settings } = readConfiguration(env, { service: 'publisher', settings: ['DATABASE_URL'] });
  const { options: own, metrics, tracing } = ownPublisherOptions(await openInstallation(settings));
  const options = { ...own, env };
  const certificate = options.operators?.certificate;
  const publisher = await startTraced('publisher', tracing, startPublisher, options);
  const renew = () => certificate?.prepareRenewal(readSettings(env).serviceTls) ?? (() => undefined);
  signals.reloadOnHangUp([renew], options.log);
  return withMetrics(publisher, metrics);
}

const loopback = { host: '127.0.0.1', port: 0 };

function sharedOptions({ settings, identitySecret }: Installation, plans: Plans) {
  return {
    identitySecret,
    previousIdentitySecret: settings.previousIdentitySecret,
    plans,
    log: serviceLog('services', settings),
    schema: knownMigrations(),
    slowStatementMs: settings.slowStatementMs,
  };
}

function dataApiOptions(installation: Installation, plans: Plans) {
  const { dataApiDatabaseUrl, settings } = installation;
  const { databaseUrl, databaseReadUrl: url, replicaLagMaxMs: lagMaxMs } = settings;
  const { seriesTimeZone, publicUrl, previewPoints, openRevisionsSeries, synonymsFile } = settings;
  const { frontPageFile, bulkPlace } = settings;
  return {
    ...sharedOptions(installation, plans),
    databaseUrl: dataApiDatabaseUrl,
    // The embedded database has none.
    replica: databaseUrl === undefined || url === undefined ? undefined : { url, lagMaxMs },
    ...{ seriesTimeZone, publicUrl, previewPoints, openRevisionsSeries, synonymsFile },
    ...{ frontPageFile, bulkPlace },
  };
}

/** For a data-api that is a process of its own: where it serves its metrics, and where it sends traces. */
export function ownDataApiOptions(installation: Installation, plans: Plans) {
  const { host, dataApiPort: port, drainDelayMs, serviceTls, metrics, tracing } = installation.settings;
  const certificate = openCertificate(serviceTls);
  return {
    options: { ...dataApiOptions(installation, plans), host, port, drainDelayMs, certificate },
    ...{ metrics, tracing },
  };
}

/** For an accounts-api that is a process of its own: where it serves its metrics, and where it sends traces. */
export function ownAccountsOptions(installation: Installation, plans: Plans) {
  const { host, accountsApiPort: port, drainDelayMs, serviceTls, metrics, tracing } = installation.settings;
  const certificate = openCertificate(serviceTls);
  return {
    options: { ...accountsOptions(installation, plans), host, port, drainDelayMs, certificate },
    ...{ metrics, tracing },
  };
}

function accountsOptions(installation: Installation, plans: Plans) {
  const { publicUrl, smtpUrl, passwordLengthMin, operatorSecondFactor, google, redisUrl, stripe } =
    installation.settings;
  const passwords = { passwordLengthMin, operatorSecondFactor };
  const signIn = { publicUrl, mailGoesOut: smtpUrl !== undefined, ...passwords, google };
  const databaseUrl = installation.accountsDatabaseUrl;
  const webhooks = webhookSettings(installation);
  return { ...sharedOptions(installation, plans), databaseUrl, signIn, redisUrl, stripe, webhooks };
}

/** For a worker that is a process of its own: where it serves its metrics, and where it sends traces. */
export function ownWorkerOptions(installation: Installation, plans: Plans) {
  return { options: workerOptions(installation, plans), metrics: installation.settings.metrics };
}

function workerOptions(installation: Installation, plans: Plans) {
  const { publicUrl, smtpUrl, mailFrom, dataDir, stripe } = installation.settings;
  const mail = { smtpUrl, from: mailFrom, outboxDirectory: path.join(dataDir, 'outbox') };
  const databaseUrl = installation.accountsDatabaseUrl;
  const webhooks = webhookSettings(installation);
  const unsubscribeSecrets = webhooks.secretKeys;
  return {
    ...sharedOptions(installation, plans),
    ...{ databaseUrl, publicUrl, mail, stripe, webhooks, unsubscribeSecrets },
  };
}

/**
 * For a publisher that is a process of its own: where it serves its metrics, and where it sends traces. Without IDENTITY_SECRET it serves
 * no calls.
 */
export function ownPublisherOptions(installation: Installation) {
  const { settings } = installation;
  const { host, publisherPort: port, drainDelayMs, serviceTls, metrics, tracing, identitySecret } = settings;
  const certificate = openCertificate(serviceTls);
  const operators =
    identitySecret === undefined
      ? undefined
      : { ...operatorOptions(installation, identitySecret), host, port, drainDelayMs, certificate };
  return { options: { ...publisherOptions(installation), operators }, metrics, tracing };
}

function operatorOptions(
  {
    settings: { previousIdentitySecret, publicUrl, seriesTimeZone, fiscalYearFirstMonth, uploadMb },
  }: Installation,
  identitySecret: string,
) {
  return {
    ...{ identitySecret, previousIdentitySecret, publicUrl, seriesTimeZone, fiscalYearFirstMonth, uploadMb },
  };
}

function publisherOptions({ publisherDatabaseUrl: databaseUrl, settings }: Installation) {
  const log = serviceLog('publisher', settings);
  const { slowStatementMs, seriesTimeZone, fiscalYearFirstMonth, inboxDir: directory } = settings;
  const sources = { ...settings.sources, seriesTimeZone, fiscalYearFirstMonth };
  const inbox = directory === undefined ? undefined : { directory, seriesTimeZone };
  const { fileLimits: readLimits, bulkPlace } = settings;
  const bulk = bulkSettings(settings, bulkPlace);
  return { databaseUrl, schema: knownMigrations(), slowStatementMs, sources, inbox, bulk, readLimits, log };
}

function bulkSettings(
  { bulkKeepDays: keepDays, bulkPinnedDays: daysMax, seriesTimeZone }: Installation['settings'],
  place: BulkPlace | undefined,
) {
  return place && { place, keepDays, daysMax, seriesTimeZone };
}

/** For a gateway that is a process of its own: where it sends traces. */
export function ownGatewayOptions(settings: Installation['settings'], plans: Plans, stopping: AbortSignal) {
  // All of them are set except the publisher's, which is optional.
  const { dataApiUrls = [], accountsApiUrls = [], publisherUrls, identitySecret = '' } = settings;
  const options = gatewayOptions(settings, plans, stopping);
  const moreMetrics = diskMetrics(watchedDirectories(settings, undefined), options.log);
  return {
    options: { ...options, dataApiUrls, accountsApiUrls, publisherUrls, identitySecret, moreMetrics },
    tracing: settings.tracing,
  };
}

/** @param stopping ends a build of the dashboard. @param beforeBuild a build of the dashboard begins after it resolves. */
function gatewayOptions(
  settings: Installation['settings'],
  plans: Plans,
  stopping: AbortSignal,
  beforeBuild = Promise.resolve(),
) {
  const { host, port, redisUrl, trustedProxyHops, publicCallsPerSecond, quotaOutage, drainDelayMs } =
    settings;
  return {
    ...{ host, port, redisUrl, trustedProxyHops, publicCallsPerSecond, quotaOutage, drainDelayMs },
    managementCallsPerSecond: settings.managementCallsPerSecond,
    answerWithinMs: settings.answerWithinMs,
    responseCacheMb: settings.responseCacheMb,
    uploadMb: settings.uploadMb,
    metrics: settings.metrics,
    journalDirectory: settings.journalDir,
    plans,
    publicUrl: settings.publicUrl,
    dashboardOrigins: settings.dashboardOrigins,
    ...(settings.dashboard
      ? { dashboard: beforeBuild.then(() => builtDashboard({ signal: stopping })) }
      : {}),
    clock: systemClock,
    log: serviceLog('gateway', settings),
  };
}

/** @throws Error if another process serves the same directory, with its address. */
async function requireUnserved({ dataDir }: Settings): Promise<void> {
  const other = servingOf(dataDir);
  if (other === undefined) return;
  // After a kill or a power failure another process, or this one, may have the noted number: its port is free then.
  const { hostname, port } = new URL(other.url);
  const isPortFree = await requireFreePort(hostname.replace(/^\[|\]$/g, ''), Number(port || 80)).then(
    () => true,
    () => false,
  );
  if (isPortFree) return;
  throw new Error(
    `Almanac is already running on ${dataDir}, at ${other.url} (process ${other.pid}). Stop it first, or set another DATA_DIR and PORT.`,
  );
}

/** Holds a lock while this process serves, so that a second start on the same data fails with a message. */
async function acquireServeLock(installation: Installation): Promise<SteadyClient> {
  const client = new SteadyClient({
    connectionString: installation.databaseUrl,
    application_name: 'almanac start',
  });
  await client.connect();
  const { rows } = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_lock($1, $2) as taken',
    serveLock,
  );
  if (rows[0]?.taken === true || installation.databaseDirectory === undefined) return client;
  await client.end();
  await installation.release();
  throw new Error(
    `Almanac is already running on ${installation.settings.dataDir}. Stop it first, or set another DATA_DIR.`,
  );
}
